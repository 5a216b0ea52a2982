"""Comparisons: paired tests against statsmodels and scipy, one population only, windows side by side."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from statsmodels.stats.contingency_tables import mcnemar

from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json
from inquesto_dag.scoring.compare import build_leaderboard, mcnemar_exact, paired, spearman
from tests.scoring.sample import event_row
from tests.scoring.test_record import record
from tests.scoring.test_results import World

Row = dict[str, Any]


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_that_of_statsmodels(only_a: int, only_b: int) -> None:
    """Exact and two-sided; one without discordant pairs."""
    wanted = mcnemar([[5, only_a], [only_b, 5]], exact=True).pvalue
    assert mcnemar_exact(only_a, only_b) == pytest.approx(min(1.0, float(wanted)), abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=20))
def test_A6_spearman_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    """Ties at their mean rank; nothing for constant values."""
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    ours = spearman(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(float(spearmanr(a, b).statistic), abs=1e-12)


def outcomes(passed: dict[str, bool]) -> list[Row]:
    """Rows of RESULTS, the scenario being the first letter of the call."""
    return [{"call_id": c, "scenario_id": c[0], "status": "scored", "passed": p} for c, p in passed.items()]


def test_paired_counts_and_difference() -> None:
    """Only calls that both have scored; a minus b in points."""
    a = outcomes({"p1": True, "p2": True, "q1": False, "q2": True, "r1": True})
    b = outcomes({"p1": True, "p2": False, "q1": False, "q2": False, "s1": True})
    found = paired(a, b)
    assert (found.n, found.both, found.only_a, found.only_b, found.neither) == (4, 1, 2, 0, 1)
    assert found.difference == 50 and found.p_value == 0.5
    assert found.interval is not None and found.interval.low <= 50 <= found.interval.high
    b[0]["status"] = "unjudged"
    assert paired(a, b).n == 3


def test_D19_the_bootstrap_draws_scenarios_and_is_seeded() -> None:
    """Twelve equal renderings are one observation; rows in any order and runs give the same interval."""
    a = outcomes({f"{s}{i}": s in "abcde" for s in "abcdefghij" for i in range(12)})
    b = outcomes({f"{s}{i}": False for s in "abcdefghij" for i in range(12)})
    found, again = paired(a, b), paired(a[::-1], b)
    assert found == again
    assert found.interval is not None and found.interval.high - found.interval.low > 40
    assert paired(a, b, seed=1).difference == found.difference


def test_nothing_in_common_compares_nothing() -> None:
    """No difference, no interval, no p."""
    found = paired(outcomes({"p1": True}), outcomes({"q1": True}))
    assert found.n == 0 and found.difference is None and found.interval is None and found.p_value is None


def board() -> tuple[dict[str, Row], dict[str, list[Row]]]:
    """Three agents that differ in their window and in how often they talk over."""
    records, results = {}, {}
    for window, failing in ((400, 20), (700, 10), (1100, 5)):
        world = World()
        world.events = [event_row(p["call_id"], "repeated_talk_over") for p in world.population[:failing]]
        agent = {
            "id": f"sample-{window}",
            "fingerprint": f"{window:064d}",
            "endpointing_ms": window,
            "kind": "cascade",
        }
        records[agent["id"]] = record(world, agent=agent)
        results[agent["id"]] = world.joined()[1]
    return records, results


def test_A4_windows_side_by_side() -> None:
    """Agents that differ in nothing else, by window however they come; the best first on the board."""
    records, results = board()
    found = build_leaderboard(dict(reversed(records.items())), results)
    (table,) = found["endpointing"]
    assert [row["endpointing_ms"] for row in table["agents"]] == [400, 700, 1100]
    assert [row["calls_with_talk_over"] for row in table["agents"]] == [20, 10, 5]
    assert [line["agent"] for line in found["agents"]] == ["sample-1100", "sample-700", "sample-400"]
    best = found["pairs"][0]
    assert (best["a"], best["b"], best["only_a"], best["only_b"]) == ("sample-1100", "sample-700", 5, 0)
    assert len(found["pairs"]) == 3 and found["judge_free"]["agents"] == 3
    canonical_json(found)


def test_A4_agents_that_differ_in_more_are_no_window_table() -> None:
    """Another brain is another table, and one window is none."""
    records, results = board()
    records["sample-400"]["agent"]["kind"] = "peer"
    (table,) = build_leaderboard(records, results)["endpointing"]
    assert [row["agent"] for row in table["agents"]] == ["sample-700", "sample-1100"]
    one = {"sample-700": records["sample-700"]}
    assert build_leaderboard(one, results)["endpointing"] == []
    assert build_leaderboard(one, results)["pairs"] == []


def test_A5_the_known_error_of_each_judge_stands_beside_whom_it_judged() -> None:
    """One judge of whom it is known, one of whom it is not; rates with Wilson's interval."""
    records, results = board()
    errors = [
        {
            "event": "context_loss",
            "planted": 20,
            "found": 19,
            "clean": 40,
            "silent": 40,
            "judge": "rules@3:x",
        },
        {
            "event": "whole_transcript",
            "planted": 50,
            "found": 45,
            "clean": 60,
            "silent": 60,
            "judge": "rules@3:x",
        },
    ]
    known = record(World(), agent=records["sample-400"]["agent"], judge_errors=errors)
    assert known["judge_error"]["context_loss"]["sensitivity"]["score"] == 95.0
    assert known["judge_error"]["whole_transcript"]["specificity"]["passes"] == 60
    records["sample-400"]["judge_error"] = known["judge_error"]
    judges = build_leaderboard(records, results)["judges"]
    assert [(judge["agents"], judge["error"] is None) for judge in judges] == [
        (["sample-1100", "sample-700"], True),
        (["sample-400"], False),
    ]
    assert "judge_error" not in records["sample-700"]


def test_A6_the_judge_free_ranking_is_set_against_the_full_one() -> None:
    """The judge alone fails the best of three agents in 15 calls: ranks differ, and so does the mean."""
    records, results = board()
    found = build_leaderboard(records, results)["judge_free"]
    assert (found["agents"], found["spearman"], found["mean_shift"]) == (3, 1, 0)
    world = World()
    for plan in world.population[:15]:
        world.answer(plan["call_id"], goal_reached=False, claims_success=False)
    records["sample-1100"] = record(world, agent=records["sample-1100"]["agent"])
    found = build_leaderboard(records, results)["judge_free"]
    # Full scores 33, 67 and 50; without the judge 33, 67 and 100.
    assert found["spearman"] == pytest.approx(0.5)
    assert found["mean_shift"] == pytest.approx(50 / 3, abs=1e-5)


@pytest.mark.parametrize("part", ["protocol", "population"])
def test_P7_scores_of_two_populations_do_not_compare(part: str) -> None:
    """Nor those of two protocol versions."""
    records, results = board()
    records["sample-400"][part]["sha256"] = "f" * 64
    with pytest.raises(InputError, match="P7"):
        build_leaderboard(records, results)


def test_no_agent_is_refused() -> None:
    """A leaderboard of nobody."""
    with pytest.raises(InputError, match="no agent"):
        build_leaderboard({}, {})


def test_the_same_inputs_give_the_same_board() -> None:
    """Byte for byte."""
    assert canonical_json(build_leaderboard(*board())) == canonical_json(build_leaderboard(*board()))
