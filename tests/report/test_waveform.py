"""Waveforms for the page."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.report.waveform import draw_waveform


def test_a_bucket_holds_its_loudest_sample_and_its_rms() -> None:
    """Two buckets of four samples: peak is the largest magnitude, RMS the root of the mean square."""
    audio = np.array([0, -0.5, 0, 0, 0.25, 0.25, 0.25, 0.25], np.float32)
    wave = draw_waveform(audio, points=2)
    assert wave.peak.tolist() == [128, 64]
    assert wave.rms.tolist() == [64, 64]


def test_a_short_last_bucket_counts_its_own_samples() -> None:
    """Five samples in two buckets: the RMS of the last is over its two samples, not over three."""
    wave = draw_waveform(np.full(5, 0.5, np.float32), points=2)
    assert wave.rms.tolist() == [128, 128]


def test_quiet_noise_stays_visible_and_silence_stays_empty() -> None:
    """A single step of 16 bit is drawn; digital silence is exactly nothing."""
    assert draw_waveform(np.array([1 / 32768, 0], np.float32), points=2).peak.tolist() == [1, 0]


def test_encoded_bytes_come_back() -> None:
    """What the page decodes is what was drawn."""
    wave = draw_waveform(np.linspace(0, 0.9, 4000, dtype=np.float32))
    assert base64.b64decode(wave.encoded()["peak"]) == wave.peak.tobytes()


@pytest.mark.parametrize("audio", [np.zeros((4, 2), np.float32), np.float32(0)])
def test_other_shapes_are_refused(audio: np.ndarray) -> None:
    """Stereo is two waveforms, and a number is none."""
    with pytest.raises(ValueError, match=r"must be \(n,\)"):
        draw_waveform(audio)


@given(st.integers(0, 5000), st.integers(1, 2500), st.integers(0, 2**32 - 1))
def test_never_more_points_than_asked_and_rms_never_above_peak(n: int, points: int, seed: int) -> None:
    """For any length: at most `points` buckets, all samples covered, RMS no larger than the peak."""
    audio = np.random.default_rng(seed).uniform(-1, 1, n).astype(np.float32)
    wave = draw_waveform(audio, points)
    assert len(wave.peak) == len(wave.rms) <= min(points, n)
    assert (wave.rms.astype(int) <= wave.peak.astype(int)).all()
    if n:
        assert wave.peak.max() == np.ceil(np.abs(audio).max() * np.float32(255))
