"""Asset `verifier`: the threshold lies between holders and impostors in every call (PROTOCOL I2, D11)."""

from collections.abc import Sequence
from pathlib import Path

from assets.suites import Expectation, expect, expect_where
from inquesto_dag.files import read_json

STAGE = "verifier"


def promise_verifier(project: Path, agent: str | None) -> Sequence[Expectation]:
    """Every impostor below the threshold, every caller with an enrolment of their own at it or above."""
    calibrated = read_json(project / "data" / STAGE / "verifier.json")
    threshold, minimum = calibrated["threshold"], calibrated["minimum_speech_s"]
    scored = f"speech_s >= {minimum}"
    return [
        expect("ExpectColumnDistinctValuesToEqualSet", column="kind", value_set=["holder", "impostor"]),
        expect_where(
            f'kind == "impostor" and {scored}',
            "ExpectColumnValuesToBeBetween",
            column="similarity",
            max_value=threshold,
            strict_max=True,
        ),
        expect_where(
            f'kind == "holder" and {scored}',
            "ExpectColumnValuesToBeBetween",
            column="similarity",
            min_value=threshold,
        ),
    ]


PROMISES = {"verifier": promise_verifier}
