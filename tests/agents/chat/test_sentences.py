"""Where streamed text is cut into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.agents.chat.sentences import split_sentences, tidy_sentence


def streamed(text: str, size: int) -> list[str]:
    """The sentences of a text that arrives in pieces of this many characters."""
    said, left = [], ""
    for at in range(0, len(text), size):
        sentences, left = split_sentences(left + text[at : at + size], final=False)
        said += sentences
    return said + split_sentences(left, final=True)[0]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One moment. I am looking.", ["One moment.", "I am looking."]),
        ("That is $49.00 a month. Is that right?", ["That is $49.00 a month.", "Is that right?"]),
        ("It was $98. Sorry!", ["It was $98.", "Sorry!"]),
        ("Write to m.ruiz@example.com now. Thanks.", ["Write to m.ruiz@example.com now.", "Thanks."]),
        ("Order ORD-2207. failed", ["Order ORD-2207.", "failed"]),
        ("Mr. Ruiz and Dr. Lee, e.g. you. Yes.", ["Mr. Ruiz and Dr. Lee, e.g. you.", "Yes."]),
        ("Ms. M. Ruiz is known.", ["Ms. M. Ruiz is known."]),
        ("At 5 p.m. on Monday. Fine.", ["At 5 p.m. on Monday.", "Fine."]),
        ("We close at 5 p.m. Call before.", ["We close at 5 p.m.", "Call before."]),
        ("Well... let me see. Wait... Now it works.", ["Well... let me see.", "Wait...", "Now it works."]),
        ("1. Say your name.\n2. Say your number.", ["1. Say your name.", "2. Say your number."]),
        ('He said "yes." Then he left.', ['He said "yes."', "Then he left."]),
        ("Really?! Yes!", ["Really?!", "Yes!"]),
        ("No full stop at the end", ["No full stop at the end"]),
        ("First line\nsecond line", ["First line", "second line"]),
        ("See No. 5 on it. Done.", ["See No. 5 on it.", "Done."]),
        ("", []),
        (" \n . - \n", []),
    ],
)
def test_sentences_end_where_a_listener_hears_an_end(text: str, sentences: list[str]) -> None:
    """The same sentences, however the text is cut on its way."""
    for size in (1, 2, 3, 7, 1000):
        assert streamed(text, size) == sentences


def test_a_sentence_is_out_as_soon_as_white_space_follows() -> None:
    """The TTS need not wait for the rest of the reply, nor for the next word."""
    assert split_sentences("One moment.", final=False) == ([], "One moment.")
    assert split_sentences("One moment. ", final=False) == (["One moment."], " ")


def test_after_an_abbreviation_the_next_word_decides() -> None:
    """Until it is seen, nothing is given out."""
    assert split_sentences("Until 5 p.m. ", final=False)[0] == []
    assert split_sentences("Until 5 p.m. W", final=False)[0] == ["Until 5 p.m."]


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("**Your plan** is `Pro`.", "Your plan is Pro."),
        ("- Card ending 3382", "Card ending 3382"),
        ("## Refunds", "Refunds"),
        ("See [our site](https://example.com/a_b).", "See our site."),
        ("first_last_name@example.com", "first_last_name@example.com"),
        ("_Sorry_ about that.<|im_end|>", "Sorry about that."),
        ("***", ""),
        ("-3 degrees", "-3 degrees"),
    ],
)
def test_markdown_and_special_tokens_are_not_spoken(written: str, spoken: str) -> None:
    """Addresses and codes stay as they are."""
    assert tidy_sentence(written) == spoken


@settings(deadline=None)
@given(st.text(alphabet="ab .!?\n$4@-", max_size=60), st.integers(1, 9))
def test_no_word_is_lost_or_said_twice(text: str, size: int) -> None:
    """Letters and digits come out in order, whatever the cuts."""

    def letters(value: str) -> list[str]:
        return [character for character in value if character.isalnum()]

    assert letters("".join(streamed(text, size))) == letters(text)
