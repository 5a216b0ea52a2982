"""Cross-talk: how much of one track leaks into the other, and where a track holds nothing but that leak.

Found by correlating the tracks where the other one is clearly the louder: two people who talk at once are not
correlated, a leak is. Taken out by comparing levels: a frame that is no louder than the leak of what the
other track holds at that time (by `SPREAD` at most) is the leak's. Nothing is subtracted, so it does not
matter whether the leak was filtered or coded on its way.

Limits: a leak stronger than `STRONGEST` cannot be told from speech; delays up to `LONGEST_DELAY` are found;
while both talk, the parts of the softer voice that lie below the leak are lost with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import SILENCE_DBOV, frame_levels
from inquesto_dag.recordings.noise import FRAME, Frames, tidy
from inquesto_dag.units import SAMPLE_RATE, Audio, Seconds, to_samples

CLEARLY = 3.0  # dB: how much louder the other track must be where the leak is looked for
LOUD = 20.0  # dB below its loudest frames: where the other track speaks
CORRELATED = 0.25  # two voices of two people stay below 0.15 over a few seconds
STRONGEST = -9.0  # dB
SPREAD = 8.0  # dB: how far a filtered leak may rise above its median
LONGEST_DELAY: Seconds = 0.3
TAIL = 3  # frames for which a leak may ring on
MINIMUM: Seconds = 0.5  # less of the other voice alone says nothing
LOOKED_AT: Seconds = 300.0  # a leak does not change during a call; an hour's correlation would take gigabytes


@dataclass(frozen=True)
class Leak:
    """A leak: its level against the other track in dB, its delay in s, and the correlation that shows it."""

    level_db: float
    delay_s: Seconds
    correlation: float


def find_leak(track: Audio, other: Audio) -> Leak | None:
    """The leak of `other` in `track`, both (n,); None when there is none, or nothing to tell it by."""
    here, there = frame_levels(track, FRAME), frame_levels(other, FRAME)
    if not len(there) or there.max() <= SILENCE_DBOV:
        return None
    alone = (there >= there.max() - LOUD) & (here <= there - CLEARLY)
    if np.count_nonzero(alone) * FRAME < MINIMUM:
        return None
    mask = np.repeat(alone, to_samples(FRAME))[: len(track)]
    first = int(np.argmax(mask))
    part = slice(first, first + to_samples(LOOKED_AT))
    delay, correlation = _correlate(
        np.where(mask, _levelled(track, here), 0.0)[part], np.where(mask, _levelled(other, there), 0.0)[part]
    )
    if correlation < CORRELATED:
        return None
    shift = round(delay / to_samples(FRAME))
    shifted = np.roll(there, shift)
    level = float(np.median((here - shifted)[alone & np.roll(alone, shift)]))
    return Leak(level, delay / SAMPLE_RATE, correlation)


def own_frames(track: Audio, other: Audio, leak: Leak) -> Frames:
    """Which 10 ms frames of `track` hold more than the leak: (ceil(n / 160),) bool."""
    here, there = frame_levels(track, FRAME), frame_levels(other, FRAME)
    shift = round(leak.delay_s / FRAME)
    # The loudest frame from TAIL before to one after, where the leak arrives.
    around = np.stack([_moved(there, shift + by) for by in range(-1, TAIL + 1)]).max(axis=0)
    return tidy(here > around + leak.level_db + SPREAD)


def _levelled(track: Audio, levels: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Every frame at the same power, or a second in which both talk would outweigh a call full of leak."""
    gain = np.where(levels > SILENCE_DBOV + 1.0, 10.0 ** (-levels / 20.0), 0.0)
    levelled: npt.NDArray[np.float64] = track * np.repeat(gain, to_samples(FRAME))[: len(track)]
    return levelled


def _correlate(track: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> tuple[int, float]:
    """(lag in samples, normalised correlation) at the strongest lag by which `track` follows `other`."""
    from scipy.signal import correlate

    scale = float(np.linalg.norm(track) * np.linalg.norm(other))
    if scale == 0.0:
        return 0, 0.0
    whole = correlate(track, other, mode="full", method="fft")
    centre = len(other) - 1
    early, late = to_samples(0.005), to_samples(LONGEST_DELAY)
    part = np.abs(whole[max(0, centre - early) : centre + late + 1])
    best = int(np.argmax(part))
    return best - min(early, centre), float(part[best]) / scale


def _moved(levels: npt.NDArray[np.float64], by: int) -> npt.NDArray[np.float64]:
    moved = np.full_like(levels, SILENCE_DBOV)
    if by > 0:
        moved[by:] = levels[:-by]
    elif by < 0:
        moved[:by] = levels[-by:]
    else:
        moved[:] = levels
    return moved
