"""An optional trace beside a recording: its maker's own account of turns and tool calls.

Any JSON object with `turns` (speaker, start_s, end_s, and where known said, heard) and `tool_calls`; the
`trace.json` of this project's calls is one. Times are in s from the start of the recording. They are never
measured with (PROTOCOL D2): the measurement is held against them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inquesto_dag.errors import InputError
from inquesto_dag.events import trace as trace_detector
from inquesto_dag.files import read_json
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.validation.timing import EDGES, time_errors


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TraceTurn(_Loose):
    """One turn by the trace's account."""

    speaker: Literal["caller", "agent"]
    start_s: float = Field(ge=0)
    end_s: float = Field(ge=0)
    said: str | None = None
    heard: str | None = None
    move: str | None = None


class TraceTool(_Loose):
    """One tool call; `arguments` and `result` are JSON values or JSON text."""

    tool: str
    time_s: float = Field(ge=0)
    ok: bool = True
    arguments: Any = None
    result: Any = None


class Trace(_Loose):
    """A trace; both lists may be empty, not both missing."""

    turns: tuple[TraceTurn, ...] = ()
    tool_calls: tuple[TraceTool, ...] = ()


def read_trace(path: Path) -> Trace:
    """A trace file; InputError names the field that is wrong."""
    if not path.is_file():
        raise InputError("does not exist", where=path, remedy="give a JSON file, or leave --trace out")
    data = read_json(path)
    if not isinstance(data, Mapping) or not {"turns", "tool_calls"} & set(data):
        raise InputError(
            "holds neither `turns` nor `tool_calls`", where=path, remedy="give a trace such as calls have"
        )
    try:
        return Trace.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            first["msg"], where=path, field=".".join(str(part) for part in first["loc"]),
            remedy="times in s from the start of the recording, speaker `caller` or `agent`",
        ) from error  # fmt: skip


def trace_events(trace: Trace, protocol: Protocol, call_id: str) -> list[dict[str, Any]]:
    """T10 of the trace's tool calls, by the protocol's tools; who calls is not known, so no T11."""
    rows = [
        {
            "call_id": call_id,
            "index": number,
            "tool": call.tool,
            "time_s": call.time_s,
            "ok": call.ok,
            "result": call.result if isinstance(call.result, str) else json.dumps(call.result),
        }
        for number, call in enumerate(trace.tool_calls)
    ]
    return trace_detector.evaluate(protocol, call_id, "goal_directed", rows)


def against_trace(trace: Trace, turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Errors of measured onsets and offsets in ms, measured minus trace (see `validation.timing`)."""
    return time_errors([turn.model_dump() for turn in trace.turns], turns).summary(EDGES)
