"""What a recogniser reads in each turn of a recording.

A turn is read with `MARGIN` around it. Digital silence at its edges is then cut to a fixed length, so that
the same utterance at another place of another call is the same audio, and is recognised once.
"""

from __future__ import annotations

import numpy as np

from inquesto_dag.annotation.turns import Turn
from inquesto_dag.speech.interfaces import Recogniser, Recognition
from inquesto_dag.units import Audio, Seconds, to_samples

MARGIN: Seconds = 0.2


def cut_turn(track: Audio, turn: Turn) -> Audio:
    """The audio of a turn on its own track, (n,) float32 at 16 kHz."""
    margin = to_samples(MARGIN)
    start = max(0, to_samples(turn.start_s) - margin)
    cut = track[start : to_samples(turn.end_s) + margin]
    sounding = np.flatnonzero(cut)
    if not len(sounding):
        return cut
    silence = np.zeros(margin, np.float32)
    return np.concatenate([silence, cut[sounding[0] : sounding[-1] + 1], silence])


def transcribe(caller: Audio, agent: Audio, turns: list[Turn], recogniser: Recogniser) -> list[Recognition]:
    """One recognition a turn, read on the turn's own near-end track."""
    return [
        recogniser.recognise(cut_turn(caller if turn.speaker == "caller" else agent, turn)) for turn in turns
    ]
