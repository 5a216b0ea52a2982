"""Normal forms: values that were said in different ways are one value."""

from __future__ import annotations

import pytest

from inquesto_dag.judging.text import negated, normalise, sentences, values


@pytest.mark.parametrize(
    ("said", "normal"),
    [
        ("$49", "$49"),
        ("$49.00", "$49"),
        ("forty-nine dollars", "$49"),
        ("forty nine bucks", "$49"),
        ("USD 49", "$49"),
        ("$49.99", "$49.99"),
        ("$1,049", "$1049"),
        ("one hundred and five dollars", "$105"),
        ("August 3rd", "<08-03>"),
        ("the third of August, 2026", "<08-03>"),
        ("August 3, 2026", "<08-03>"),
        ("3 August", "<08-03>"),
        ("Aug. 3", "<08-03>"),
        ("2026-08-03", "<08-03>"),
        ("the sixteenth of July", "<07-16>"),
        ("July twenty-third", "<07-23>"),
        ("ending in three three eight two", "ending in 3382"),
        ("ending in thirty-three eighty-two", "ending in 3382"),
        ("ending in 3-3-8-2", "ending in 3382"),
        ("double four seven one", "4471"),
        ("m dot ruiz at example dot com", "m.ruiz@example.com"),
        ("M.Ruiz@example.com.", "m.ruiz@example.com"),
        ("your e-mail", "your email"),
        ("", ""),
    ],
)
def test_one_value_has_one_form(said: str, normal: str) -> None:
    """Spoken, written and mixed."""
    assert normalise(said) == normal


def test_the_month_may_is_no_date_by_itself() -> None:
    """`may` is a verb before it is a month; an ordinal without a month is no date."""
    assert "<" not in normalise("the third charge may be refunded")
    assert normalise("May 3") == "<05-03>"


def test_sentences_know_questions_and_read_backs() -> None:
    """By the mark, by wording, and by the sentence that follows."""
    found = sentences(
        "Your card ends in 9012. Is that right? You said forty dollars. I refunded $49, on August 3, 2026."
    )
    assert [(s.question, s.read_back) for s in found] == [
        (False, True),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert found[3].clauses == ("i refunded $49", "on <08-03>")
    assert sentences("Write to m.ruiz@example.com now.")[0].norm == "write to m.ruiz@example.com now"
    assert sentences("") == ()


def test_negation_reaches_six_words() -> None:
    """What is denied further back is another matter."""
    assert negated("there is no charge of $59", len("there is no charge of "))
    assert not negated(
        "it is not that but i can now clearly see a $59", len("it is not that but i can now clearly see a ")
    )


def test_values_of_what_was_said() -> None:
    """Amounts, dates, addresses and numbers."""
    assert values(["It was $24 on August 4, order 2207, to a.b@example.com"]) == {
        "$24", "<08-04>", "2207", "a.b@example.com",
    }  # fmt: skip
