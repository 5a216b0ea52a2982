"""Rates: Wilson against the published table and statsmodels, clustered intervals, zero denominators."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from inquesto_dag.errors import InputError
from inquesto_dag.scoring.rate import (
    Rate,
    clustered,
    design_effect,
    rate_of,
    rounded,
    rounded_percent,
    wilson,
)

PUBLISHED = Path(__file__).parents[2] / "inquesto_dag" / "scoring" / "paper"
ROWS = list(csv.DictReader((PUBLISHED / "table2.csv").open(encoding="utf-8")))
GROUP_SIZES = {"us_female": 81, "us_male": 75, "uk_female": 75, "uk_male": 75}  # PROTOCOL P6


def as_published(percent: float) -> int:
    """The tables' rounding: to one decimal, then half-even to whole percent (scoring/paper/README.md)."""
    return round(round(percent, 1))


def counts_of(row: dict[str, str]) -> set[int]:
    """Passes of a published row, from its four group rates."""
    per_group = [
        [k for k in range(n + 1) if as_published(100 * k / n) == int(row[group])]
        for group, n in GROUP_SIZES.items()
    ]
    return {sum(chosen) for chosen in product(*per_group)}


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{r['model']}-{r['serving']}-{r['endpointing_ms']}" for r in ROWS]
)
def test_N1_published_row_follows_from_its_counts(row: dict[str, str]) -> None:
    """The group rates give one count of passes, and that count gives the row's score and interval."""
    (passes,) = counts_of(row)
    rate = Rate(passes, 306)
    assert rate.percent is not None and rate.interval is not None
    found = [as_published(x) for x in (rate.percent, rate.interval.low, rate.interval.high)]
    assert found == [int(row["score"]), int(row["ci_low"]), int(row["ci_high"])]


def test_N1_another_interval_does_not_reproduce_the_table() -> None:
    """The same comparison fails for the normal approximation, so it can tell intervals apart."""
    misses = 0
    for row in ROWS:
        (passes,) = counts_of(row)
        p = passes / 306
        half = 1.959964 * (p * (1 - p) / 306) ** 0.5
        misses += [as_published(100 * (p - half)), as_published(100 * (p + half))] != [
            int(row["ci_low"]),
            int(row["ci_high"]),
        ]
    assert misses >= 3


def test_N2_published_example() -> None:
    """137 of 306 is cited as 44.8 (39.3-50.4)."""
    limits = wilson(137, 306)
    assert limits is not None
    assert (rounded_percent(137, 306), rounded(limits.low), rounded(limits.high)) == ("44.8", "39.3", "50.4")


@settings(deadline=None)
@given(
    st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999)
)
def test_N1_wilson_is_that_of_statsmodels(counts: tuple[int, int], level: float) -> None:
    """Random counts and levels agree with an independent implementation."""
    passes, n = counts
    low, high = proportion_confint(passes, n, alpha=1 - level, method="wilson")
    ours = wilson(passes, n, level)
    assert ours is not None
    assert ours.low == pytest.approx(100 * low, abs=1e-9)
    assert ours.high == pytest.approx(100 * high, abs=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=80))
def test_D19_clustered_interval_holds_the_rate_and_is_not_narrower(calls: list[tuple[int, bool]]) -> None:
    """The clustered interval encloses the rate and is at least as wide as the reported one."""
    both = clustered(calls), rate_of(passed for _, passed in calls)
    limits, rate = both
    if not calls:
        assert limits is None and rate.percent is None and rate.interval is None
        return
    assert limits is not None and rate.interval is not None and rate.percent is not None
    assert -1e-9 <= limits.low <= rate.percent + 1e-9 and rate.percent - 1e-9 <= limits.high <= 100 + 1e-9
    assert limits.high - limits.low >= rate.interval.high - rate.interval.low - 1e-9


def test_D19_renderings_of_one_scenario_are_not_independent() -> None:
    """Twelve equal renderings count as one call: the interval is that of 10 calls, not of 120."""
    calls = [(scenario, scenario < 5) for scenario in range(10) for _ in range(12)]
    effect = design_effect(calls)
    assert effect == pytest.approx(12 * 10 / 9)
    limits, naive = clustered(calls), wilson(60, 120)
    assert limits is not None and naive is not None
    assert limits.high - limits.low > 3 * (naive.high - naive.low)


def test_D19_clustered_interval_covers_where_wilson_does_not() -> None:
    """On 30 scenarios whose rates differ, the clustered interval covers the truth, Wilson does not."""
    random = np.random.default_rng(5)
    hits = {"clustered": 0, "wilson": 0}
    trials = 600
    for _ in range(trials):
        rates = random.beta(0.6, 0.6, size=30)  # mean 0.5
        calls = [(s, bool(x)) for s in range(30) for x in random.random(10) < rates[s]]
        for name, limits in (
            ("clustered", clustered(calls)),
            ("wilson", wilson(sum(x for _, x in calls), len(calls))),
        ):
            assert limits is not None
            hits[name] += limits.low <= 50 <= limits.high
    assert hits["clustered"] / trials >= 0.93
    assert hits["wilson"] / trials <= 0.75


def test_zero_and_single_cases_are_decided() -> None:
    """No calls give no rate; one cluster gives no knowledge; all or none passing keeps a real interval."""
    assert Rate(0, 0).percent is None and wilson(0, 0) is None and clustered([]) is None
    assert rounded_percent(0, 0) == "–" and rounded(None) == "–"
    one = clustered([("a", True), ("a", False)])
    assert one is not None and (one.low, one.high) == (0.0, 100.0)
    full = clustered([(s, True) for s in range(30) for _ in range(10)])
    assert full is not None and full.high == pytest.approx(100) and 80 < full.low < 90


def test_impossible_counts_are_refused() -> None:
    """More passes than calls is a mistake of the caller, not a rate."""
    with pytest.raises(InputError, match="3 passes of 2 calls"):
        Rate(3, 2)


def test_rounding_is_half_up_on_the_exact_fraction() -> None:
    """1 of 16 is 6.25 %, cited as 6.3, though its float would round to even."""
    assert rounded_percent(1, 16) == "6.3"
    assert rounded_percent(1, 8, 0) == "13"
    assert rounded(-0.6, 0) == "-1"
