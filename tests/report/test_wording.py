"""Said against heard, for reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.report.wording import compare


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("It is four four seven one.", "It is 4471."),
        ("four four seven one", "44 71"),
        ("It was forty-nine dollars.", "it was $49"),
        ("ninety eight dollars", "$98.00"),
        ("It ends in ninety twenty one", "It ends in 9021"),
        ("the third of August", "The third of august"),
    ],
)
def test_the_same_words_written_differently_are_the_same(said: str, heard: str) -> None:
    """Digits, amounts, case and punctuation do not count as mishearing."""
    assert [piece.mark for piece in compare(said, heard)] == ["same"]


def test_a_misheard_word_shows_both() -> None:
    """The page marks what was heard and can say what had been said."""
    pieces = compare("Yes, please go ahead.", "Yes, police go ahead.")
    assert [(p.mark, p.heard, p.said) for p in pieces if p.mark != "same"] == [
        ("changed", "police", "please")
    ]


def test_another_number_is_a_difference() -> None:
    """4470 for four four seven one must stand out."""
    assert any(piece.mark == "changed" for piece in compare("it is four four seven one", "it is 4470"))


def test_missed_and_added_words_are_told_apart() -> None:
    """A word that was not heard, and one that was never said."""
    assert [p.mark for p in compare("cancel my plan", "cancel plan")] == ["same", "missed", "same"]
    assert [p.mark for p in compare("cancel plan", "cancel the plan")] == ["same", "added", "same"]


def test_nothing_heard_is_all_missed() -> None:
    """An empty recognition: one missed piece; nothing said and nothing heard: no piece."""
    assert [p.mark for p in compare("hello there", "")] == ["missed"]
    assert compare("", "") == ()


@given(st.text("abc 14$.'", max_size=40), st.text("abc 14$.'", max_size=40))
def test_no_word_is_lost(said: str, heard: str) -> None:
    """Every alphanumeric character of both texts is in some piece, in order."""
    pieces = compare(said, heard)
    assert _letters(" ".join(p.heard for p in pieces)) == _letters(heard)
    assert _letters(" ".join(p.said for p in pieces)) == _letters(said)


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())
