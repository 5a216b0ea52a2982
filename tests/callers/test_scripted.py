"""A scripted caller stays in its scenario, ends every call, and never loops."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inquesto_dag.callers.script import style_line
from inquesto_dag.callers.scripted import ENDINGS, PATIENCE, SAME_MOVE, Say, ScriptedCaller, Wait
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import CALLER_MOVES, Scenario
from inquesto_dag.protocol.spoken import position_of

FOLDER = Path(__file__).parents[2] / "data" / "protocols" / "v0.1"
SCENARIOS: dict[str, Scenario] = {scenario.id: scenario for scenario in load_protocol(FOLDER).scenarios}

AGENT_TURNS = [
    "How can I help you?",
    "What is your account number?",
    "And your full name?",
    "What are the last four digits of the new card?",
    "What is the new email address?",
    "Is that right?",
    "So the new card ends in 1234, is that right?",
    "I'm sorry, I can't help with that.",
    "Would you like me to transfer you to a colleague?",
    "One moment, please.",
    "Please hold.",
    "Sorry, could you repeat that?",
    "What is your date of birth?",
    "Lovely weather today, isn't it?",
    "Thank you.",
    "Is there anything else I can help you with?",
    "Let me check that for you.",
    "Goodbye.",
    "42",
    "...",
    "Your plan has been cancelled.",
]


def play(caller: ScriptedCaller, turns: list[str | None]) -> list[Say]:
    """What a caller says to an agent that says these turns (None: 10 s of silence), until it hangs up."""
    said = [caller.first()]
    for turn in turns:
        if said[-1].hang_up:
            break
        answer = caller.silence() if turn is None else caller.reply(turn)
        if isinstance(answer, Say):
            said.append(answer)
    return said


@given(
    scenario=st.sampled_from(sorted(SCENARIOS)),
    seed=st.integers(0, 2**31 - 1),
    turns=st.lists(st.one_of(st.none(), st.sampled_from(AGENT_TURNS), st.text(max_size=40)), max_size=60),
)
@example("cancel_sub-fast", 0, ["I'm sorry, I can't help with that.", "Sorry, could you repeat that?"])
@settings(max_examples=150, deadline=None)
def test_whatever_an_agent_says_the_caller_stays_within_bounds(
    scenario: str, seed: int, turns: list[str | None]
) -> None:
    """At most 13 turns, no move more than three times, words of the scenario only, a known ending."""
    said = play(ScriptedCaller(SCENARIOS[scenario], seed), turns)
    assert len(said) <= PATIENCE[1]
    moves = [say.move for say in said]
    assert set(moves) <= set(CALLER_MOVES)
    assert all(moves.count(move) <= SAME_MOVE for move in moves)
    # Of its own accord once; again only where the agent asked to hear the last thing again.
    asked = sum(turn == "Sorry, could you repeat that?" for turn in turns)
    assert moves.count("push_back") <= 1 + asked
    assert all(say.text == style_line(SCENARIOS[scenario], say.move).text for say in said)
    assert all((say.ended_by in ENDINGS) == say.hang_up for say in said)
    assert not any(say.hang_up for say in said[:-1])


@pytest.mark.parametrize("turn", AGENT_TURNS)
@pytest.mark.parametrize("scenario", ["dup_charge-fast", "change_email-impostor", "invoice_up-correcting"])
def test_an_agent_that_repeats_itself_for_ever_loses_the_caller(scenario: str, turn: str) -> None:
    """The same words forty times, with silences where the caller waits: the caller leaves."""
    caller = ScriptedCaller(SCENARIOS[scenario], seed=5)
    said = play(caller, [part for _ in range(40) for part in (turn, None)])
    assert said[-1].hang_up


def test_silence_is_asked_about_once_then_the_caller_hangs_up() -> None:
    """Ten seconds, `still_there`, ten more, goodbye; an answer in between starts the count again."""
    caller = ScriptedCaller(SCENARIOS["cancel_sub-fast"], seed=1)
    said = play(caller, [None, None])
    assert [say.move for say in said] == ["opening", "still_there", "goodbye"]
    assert (said[-1].hang_up, said[-1].ended_by) == (True, "silence")
    caller = ScriptedCaller(SCENARIOS["cancel_sub-fast"], seed=1)
    said = play(caller, [None, "Yes, I am here. What is your account number?", None])
    assert [say.move for say in said] == ["opening", "still_there", "account_number", "still_there"]


def test_silence_after_an_agreed_hand_over_is_the_hand_over() -> None:
    """A caller that is being put through does not take the quiet for a dead line."""
    caller = ScriptedCaller(SCENARIOS["escalate_refund-neutral"], seed=1)
    said = play(caller, ["Would you like me to connect you with a colleague?", None])
    assert [(say.move, say.ended_by) for say in said[1:]] == [
        ("accept_handover", None),
        ("goodbye", "handed_over"),
    ]


def test_words_that_were_waited_for_count_with_those_that_follow() -> None:
    """An agent that pauses in mid-question is answered as a whole, in either way of telling it."""
    for second in ("the account number, please?", "Let me see. I need the account number, please?"):
        caller = ScriptedCaller(SCENARIOS["cancel_sub-fast"], seed=1)
        caller.first()
        assert isinstance(caller.reply("Let me see. I need"), Wait)
        answer = caller.reply(second)
        assert isinstance(answer, Say)
        assert answer.move == "account_number"


def test_what_was_answered_is_forgotten() -> None:
    """An earlier request does not come back when the agent then says something else."""
    caller = ScriptedCaller(SCENARIOS["update_card-neutral"], seed=1)
    caller.first()
    caller.reply("What is your account number?")
    answer = caller.reply("Thank you. What does the new card end in?")
    assert isinstance(answer, Say)
    assert answer.move == "detail"


def test_of_two_requests_the_one_not_yet_answered_is_answered() -> None:
    """`Your name and account number` gets both, one after the other."""
    caller = ScriptedCaller(SCENARIOS["update_card-neutral"], seed=1)
    said = play(caller, ["Could I have your name and your account number, please?"] * 2)
    assert [say.move for say in said[1:]] == ["name", "account_number"]


def test_a_refused_caller_who_meets_only_small_talk_leaves_as_refused() -> None:
    """The reason of a call's end is the refusal, not lost patience."""
    caller = ScriptedCaller(SCENARIOS["change_email-impostor"], seed=1)
    said = play(caller, ["I'm sorry, I cannot help you with that.", "Goodbye."])
    assert [say.move for say in said[1:]] == ["push_back", "goodbye"]
    assert said[-1].ended_by == "refused"


def test_T6_D7_a_correcting_caller_corrects_the_detail_once_in_every_call() -> None:
    """In the opening or when asked; asked again, it says the right detail only."""
    for scenario in SCENARIOS.values():
        if scenario.corrects is None:
            continue
        ask = {
            "update_card": "What are the last four digits of the new card?",
            "change_email": "What is the new email address?",
            "failed_order": "What is the order number?",
        }.get(scenario.family, "How much was it?")
        said = play(ScriptedCaller(scenario, seed=1), [ask, ask])
        wrong = [say for say in said if position_of(say.text, scenario.corrects.first) >= 0]
        assert len(wrong) == 1, scenario.id
        assert (
            0
            <= position_of(wrong[0].text, scenario.corrects.first)
            < position_of(wrong[0].text, scenario.corrects.corrected)
        )
        assert position_of(said[-1].text, scenario.corrects.first) == -1


def test_the_seed_decides_patience_alone() -> None:
    """The same seed gives the same caller; patience is 11 to 13 turns."""
    patience = {ScriptedCaller(SCENARIOS["dup_charge-fast"], seed).patience for seed in range(60)}
    assert patience == {11, 12, 13}
    turns: list[str | None] = ["How can I help?", "What is your account number?", "Is that right?"]
    first, second = (play(ScriptedCaller(SCENARIOS["dup_charge-fast"], 9), turns) for _ in range(2))
    assert first == second
