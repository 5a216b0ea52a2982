"""Babble: several people talking at once, at one level, in a loop without a seam (PROTOCOL P3, D4, D6).

Every talker is heard in `STREAMS` places at once, so that the sum is dense enough to be levelled by a slow
gain of about one dB (eight voices of 7 s: 0.25 s windows have a standard deviation of 0.8 dB before and
0.04 dB after); the gain follows a quarter of a second, which leaves the talkers' syllables as they are.
Without pauses in each stream, no second of a call lacks noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import FADE_S, active_samples, normalise, rms_dbov, trim_to_speech
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.units import Audio, Samples, Seconds, quantise, to_samples

MINIMUM_TALKERS = 6
STREAMS = 2  # per talker
WINDOW_S = 0.25  # the level is held over every window of this length; an odd number of blocks has a middle
TOLERANCE_DB = 0.3
SEAM_S = 0.02  # cross-fade that closes each stream's loop
STREAM_DBOV = -26.0
BLOCK_S = 0.01
PASSES, ROUNDS, STEP = 3, 150, 1.8
FLOOR = 1e-12  # of full scale, so that a window without sound has a level


def without_pauses(talk: Audio) -> Audio:
    """Only the active speech of a talk (ITU-T P.56), each stretch trimmed and faded at its edges."""
    active = active_samples(talk)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], active, [False]]).astype(np.int8)))
    stretches = [
        trim_to_speech(talk[start:end], FADE_S) for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]
    return np.concatenate([np.zeros(0, np.float32), *stretches])


def _stream(speech: Audio, length: Samples, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """A loop of `length` samples of speech from a random place, its end cross-faded into its beginning."""
    seam = min(to_samples(SEAM_S), length)
    start = int(rng.integers(len(speech)))
    long = speech[(start + np.arange(length + seam)) % len(speech)].astype(np.float64)
    ramp = np.sin(0.5 * np.pi * (np.arange(seam) + 0.5) / max(seam, 1))
    loop = long[:length]
    loop[:seam] = loop[:seam] * ramp + long[length:] * ramp[::-1]
    return loop


def window_power(loop: npt.NDArray[np.floating[Any]], window: Samples) -> npt.NDArray[np.float64]:
    """Mean square of the window that begins half a window before each sample of a loop: (n,), wrapping."""
    return _circular_mean(np.square(loop, dtype=np.float64), window)


def _circular_mean(values: npt.NDArray[np.float64], window: int) -> npt.NDArray[np.float64]:
    """Mean of the `window` values around each value of a loop: (n,), wrapping; half of them lie before."""
    around = np.arange(-(window // 2), len(values) + window - window // 2 - 1) % len(values)
    sums = np.concatenate([[0.0], np.cumsum(values[around])])
    means: npt.NDArray[np.float64] = (sums[window:] - sums[:-window]) / window
    return means


def _level(loop: npt.NDArray[np.float64], level_dbov: float) -> npt.NDArray[np.float64]:
    """The loop with a slow gain, linear in dB between 10 ms blocks, that brings every window to the level.

    What a window is off by is corrected over the same window, step by step: the gain so never moves faster
    than what it corrects. Steps of 1.8 halve the rounds and stay below 2, where they would stop converging.
    """
    block = to_samples(BLOCK_S)
    blocks, window = len(loop) // block, round(WINDOW_S / BLOCK_S)
    centres = (np.arange(-1, blocks + 1) + 0.5) * block
    for _ in range(PASSES):
        power = np.square(loop).reshape(blocks, block).mean(axis=1)
        gain_db = np.zeros(blocks)
        for _ in range(ROUNDS):
            held = np.maximum(_circular_mean(power * 10.0 ** (gain_db / 10.0), window), FLOOR)
            gain_db -= STEP * _circular_mean(10.0 * np.log10(held) - level_dbov, window)
        curve = np.interp(np.arange(len(loop)), centres, gain_db[np.arange(-1, blocks + 1) % blocks])
        loop = loop * 10.0 ** (curve / 20.0)
    return loop


def make_bed(talks: Sequence[Audio], duration_s: Seconds, level_dbov: float, seed: int) -> Audio:
    """A loop of babble of `duration_s`, to 10 ms, on the 16-bit grid, from one talk (n,) 16 kHz per talker.

    Every 0.25 s of it, wherever begun and across its end, is within 0.3 dB of `level_dbov`; the same talks
    and seed give the same bed.

    Raises InputError for fewer than six talkers, the same talk twice, a talk without speech or a loop under
    one second; CheckFailed when the level cannot be held or would clip.
    """
    length = to_samples(BLOCK_S) * round(duration_s / BLOCK_S)
    if length < to_samples(1.0):
        raise InputError(f"a bed of {duration_s:g} s is short", field="duration_s", remedy="give 1 s or more")
    if len({np.asarray(talk, np.float32).tobytes() for talk in talks}) < max(MINIMUM_TALKERS, len(talks)):
        raise InputError(
            f"babble needs at least {MINIMUM_TALKERS} different talkers, here are {len(talks)} talks",
            field="talks",
            remedy="give one talk for each of six or more voices that are not callers",
        )
    rng = np.random.default_rng(seed)
    total = np.zeros(length)
    for number, talk in enumerate(talks):
        speech = without_pauses(talk)
        if len(speech) < to_samples(1.0):
            raise InputError(
                f"talk {number} holds less than 1 s of speech", field="talks", remedy="give a longer talk"
            )
        speech = normalise(speech, STREAM_DBOV)
        for _ in range(STREAMS):
            total += _stream(speech, length, rng)
    total *= 10.0 ** ((level_dbov - rms_dbov(total.astype(np.float32))) / 20.0)
    levelled = _level(total, level_dbov)
    if np.max(np.abs(levelled)) >= 1.0:
        raise CheckFailed(f"babble at {level_dbov:g} dBov clips", field="level_dbov", remedy="lower it")
    bed = quantise(levelled.astype(np.float32))
    held = np.maximum(window_power(bed, to_samples(WINDOW_S)), FLOOR)
    off = float(np.max(np.abs(10.0 * np.log10(held) - level_dbov)))
    if off > TOLERANCE_DB:
        raise CheckFailed(
            f"babble strays {off:.2f} dB from {level_dbov:g} dBov",
            field="talks",
            remedy="give longer talks or more talkers",
        )
    return bed


def excerpt(bed: Audio, start_sample: Samples, length: Samples) -> Audio:
    """`length` samples of a looped bed from `start_sample`, wrapping round as often as needed: (length,)."""
    return bed[(start_sample + np.arange(length)) % len(bed)]
