"""Mel spectrograms as the GE2E encoder was trained on: power, not log, on the Slaney scale."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from inquesto_dag.units import SAMPLE_RATE, Audio

WINDOW = 400  # samples, 25 ms
HOP = 160  # samples, 10 ms
MELS = 40

# Slaney's auditory toolbox: linear at 200/3 Hz a mel up to 1 kHz, then 27 mels for a factor of 6.4.
_HZ_PER_MEL, _BREAK_HZ, _LOG_STEP = 200.0 / 3.0, 1_000.0, np.log(6.4) / 27.0
_BREAK_MEL = _BREAK_HZ / _HZ_PER_MEL


def hz_to_mel(hz: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Slaney mels of frequencies in Hz."""
    hz = np.asarray(hz, np.float64)
    above = _BREAK_MEL + np.log(np.maximum(hz, _BREAK_HZ) / _BREAK_HZ) / _LOG_STEP
    return np.asarray(np.where(hz < _BREAK_HZ, hz / _HZ_PER_MEL, above), np.float64)


def mel_to_hz(mel: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Frequencies in Hz of Slaney mels."""
    mel = np.asarray(mel, np.float64)
    above = _BREAK_HZ * np.exp(_LOG_STEP * (np.maximum(mel, _BREAK_MEL) - _BREAK_MEL))
    return np.asarray(np.where(mel < _BREAK_MEL, mel * _HZ_PER_MEL, above), np.float64)


@lru_cache(maxsize=4)
def filter_bank(mels: int = MELS, window: int = WINDOW, rate: int = SAMPLE_RATE) -> npt.NDArray[np.float64]:
    """Triangles (mels, window // 2 + 1) from 0 Hz to half the rate, each of area 1 over Hz."""
    bins = np.fft.rfftfreq(window, 1.0 / rate)
    edges = mel_to_hz(np.linspace(0.0, float(hz_to_mel(rate / 2.0)), mels + 2))
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return np.asarray(triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None], np.float64)


def mel_power(audio: Audio) -> npt.NDArray[np.float32]:
    """Mel power (n // 160 + 1, 40) of (n,) audio.

    A frame every 10 ms, centred, in a Hann window of 25 ms; zeros stand before and after the audio.
    """
    padded = np.pad(np.asarray(audio, np.float64), WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(WINDOW) / WINDOW)  # periodic Hann
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    return np.asarray(power @ filter_bank().T, np.float32)
