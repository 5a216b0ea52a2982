"""Spoken and written values meet in one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.protocol.spoken import holds_value, normalise_spoken, position_of

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


@pytest.mark.parametrize(
    ("spoken", "form"),
    [
        ("O R D, two two zero seven", "ord 2207"),
        ("ORD-2207", "ord 2207"),
        ("$49.00.", "49 dollars"),
        ("forty nine dollars", "49 dollars"),
        ("a $1,049 charge", "a 1049 dollars charge"),
        ("double four seven one", "4471"),
        ("4-4-7-1", "4471"),
        ("four, four, seven, one.", "4471"),
        ("maple dot garden at example dot com", "maple.garden@example.com"),
        ("It's Maple.Garden@example.com.", "it's maple.garden@example.com"),
        ("river dot stone at example.com", "river.stone@example.com"),
        ("on the 3rd of August", "on the 3rd of august"),
        ("", ""),
        ("... !", ""),
    ],
)
def test_forms(spoken: str, form: str) -> None:
    """Numbers become digits, letters join, addresses are written out, punctuation goes."""
    assert normalise_spoken(spoken) == form


@given(st.text(alphabet="0123456789", min_size=2, max_size=8))
def test_digits_spoken_one_by_one_are_the_number(digits: str) -> None:
    """Account and card numbers survive being read out, leading zeros included."""
    assert normalise_spoken(" ".join(DIGITS[int(digit)] for digit in digits)) == digits


@given(st.integers(2, 9), st.integers(0, 9))
def test_two_digit_numbers(ten: int, unit: int) -> None:
    """Twenty to ninety-nine, with a hyphen or without."""
    word = TENS[ten - 2] + (f"-{DIGITS[unit]}" if unit else "")
    assert normalise_spoken(word) == normalise_spoken(word.replace("-", " ")) == str(10 * ten + unit)


@given(st.text(max_size=60))
def test_any_text_can_be_normalised_twice(text: str) -> None:
    """The form of the form is never longer, and no text is an error."""
    once = normalise_spoken(text)
    assert normalise_spoken(once).count(" ") <= once.count(" ")


def test_a_value_is_found_as_a_whole_only() -> None:
    """4471 is not in 14471, and an address is not in a longer one."""
    assert holds_value("The number is four four seven one.", "4471")
    assert not holds_value("It is 14471.", "4471")
    assert not holds_value("It is x.maple.garden@example.com.", "maple.garden@example.com")
    assert position_of("nine zero one two, no, nine zero two one", "9021") > position_of(
        "nine zero one two, no, nine zero two one", "9012"
    )
