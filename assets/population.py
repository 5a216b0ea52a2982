"""Asset `population`: all of the slice's calls, every scenario, condition and group among them."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.provenance.params import load_params

STAGE = "population"


def promise_population(project: Path, agent: str | None) -> Sequence[Expectation]:
    """The planned number of calls, and every scenario, condition and group (PROTOCOL P1-P6)."""
    params = load_params(project)
    protocol = load_protocol(project / "data" / "protocols" / params.protocol)
    planned = take_slice(plan_calls(protocol), params.population)
    expected = {
        "call_id": [row["call_id"] for row in planned],
        "scenario_id": [scenario.id for scenario in protocol.scenarios],
        "condition": [condition.id for condition in protocol.conditions],
        "group": [voice.group for voice in protocol.voices],
    }
    return [
        expect("ExpectTableRowCountToEqual", value=len(planned)),
        *(
            expect("ExpectColumnDistinctValuesToEqualSet", column=column, value_set=values)
            for column, values in expected.items()
        ),
    ]


PROMISES = {"population": promise_population}
