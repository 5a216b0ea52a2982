"""Measures of the line: signal-to-noise ratio and energy in a band."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.audio.levels import active_samples, normalise, rms_dbov
from inquesto_dag.audio.measure import band_energy_db, snr_db
from inquesto_dag.errors import InputError


@given(st.floats(-30.0, 30.0))
@settings(max_examples=20, deadline=None)
def test_snr_is_the_difference_of_the_two_levels(talk, ratio_db: float):
    """White noise of known RMS against speech of known active level."""
    speech = normalise(talk(1, 3.0), -40.0)
    noise = np.random.default_rng(5).standard_normal(len(speech))
    noise *= 10 ** ((-40.0 - ratio_db) / 20) / np.sqrt(np.mean(noise[active_samples(speech)] ** 2))
    assert snr_db(speech, noise.astype(np.float32)) == pytest.approx(ratio_db, abs=0.02)


def test_noise_in_the_pauses_does_not_count(talk):
    """Silence before speech changes nothing, whatever noise lies there."""
    speech = normalise(talk(2, 3.0), -26.0)
    noise = (0.01 * np.random.default_rng(6).standard_normal(len(speech))).astype(np.float32)
    later = np.concatenate([np.zeros(32_000, np.float32), speech])
    loud = np.concatenate([np.full(32_000, 0.5, np.float32), noise])
    assert snr_db(later, loud) == pytest.approx(snr_db(speech, noise), abs=0.3)


def test_decided_cases_of_snr(talk):
    """Silent noise is -120 dBov; silent speech and other lengths are errors."""
    speech = normalise(talk(3, 1.0), -26.0)
    assert snr_db(speech, np.zeros_like(speech)) == pytest.approx(94.0, abs=0.05)
    with pytest.raises(InputError, match="speech: holds no speech"):
        snr_db(np.zeros_like(speech), speech)
    with pytest.raises(ValueError, match="they must be equal"):
        snr_db(speech, speech[1:])


def test_a_tone_is_in_its_band_and_in_no_other(tone):
    """1 kHz at amplitude 0.25 is -15.05 dBov between 900 and 1100 Hz and at least 60 dB less elsewhere."""
    audio = tone(1000, 1.0)
    assert band_energy_db(audio, 900, 1100) == pytest.approx(20 * math.log10(0.25) - 3.0103, abs=0.001)
    assert band_energy_db(audio, 0, 900) < -75.0 and band_energy_db(audio, 1100, 8001) < -75.0


@given(st.integers(1, 400), st.lists(st.floats(1.0, 7999.0), unique=True, max_size=5))
def test_bands_add_up_to_the_whole(length: int, cuts: list[float]):
    """Powers of bands that tile 0 to 8 kHz sum to the power of the audio, for even and odd lengths."""
    audio = (0.2 * np.random.default_rng(length).standard_normal(length)).astype(np.float32)
    edges = [0.0, *sorted(cuts), 8001.0]
    parts = [band_energy_db(audio, low, high) for low, high in pairwise(edges)]
    assert 10 * math.log10(sum(10 ** (p / 10) for p in parts)) == pytest.approx(rms_dbov(audio), abs=1e-4)


def test_decided_cases_of_bands(tone):
    """Nothing is -120 dBov; a band upside down is an error."""
    assert band_energy_db(np.zeros(0, np.float32), 0, 100) == -120.0
    assert band_energy_db(np.zeros(100, np.float32), 0, 8001) == -120.0
    with pytest.raises(ValueError, match="from low to high"):
        band_energy_db(tone(1000), 100, 100)
