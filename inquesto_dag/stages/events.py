"""Stage `events`: what the recording, its transcript and the trace show (PROTOCOL T1-T5, T10, T11)."""

from __future__ import annotations

from typing import Any

from inquesto_dag.events.detect import detect_events
from inquesto_dag.stages.context import StageContext, rows_by_call
from inquesto_dag.tables import EVENTS


def run(ctx: StageContext) -> None:
    """Write `events`."""
    events = find_events(ctx)
    with ctx.output() as folder:
        ctx.write(folder, EVENTS, events)


def find_events(ctx: StageContext) -> list[dict[str, Any]]:
    """The events of every call, rows of `tables.EVENTS`, from the tables before this stage."""
    agent = ctx.required_agent()
    turns = rows_by_call(ctx.rows("transcripts", "annotations", agent))
    tool_calls = rows_by_call(ctx.rows("tool_calls", "calls", agent))
    return [
        event
        for call in ctx.rows("calls", "calls", agent)
        for event in detect_events(
            ctx.protocol, call, turns.get(call["call_id"], []), tool_calls.get(call["call_id"], [])
        )
    ]
