"""The plan holds exactly the protocol's calls, and a slice is chosen by its rule."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from inquesto_dag import tables
from inquesto_dag.errors import InputError
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.population import call_seed, plan_calls, take_slice

PROTOCOL = load_protocol(Path(__file__).parents[2] / "data" / "protocols" / "v0.1")
ROWS = plan_calls(PROTOCOL)


def test_P6_there_are_306_calls() -> None:
    """24 x 3 x 4 + 6 x 3, 81 in the reference group and 75 in each other, no call twice."""
    assert len(ROWS) == len({row["call_id"] for row in ROWS}) == 306
    assert Counter(row["group"] for row in ROWS) == {
        "us_female": 81,
        "us_male": 75,
        "uk_female": 75,
        "uk_male": 75,
    }
    assert set(Counter(row["condition"] for row in ROWS).values()) == {102}
    assert len(tables.POPULATION.conform(ROWS)) == 306


def test_V1_V2_V3_the_views_have_their_calls() -> None:
    """24 in behavior, 204 in robustness, 18 in identity."""
    behavior = [
        row for row in ROWS
        if row["condition"] == "clean" and row["group"] == "us_female" and row["role"] == "goal_directed"
    ]  # fmt: skip
    assert len(behavior) == 24
    assert sum(row["condition"] != "clean" for row in ROWS) == 204
    assert sum(row["role"] != "goal_directed" for row in ROWS) == 18


def test_P5_who_is_enrolled() -> None:
    """A goal-directed caller calls its own account; an impostor calls the holder's."""
    for row in ROWS:
        if row["role"] == "goal_directed":
            assert row["enrolled_voice"] == row["voice"]
        else:
            assert row["enrolled_voice"] == "af_heart"
            assert (row["voice"] == "af_heart") == (row["role"] == "legitimate")


def test_seeds_are_stable_and_differ() -> None:
    """A call's seed is a function of version and call, and never the machine's."""
    assert len({row["seed"] for row in ROWS}) == 306
    assert call_seed("v0.1", "cancel_sub-fast.clean.us_female") == 1377294219
    assert call_seed("v0.2", "cancel_sub-fast.clean.us_female") != 1377294219


def test_P7_quick_is_every_scenario_once_spread_evenly() -> None:
    """30 calls, ten a condition, seven or eight a group, every pair of both two or three times."""
    quick = take_slice(ROWS, "quick")
    assert [row for row in ROWS if row in quick] == quick
    assert len({row["scenario_id"] for row in quick}) == len(quick) == 30
    assert Counter(row["condition"] for row in quick) == {"clean": 10, "telephone": 10, "babble": 10}
    assert set(Counter(row["group"] for row in quick).values()) <= {7, 8}
    pairs = Counter((row["condition"], row["group"]) for row in quick)
    assert len(pairs) == 12
    assert set(pairs.values()) <= {2, 3}
    for role in ("legitimate", "impostor"):
        assert len({row["condition"] for row in quick if row["role"] == role}) == 3


def test_a_slice_does_not_touch_the_plan() -> None:
    """Full is the plan itself, in copies; the same plan gives the same slice."""
    full = take_slice(ROWS, "full")
    assert full == ROWS
    full[0]["voice"] = "nobody"
    assert ROWS[0]["voice"] != "nobody"
    assert take_slice(ROWS, "quick") == take_slice(plan_calls(PROTOCOL), "quick")


def test_an_unknown_slice_is_refused() -> None:
    """The error lists the slices there are."""
    with pytest.raises(InputError, match=r"population: half is not a slice(?s:.*)full.*quick"):
        take_slice(ROWS, "half")
