"""Values said in the forms of a set, and read again by the judge's normal form."""

from __future__ import annotations

import numpy as np
import pytest

from inquesto_dag.judging.text import normalise
from inquesto_dag.validation.forms import Speaker, ordinal_of, words_of
from inquesto_dag.validation.wordings import list_sets, load_wordings
from tests.scoring.sample import protocol, scenario


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (19, "nineteen"),
        (30, "thirty"),
        (49, "forty-nine"),
        (100, "one hundred"),
        (112, "one hundred and twelve"),
    ],
)
def test_numbers_in_words(number: int, words: str) -> None:
    assert words_of(number) == words


@pytest.mark.parametrize(
    ("day", "word"),
    [
        (1, "first"),
        (3, "third"),
        (20, "twentieth"),
        (21, "twenty-first"),
        (30, "thirtieth"),
        (31, "thirty-first"),
    ],
)
def test_days_in_words(day: int, word: str) -> None:
    assert ordinal_of(day) == word


@pytest.mark.parametrize("name", list_sets())
@pytest.mark.parametrize(
    ("slot", "normal"),
    [
        ("{usd:49}", "$49"), ("{usd:112}", "$112"), ("{date:08-03}", "<08-03>"), ("{date:08-31}", "<08-31>"),
        ("{card:3382}", "3382"), ("{card:new}", "9021"), ("{email:current}", "m.ruiz@example.com"),
        ("{old}", "9012"), ("{new}", "9021"), ("{number:right}", "4471"),
    ],
)  # fmt: skip
def test_every_form_of_a_value_has_one_normal_form(name: str, slot: str, normal: str) -> None:
    """Else a planted value could not be told from its near miss."""
    wordings = load_wordings(name)
    for seed in range(12):
        speaker = Speaker(
            wordings.forms,
            protocol().account,
            scenario("update_card-correcting"),
            np.random.default_rng(seed),
        )
        said = speaker.fill(f"It is {slot} here")
        assert normalise(said) == f"it is {normal} here", said
