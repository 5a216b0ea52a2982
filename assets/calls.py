"""Asset `calls`: one row a planned call, turns that end after they begin, accounts that only count up."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect, expect_order
from inquesto_dag.files import read_table

STAGE = "calls"
LONGEST_S = 900.0


def planned_calls(project: Path) -> list[str]:
    """Ids of the population's calls."""
    return list(read_table(project / "data" / "population" / "population.parquet")["call_id"])


def promise_calls(project: Path, agent: str | None) -> Sequence[Expectation]:
    """No call lost and none added, all of this agent, each as long as its turns need."""
    planned = planned_calls(project)
    return [
        expect("ExpectTableRowCountToEqual", value=len(planned)),
        expect("ExpectColumnDistinctValuesToEqualSet", column="call_id", value_set=planned),
        expect("ExpectColumnValuesToBeInSet", column="agent", value_set=[agent]),
        expect("ExpectColumnValuesToBeBetween", column="duration_s", max_value=LONGEST_S),
        expect("ExpectColumnValuesToBeJsonParseable", column="account_after"),
        expect("ExpectColumnValueLengthsToEqual", column="call_sha256", value=64),
    ]


def promise_turns(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Speech ends after it begins; turns belong to planned calls, and every planned call has some."""
    return [
        expect_order("start_s", "end_s"),
        expect("ExpectColumnValuesToBeInSet", column="call_id", value_set=planned_calls(project)),
        expect("ExpectColumnDistinctValuesToContainSet", column="speaker", value_set=["caller"]),
    ]


def promise_tool_calls(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Versions never go back; arguments and results are JSON."""
    return [
        expect_order("version_before", "version_after"),
        expect("ExpectColumnValuesToBeInSet", column="call_id", value_set=planned_calls(project)),
        expect("ExpectColumnValuesToBeJsonParseable", column="arguments"),
        expect("ExpectColumnValuesToBeJsonParseable", column="result"),
    ]


PROMISES = {"calls": promise_calls, "turns": promise_turns, "tool_calls": promise_tool_calls}
