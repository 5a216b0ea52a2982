"""Where a track stands out of its own steady noise.

The annotator takes a near-end track without noise: it moves edges to the last 10 ms frame within 40 dB of the
loudest, and on a noisy track every frame is that loud. So noise is gated first. The gate looks at four bands,
each against its own floor, because a vowel stands out low and a fricative high; it opens where any band lies
above its floor by `MARGIN` or by four standard deviations of the noise, at least for 30 ms.

Limit: the noise must be steady (hiss, hum, a fan, comfort noise) and fill at least a fifth of the track.
Other talkers are speech, and no gate tells them apart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import frame_levels
from inquesto_dag.units import SAMPLE_RATE, Audio, Seconds, to_samples

FRAME: Seconds = 0.01
BANDS = ((80.0, 1_000.0), (1_000.0, 2_000.0), (2_000.0, 4_000.0), (4_000.0, 7_600.0))  # Hz
MARGIN = 6.0  # dB above the noise's mean
WIDEST = 12.0  # dB: speech that fills most of a track must not pass for the noise's own spread
QUIET = -110.0  # dBov: a floor below it is no noise that the annotator could see
DEEP = 60.0  # dB: noise so far below the loudest speech changes no edge
SHORT: Seconds = 0.03  # an opening shorter than this is a click
BRIDGE: Seconds = 0.06  # a stop consonant, as the annotator has it

Frames = npt.NDArray[np.bool_]


def noise_floor(levels: npt.NDArray[np.float64]) -> tuple[float, float]:
    """(mean, deviation) in dB of the quiet frames of (frames,) levels, taken from their lower tail.

    The 5th and 20th percentiles of frames that are normal in dB lie 1.64 and 0.84 deviations below the mean.
    """
    low, high = np.percentile(levels, [5.0, 20.0])
    deviation = float(high - low) / 0.8
    return float(high) + 0.84 * deviation, deviation


def is_noisy(levels: npt.NDArray[np.float64]) -> bool:
    """Whether a track's noise reaches what the annotator looks at: 60 dB below its loud frames or more."""
    floor = float(np.percentile(levels, 10.0))
    return floor > max(QUIET, float(np.percentile(levels, 99.0)) - DEEP)


def stands_out(track: Audio) -> Frames:
    """Which 10 ms frames of (n,) audio stand out of its noise: (ceil(n / 160),) bool."""
    from scipy.signal import butter, sosfiltfilt

    frames = -(-len(track) // to_samples(FRAME))
    found = np.zeros(frames, np.bool_)
    for band in BANDS:
        sections = butter(4, band, btype="bandpass", fs=SAMPLE_RATE, output="sos")
        levels = frame_levels(np.asarray(sosfiltfilt(sections, track), np.float32), FRAME)
        mean, deviation = noise_floor(levels)
        if mean <= QUIET:  # a band that the line does not carry has no noise to stand out of
            continue
        found |= levels >= mean + min(max(MARGIN, 4.0 * deviation), WIDEST)
    return tidy(found)


def tidy(frames: Frames) -> Frames:
    """The same frames without clicks, and with gaps of a stop consonant closed."""
    kept = frames.copy()
    for start, end in runs(~kept):
        if end - start <= round(BRIDGE / FRAME) and start > 0 and end < len(kept):
            kept[start:end] = True
    for start, end in runs(kept):
        if np.count_nonzero(frames[start:end]) < round(SHORT / FRAME):
            kept[start:end] = False
    return kept


def runs(frames: Frames) -> list[tuple[int, int]]:
    """(start, end) of each run of True, end excluded."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], frames, [False]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def keep(track: Audio, frames: Frames) -> Audio:
    """The track where frames are True, digital silence elsewhere; no fades, which would move edges."""
    mask = np.repeat(frames, to_samples(FRAME))[: len(track)]
    return np.where(mask, track, np.float32(0.0)).astype(np.float32)
