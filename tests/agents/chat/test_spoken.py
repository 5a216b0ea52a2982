"""What of a streamed completion is spoken, what is thought, and what is a call."""

from __future__ import annotations

import pytest

from inquesto_dag.agents.chat.spoken import SpokenReader
from inquesto_dag.agents.chat.toolcalls import CallParser, Malformed, TextCall
from inquesto_dag.agents.tools import tool_specs
from tests.agents.chat.test_toolcalls import FORMS, LOOKUP, LOOKUP_JSON

PARSER = CallParser(tool_specs())


def read(text: str, size: int = 1, thinking: bool = False) -> tuple[list[str], SpokenReader]:
    """All sentences of a text that arrives in pieces of this many characters."""
    reader = SpokenReader(PARSER, thinking)
    said: list[str] = []
    for at in range(0, len(text), size):
        said += reader.feed(text[at : at + size])
    return said + reader.finish(), reader


@pytest.mark.parametrize("size", [1, 3, 8, 10_000])
@pytest.mark.parametrize(("text", "calls"), [f[1:] for f in FORMS], ids=[f[0] for f in FORMS])
def test_nothing_of_a_call_is_ever_spoken(text: str, calls: list[TextCall], size: int) -> None:
    """In whatever pieces it arrives, alone, behind words, and before words."""
    said, reader = read(text, size)
    assert (said, reader.calls) == ([], calls)
    said, reader = read(f"One moment please. I look it up:\n{text}", size)
    assert (said, reader.calls) == (["One moment please.", "I look it up:"], calls)


def test_a_sentence_before_a_call_does_not_wait_for_it() -> None:
    """It is out when its white space is there."""
    reader = SpokenReader(PARSER)
    assert reader.feed("One moment. ") == ["One moment."]
    assert reader.feed("I look") == []
    assert reader.feed(" it up.<tool_ca") == []
    assert reader.feed(f"ll>{LOOKUP_JSON}") == ["I look it up."]
    assert reader.feed("</tool_call> You are verified. ") == []
    assert reader.finish() == []
    assert reader.calls == [LOOKUP] and reader.unsaid == "You are verified."


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<think>The caller wants. A refund!</think>Sure. Which one?", ["Sure.", "Which one?"]),
        ("<think>\nI call lookup_account(account_number='1').\n</think>\n\nYour number?", ["Your number?"]),
        ("Well. <thinking>hm</thinking> Your number?", ["Well.", "Your number?"]),
        ("<think>never closed. And so on.", []),
        ("Fine.<|im_end|>\n<|im_start|>user\nI want a refund.", ["Fine."]),
        ("Fine.</s> More.", ["Fine."]),
        ("Your order is {pending}. Anything else?", ["Your order is {pending}.", "Anything else?"]),
        ("Here:\n```\nno call\n```\nDone.", ["Here:", "no call", "Done."]),
    ],
)  # fmt: skip
def test_thought_and_what_follows_the_turn_are_not_spoken(text: str, said: list[str], size: int) -> None:
    """Braces in prose are prose."""
    spoken, reader = read(text, size)
    assert (spoken, reader.calls) == (said, [])


def test_a_template_that_opens_the_thought_itself() -> None:
    """Then the text begins inside it, and a call in it is a thought too."""
    said, reader = read(f"I should call {LOOKUP_JSON}. Yes.</think>Your number?", thinking=True)
    assert (said, reader.calls) == (["Your number?"], [])
    assert reader.thought > 0


def test_thought_between_a_call_and_its_end_is_no_call() -> None:
    """Only what is outside of it counts."""
    _, reader = read(f"<tool_call>{LOOKUP_JSON}</tool_call><think>{LOOKUP_JSON}</think>")
    assert reader.calls == [LOOKUP]


def test_an_invented_result_is_not_read() -> None:
    """Small models play the tool's part as well."""
    text = f'<tool_call>{LOOKUP_JSON}</tool_call><tool_response>{{"name": "verify_voice", "arguments": {{}}}}'
    said, reader = read(text)
    assert (said, reader.calls, reader.unsaid) == ([], [LOOKUP], "")


def test_a_broken_call_is_reported_and_not_spoken() -> None:
    """The model is told of it."""
    said, reader = read('Sure. {"name": "lookup_account", "arguments": {"account_number": "44')
    assert said == ["Sure."]
    assert [type(call) for call in reader.calls] == [Malformed]
