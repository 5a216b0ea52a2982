"""What a line did to speech, measured: signal-to-noise ratio and energy in a band."""

from __future__ import annotations

import math

import numpy as np

from inquesto_dag.audio.levels import active_samples, active_speech_level, power_dbov, rms_dbov
from inquesto_dag.errors import InputError
from inquesto_dag.units import SAMPLE_RATE, Audio


def snr_db(speech: Audio, bed: Audio) -> float:
    """Active speech level of speech (n,) over the RMS level of the noise (n,) in the same active samples, dB.

    Speech and noise are given apart, as they were before they were added. Silent noise counts as -120 dBov.
    Raises InputError when speech holds none, ValueError when the lengths differ.
    """
    if len(speech) != len(bed):
        raise ValueError(f"speech has {len(speech)} samples and the bed {len(bed)}; they must be equal")
    active = active_samples(speech)
    if not active.any():
        raise InputError("holds no speech", field="speech", remedy="measure lines in which someone speaks")
    return active_speech_level(speech).level_dbov - rms_dbov(bed[active])


def band_energy_db(audio: Audio, low_hz: float, high_hz: float) -> float:
    """Level in dBov of what audio (n,) holds from `low_hz` up to but not including `high_hz`.

    The levels of bands that tile 0 Hz up to and beyond 8 kHz add up, as powers, to the whole (Parseval);
    -120 for nothing.
    """
    if not 0.0 <= low_hz < high_hz:
        raise ValueError(f"a band reaches from low to high, not from {low_hz} to {high_hz} Hz")
    if not len(audio):
        return power_dbov(0.0)
    spectrum = np.square(np.abs(np.fft.rfft(np.asarray(audio, np.float64))))
    weight = np.full(len(spectrum), 2.0)  # each bin stands for its negative frequency too,
    weight[0] = 1.0  # but not 0 Hz,
    if len(audio) % 2 == 0:
        weight[-1] = 1.0  # nor half the rate
    frequency = np.fft.rfftfreq(len(audio), 1.0 / SAMPLE_RATE)
    inside = (frequency >= low_hz) & (frequency < high_hz)
    return power_dbov(math.fsum((weight * spectrum)[inside]) / len(audio) ** 2)
