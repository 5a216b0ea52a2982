"""Asset `validation`: what was planted and what was found, with the calls that its report counts."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect
from inquesto_dag.files import read_json

STAGE = "validation"


def promise_probes(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Every probe of the catalogue was placed; its calls are those that the report counts."""
    report = read_json(project / "data" / STAGE / "validation.json")
    return [
        expect(
            "ExpectColumnDistinctValuesToEqualSet",
            column="probe",
            value_set=[probe["id"] for probe in report["probes"] if probe["calls"]],
        ),
        expect("ExpectTableRowCountToEqual", value=report["calls"]),
    ]


PROMISES = {"probes": promise_probes}
