"""Asset `validation`: probes of the catalogue in planned calls; a call counts, or says why it does not."""

from collections.abc import Sequence
from pathlib import Path

from assets.calls import planned_calls
from assets.suites import Expectation, expect, expect_where
from inquesto_dag.validation.probes.catalogue import PROBES

STAGE = "validation"


def promise_probes(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Known probes, planned calls, one of them at least; events as JSON; a fault where a call went wrong."""
    return [
        expect("ExpectTableRowCountToBeBetween", min_value=1),
        expect("ExpectColumnValuesToBeInSet", column="probe", value_set=[probe.id for probe in PROBES]),
        expect("ExpectColumnValuesToBeInSet", column="call_id", value_set=planned_calls(project)),
        *(
            expect("ExpectColumnValuesToBeJsonParseable", column=column)
            for column in ("planted", "open", "found")
        ),
        expect_where("realised == True", "ExpectColumnValuesToBeNull", column="fault"),
        expect_where("realised == False", "ExpectColumnValuesToNotBeNull", column="fault"),
        expect("ExpectColumnValueLengthsToEqual", column="call_sha256", value=64),
    ]


PROMISES = {"probes": promise_probes}
