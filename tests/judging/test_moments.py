"""What was said when: corrections over turns, talking over them, and an account that changed twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inquesto_dag.judging.interfaces import JudgedCall
from inquesto_dag.judging.text import normalise
from tests.judging.calls import answer, call_of, turns_of, verdicts
from tests.scoring.sample import act, protocol, tool_row, verified_trace

FIRST = "C: The new card ends in nine zero one two."
THEN = "C: No, sorry, I mean nine zero two one."


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ([FIRST, "A: It ends in 9012. Is that right?", THEN, "A: 9021, thank you."], False),
        ([FIRST, "A: It ends in 9012. Is that right?", THEN, "A: Thank you."], False),
        ([FIRST, "A: It ends in 9012. Is that right?", THEN, "A: Thank you, 9012."], True),
        ([FIRST, THEN, "A: So 9012?"], True),
        ([FIRST, THEN, "A: So 9012? I'm sorry, 9021."], False),
        ([FIRST, THEN, "A: So 9012?", "A: I'm sorry, I mean 9021."], False),
        ([FIRST, THEN, "A: So 9012?", "C: No.", "A: I'm sorry, I mean 9021."], True),
        ([FIRST, THEN, "A: Let me put 9012 there rather than 9021."], True),
        ([FIRST, "A: So 9012?"], False),
    ],
)
def test_T6_a_correction_counts_from_when_it_was_made(said: list[str], lost: bool) -> None:
    """In a turn of its own too; an agent that corrects itself before the caller speaks again lost nothing."""
    assert answer("context_loss", "update_card-correcting", *said) is lost


def test_T6_a_read_back_that_begins_before_the_correction_is_over_is_no_loss() -> None:
    """The agent spoke into the caller's pause; it cannot have heard what came after."""
    said = [f"{FIRST} {THEN[3:]}", "A: It ends in 9012. Is that right?", "A: It ends in 9021. Is that right?"]
    call = call_of("update_card-correcting", *said)
    for start_s, lost in ((3.9, False), (4.1, False)):
        turns = [dict(row) for row in call.turns]
        turns[1] |= {"start_s": start_s, "end_s": start_s + 3}
        turns[2] |= {"start_s": start_s + 3.5, "end_s": start_s + 6}
        given = JudgedCall(call.population, turns, [], call.account_before, call.account_after)
        assert verdicts(given)["context_loss"].answer is lost
    alone = [dict(row) for row in call.turns[:2]]
    for start_s, lost in ((3.9, False), (4.1, True)):
        alone[1] |= {"start_s": start_s, "end_s": start_s + 3}
        given = JudgedCall(call.population, alone, [], call.account_before, call.account_after)
        assert verdicts(given)["context_loss"].answer is lost


def test_T8_D8_what_stood_in_the_account_for_a_while_was_right_when_it_was_said() -> None:
    """Two changes in one call: both cards were on file, another one never was."""
    tools: list[dict[str, Any]] = [
        *verified_trace("x"),
        tool_row("x", 2, "update_card", arguments={"account_number": "4471", "card_last4": "1025"}),
        tool_row("x", 3, "update_card", arguments={"account_number": "4471", "card_last4": "9022"}),
        tool_row("x", 4, "update_card", ok=False, arguments={"account_number": "4471", "card_last4": "7777"}),
    ]
    before = protocol().account
    after = act(before, "update_card", json.loads(tools[3]["arguments"]))
    plan = {"call_id": "x", "scenario_id": "update_card-correcting", "role": "goal_directed"}
    for digits, wrong in (("1025", False), ("9022", False), ("7777", True), ("1234", True)):
        said = turns_of("C: Hi.", f"A: I have updated your card. It now ends in {digits}.")
        found = verdicts(JudgedCall(plan, said, tools, before, after))["wrong_information"]
        assert found.answer is wrong, (digits, found.reason)


@pytest.mark.parametrize(
    ("words", "normal"),
    [
        (
            "Send it to river dot stone at example dot com. No, wait.",
            "send it to river.stone@example.com no wait",
        ),
        ("an invoice at maple dot lane at example dot com", "an invoice at maple.lane@example.com"),
        ("ending in ninety twelve", "ending in 9012"),
    ],
)
def test_addresses_and_pairs_of_digits_end_where_they_do(words: str, normal: str) -> None:
    """A full stop ends an address, and `at` before an address is no part of it."""
    assert normalise(words) == normal
