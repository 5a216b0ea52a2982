"""Levels of speech and where it begins and ends.

Audio is (n,) float32 in [-1, 1); times are in s; levels are in dBov, power relative to full scale
(ITU-T G.100.1), never lower than `SILENCE_DBOV`, so that digital silence is a number and not -inf.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inquesto_dag.errors import CheckFailed
from inquesto_dag.units import SAMPLE_RATE, Audio, Seconds, to_samples, to_seconds

SILENCE_DBOV = -120.0  # stands for "no signal"; one 16-bit step is -90.3 dBov

# ITU-T P.56 (12/2011), method B
TIME_CONSTANT_S = 0.03
HANGOVER_S = 0.2
MARGIN_DB = 15.9
THRESHOLDS = 2.0 ** np.arange(-15, 0)  # of full scale, 6.02 dB apart

FADE_S = 0.005


class ActiveLevel(NamedTuple):
    """Active speech level in dBov, activity factor in [0, 1], and the threshold of activity in dBov."""

    level_dbov: float
    activity: float
    threshold_dbov: float


def power_dbov(power: float) -> float:
    """Mean square of full scale as dBov, floored at SILENCE_DBOV."""
    return max(10.0 * math.log10(power), SILENCE_DBOV) if power > 0.0 else SILENCE_DBOV


def rms_dbov(audio: Audio) -> float:
    """Long-term level in dBov; SILENCE_DBOV for no samples."""
    return power_dbov(float(np.mean(np.square(audio, dtype=np.float64)))) if len(audio) else SILENCE_DBOV


def frame_levels(audio: Audio, frame_s: Seconds = 0.01) -> npt.NDArray[np.float64]:
    """Level in dBov of successive frames: (ceil(n / frame),); a last part frame is averaged by itself."""
    size = to_samples(frame_s)
    if not len(audio):
        return np.zeros(0)
    starts = np.arange(0, len(audio), size)
    energy = np.add.reduceat(np.square(audio, dtype=np.float64), starts)
    counts = np.diff(np.append(starts, len(audio)))
    floor = 10.0 ** (SILENCE_DBOV / 10.0)
    levels: npt.NDArray[np.float64] = 10.0 * np.log10(np.maximum(energy / counts, floor))
    return levels


def _envelope(audio: Audio, rate: int) -> npt.NDArray[np.float64]:
    """The envelope of P.56: rectified, then twice exponentially averaged with a time constant of 0.03 s."""
    from scipy.signal import lfilter

    decay = math.exp(-1.0 / (rate * TIME_CONSTANT_S))
    twice = np.convolve([1.0, -decay], [1.0, -decay])
    envelope: npt.NDArray[np.float64] = lfilter(
        [(1.0 - decay) ** 2], twice, np.abs(np.asarray(audio, np.float64))
    )
    return envelope


def _held(above: npt.NDArray[np.bool_], hold: int) -> npt.NDArray[np.bool_]:
    """Where a sample or one of the `hold` samples before it is above."""
    index = np.arange(len(above))
    last = np.maximum.accumulate(np.where(above, index, -hold - 1))
    held: npt.NDArray[np.bool_] = index - last <= hold
    return held


def active_speech_level(audio: Audio, rate: int = SAMPLE_RATE) -> ActiveLevel:
    """Active speech level of audio (n,) at `rate` Hz (ITU-T P.56, method B).

    The level at which active speech lies 15.9 dB above the threshold that counts it as active, interpolated
    between thresholds 6 dB apart. No samples, digital silence, or an envelope that never reaches the lowest
    threshold: (SILENCE_DBOV, 0.0, SILENCE_DBOV). A signal too weak for the margin to be met at the lowest
    threshold has its level there.
    """
    energy = float(np.sum(np.square(audio, dtype=np.float64)))
    silent = ActiveLevel(SILENCE_DBOV, 0.0, SILENCE_DBOV)
    if energy == 0.0:
        return silent
    envelope, hold = _envelope(audio, rate), math.ceil(rate * HANGOVER_S)
    before: tuple[float, float] | None = None  # (level, threshold) at the last threshold, dBov
    for threshold in THRESHOLDS:
        count = int(np.count_nonzero(_held(envelope >= threshold, hold)))
        if count == 0:
            break
        here = power_dbov(energy / count), float(20.0 * np.log10(threshold))
        excess = here[0] - here[1] - MARGIN_DB
        if excess <= 0.0:
            share = 1.0
            if before is not None:
                excess_before = before[0] - before[1] - MARGIN_DB
                share = excess_before / (excess_before - excess)
            else:
                before = here
            level = before[0] + share * (here[0] - before[0])
            divider = before[1] + share * (here[1] - before[1])
            return ActiveLevel(level, min(1.0, energy / len(audio) / 10.0 ** (level / 10.0)), divider)
        before = here
    if before is None:
        return silent
    # The envelope ends before the margin is met: a few clicks. The highest threshold that counts them holds.
    return ActiveLevel(before[0], energy / len(audio) / 10.0 ** (before[0] / 10.0), before[1])


def active_samples(audio: Audio, rate: int = SAMPLE_RATE) -> npt.NDArray[np.bool_]:
    """Which samples are active speech (ITU-T P.56): (n,) bool, envelope over the threshold or 0.2 s after."""
    measured = active_speech_level(audio, rate)
    if measured.activity == 0.0:
        return np.zeros(len(audio), np.bool_)
    divider = 10.0 ** (measured.threshold_dbov / 20.0)
    return _held(_envelope(audio, rate) >= divider, math.ceil(rate * HANGOVER_S))


def normalise(audio: Audio, target_dbov: float) -> Audio:
    """Audio scaled to an active speech level (ITU-T P.56) within 0.01 dB; silence is returned as it is.

    Raises CheckFailed when a sample would reach full scale: clipped speech has another level and spectrum.
    """
    scaled = np.asarray(audio, np.float32)
    for _ in range(4):  # thresholds are fixed in dBov, so the measured level moves a little with the gain
        measured = active_speech_level(scaled)
        if measured.activity == 0.0 or abs(measured.level_dbov - target_dbov) < 0.005:
            break
        scaled = (scaled * 10.0 ** ((target_dbov - measured.level_dbov) / 20.0)).astype(np.float32)
    peak = float(np.max(np.abs(scaled), initial=0.0))
    if peak >= 1.0:
        raise CheckFailed(
            f"speech at {target_dbov:g} dBov would clip: it peaks at {20 * math.log10(peak):+.1f} dB",
            field="level_dbov",
            remedy="choose a lower level; -26 dBov leaves room for any speech",
        )
    return scaled


def speech_bounds(audio: Audio, below_peak_db: float = 40.0) -> tuple[Seconds, Seconds]:
    """(onset, offset) in s: start of the first and end of the last 10 ms frame within 40 dB of the loudest.

    (0.0, 0.0) for no samples or digital silence.
    """
    levels = frame_levels(audio)
    if not len(levels) or levels.max() <= SILENCE_DBOV:
        return 0.0, 0.0
    frames = np.flatnonzero(levels >= levels.max() - below_peak_db)
    size = to_samples(0.01)
    onset, offset = int(frames[0]) * size, min((int(frames[-1]) + 1) * size, len(audio))
    return to_seconds(onset), to_seconds(offset)


def trim_to_speech(audio: Audio, margin_s: Seconds = 0.03) -> Audio:
    """Audio cut to its speech bounds and at most `margin_s` on either side, faded to zero at both edges.

    Silence becomes (0,). Fades are 5 ms raised cosines, inside the margin where there is one.
    """
    onset, offset = speech_bounds(audio)
    if offset <= onset:
        return np.zeros(0, np.float32)
    start = max(0, to_samples(onset - margin_s))
    cut = np.array(audio[start : to_samples(offset + margin_s)], np.float32)
    fade = min(to_samples(FADE_S), len(cut) // 2)
    if fade:
        ramp = (0.5 - 0.5 * np.cos(np.pi * np.arange(fade) / fade)).astype(np.float32)
        cut[:fade] *= ramp
        cut[-fade:] *= ramp[::-1]
    return cut
