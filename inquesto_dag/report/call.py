"""One call as its page needs it: tracks, segments, replies, transcript, tool calls, events, verdicts.

Times in s from the start of the recording. Replies and their latencies come from the annotation alone
(PROTOCOL T12, D2); the simulator's own times are shown beside them and named as such.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.account import diff, leaves
from inquesto_dag.errors import CheckFailed
from inquesto_dag.protocol.models import Account, Protocol
from inquesto_dag.report.brain import TIMES, describe_brain, read_trace, reply_times
from inquesto_dag.report.rows import Row, parsed
from inquesto_dag.report.waveform import draw_waveform
from inquesto_dag.report.wording import compare

if TYPE_CHECKING:
    from inquesto_dag.agents.config import Prices

COMPONENTS = ("recognition_s", "brain_s", "synthesis_s")
OWN_TIMES = ("endpoint_s", *COMPONENTS, *TIMES, "first_audio_s")


@dataclass(frozen=True)
class CallRows:
    """A call's rows of every table; lists are in the order of their key."""

    population: Row
    call: Row
    result: Row
    turns: Sequence[Row] = field(default_factory=list)
    tool_calls: Sequence[Row] = field(default_factory=list)
    segments: Sequence[Row] = field(default_factory=list)
    transcripts: Sequence[Row] = field(default_factory=list)
    events: Sequence[Row] = field(default_factory=list)
    verdicts: Sequence[Row] = field(default_factory=list)


@dataclass(frozen=True)
class Recording:
    """Where a call's sound lies on this machine, and as which links its page names it."""

    folder: Path
    call_link: str
    line_link: str


def describe_call(
    rows: CallRows, recording: Recording | None, protocol: Protocol, prices: Prices | None = None
) -> Row:
    """Everything that the page shows of one call, as plain JSON values.

    `recording` is None for a call that has none (infrastructure failure). Raises InputError for a missing or
    damaged FLAC, CheckFailed when the two files are not one recording.
    """
    call_id = str(rows.call["call_id"])
    trace = {} if recording is None else read_trace(recording.folder)
    times = reply_times(trace)
    return {
        "brain": describe_brain(trace, prices),
        "id": call_id,
        "trail": explain_command(str(rows.call["agent"]), call_id),
        "duration": rows.call["duration_s"],
        "timing": rows.call["timing"],
        "ended_by": rows.call["ended_by"],
        "infrastructure_error": rows.call["infrastructure_error"],
        "snr_db": rows.call["snr_db"],
        "population": {key: value for key, value in rows.population.items() if key != "call_id"},
        "result": {
            key: parsed(value) if key == "events" else value
            for key, value in rows.result.items()
            if key
            in ("status", "goal_state", "goal_judged", "goal", "events", "max_severity", "passed", "why")
        },
        "scenario": _scenario(str(rows.population["scenario_id"]), protocol),
        "audio": None if recording is None else {"call": recording.call_link, "line": recording.line_link},
        "tracks": None if recording is None else _tracks(recording, call_id),
        "segments": {
            track: [[row["start_s"], row["end_s"]] for row in rows.segments if row["track"] == track]
            for track in ("caller", "agent")
        },
        "replies": replies(rows.transcripts),
        "turns": transcript(rows.transcripts, [_with_times(row, times) for row in rows.turns]),
        "tools": [
            {
                **{key: row[key] for key in ("index", "turn", "time_s", "tool", "ok")},
                "arguments": parsed(row["arguments"]),
                "result": parsed(row["result"]),
                "versions": [row["version_before"], row["version_after"]],
            }
            for row in rows.tool_calls
        ],
        "events": [_event(row, protocol) for row in _by_severity(rows.events)],
        "verdicts": [_verdict(row, protocol) for row in rows.verdicts],
        "changes": _changes(protocol.account, Account.model_validate_json(rows.call["account_after"])),
    }


def explain_command(agent: str, call_id: str) -> str:
    """The command that walks a call of an agent's record back to its sound, as typed in the project."""
    return f"inquesto-dag explain data/record/{agent}/record.json {call_id}"


def replies(transcripts: Sequence[Row]) -> list[Row]:
    """Each reply that has a latency: the caller turn's offset, the agent's onset, and the difference."""
    ends = {row["turn"]: row["end_s"] for row in transcripts if row["speaker"] == "caller"}
    return [
        {
            "turn": row["turn"],
            "reply_to": row["reply_to"],
            "offset": ends[row["reply_to"]] if row["reply_to"] in ends else row["start_s"] - row["latency_s"],
            "onset": row["start_s"],
            "latency": row["latency_s"],
        }
        for row in transcripts
        if row["speaker"] == "agent" and row["latency_s"] is not None
    ]


def median_latency(transcripts: Sequence[Row]) -> float | None:
    """Median reply latency in s; None for a call without a reply."""
    values = [row["latency"] for row in replies(transcripts)]
    return statistics.median(values) if values else None


def transcript(transcripts: Sequence[Row], turns: Sequence[Row]) -> list[Row]:
    """Turns by onset: what the recording holds, and with it what was given to the TTS and what was heard.

    A turn of the simulator belongs to the annotated turn of its speaker that it overlaps most; one that
    overlaps none stands alone, marked as not found on the recording.
    """
    annotated = [
        {
            "turn": row["turn"],
            "speaker": row["speaker"],
            "start": row["start_s"],
            "end": row["end_s"],
            "text": row["text"],
            "confidence": row["confidence"],
            "latency": row["latency_s"],
            "reply_to": row["reply_to"],
            "found": True,
            "own": [],
        }
        for row in transcripts
    ]
    alone = []
    for row in turns:
        own = _own_turn(row)
        home = max(
            (item for item in annotated if item["speaker"] == row["speaker"]),
            key=lambda item: _overlap(item, own),
            default=None,
        )
        if home is None or _overlap(home, own) <= 0:
            alone.append(
                {
                    "turn": None,
                    "speaker": row["speaker"],
                    "start": own["start"],
                    "end": own["end"],
                    "text": None,
                    "confidence": None,
                    "latency": None,
                    "reply_to": None,
                    "found": False,
                    "own": [own],
                }
            )
        else:
            home["own"].append(own)
    return sorted(annotated + alone, key=lambda item: (item["start"], item["end"]))


def _with_times(row: Row, times: Mapping[float, Row]) -> Row:
    """A turn's row with the times of its reply: of its model, and from the endpoint to its first audio."""
    if any(row.get(name) is None for name in (*COMPONENTS, "endpoint_s")):
        return row
    first_audio_s = sum(float(row[name]) for name in COMPONENTS)
    return {**row, **times.get(row["endpoint_s"], {}), "first_audio_s": first_audio_s}


def _own_turn(row: Row) -> Row:
    heard = row["heard"]
    pieces = None if heard is None or row["speaker"] != "caller" else compare(row["said"], heard)
    return {
        "turn": row["turn"],
        "move": row["move"],
        "said": row["said"],
        "heard": heard,
        "pieces": None if pieces is None else [[piece.mark, piece.heard, piece.said] for piece in pieces],
        "start": row["start_s"],
        "end": row["end_s"],
        "times": {name: row[name] for name in OWN_TIMES if row.get(name) is not None},
    }


def _overlap(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    return float(min(one["end"], other["end"]) - max(one["start"], other["start"]))


def _tracks(recording: Recording, call_id: str) -> Row:
    from inquesto_dag.audio.files import read_flac

    both = read_flac(recording.folder / "call.flac")
    line = read_flac(recording.folder / "line.flac")
    if both.ndim != 2 or line.ndim != 1 or len(both) != len(line):
        raise CheckFailed(
            f"call.flac {both.shape} and line.flac {line.shape} are not one recording: (n, 2) and (n,)",
            where=recording.folder,
            field=call_id,
            remedy="run the `calls` stage of this agent again",
        )
    audio = {"caller": both[:, 0], "line": line, "agent": both[:, 1]}
    return {name: draw_waveform(samples).encoded() for name, samples in audio.items()}


def _by_severity(events: Sequence[Row]) -> list[Row]:
    return sorted(events, key=lambda row: (row["severity"], row["event"]), reverse=True)


def _event(row: Row, protocol: Protocol) -> Row:
    kind = next((kind for kind in protocol.events if kind.name == row["event"]), None)
    return {
        **{key: row[key] for key in ("event", "severity", "source", "time_s", "value", "threshold", "unit")},
        "evidence": parsed(row["evidence"]),
        "definition": None if kind is None else kind.definition,
        "clause": None if kind is None else kind.id,
    }


def _verdict(row: Row, protocol: Protocol) -> Row:
    questions = {question.id: question.text for question in protocol.questions}
    return {
        **{key: row[key] for key in ("question", "answer", "reason", "judge", "attempts")},
        "text": questions.get(str(row["question"])),
        "evidence": parsed(row["evidence"]),
    }


def _scenario(scenario_id: str, protocol: Protocol) -> Row | None:
    scenario = next((scenario for scenario in protocol.scenarios if scenario.id == scenario_id), None)
    if scenario is None:
        return None
    action = scenario.required_action
    return {
        "goal": scenario.goal,
        "required_action": None if action is None else {"tool": action.tool, "arguments": action.arguments},
        "corrects": None if scenario.corrects is None else scenario.corrects.model_dump(mode="json"),
    }


def _changes(before: Account, after: Account) -> list[Row]:
    old = leaves(before)
    return [
        {"path": path, "before": old.get(path), "after": value} for path, value in diff(before, after).items()
    ]
