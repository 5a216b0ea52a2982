"""Waveforms small enough for a page: per bucket the loudest sample and the RMS, one byte each.

Conventions: audio (n,) float32 in [-1, 1); a bucket is `ceil(n / points)` samples, so all tracks of a call
share one time axis; bytes are linear, 0 for silence and 255 for full scale, base64 for JSON.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inquesto_dag.units import Audio

POINTS = 2_000  # about twice the pixels of a wide screen's timeline
FULL_SCALE = 255


@dataclass(frozen=True)
class Waveform:
    """Peaks and RMS of a track, (buckets,) uint8 each."""

    peak: npt.NDArray[np.uint8]
    rms: npt.NDArray[np.uint8]

    def encoded(self) -> dict[str, str]:
        """Both rows as base64 text for a page's data file."""
        return {
            "peak": base64.b64encode(self.peak.tobytes()).decode("ascii"),
            "rms": base64.b64encode(self.rms.tobytes()).decode("ascii"),
        }


def draw_waveform(audio: Audio, points: int = POINTS) -> Waveform:
    """The waveform of (n,) audio in at most `points` buckets; empty audio gives none.

    Any sample that is not digital silence gives a peak of at least 1, so that a quiet bed stays visible.
    """
    if points < 1:
        raise ValueError(f"points must be positive, not {points}")
    samples = np.abs(np.asarray(audio, np.float32))
    if samples.ndim != 1:
        raise ValueError(f"audio must be (n,), not {samples.shape}")
    if not len(samples):
        return Waveform(np.zeros(0, np.uint8), np.zeros(0, np.uint8))
    size = -(-len(samples) // points)
    buckets = -(-len(samples) // size)
    padded = np.zeros(buckets * size, np.float32)
    padded[: len(samples)] = samples
    grid = padded.reshape(buckets, size)
    counts = np.full(buckets, size)
    counts[-1] = len(samples) - (buckets - 1) * size
    peak = np.ceil(np.minimum(grid.max(axis=1), 1.0) * FULL_SCALE)
    rms = np.rint(
        np.minimum(np.sqrt(np.einsum("ij,ij->i", grid, grid, dtype=np.float64) / counts), 1.0) * FULL_SCALE
    )
    return Waveform(peak.astype(np.uint8), rms.astype(np.uint8))
