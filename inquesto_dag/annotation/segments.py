"""Speech segments on a near-end track, from the recording alone (PROTOCOL T12, D2, D3).

Silero finds where speech is; the track's level says where exactly it begins and ends. Conventions: times in
s, 16 kHz float32 tracks, segments ordered and disjoint. Silero by itself is late by some 20 ms at onsets and
50 ms at offsets; each edge is therefore moved to the edge of the run of 10 ms frames that lie within 40 dB
of the segment's loudest frame, by at most 0.2 s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import frame_levels
from inquesto_dag.speech.activity import speech_probabilities
from inquesto_dag.speech.interfaces import VAD_FRAME, VoiceActivityDetector
from inquesto_dag.units import SAMPLE_RATE, Audio, Seconds

ENTER, LEAVE = 0.5, 0.35  # Silero's own thresholds
MINIMUM_SPEECH: Seconds = 0.1
MINIMUM_SILENCE: Seconds = 0.1
LEVEL_FRAME: Seconds = 0.01
BELOW_PEAK = 40.0  # dB
FLOOR_DBOV = -65.0  # no frame below it is speech, however quiet the segment
REACH: Seconds = 0.2  # how far an edge may move
CLOSURE: Seconds = 0.06  # a silence this short inside speech is a stop consonant
BRIDGE: Seconds = 0.25  # a doubt this short inside a sound that goes on is no gap ...
BRIDGED = 15.0  # ... if every frame of it lies within so many dB of the loudest
EDGE: Seconds = 1e-9  # times are multiples of a frame


@dataclass(frozen=True)
class Segment:
    """Speech from `start_s` to `end_s`."""

    start_s: Seconds
    end_s: Seconds


def segments_of(
    probabilities: npt.NDArray[np.float64], sounding: Callable[[Segment, Segment], bool] | None = None
) -> list[Segment]:
    """Runs of speech by hysteresis, gaps and runs shorter than 0.1 s left out.

    `sounding(before, after)` says of two runs whether the sound went on between them: then there is no gap.
    """
    step = VAD_FRAME / SAMPLE_RATE
    runs: list[Segment] = []
    start: int | None = None
    for index, probability in enumerate(probabilities):
        if start is None and probability >= ENTER:
            start = index
        elif start is not None and probability < LEAVE:
            runs.append(Segment(start * step, index * step))
            start = None
    if start is not None:
        runs.append(Segment(start * step, len(probabilities) * step))
    merged: list[Segment] = []
    for run in runs:
        before = merged[-1] if merged else None
        if before and (
            run.start_s - before.end_s < MINIMUM_SILENCE - EDGE or (sounding and sounding(before, run))
        ):
            merged[-1] = Segment(before.start_s, run.end_s)
        else:
            merged.append(run)
    return [run for run in merged if run.end_s - run.start_s >= MINIMUM_SPEECH - EDGE]


def find_speech(track: Audio, vad: VoiceActivityDetector) -> list[Segment]:
    """The speech of a near-end track (n,), edges at the level's edges; a silent track has none."""
    if not np.any(track):
        return []
    levels = frame_levels(track, LEVEL_FRAME)
    probabilities = speech_probabilities(track, vad)
    return refine(track, segments_of(probabilities, lambda a, b: goes_on(levels, a, b)))


def goes_on(levels: npt.NDArray[np.float64], before: Segment, after: Segment) -> bool:
    """Whether the level stays at that of speech from one run to the next: Silero doubts a long vowel."""
    if after.start_s - before.end_s > BRIDGE:
        return False
    first, last = round(before.start_s / LEVEL_FRAME), round(after.end_s / LEVEL_FRAME)
    gap = levels[round(before.end_s / LEVEL_FRAME) : round(after.start_s / LEVEL_FRAME)]
    return bool(np.all(gap >= max(float(np.max(levels[first:last])) - BRIDGED, FLOOR_DBOV)))


def refine(track: Audio, segments: Sequence[Segment]) -> list[Segment]:
    """Segments with their edges moved to the edges of the track's level, merged where they then touch."""
    levels = frame_levels(track, LEVEL_FRAME)
    refined: list[Segment] = []
    for segment in segments:
        first = round(segment.start_s / LEVEL_FRAME)
        last = min(round(segment.end_s / LEVEL_FRAME), len(levels))
        if first >= last:
            continue
        loud = levels >= max(float(np.max(levels[first:last])) - BELOW_PEAK, FLOOR_DBOV)
        start = _edge(loud, first)
        end = len(loud) - _edge(loud[::-1], len(loud) - last)
        end_s = min(end * LEVEL_FRAME, len(track) / SAMPLE_RATE)
        moved = Segment(start * LEVEL_FRAME, end_s)
        if moved.end_s <= moved.start_s:
            moved = segment
        if refined and moved.start_s <= refined[-1].end_s:
            refined[-1] = Segment(refined[-1].start_s, max(refined[-1].end_s, moved.end_s))
        else:
            refined.append(moved)
    return refined


def _edge(loud: npt.NDArray[np.bool_], first: int) -> int:
    """The frame at which the loud run around or after frame `first` begins.

    From a loud frame outwards over closures, from a quiet one inwards to the first loud frame; `first` itself
    when nothing is loud within reach.
    """
    reach, closure = round(REACH / LEVEL_FRAME), round(CLOSURE / LEVEL_FRAME)
    if first < len(loud) and not loud[first]:
        inward = np.flatnonzero(loud[first : first + reach])
        outward = np.flatnonzero(loud[max(0, first - closure) : first])
        if len(outward):
            first = max(0, first - closure) + int(outward[-1])
        elif len(inward):
            return first + int(inward[0])
        else:
            return first
    edge, limit = first, max(0, first - reach)
    index = first
    while index > limit and edge - index <= closure:
        index -= 1
        if loud[index]:
            edge = index
    return edge
