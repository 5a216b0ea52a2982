"""Asset `verdicts`: questions of the rubric about every recorded call, by one judge (PROTOCOL T14, D13)."""

from collections.abc import Sequence
from pathlib import Path

from assets.annotations import recorded_calls
from assets.suites import Expectation, expect
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params

STAGE = "verdicts"


def promise_verdicts(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Known questions about recorded calls, reasons given, evidence as JSON, one judge."""
    protocol = load_protocol(project / "data" / "protocols" / load_params(project).protocol)
    return [
        expect(
            "ExpectColumnDistinctValuesToEqualSet", column="call_id", value_set=recorded_calls(project, agent)
        ),
        expect(
            "ExpectColumnValuesToBeInSet", column="question", value_set=[q.id for q in protocol.questions]
        ),
        expect("ExpectColumnUniqueValueCountToBeBetween", column="judge", min_value=1, max_value=1),
        expect("ExpectColumnValuesToBeJsonParseable", column="evidence"),
        expect("ExpectColumnValueLengthsToBeBetween", column="reason", min_value=1),
    ]


PROMISES = {"verdicts": promise_verdicts}
