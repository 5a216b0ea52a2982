"""Asset `record`: one result a planned call, passed or failed as goal and severity say (PROTOCOL R1)."""

from collections.abc import Sequence
from pathlib import Path

from assets.calls import planned_calls
from assets.suites import Expectation, expect, expect_where
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params

STAGE = "record"


def promise_results(project: Path, agent: str | None) -> Sequence[Expectation]:
    """No call lost; scored calls passed if goal and severity say so and failed if not (PROTOCOL R1, R3)."""
    planned = planned_calls(project)
    protocol = load_protocol(project / "data" / "protocols" / load_params(project).protocol)
    limit = int(protocol.fail_severity[1:])
    passing = f'status == "scored" and goal == True and max_severity < {limit}'
    failing = f'status == "scored" and (goal == False or max_severity >= {limit})'
    return [
        expect("ExpectTableRowCountToEqual", value=len(planned)),
        expect("ExpectColumnDistinctValuesToEqualSet", column="call_id", value_set=planned),
        expect_where('status == "scored"', "ExpectColumnValuesToNotBeNull", column="passed"),
        expect_where('status != "scored"', "ExpectColumnValuesToBeNull", column="passed"),
        expect_where(passing, "ExpectColumnValuesToBeInSet", column="passed", value_set=[True]),
        expect_where(failing, "ExpectColumnValuesToBeInSet", column="passed", value_set=[False]),
        expect("ExpectColumnValuesToBeJsonParseable", column="events"),
        expect("ExpectColumnValueLengthsToBeBetween", column="why", min_value=1),
    ]


PROMISES = {"results": promise_results}
