"""Turns and latencies from speech segments (DESIGN, A call in virtual time; PROTOCOL D1).

Conventions: times in s on the recording. A turn is a run of one speaker's segments whose inner gaps are
shorter than `TURN_GAP` and hold no complete turn of the other. An agent turn belongs to the caller turn that
it follows or overlaps: the last one that began before it. Latency = agent onset - caller offset, negative
when the agent talks over the caller. It is given for every agent turn that begins before its caller turn has
ended, and for the first that begins after: a later one is the agent going on, not a reply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from inquesto_dag.annotation.segments import Segment
from inquesto_dag.units import Seconds

TURN_GAP: Seconds = 1.25

Speaker = Literal["caller", "agent"]


@dataclass(frozen=True)
class Turn:
    """One turn; `reply_to` numbers the caller turn that an agent turn belongs to, None for a greeting."""

    speaker: Speaker
    start_s: Seconds
    end_s: Seconds
    reply_to: int | None = None
    latency_s: Seconds | None = None


def find_turns(caller: Sequence[Segment], agent: Sequence[Segment]) -> list[Turn]:
    """Turns of both speakers by onset; the caller's first where two begin together."""
    agent_runs = _runs(agent, ())
    caller_runs = _runs(caller, agent_runs)
    agent_runs = _runs(agent, caller_runs)
    ordered: list[tuple[Segment, Speaker]] = sorted(
        [(run, "caller") for run in caller_runs] + [(run, "agent") for run in agent_runs],
        key=lambda item: (item[0].start_s, item[1] == "agent"),
    )
    turns: list[Turn] = []
    last_caller: int | None = None
    answered = True
    for run, speaker in ordered:
        if speaker == "caller":
            last_caller, answered = len(turns), False
            turns.append(Turn("caller", run.start_s, run.end_s))
            continue
        latency = None
        if last_caller is not None:
            offset = turns[last_caller].end_s
            if not answered:
                latency = run.start_s - offset
                answered = run.start_s >= offset
        turns.append(Turn("agent", run.start_s, run.end_s, last_caller, latency))
    return turns


def _runs(segments: Sequence[Segment], others: Sequence[Segment]) -> list[Segment]:
    runs: list[Segment] = []
    for segment in segments:
        if runs:
            gap = Segment(runs[-1].end_s, segment.start_s)
            holds_turn = any(o.start_s >= gap.start_s and o.end_s <= gap.end_s for o in others)
            if gap.end_s - gap.start_s < TURN_GAP and not holds_turn:
                runs[-1] = Segment(runs[-1].start_s, max(runs[-1].end_s, segment.end_s))
                continue
        runs.append(segment)
    return runs
