"""Asset `judge_error`: the judge's known error, each share of what it is a share of (PROTOCOL T14)."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect, expect_order

STAGE = "judge_error"


def promise_judge_errors(project: Path, agent: str | None) -> Sequence[Expectation]:
    """No more found than planted, none more silent than clean, one judge at most."""
    return [
        expect_order("found", "planted"),
        expect_order("silent", "clean"),
        expect("ExpectColumnUniqueValueCountToBeBetween", column="judge", max_value=1),
    ]


PROMISES = {"judge_errors": promise_judge_errors}
