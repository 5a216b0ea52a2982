"""Timing events T1-T5 of one call, from its annotation alone (PROTOCOL T12, D1-D3).

Conventions: turns are rows of `tables.TRANSCRIPTS` of one call, times in s from the start of the recording.
Latency = agent speech onset - caller speech offset, so the endpointing wait is part of it (D1) and talking
over the caller makes it negative; a greeting has none. A latency may be given for more than one agent turn of
a reply: each agent turn that begins before the caller has ended, and the first that begins after.
Talk-over: an agent turn whose latency is -0.5 s or less, whatever agent turn of the reply it is.
No reply: a caller turn to which no agent turn belongs and after which nobody speaks for longer than T4's
threshold, until the caller speaks again or the recording ends. So a caller who hangs up within 3 s, or goes
on after a breath, was not left without a reply. Comparisons with a threshold allow 1 microsecond, since times
lie on a grid of samples (62.5 microseconds).
Every metric of an empty input is decided: no replies give no median and no event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import median
from typing import Any

from inquesto_dag.errors import CheckFailed
from inquesto_dag.events.rows import Row, present
from inquesto_dag.protocol.models import EventType, Protocol
from inquesto_dag.units import Seconds

EDGE: Seconds = 1e-6
_WORD = re.compile(r"[^\W_]+(?:['’.@-][^\W_]+)*")


@dataclass(frozen=True)
class Reply:
    """An agent turn that answers a caller turn, or talks over it: its latency in s and its onset in s."""

    turn: int
    caller_turn: int
    latency_s: Seconds
    start_s: Seconds


@dataclass(frozen=True)
class Silence:
    """A caller turn without a reply, and how long in s the caller waited from `start_s` on."""

    caller_turn: int
    start_s: Seconds
    waited_s: Seconds


def validate(turns: Sequence[Row], duration_s: Seconds) -> None:
    """CheckFailed when the turns cannot be those of one recording: order, bounds, references."""
    previous = -1
    callers = {int(row["turn"]) for row in turns if row["speaker"] == "caller"}
    for row in turns:
        where = f"transcripts of {row['call_id']}, turn {row['turn']}"
        if int(row["turn"]) <= previous:
            raise CheckFailed("turns are not in ascending order", where=where)
        previous = int(row["turn"])
        if not 0 <= row["start_s"] <= row["end_s"] <= duration_s + 0.1:
            raise CheckFailed(
                f"lies at {row['start_s']}-{row['end_s']} s in a recording of {duration_s} s", where=where
            )
        if present(row["latency_s"]) and not present(row["reply_to"]):
            raise CheckFailed("has a latency, but no caller turn that it replies to", where=where)
        if present(row["reply_to"]) and int(row["reply_to"]) not in callers:
            raise CheckFailed(f"replies to turn {row['reply_to']}, which is no caller turn", where=where)


def replies(turns: Sequence[Row]) -> list[Reply]:
    """Agent turns that have a latency, in order of onset."""
    return [
        Reply(int(row["turn"]), int(row["reply_to"]), float(row["latency_s"]), float(row["start_s"]))
        for row in turns
        if row["speaker"] == "agent" and present(row["latency_s"])
    ]


def agent_turns(turns: Sequence[Row]) -> int:
    """How many turns the agent had, greetings included."""
    return sum(row["speaker"] == "agent" for row in turns)


def talk_overs(turns: Sequence[Row], at_least_s: Seconds) -> list[Reply]:
    """Agent turns that began `at_least_s` or more before the caller's speech ended (PROTOCOL T3)."""
    return [reply for reply in replies(turns) if reply.latency_s <= -at_least_s + EDGE]


def median_latency(turns: Sequence[Row]) -> Seconds | None:
    """The median latency in s of all replies (PROTOCOL T2); None without replies."""
    latencies = [reply.latency_s for reply in replies(turns)]
    return median(latencies) if latencies else None


def slow_replies(turns: Sequence[Row], longer_than_s: Seconds) -> list[Reply]:
    """Replies that began more than `longer_than_s` after the caller stopped (PROTOCOL T4)."""
    return [reply for reply in replies(turns) if reply.latency_s > longer_than_s + EDGE]


def missing_replies(turns: Sequence[Row], duration_s: Seconds, longer_than_s: Seconds) -> list[Silence]:
    """Caller turns that were left without a reply for more than `longer_than_s` (PROTOCOL T4)."""
    answered = {int(row["reply_to"]) for row in turns if present(row["reply_to"])}
    callers = [row for row in turns if row["speaker"] == "caller"]
    silences = []
    for row, following in zip_longest(callers, callers[1:]):
        until = duration_s if following is None else float(following["start_s"])
        waited = until - float(row["end_s"])
        if int(row["turn"]) not in answered and waited > longer_than_s + EDGE:
            silences.append(Silence(int(row["turn"]), float(row["end_s"]), waited))
    return silences


def count_words(text: str) -> int:
    """Words of a text as T1 counts them: runs of letters and digits, `e-mail` and `we'll` being one each."""
    return len(_WORD.findall(text))


def words_per_turn(turns: Sequence[Row]) -> float | None:
    """Mean words of an agent turn by its transcript (PROTOCOL T1); None without agent turns."""
    counts = [count_words(str(row["text"])) for row in turns if row["speaker"] == "agent"]
    return sum(counts) / len(counts) if counts else None


def evaluate(
    protocol: Protocol, call_id: str, turns: Sequence[Row], duration_s: Seconds
) -> list[dict[str, Any]]:
    """T1-T5 of one call as rows of `tables.EVENTS`, at most one a type; T5 replaces T3 (PROTOCOL T5).

    Thresholds and severities are the protocol's (T13). Raises CheckFailed for turns that `validate` refuses.
    """
    ordered = sorted(turns, key=lambda row: int(row["turn"]))
    validate(ordered, duration_s)
    types = {event.id: event for event in protocol.events}
    found = [
        _verbose(types["T1"], ordered),
        _slow_median(types["T2"], ordered),
        _talk_over(types["T3"], types["T5"], ordered),
        _slow_turn(types["T4"], ordered, duration_s),
    ]
    return [{"call_id": call_id, **row} for row in found if row is not None]


def _verbose(kind: EventType, turns: Sequence[Row]) -> dict[str, Any] | None:
    mean, limit = words_per_turn(turns), _threshold(kind)
    if mean is None or mean <= limit:
        return None
    agent = [row for row in turns if row["speaker"] == "agent"]
    longest = max(agent, key=lambda row: count_words(str(row["text"])))
    return _event(
        kind,
        "transcript",
        longest["start_s"],
        mean,
        {"agent_turns": len(agent), "longest_turn": int(longest["turn"])},
    )


def _slow_median(kind: EventType, turns: Sequence[Row]) -> dict[str, Any] | None:
    middle, limit = median_latency(turns), _threshold(kind)
    if middle is None or middle <= limit + EDGE:
        return None
    given = replies(turns)
    worst = max(given, key=lambda reply: reply.latency_s)
    latencies = {str(reply.turn): round(reply.latency_s, 4) for reply in given}
    return _event(kind, "audio", worst.start_s - worst.latency_s, middle, {"latencies_s": latencies})


def _talk_over(single: EventType, repeated: EventType, turns: Sequence[Row]) -> dict[str, Any] | None:
    over = talk_overs(turns, _threshold(single))
    if not over:
        return None
    worst = min(over, key=lambda reply: reply.latency_s)
    evidence: dict[str, Any] = {
        "track": "agent",
        "turns": [reply.turn for reply in over],
        "latencies_s": {str(reply.turn): round(reply.latency_s, 4) for reply in over},
        "agent_turns": agent_turns(turns),
    }
    share = len(over) / agent_turns(turns)
    if len(over) >= (repeated.minimum_count or 1) and share >= _threshold(repeated) - EDGE:
        return _event(repeated, "audio", over[0].start_s, share, evidence)
    return _event(single, "audio", worst.start_s, -worst.latency_s, evidence)


def _slow_turn(kind: EventType, turns: Sequence[Row], duration_s: Seconds) -> dict[str, Any] | None:
    limit = _threshold(kind)
    slow, missing = slow_replies(turns, limit), missing_replies(turns, duration_s, limit)
    waits = [(reply.latency_s, reply.start_s - reply.latency_s) for reply in slow]
    waits += [(silence.waited_s, silence.start_s) for silence in missing]
    if not waits:
        return None
    value, time_s = max(waits)
    evidence = {
        "slow_turns": {str(reply.turn): round(reply.latency_s, 4) for reply in slow},
        "without_reply": {str(silence.caller_turn): round(silence.waited_s, 4) for silence in missing},
    }
    return _event(kind, "audio", time_s, value, evidence)


def _threshold(kind: EventType) -> float:
    if kind.threshold is None:
        raise CheckFailed(
            "has no threshold", where="events.yaml", field=kind.name, remedy="state its threshold"
        )
    return kind.threshold


def _event(
    kind: EventType, source: str, time_s: Seconds, value: float, evidence: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "event": kind.name,
        "severity": kind.severity,
        "source": source,
        "time_s": float(time_s),
        "value": round(float(value), 6),
        "threshold": kind.threshold,
        "unit": kind.unit,
        "evidence": json.dumps(evidence, sort_keys=True),
    }
