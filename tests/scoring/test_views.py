"""Views V1-V4 on the full population, with sizes, gaps and zero denominators."""

from __future__ import annotations

from typing import Any

import pytest

from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.scoring.views import compute_views
from tests.scoring.sample import protocol

Row = dict[str, Any]
GROUPS = tuple(voice.group for voice in protocol().voices)


def results(passed: Any = lambda row: True) -> list[Row]:
    """Results of the full population; `passed` says of each call whether it passed."""
    return [{**row, "status": "scored", "passed": passed(row)} for row in plan_calls(protocol())]


def views(rows: list[Row]) -> Any:
    """Their views."""
    return compute_views(rows, GROUPS, "us_female")


def test_V1_V2_V3_V4_sizes() -> None:
    """24, 204, 18, and groups of 81 and 75; 72 without identity calls."""
    found = views(results())
    assert (found.behavior.n, found.robustness.n, found.clean.n, found.identity.n) == (24, 204, 102, 18)
    assert (found.impostor_calls.n, found.holder_calls.n) == (9, 9)
    assert {g: r.n for g, r in found.fairness.rates.items()} == {
        "us_female": 81, "us_male": 75, "uk_female": 75, "uk_male": 75,
    }  # fmt: skip
    assert {r.n for r in found.fairness_without_identity.rates.values()} == {72}


def test_V1_behavior_is_clean_reference_group_and_not_identity() -> None:
    """Failures anywhere else leave it at 100."""
    inside = results(
        lambda r: r["condition"] == "clean" and r["group"] == "us_female" and r["role"] == "goal_directed"
    )
    assert views(inside).behavior.percent == 100 and views(inside).robustness.percent == 0


def test_V2_gap_to_clean() -> None:
    """Half of the noisy calls pass, all of the clean ones: 50 points below."""
    found = views(results(lambda r: r["condition"] != "babble"))
    assert found.gap_to_clean == pytest.approx(-50)
    assert found.by_condition["telephone"].percent == 100 and found.by_condition["babble"].percent == 0


def test_V3_identity_is_the_18_identity_calls() -> None:
    """Holders pass, impostors do not."""
    found = views(results(lambda r: r["role"] == "legitimate"))
    assert found.identity.percent == 50 and found.holder_calls.percent == 100


def test_V4_worst_group_and_differences_to_the_reference() -> None:
    """uk_male always fails, us_male fails in babble."""
    found = views(
        results(
            lambda r: r["group"] != "uk_male" and not (r["group"] == "us_male" and r["condition"] == "babble")
        )
    ).fairness
    assert found.worst == "uk_male"
    assert found.differences == pytest.approx({"us_male": -100 / 3, "uk_female": 0, "uk_male": -100})
    assert "us_female" not in found.differences


def test_D20_rates_without_identity_calls_stand_beside() -> None:
    """Only identity calls fail: the group rates differ, those without them do not."""
    found = views(results(lambda r: r["role"] == "goal_directed"))
    assert found.fairness.rates["us_female"].percent == pytest.approx(100 * 72 / 81)
    assert {rate.percent for rate in found.fairness_without_identity.rates.values()} == {100}


def test_D13_D14_calls_that_do_not_count_are_in_no_view() -> None:
    """Unjudged and infrastructure calls leave the denominators."""
    rows = results()
    for row in rows:
        if row["condition"] == "babble":
            row.update(status="unjudged", passed=None)
        if row["group"] == "uk_male":
            row.update(status="infrastructure", passed=None)
    found = views(rows)
    assert found.robustness.n == 77 and found.by_condition["babble"].n == 0
    assert found.by_condition["babble"].percent is None
    assert found.fairness.rates["uk_male"].n == 0 and found.fairness.differences["uk_male"] is None
    assert found.fairness.worst is not None and found.fairness.worst != "uk_male"


def test_no_calls_give_no_view() -> None:
    """Nothing scored: no rate, no gap, no worst group."""
    found = views([])
    assert found.behavior.percent is None and found.gap_to_clean is None and found.fairness.worst is None
