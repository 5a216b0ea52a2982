"""Equal errors and margins from scores, and the page that shows them (PROTOCOL I2)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.verification.errors import ALIKE, HOLDER, IMPOSTOR, Score, equal_error, rejected, summarise
from inquesto_dag.verification.page import draw_page

shares = st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=1, max_size=30)


def test_I2_a_gap_has_no_error_anywhere_in_it() -> None:
    """Separated scores: rate 0, from the highest impostor to the lowest holder."""
    found = equal_error([0.9, 0.84, 0.95], [0.7, 0.73])
    assert found is not None and (found.rate, found.low, found.high) == (0.0, 0.73, 0.84)


def test_equal_error_of_overlapping_scores() -> None:
    """One of four on each side of the crossing: 25 %; all exchanged: 100 %; nothing to compare: none."""
    found = equal_error([0.6, 0.8, 0.9, 0.95], [0.4, 0.5, 0.55, 0.7])
    assert found is not None and found.rate == 0.25 and found.low <= 0.7 <= found.high
    assert equal_error([0.1, 0.2], [0.8, 0.9]).rate == 1.0  # type: ignore[union-attr]
    assert equal_error([], [0.5]) is None and equal_error([0.5], []) is None


@given(shares, shares)
def test_both_rates_meet_as_closely_as_they_can(holders: list[float], impostors: list[float]) -> None:
    """At no score are the two rates closer than at the point that is reported."""
    found = equal_error(holders, impostors)
    assert found is not None and 0 <= found.rate <= 1 and found.low <= found.high

    def apart(threshold: float) -> float:
        accepts = 1 - rejected(impostors, threshold) / len(impostors)
        return abs(accepts - rejected(holders, threshold) / len(holders))

    if found.rate > 0:
        assert apart(found.high) == pytest.approx(min(apart(t) for t in {*holders, *impostors}))


SCORES = [
    Score(HOLDER, "clean", "af_heart", 0.91),
    Score(HOLDER, "babble", "af_heart", 0.84),
    Score(IMPOSTOR, "clean", "am_michael", 0.55),
    Score(IMPOSTOR, "babble", "bf_emma", 0.73),
    Score(ALIKE, "clean", "af_bella", 0.82),
    Score(ALIKE, "babble", "af_bella", 0.70),
]


def report() -> dict:
    """As the stage writes it."""
    numbers = {"encoder": "ge2e", "threshold": 0.785, "margin": 0.11, "lowest_holder": 0.84,
               "highest_impostor": 0.73, "alike_voices": ["af_bella"]}  # fmt: skip
    return {**numbers, **summarise(SCORES, 0.785, ["clean", "babble"])}


def test_I2_the_summary_counts_each_kind_by_line() -> None:
    """Margins by line; the voice that is alike gets through on the clean line, and no impostor anywhere."""
    found = report()
    assert found["by_condition"]["clean"]["margin"] == pytest.approx(0.36)
    assert found["all"]["margin"] == pytest.approx(0.11)
    assert (found["all"]["holders_rejected"], found["all"]["impostors_accepted"]) == (0, 0)
    assert [found["by_condition"][c]["alike_accepted"] for c in ("clean", "babble")] == [1, 0]
    assert found["all"]["equal_error"]["rate"] == 0


def test_the_page_draws_every_score_inside_its_axis_and_names_the_limit() -> None:
    """One mark a score, between the axis's ends; axis named; threshold, margin and limit in words."""
    text = draw_page(report(), SCORES)
    places = [float(x) for x in re.findall(r'<circle class="\w+" cx="([\d.]+)"', text)]
    assert len(places) == len(SCORES) and all(190 <= x <= 740 for x in places)
    assert "similarity to the enrolment (cosine)" in text and "threshold (cosine)" in text
    assert "Of 2 such openings <b>1</b> score at" in text and "prefers-color-scheme: dark" in text
    assert "<b>0.785</b>" in text and "Equal error 0.0 %" in text


def test_a_name_is_never_markup() -> None:
    """The encoder's name is data."""
    assert "<b>x" not in draw_page({**report(), "encoder": "<b>x"}, SCORES)
