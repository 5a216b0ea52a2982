"""Reading recognised speech: numbers, addresses, yes and no, requests, corrections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.agents.scripted.emails import find_emails
from inquesto_dag.agents.scripted.numbers import find_numbers
from inquesto_dag.agents.scripted.understand import (
    find_intent,
    find_polarity,
    has_words,
    score_intents,
    understand,
)
from inquesto_dag.protocol.models import Protocol


@pytest.mark.parametrize(
    "said",
    [
        "4471",
        "4,471",
        "44 71",
        "4-4-7-1",
        "4 4 7 1.",
        "4. 4. 7. 1.",
        "4, 4, 7, 1.",
        "four four seven one",
        "Four, four, um, seven, one.",
        "double four seven one",
        "Double-four, seven-one",
        "for four seven one",
        "four for seven one",
        "4 for 7 1",
        "forty-four seventy-one",
        "forty four 71",
        "four thousand four hundred and seventy one",
    ],
)
def test_account_number_in_any_spelling(said: str) -> None:
    """Digits, words, groups, doubles and homophones all give the four digits."""
    for sentence in (said, f"The account number is {said}", f"Sure, my account number is {said}, thanks."):
        assert understand(sentence).last("account", "plain", length=4) == "4471", sentence


@given(digits=st.from_regex(r"\A[0-9]{4}\Z"), style=st.integers(0, 3))
def test_any_four_digits_survive_any_spelling(digits: str, style: int) -> None:
    """Whatever the digits, single digits, words, pairs and one group are read alike."""
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    spelled = [
        digits,
        " ".join(digits),
        " ".join(words[int(d)] for d in digits),
        f"{digits[:2]} {digits[2:]}",
    ][style]
    assert understand(f"The new card ends in {spelled}.").last("card", length=4) == digits


def test_what_a_number_is_for() -> None:
    """Money, dates, orders, cards and accounts are told apart by the words around them."""
    said = "On August 3rd and on August 14 I paid $49.00 and 24 dollars for order ORD-2207, card ending 3382."
    assert [(n.digits, n.use) for n in find_numbers(said)] == [
        ("14", "date"),
        ("49", "amount"),
        ("24", "amount"),
        ("2207", "order"),
        ("3382", "card"),
    ]
    assert [n.use for n in find_numbers("It is order O R D, two two zero seven.")] == ["order"]
    assert find_numbers("I want one of them refunded, the second one.") == []
    assert [n.digits for n in find_numbers("oh, I paid ninety eight dollars")] == ["98"]


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("The new card ends in nine zero one two. No, sorry, I mean nine zero two one.", "9021"),
        ("The new card ends in 9012, no, sorry, I mean 9021.", "9021"),
        ("It is not 9012 but 9021", "9021"),
        ("It is 9021, not 9012.", "9021"),
        ("The new card ends in 9-0-1-2. No sorry, I mean 90-21.", "9021"),
    ],
)
def test_D7_the_corrected_number_counts(said: str, digits: str) -> None:
    """The last value wins, and one named after "not" is ruled out."""
    assert understand(said).last("card", "plain", length=4) == digits


@pytest.mark.parametrize(
    "said",
    [
        "The new address is harbor dot lane at example dot com.",
        "The new address is harbor.lane at example.com.",
        "It's harbor.lane@example.com",
        "It is Harbor.Lane@Example.com.",
        "harbor dot lane, at example dot com",
        "It is harbor.lane at example dot com",
        "Harbor.lane. At example.com.",
        "the new address is harbor lane at example.com",
        "It is harbor. Lane at example.com",
        "um, harbor dot, um, lane at example dot com",
        "harbor.lane example.com",
        "harbor.laneatexample.com",
        "harbor.lane at sign example .com",
        "h a r b o r dot l a n e at example dot com",
        "It is river.stone@example.com. No, sorry, I mean harbor.lane@example.com.",
        "not river dot stone at example dot com but harbor dot lane at example dot com",
        "harbor dot lane at example dot com, not river dot stone at example dot com",
    ],
)
def test_email_in_any_spelling(said: str) -> None:
    """Spoken, half written, spelled, corrected: the address that is meant."""
    assert understand(said).email == "harbor.lane@example.com"


@pytest.mark.parametrize(
    "said", ["", "I am at home.", "My e-mail", "at example.com", "It is dot com", "is not at example.com"]
)
def test_no_email_where_there_is_none(said: str) -> None:
    """Half an address is none."""
    assert find_emails(said) == []


def test_email_may_stand_alone_or_lack_a_dot() -> None:
    """A local part of one word stays one word after a word that leads in."""
    assert find_emails("my new email is sarah at example dot com") == ["sarah@example.com"]
    assert find_emails("from m.ruiz@example.com to a_b-c@mail.example.org") == [
        "m.ruiz@example.com",
        "a_b-c@mail.example.org",
    ]


@pytest.mark.parametrize(
    ("said", "polarity"),
    [
        ("Yes, that is right, please go ahead.", "yes"),
        ("That is right. Please go ahead.", "yes"),
        ("Yeah.", "yes"),
        ("go ahead", "yes"),
        ("No, that is not right.", "no"),
        ("That's not correct.", "no"),
        ("No, sorry, it's all right, I mean the other one", "no"),
        ("Yes, no problem at all.", "yes"),
        ("The weather is nice.", None),
        ("I know that now.", None),
        ("", None),
    ],
)
def test_yes_and_no(said: str, polarity: str | None) -> None:
    """What is said first counts, and a negated yes is a no."""
    assert find_polarity(said) == polarity


@pytest.mark.parametrize("said", ["", "  ", "...", "Um.", "Uh, um, hmm", "Oh, well, um"])
def test_D12_fillers_are_nothing_heard(said: str) -> None:
    """Nothing that could be answered was said."""
    assert not has_words(said)


def test_every_caller_is_understood_in_both_wordings(protocol: Protocol) -> None:
    """Opening and restated goal of all 30 scenarios give the scenario's family."""
    for scenario in protocol.scenarios:
        for move in ("opening", "goal_again"):
            said = scenario.lines[move].replace("|", " ")
            assert find_intent(said, 3) == scenario.family, (scenario.id, move, score_intents(said))


@pytest.mark.parametrize(
    ("said", "family"),
    [
        ("I got billed twice for the same month.", "dup_charge"),
        ("There are two identical charges on my card.", "dup_charge"),
        ("My purchase failed but the money is gone, I was charged.", "failed_order"),
        ("Please terminate my subscription.", "cancel_sub"),
        ("I'd like to stop my membership.", "cancel_sub"),
        ("My card expired and I've got a different card now.", "update_card"),
        ("Could you switch my e-mail to a new one?", "change_email"),
        ("Why is my bill so high?", "invoice_up"),
        ("Did my payment go through?", "confirm_payment"),
        ("I'm still waiting for the refund you promised.", "escalate_refund"),
    ],
)
def test_other_wordings_are_understood_too(said: str, family: str) -> None:
    """The patterns are about requests, not about the scenarios' sentences."""
    assert find_intent(said) == family, score_intents(said)


@pytest.mark.parametrize("said", ["Hello.", "I have a question.", "Is this the billing team?", ""])
def test_unclear_requests_stay_unclear(said: str) -> None:
    """Nothing is guessed from a greeting."""
    assert find_intent(said) is None
