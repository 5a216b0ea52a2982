"""Agreement and kappa against tables whose answers are known (PROTOCOL A5)."""

from __future__ import annotations

import pytest

from inquesto_dag.validation.agreement import Agreement, compare_answers


def answers(*given: tuple[str, bool | None]) -> dict[tuple[str, str], bool | None]:
    return {(call, "q"): said for call, said in given}


def table(both_yes: int, only_a: int, only_b: int, both_no: int) -> Agreement:
    """The agreement of two judges whose answers fall like this."""
    pairs = [(True, True)] * both_yes + [(True, False)] * only_a
    pairs += [(False, True)] * only_b + [(False, False)] * both_no
    a = answers(*((str(i), x) for i, (x, _) in enumerate(pairs)))
    b = answers(*((str(i), y) for i, (_, y) in enumerate(pairs)))
    (found,) = compare_answers(a, b)
    return found


def test_A5_kappa_of_a_table_that_is_worked_out_in_books() -> None:
    """20 and 15 of 50 agreed, 5 and 10 not: agreement 0.7, chance 0.5, kappa 0.4."""
    found = table(20, 5, 10, 15)
    assert found.n == 50 and found.rate.percent == 70
    assert found.chance == pytest.approx(0.5) and found.kappa == pytest.approx(0.4)
    limits = found.kappa_interval
    assert limits is not None
    # By hand (Fleiss, Cohen and Everitt 1969): variance (0.10972 + 0.10188 - 0.01) / (50 * 0.25) = 0.016128.
    half = 1.959964 * 0.016128**0.5
    assert (limits.low, limits.high) == pytest.approx((0.4 - half, 0.4 + half), abs=1e-5)
    assert found.found.percent == pytest.approx(100 * 20 / 30) and found.spared.percent == 75
    assert len(found.differing) == 15


def test_A5_agreement_by_chance_is_no_agreement() -> None:
    """Kappa is 0 at chance and negative below it, whatever the rate of agreement is."""
    assert table(81, 9, 9, 1).kappa == pytest.approx(0)
    assert table(0, 5, 5, 0).kappa == pytest.approx(-1)


def test_A5_judges_who_always_agree_are_no_surer_than_their_number_of_calls() -> None:
    """The asymptotic variance is 0 then; the interval is that of the agreement, and shrinks with calls."""
    few, many = table(2, 0, 0, 3).kappa_interval, table(80, 0, 0, 120).kappa_interval
    assert few is not None and many is not None
    assert few.high == many.high == 1 and few.low < 0.3 < 0.95 < many.low


def test_A5_a_judge_that_gives_one_answer_throughout_is_not_sure_to_be_at_chance() -> None:
    """Kappa is 0 by its nature; with few calls nothing is known of it, and nothing divides by zero."""
    found = table(1, 1, 0, 0)
    assert found.kappa == 0 and found.kappa_interval is not None
    assert found.kappa_interval.low < -0.5 and found.kappa_interval.high > 0.5


def test_A5_where_chance_explains_all_there_is_no_kappa() -> None:
    """Both said no throughout, or nothing at all."""
    silent = table(0, 0, 0, 40)
    assert silent.rate.percent == 100 and silent.kappa is None and silent.kappa_interval is None
    (nothing,) = compare_answers(answers(("c", None)), answers(("c", True)))
    assert (
        nothing.n == 0 and nothing.kappa is None and nothing.chance is None and nothing.rate.percent is None
    )
    assert (nothing.open_a, nothing.open_b) == (1, 0)


def test_A5_only_shared_calls_and_questions_are_compared_and_the_differing_named() -> None:
    """In order, by question; what one of them left open is counted apart."""
    a = {("c1", "x"): True, ("c2", "x"): False, ("c3", "x"): None, ("c4", "y"): True, ("c9", "y"): True}
    b = {("c1", "x"): False, ("c2", "x"): False, ("c3", "x"): True, ("c4", "y"): True, ("c4", "z"): True}
    x, y = compare_answers(a, b)
    assert (x.question, x.n, x.only_a, x.both_no, x.open_a, x.differing) == ("x", 2, 1, 1, 1, ("c1",))
    assert (y.question, y.n, y.differing) == ("y", 1, ())
    assert compare_answers(a, {}) == []
