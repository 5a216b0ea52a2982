"""A finished call as rows of `calls`, `turns` and `tool_calls`, which together are its trace.

The times here are the simulator's own. Detectors never read them (PROTOCOL D2); they are what the annotation
is measured against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from inquesto_dag.agents.interface import TracedAgent, Utterance
from inquesto_dag.audio.levels import speech_bounds
from inquesto_dag.calls.caller import CallerClock, Spoken
from inquesto_dag.calls.simulate import Recording
from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import canonical_json
from inquesto_dag.protocol.models import Account
from inquesto_dag.units import to_seconds


def call_rows(
    row: Mapping[str, Any],
    agent_id: str,
    timing: str,
    caller: CallerClock,
    agent: TracedAgent,
    account: Account,
    recording: Recording | None,
    error: InfrastructureError | None,
    digests: Mapping[str, str],
) -> dict[str, Any]:
    """The trace: `call`, `turns`, `tool_calls`, what the agent listened to, and the agent's settings."""
    call_id = str(row["call_id"])
    duration = recording.duration_s if recording else 0.0
    turns = _turns(caller, agent, duration) if recording else []
    call = {
        "call_id": call_id,
        "agent": agent_id,
        "duration_s": duration,
        "caller_turns": sum(turn["speaker"] == "caller" for turn in turns),
        "agent_turns": sum(turn["speaker"] == "agent" for turn in turns),
        "ended_by": recording.ended_by if recording else "infrastructure",
        "infrastructure_error": error.problem if error else None,
        "timing": timing,
        "snr_db": recording.snr_db if recording else None,
        "account_after": canonical_json(account.model_dump(mode="json")).decode(),
        "call_sha256": digests["call.flac"],
        "line_sha256": digests["line.flac"],
    }
    return {
        "call": call,
        "turns": [{"call_id": call_id, "turn": number, **turn} for number, turn in enumerate(turns)],
        "tool_calls": [
            {"call_id": call_id, "turn": turn, **tool}
            for turn, tool in zip(agent.tool_turns, agent.tools.rows, strict=False)
        ],
        "listened": [asdict(heard) for heard in agent.listened],
        "agent": agent.trace(),
        **({"infrastructure": _broken_by(error)} if error else {}),
    }


def _broken_by(error: InfrastructureError) -> dict[str, str]:
    """Where it failed, at which field of the agent's file, and what to do next (PROTOCOL D14)."""
    return {"problem": error.problem, "where": error.where, "field": error.field, "remedy": error.remedy}


def _turns(caller: CallerClock, agent: TracedAgent, duration: float) -> list[dict[str, Any]]:
    rows = [_caller_turn(spoken, agent) for spoken in caller.spoken]
    rows += [row for u in agent.utterances if (row := _agent_turn(u, duration)) is not None]
    return sorted(rows, key=lambda turn: (turn["start_s"], turn["speaker"]))


def _caller_turn(spoken: Spoken, agent: TracedAgent) -> dict[str, Any]:
    start, end = to_seconds(spoken.start), to_seconds(spoken.end)
    heard = [h.text for h in agent.listened if start <= (h.start_s + h.end_s) / 2 < end and h.text.strip()]
    return {
        "speaker": "caller",
        "move": spoken.say.move,
        "said": spoken.line.text,
        "heard": " ".join(heard),
        "start_s": start + spoken.line.onset_s,
        "end_s": start + spoken.line.offset_s,
        "endpoint_s": None,
        "recognition_s": None,
        "brain_s": None,
        "synthesis_s": None,
    }


def _agent_turn(utterance: Utterance, duration: float) -> dict[str, Any] | None:
    """None when nothing of it was ever audible: barge-in dropped it, or the call ended first."""
    audible = [(p, s) for p, s in zip(utterance.placements, utterance.sentences, strict=True) if len(p.audio)]
    bounds = [(p, s, *speech_bounds(p.audio)) for p, s in audible]
    bounds = [b for b in bounds if b[3] > b[2] and to_seconds(b[0].start) + b[2] < duration]
    if not bounds:
        return None
    first, last = bounds[0], bounds[-1]
    return {
        "speaker": "agent",
        "move": "greeting" if utterance.greeting else "reply",
        "said": " ".join(sentence for _, sentence, _, _ in bounds),
        "heard": None,
        "start_s": to_seconds(first[0].start) + first[2],
        "end_s": min(to_seconds(last[0].start) + last[3], duration),
        "endpoint_s": utterance.endpoint_s,
        "recognition_s": utterance.recognition_s,
        "brain_s": utterance.brain_s,
        "synthesis_s": utterance.synthesis_s,
    }
