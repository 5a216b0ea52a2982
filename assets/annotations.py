"""Asset `annotations`: speech on both tracks, in order, of recorded calls only (PROTOCOL T12)."""

from collections.abc import Sequence
from pathlib import Path

from assets.calls import LONGEST_S
from assets.suites import Expectation, expect, expect_order
from inquesto_dag.files import read_table

STAGE = "annotations"


def recorded_calls(project: Path, agent: str | None) -> list[str]:
    """Ids of the calls that infrastructure did not break (PROTOCOL D14)."""
    calls = read_table(project / "data" / "calls" / str(agent) / "calls.parquet")
    return list(calls.loc[calls["infrastructure_error"].isna(), "call_id"])


def promise_segments(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Speech ends after it begins; the caller speaks in every recorded call."""
    return [
        expect_order("start_s", "end_s", equal=False),
        expect("ExpectColumnValuesToBeBetween", column="end_s", max_value=LONGEST_S),
        expect(
            "ExpectColumnDistinctValuesToEqualSet", column="call_id", value_set=recorded_calls(project, agent)
        ),
    ]


def promise_transcripts(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Turns end after they begin; only an agent's turn replies, and only a reply has a latency."""
    return [
        expect_order("start_s", "end_s", equal=False),
        expect(
            "ExpectColumnDistinctValuesToEqualSet", column="call_id", value_set=recorded_calls(project, agent)
        ),
        expect(
            "ExpectColumnValuesToBeBetween", column="latency_s", min_value=-LONGEST_S, max_value=LONGEST_S
        ),
        expect_caller_has_no("reply_to"),
        expect_caller_has_no("latency_s"),
    ]


def expect_caller_has_no(column: str) -> Expectation:
    """That a column is empty in the caller's turns."""
    return expect(
        "ExpectColumnValuesToBeNull",
        column=column,
        row_condition='speaker == "caller"',
        condition_parser="pandas",
    )


def promise_heard(project: Path, agent: str | None) -> Sequence[Expectation]:
    """One row a recorded call; no more words are wrong than were said."""
    return [
        expect(
            "ExpectColumnDistinctValuesToEqualSet", column="call_id", value_set=recorded_calls(project, agent)
        ),
        expect_order("substitutions", "reference_words"),
        expect_order("deletions", "reference_words"),
    ]


PROMISES = {"segments": promise_segments, "transcripts": promise_transcripts, "heard": promise_heard}
