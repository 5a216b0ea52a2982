"""All events of a call that need no judge: T1-T5 from the annotation, T10 and T11 from the trace.

The times that the simulator itself kept are never read (PROTOCOL D2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inquesto_dag.errors import InputError
from inquesto_dag.events import timing, trace
from inquesto_dag.events.rows import Row
from inquesto_dag.protocol.models import Protocol, Scenario


def scenario_of(protocol: Protocol, call_id: str) -> Scenario:
    """The scenario of a call id, `SCENARIO.CONDITION.GROUP`; InputError when the protocol has none such."""
    scenario_id = call_id.split(".")[0]
    for scenario in protocol.scenarios:
        if scenario.id == scenario_id:
            return scenario
    raise InputError(
        f"no scenario {scenario_id!r} in protocol {protocol.version}",
        where=call_id,
        remedy="run the population and calls stages again on one protocol version",
    )


def detect_events(
    protocol: Protocol, call_row: Row, transcripts_rows: Sequence[Row], tool_calls_rows: Sequence[Row]
) -> list[dict[str, Any]]:
    """Events of one call as rows of `tables.EVENTS`, at most one a type.

    `call_row` is its row of `tables.CALLS` (`call_id`, `duration_s`, `ended_by` are read), the others its
    rows of TRANSCRIPTS and TOOL_CALLS. A call that infrastructure broke off has no events (PROTOCOL D14).
    """
    call_id = str(call_row["call_id"])
    scenario = scenario_of(protocol, call_id)
    if call_row["ended_by"] == "infrastructure":
        return []
    return [
        *timing.evaluate(protocol, call_id, transcripts_rows, float(call_row["duration_s"])),
        *trace.evaluate(protocol, call_id, scenario.role, tool_calls_rows),
    ]
