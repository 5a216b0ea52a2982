"""Word error of what an agent heard: counts first, and one written form on both sides."""

import pytest

from inquesto_dag.annotation.words import WordErrors, normal_words, word_errors


@pytest.mark.parametrize("heard", ["4471", "44-71", "4, 4, 7, 1", "four four seven one", "4 4 7 1."])
def test_one_number_has_one_form(heard):
    assert normal_words(heard) == "4471"


def test_money_and_addresses_have_one_form():
    assert normal_words("forty-nine dollars") == normal_words("$49")
    assert normal_words("silver.mountain@example.com") == normal_words(
        "silver dot mountain at example dot com"
    )


def test_errors_are_counted_over_the_whole_call():
    errors = word_errors(["cancel my plan", "yes please"], ["cancel my plane", "yes please now"])
    assert errors == WordErrors(5, 1, 0, 1)
    assert errors.rate == pytest.approx(2 / 5)


def test_nothing_heard_and_nothing_said_are_decided():
    assert word_errors(["cancel my plan"], [""]) == WordErrors(3, 0, 3, 0)
    assert word_errors([], ["thank you"]) == WordErrors(0, 0, 0, 2)
    assert word_errors([], []).rate is None
