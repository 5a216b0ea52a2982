"""Annotate one recording: speech segments, turns with latencies, and what a recogniser reads in each.

Only the recording goes in (PROTOCOL D2): two near-end tracks, one a speaker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from inquesto_dag.annotation.segments import Segment, find_speech
from inquesto_dag.annotation.transcribe import transcribe
from inquesto_dag.annotation.turns import find_turns
from inquesto_dag.errors import InputError
from inquesto_dag.speech.interfaces import Recogniser, VoiceActivityDetector


@dataclass(frozen=True)
class Annotation:
    """Rows of `tables.SEGMENTS` and `tables.TRANSCRIPTS` without `call_id`."""

    segments: list[Mapping[str, Any]]
    transcripts: list[Mapping[str, Any]]


def annotate(
    stereo: npt.NDArray[np.float32], vad: VoiceActivityDetector, recogniser: Recogniser
) -> Annotation:
    """Annotate (n, 2) float32 audio at 16 kHz: left the caller, right the agent.

    InputError when there are not two tracks.
    """
    if stereo.ndim != 2 or stereo.shape[1] != 2:
        raise InputError(
            f"has shape {stereo.shape}; a call has two tracks, left the caller, right the agent",
            where="recording",
            remedy="give a stereo file",
        )
    caller, agent = np.ascontiguousarray(stereo[:, 0]), np.ascontiguousarray(stereo[:, 1])
    speech = {"caller": find_speech(caller, vad), "agent": find_speech(agent, vad)}
    turns = find_turns(speech["caller"], speech["agent"])
    read = transcribe(caller, agent, turns, recogniser)
    return Annotation(
        segments=[row for track, found in speech.items() for row in _segment_rows(track, found)],
        transcripts=[
            {
                "turn": number,
                "speaker": turn.speaker,
                "start_s": turn.start_s,
                "end_s": turn.end_s,
                "reply_to": turn.reply_to,
                "latency_s": turn.latency_s,
                "text": recognition.text,
                "confidence": recognition.confidence,
            }
            for number, (turn, recognition) in enumerate(zip(turns, read, strict=True))
        ],
    )


def _segment_rows(track: str, found: list[Segment]) -> list[Mapping[str, Any]]:
    return [
        {"track": track, "segment": number, "start_s": segment.start_s, "end_s": segment.end_s}
        for number, segment in enumerate(found)
    ]
