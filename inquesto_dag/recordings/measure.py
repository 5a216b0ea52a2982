"""Turns, latencies, overlaps and the events T1-T5 of a recording that nobody simulated (PROTOCOL T12, D1-D3).

The annotator and the detectors are those of the chain. Without words T1 is not measured, and says so.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from inquesto_dag.annotation.annotate import annotate
from inquesto_dag.events import timing
from inquesto_dag.events.rows import present
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.recordings.prepare import Prepared, prepare
from inquesto_dag.recordings.read import Recording
from inquesto_dag.recordings.trace import Trace, against_trace, trace_events
from inquesto_dag.speech.interfaces import Recogniser, Recognition, VoiceActivityDetector
from inquesto_dag.units import Audio, Seconds

FORMAT = 1
CALL = "recording"
TIMING_EVENTS = ("T1", "T2", "T3", "T4", "T5")

Row = dict[str, Any]


class NoWords:
    """Reads nothing: for times alone, which need no recogniser."""

    @property
    def identity(self) -> dict[str, Any]:
        """Its name alone."""
        return {"name": "none"}

    def recognise(self, audio: Audio) -> Recognition:
        """No words of any audio."""
        return Recognition("", 0.0)


@dataclass(frozen=True)
class Overlap:
    """Both speak from `start_s` to `end_s`; `began` is who came in last."""

    start_s: Seconds
    end_s: Seconds
    began: str


@dataclass(frozen=True)
class Measured:
    """The measurement as plain rows (`result`), and the tracks that it was made on."""

    result: Row
    prepared: Prepared


def measure(
    recording: Recording,
    vad: VoiceActivityDetector,
    recogniser: Recogniser | None,
    protocol: Protocol,
    trace: Trace | None = None,
) -> Measured:
    """Measure a recording; `recogniser` None leaves words, and so T1, out.

    `result` is plain JSON: `sources`, `tracks` (what was found and done), `segments`, `turns`, `latency`,
    `overlaps`, `events` (rows of `tables.EVENTS` without `call_id`), `not_measured`, and with a trace
    `against_trace`. Raises InputError for what `prepare` refuses.
    """
    prepared = prepare(recording)
    notes = annotate(prepared.stereo(), vad, recogniser or NoWords())
    turns = [{"call_id": CALL, **row} for row in notes.transcripts]
    events = timing.evaluate(protocol, CALL, turns, recording.duration_s)
    if recogniser is None:
        verbose = next(kind.name for kind in protocol.events if kind.id == "T1")
        events = [event for event in events if event["event"] != verbose]
    if trace is not None:
        events += trace_events(trace, protocol, CALL)
    segments = {
        track: [[row["start_s"], row["end_s"]] for row in notes.segments if row["track"] == track]
        for track in ("caller", "agent")
    }
    return Measured(
        {
            "format": FORMAT,
            "protocol": protocol.version,
            "duration_s": recording.duration_s,
            "sources": [asdict(source) for source in recording.sources],
            "notes": [*recording.notes, *_remarks(segments)],
            "tracks": {
                name: {**asdict(found), "done": list(found.done), "warnings": list(found.warnings)}
                for name, found in prepared.notes.items()
            },
            "segments": segments,
            "turns": [dict(row) for row in notes.transcripts],
            "latency": latency_facts(notes.transcripts),
            "overlaps": [asdict(overlap) for overlap in overlaps(notes.transcripts)],
            "events": [_event(event) for event in events],
            "not_measured": ["T1 verbose: no words were read"] if recogniser is None else [],
            "vad": dict(vad.identity),
            "recogniser": None if recogniser is None else dict(recogniser.identity),
            "against_trace": None if trace is None else against_trace(trace, notes.transcripts),
        },
        prepared,
    )


def latency_facts(transcripts: Sequence[Mapping[str, Any]]) -> Row:
    """Number of replies, and their median, least and largest latency in s; None without replies."""
    values = [float(row["latency_s"]) for row in transcripts if present(row["latency_s"])]
    return {
        "replies": len(values),
        "median_s": statistics.median(values) if values else None,
        "min_s": min(values) if values else None,
        "max_s": max(values) if values else None,
    }


def overlaps(turns: Sequence[Mapping[str, Any]]) -> list[Overlap]:
    """Where turns of both sides overlap, by time; `began` is whose turn began later."""
    sides = [[row for row in turns if row["speaker"] == speaker] for speaker in ("caller", "agent")]
    found = [
        Overlap(
            max(a["start_s"], b["start_s"]),
            min(a["end_s"], b["end_s"]),
            "agent" if b["start_s"] > a["start_s"] else "caller",
        )
        for a in sides[0]
        for b in sides[1]
        if min(a["end_s"], b["end_s"]) > max(a["start_s"], b["start_s"])
    ]
    return sorted(found, key=lambda overlap: overlap.start_s)


def _event(row: Mapping[str, Any]) -> Row:
    kept = {key: value for key, value in row.items() if key != "call_id"}
    return {**kept, "evidence": json.loads(kept["evidence"])}


def _remarks(segments: Mapping[str, Sequence[Any]]) -> list[str]:
    return [
        f"no speech was found on the {name}'s track; "
        + ("no latency exists without it" if name == "caller" else "every caller turn is without a reply")
        for name, found in segments.items()
        if not found
    ]
