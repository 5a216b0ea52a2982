"""Figures as they are printed and drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.report.figures import bar_of, interval_text, latency_histogram, number_text, signed_text

LIMITS = {"talk_over_s": 0.5, "slow_median_s": 1.5, "slow_turn_s": 3.0}


def test_a_slice_without_calls_is_a_dash_and_no_bar() -> None:
    """n = 0: no rate, no interval, and never a bar of length zero that reads as 0 percent."""
    bar = bar_of("Behavior", {"passes": 0, "n": 0, "score": None, "interval": None})
    assert (bar.figures, bar.count, bar.value, bar.low) == ("\u2013", "no calls", None, None)


def test_N1_a_rate_shows_its_interval_and_n() -> None:
    """Counts, percent and the interval's limits are those of the record."""
    bar = bar_of("Score", {"passes": 22, "n": 30, "score": 73.333333, "interval": [55.6, 85.8]})
    assert (bar.figures, bar.count, bar.low, bar.high) == ("73.3", "22 of 30", 55.6, 85.8)
    assert interval_text([55.56, 85.84]) == "55.6\u201385.8"


@pytest.mark.parametrize(
    ("value", "plain", "signed"),
    [
        (None, "\u2013", "\u2013"),
        (0.04, "0.0", "0.0"),
        (-0.04, "0.0", "0.0"),
        (2.5, "2.5", "+2.5"),
        (-2.5, "\u22122.5", "\u22122.5"),
    ],
)
def test_numbers_have_true_signs_and_no_minus_zero(value: float | None, plain: str, signed: str) -> None:
    """A rounded zero has no sign; nothing is a dash."""
    assert (number_text(value), signed_text(value)) == (plain, signed)


def test_columns_are_marked_by_the_thresholds() -> None:
    """T2, T3, T4: what talks over or is late is bad, what is slow is a warning, the rest is neither."""
    chart = latency_histogram([-0.8, -0.3, 1.0, 2.0, 9.0], LIMITS)
    assert [column.kind for column in chart.columns] == ["bad", "", "", "warn", "bad"]
    assert [label for _, label, _ in chart.limits] == ["talk-over", "slow", "late"]


def test_no_replies_draw_an_empty_chart() -> None:
    """Axis and limits stay, columns do not."""
    assert latency_histogram([], LIMITS).columns == ()


@given(st.lists(st.floats(-30, 30), min_size=1, max_size=60))
def test_every_latency_is_in_one_column(values: list[float]) -> None:
    """Outliers join the end columns: the counts in the titles add up to the number of replies."""
    chart = latency_histogram(values, LIMITS)
    assert sum(int(column.title.rsplit(" ", 1)[1]) for column in chart.columns) == len(values)
    assert all(column.x >= 0 and column.x + column.width <= chart.width for column in chart.columns)
    assert max(column.height for column in chart.columns) == 1
