"""Asset `events`: types and severities of the taxonomy (PROTOCOL T1-T13), each with evidence."""

from collections.abc import Sequence
from pathlib import Path

from assets.calls import planned_calls
from assets.suites import Expectation, expect, expect_where
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params

STAGE = "events"


def promise_events(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Known types, each with its fixed severity and one of its sources (PROTOCOL T13)."""
    types = load_protocol(project / "data" / "protocols" / load_params(project).protocol).events
    found = [
        expect("ExpectColumnValuesToBeInSet", column="event", value_set=[kind.name for kind in types]),
        expect("ExpectColumnValuesToBeInSet", column="call_id", value_set=planned_calls(project)),
        expect("ExpectColumnValuesToBeJsonParseable", column="evidence"),
        # The judge's events are joined in the record; here stands what needs no judge.
        expect("ExpectColumnValuesToBeInSet", column="source", value_set=["audio", "transcript", "trace"]),
    ]
    for kind in types:
        rows = f'event == "{kind.name}"'
        found.append(
            expect_where(rows, "ExpectColumnValuesToBeInSet", column="severity", value_set=[kind.severity])
        )
        found.append(
            expect_where(rows, "ExpectColumnValuesToBeInSet", column="source", value_set=list(kind.source))
        )
    return found


PROMISES = {"events": promise_events}
