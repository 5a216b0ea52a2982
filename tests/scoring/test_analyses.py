"""Analyses A1-A3, A5, A6: definitions checked on the published tables, and on small cases."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from inquesto_dag.scoring import analyses
from tests.scoring.sample import event_row
from tests.scoring.test_rate import PUBLISHED, ROWS, counts_of

Row = dict[str, Any]


def result(call_id: str, *, goal: bool = True, worst: int = 0, status: str = "scored") -> Row:
    """As much of a row of RESULTS as the analyses read."""
    judged = goal if status == "scored" else None
    return {
        "call_id": call_id,
        "status": status,
        "goal": judged,
        "goal_state": goal,
        "max_severity": worst,
        "passed": None if judged is None else judged and worst < 3,
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['model']}-{r['serving']}-{r['endpointing_ms']}")
def test_A1_audio_only_failures_are_the_difference_that_the_tables_show(row: dict[str, str]) -> None:
    """In each published row the two halves of A1 say the same: passes + audio-only = tx-only passes."""
    (passes,) = counts_of(row)
    without_audio = 100 * (passes + int(row["audio_only_failures"])) / 306
    assert round(round(without_audio, 1)) == int(row["transcript_only_score"])


def test_A1_removes_audio_events_and_nothing_else() -> None:
    """A call that failed on audio alone passes; one that failed its goal, or on more, does not."""
    results = [
        result("a", worst=3),
        result("b", worst=4),
        result("c", goal=False, worst=3),
        result("d", worst=2),
        result("e", worst=5),
        result("f", worst=3),
    ]
    events = [
        event_row("a", "slow_turn"),
        event_row("b", "slow_turn"),
        event_row("b", "wrong_information"),
        event_row("c", "slow_turn"),
        event_row("d", "talk_over"),
        event_row("e", "unverified_action", "trace"),
        {**event_row("f", "verbose", "transcript"), "severity": "S3"},
    ]
    rate = analyses.transcript_only(results, events, 3)
    assert (rate.passes, rate.n) == (2, 6)
    assert analyses.audio_only_failures(results, events, 3) == 1


def test_A2_published_thresholds_never_fall() -> None:
    """A laxer threshold never lowers a rate, in the published table as here."""
    for row in csv.DictReader((PUBLISHED / "table3.csv").open(encoding="utf-8")):
        values = [int(row[name]) for name in ("s2_plus", "s3_plus", "s4_plus", "s5")]
        assert values == sorted(values)
    results = [result(str(worst), worst=worst) for worst in range(6)]
    rates = analyses.thresholds(results)
    assert [rates[name].passes for name in ("s2_plus", "s3_plus", "s4_plus", "s5")] == [2, 3, 4, 5]


def test_A2_the_goal_counts_under_every_threshold() -> None:
    """No threshold passes a call that failed its goal."""
    assert {rate.passes for rate in analyses.thresholds([result("a", goal=False)]).values()} == {0}


def test_A3_combinations_on_a_published_row() -> None:
    """42, 46, 39 and 41 give a mean of 42, a minimum of 39, and the geometric mean between."""
    found = analyses.combinations([42, 46, 39, 41])
    assert found["mean"] == 42 and found["minimum"] == 39
    assert found["geometric_mean"] == pytest.approx(41.92, abs=0.01)
    assert analyses.combinations([50, 0, 50, 50])["geometric_mean"] == 0


def test_A3_published_mean_shifts() -> None:
    """Over the 13 configurations the combinations shift the score as the text says."""
    text = {
        r["quantity"]: float(r["value"])
        for r in csv.DictReader((PUBLISHED / "text.csv").open(encoding="utf-8"))
    }
    for name in ("mean", "geometric_mean", "minimum"):
        shifts = []
        for row in ROWS:
            views = [float(row[view]) for view in ("behavior", "robustness", "identity", "fairness")]
            value = analyses.combinations(views)[name]
            assert value is not None
            shifts.append(value - float(row["score"]))
        assert sum(shifts) / len(shifts) == pytest.approx(text[f"view_{name}_shift"], abs=0.3)


def test_A3_a_missing_view_cannot_be_combined() -> None:
    """None, rather than a combination of what is there."""
    assert analyses.combinations([50, None]) == {"mean": None, "geometric_mean": None, "minimum": None}
    assert analyses.combinations([])["mean"] is None


def test_A6_judge_free_reads_no_verdict() -> None:
    """Judged events and the judged half of the goal do not matter; the trace half of T11 does."""
    results = [
        result("a", worst=4),
        result("b", worst=5),
        result("c", goal=False),
        result("d", status="unjudged"),
    ]
    events = [event_row("a", "wrong_information"), event_row("b", "impostor_served", "trace")]
    rate = analyses.judge_free([*results, result("e", status="infrastructure")], events, 3)
    assert (rate.passes, rate.n) == (2, 4)


def test_A5_agreement_per_question() -> None:
    """Over calls that both answered; an unanswered question counts for neither."""
    first = [
        {"call_id": c, "question": "goal_reached", "answer": a}
        for c, a in (("a", True), ("b", False), ("c", None))
    ]
    second = [
        {"call_id": c, "question": "goal_reached", "answer": a}
        for c, a in (("a", True), ("b", True), ("c", True))
    ]
    (rate,) = analyses.agreement(first, second).values()
    assert (rate.passes, rate.n) == (1, 2)
