"""The embedded agent in whole calls, in text: every goal is reached, and what must not happen does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from inquesto_dag.agents.brain import Brain, BrainSession, Heard, make_brain
from inquesto_dag.agents.config import load_agent
from inquesto_dag.agents.program import Program
from inquesto_dag.agents.scripted import phrases as say
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.protocol.models import Protocol, Scenario
from tests.agents import talk as talking
from tests.agents.conftest import AGENTS, not_verified, verified

Make = Callable[..., ToolBox]


@pytest.fixture(scope="module")
def brain() -> Brain:
    return make_brain(load_agent(AGENTS, "embedded-700"))


def _verify(scenario: Scenario) -> Callable[[], VerifyResult]:
    return not_verified if scenario.role == "impostor" else verified


def _talks(
    protocol: Protocol, brain: Brain, hears: talking.Hears, seeds: range = range(1)
) -> Iterator[talking.Talk]:
    for scenario in protocol.scenarios:
        for seed in seeds:
            yield talking.hold_call(protocol, scenario, brain, _verify(scenario), hears, seed)


@pytest.mark.parametrize(
    "hears",
    [talking.hears_all, talking.hears_written, talking.hears_fragments],
    ids=["as spoken", "as written", "cut at every pause"],
)
def test_all_30_goals_are_reached(protocol: Protocol, brain: Brain, hears: talking.Hears) -> None:
    """Words heard right, in one piece or cut: each caller gets what they came for, each impostor nothing."""
    talks = list(_talks(protocol, brain, hears))
    assert len(talks) == 30
    failed = [str(talk) for talk in talks if not talking.goal_is_met(talk, protocol)]
    assert not failed, "\n\n".join(failed)
    for talk in talks:
        action = talk.scenario.required_action
        changes = [row for row in talk.rows if row["tool"] in protocol.tools.change]
        assert len(changes) == (action is not None), str(talk)
        assert talk.scenario.role != "impostor" or talk.ended_by == "refused", str(talk)


@pytest.mark.parametrize(
    ("hears", "seeds", "least"),
    [
        (talking.drops_words(0.05, talking.hears_written), range(6), 0.99),
        (talking.drops_words(0.10, talking.hears_fragments), range(6), 0.98),
        (talking.cuts_anywhere(talking.hears_all), range(4), 0.97),
        (talking.mishears(0.05, talking.hears_written), range(6), 0.97),
    ],
    ids=["5 % of words lost", "cut and 10 % lost", "cut anywhere", "5 % taken for others"],
)
def test_goals_survive_noise(
    protocol: Protocol, brain: Brain, hears: talking.Hears, seeds: range, least: float
) -> None:
    """Misheard calls are mostly saved by asking again and reading back."""
    met = [talking.goal_is_met(talk, protocol) for talk in _talks(protocol, brain, hears, seeds)]
    assert sum(met) >= least * len(met), f"{sum(met)} of {len(met)}"


def test_goal_check_notices_a_wrong_outcome(protocol: Protocol, brain: Brain) -> None:
    """The check of these tests can fail: other arguments, no action, an unanswered question, a disclosure."""
    by_id = {scenario.id: scenario for scenario in protocol.scenarios}
    card = talking.hold_call(protocol, by_id["update_card-neutral"], brain, verified)
    assert talking.goal_is_met(card, protocol)
    card.rows[-1]["arguments"] = card.rows[-1]["arguments"].replace("9021", "9012")
    assert not talking.goal_is_met(card, protocol)
    refused = talking.hold_call(protocol, by_id["cancel_sub-neutral"], brain, not_verified)
    assert not talking.goal_is_met(refused, protocol)
    invoice = talking.hold_call(protocol, by_id["invoice_up-neutral"], brain, verified)
    invoice.lines = [line for line in invoice.lines if "duplicate" not in line[1]]
    assert not talking.goal_is_met(invoice, protocol)
    impostor = talking.hold_call(protocol, by_id["dup_charge-impostor"], brain, not_verified)
    impostor.lines.append(("agent", "Your card ends in 3382."))
    assert not talking.goal_is_met(impostor, protocol)


def test_T1_turns_are_short(protocol: Protocol, brain: Brain) -> None:
    """No turn of the embedded agent has more than 40 words."""
    for talk in _talks(protocol, brain, talking.hears_fragments):
        longest = max((len(text.split()) for speaker, text in talk.lines if speaker == "agent"), default=0)
        assert 0 < longest <= 40, str(talk)


def test_T10_changes_follow_lookup_and_a_passed_verification(protocol: Protocol, brain: Brain) -> None:
    """In every call, the order of tools is lookup, verification, change."""
    for talk in _talks(protocol, brain, talking.hears_written):
        tools = [row["tool"] for row in talk.rows if row["ok"]]
        assert tools[:2] == ["lookup_account", "verify_voice"], str(talk)


def test_T11_nothing_is_disclosed_without_a_verified_voice(protocol: Protocol, brain: Brain) -> None:
    """Whoever calls for whatever: an unverified caller hears no detail, and no tool changes anything."""
    for scenario in protocol.scenarios:
        talk = talking.hold_call(protocol, scenario, brain, not_verified, talking.hears_written)
        assert talking.discloses(talk.agent_said, protocol.account) == [], str(talk)
        assert talk.changed == {} and talk.ended_by == "refused", str(talk)


# --- single situations --------------------------------------------------------------------------------


def _hear(session: BrainSession, tools: ToolBox, *texts: str) -> str:
    answer: list[str] = []
    for text in texts:
        tools.begin_reply()
        answer = list(session.reply(Heard(text, 0.9), tools))
    return " ".join(answer)


def test_D12_nothing_heard_is_not_answered(brain: Brain, toolbox: Make) -> None:
    """Silence and fillers get no reply and call no tool."""
    session, tools = brain.start(0), toolbox()
    for text in ("", "  ", "Um...", "Uh, um"):
        assert list(session.reply(Heard(text, 0.1), tools)) == []
    assert tools.rows == []


def test_pieces_of_an_account_number_are_put_together(brain: Brain, toolbox: Make) -> None:
    """Cut in mid-number, the next piece is understood in context; said whole again, that counts."""
    session, tools = brain.start(0), toolbox()
    _hear(session, tools, "I want to cancel my subscription.")
    assert _hear(session, tools, "The account number is four four") == say.NUMBER_PARTIAL
    assert "cancel your Pro plan" in _hear(session, tools, "seven one.")
    session, tools = brain.start(0), toolbox()
    _hear(session, tools, "I want to cancel my subscription.", "It is 44")
    assert "cancel your Pro plan" in _hear(session, tools, "It is 4471.")


def test_wrong_account_number_is_asked_again_without_repeating_it(brain: Brain, toolbox: Make) -> None:
    """A number that is not found is not read back as if it were the caller's."""
    session, tools = brain.start(0), toolbox()
    answer = _hear(session, tools, "I want to cancel my subscription.", "It is 4417.")
    assert answer == say.NUMBER_UNKNOWN
    assert "cancel your Pro plan" in _hear(session, tools, "Four four seven one.")


def test_not_enough_speech_is_asked_for_and_verified_again(brain: Brain, toolbox: Make) -> None:
    """D11: too little speech is neither a pass nor a refusal; after a limit a person takes over."""
    outcomes = [VerifyResult("not_enough_speech", None, 0.78), verified()]
    session, tools = brain.start(0), toolbox(lambda: outcomes.pop(0))
    answer = _hear(session, tools, "Cancel my subscription.", "4471")
    assert answer == say.MORE_SPEECH
    assert "Shall I go ahead?" in _hear(session, tools, "I am calling to cancel my plan, as I said.")
    never = brain.start(0)
    tools = toolbox(lambda: VerifyResult("not_enough_speech", None, 0.78))
    answer = _hear(never, tools, "Cancel my subscription.", "4471", "I said so.", "I did.")
    assert answer == say.HAND_OVER


def test_T6_a_correction_after_the_read_back_is_followed(brain: Brain, toolbox: Make) -> None:
    """The corrected card is read back anew, and only that one is stored."""
    session, tools = brain.start(0), toolbox()
    _hear(session, tools, "I have a new card to put on my account.", "4471")
    assert "9012" in _hear(session, tools, "The new card ends in nine zero one two.")
    answer = _hear(session, tools, "No, sorry, I mean nine zero two one.")
    assert "9021" in answer and "9012" not in answer
    assert "9021" in _hear(session, tools, "Yes, that is right.")
    assert tools.state.current.card_last4 == "9021"


def test_a_no_alone_asks_for_the_detail(brain: Brain, toolbox: Make) -> None:
    """A denied read-back is never acted upon."""
    session, tools = brain.start(0), toolbox()
    _hear(session, tools, "Please change my billing email to another address.", "4471")
    _hear(session, tools, "It is river dot stone at example dot com")
    assert say.ASK_DETAIL["change_email"] in _hear(session, tools, "No, that is not right.")
    _hear(session, tools, "harbor dot lane at example dot com", "Yes, please.")
    assert tools.state.current.billing_email == "harbor.lane@example.com"
    assert sum(row["tool"] == "update_email" for row in tools.rows) == 1


def test_unclear_answers_to_a_read_back_change_nothing(brain: Brain, toolbox: Make) -> None:
    """Neither yes nor no is asked again."""
    session, tools = brain.start(0), toolbox()
    answer = _hear(session, tools, "I want to cancel my subscription.", "4471", "The weather is nice.")
    assert answer.startswith(say.NOT_CAUGHT) and tools.state.current.version == 0


def test_a_tool_that_refuses_is_not_reported_as_success(brain: Brain, toolbox: Make) -> None:
    """T9: a change that the account refuses is said to have failed, and a person takes over."""
    session, tools = brain.start(0), toolbox()
    _hear(session, tools, "Please change my billing email.", "4471")
    answer = _hear(session, tools, "It is m dot ruiz at example dot com.", "Yes.")
    assert answer == f"{say.FAILED} {say.HAND_OVER}" and tools.rows[-1]["ok"] is False


def test_amounts_come_from_the_record(protocol: Protocol, brain: Brain) -> None:
    """T8: another record gives other facts; nothing about the account is known beforehand."""
    from inquesto_dag.agents.account import AccountState

    raw = protocol.account.model_dump()
    raw["charges"][1].update(id="CH-900", amount_usd=61, date="2026-07-09")
    raw["invoices"][0].update(lines=("CH-101",), total_usd=49)
    other = type(protocol.account).model_validate(raw)
    tools = ToolBox(AccountState(other), verified, lambda: 0.0, lambda index: 0.0)
    session = brain.start(0)
    answer = _hear(session, tools, "I was charged twice and want a refund.", "4471")
    assert "$61" in answer and "July 9" in answer and "$49" not in answer
    assert "$61" in _hear(session, tools, "Yes, go ahead.")
    assert tools.state.current.charges[1].refunded_usd == 61


def test_a_detail_is_asked_for_only_when_the_record_leaves_a_choice(protocol: Protocol, brain: Brain) -> None:
    """Two doubled charges: the agent asks which, and takes the one that is named."""
    from inquesto_dag.agents.account import AccountState

    raw = protocol.account.model_dump()
    raw["charges"] = [*raw["charges"], {**raw["charges"][1], "id": "CH-950", "amount_usd": 15}]
    other = type(protocol.account).model_validate(raw)
    tools = ToolBox(AccountState(other), verified, lambda: 0.0, lambda index: 0.0)
    session = brain.start(0)
    answer = _hear(session, tools, "I was charged twice and want a refund.", "4471")
    assert answer == say.ASK_DETAIL["dup_charge"]
    assert "$15" in _hear(session, tools, "It was for thirteen dollars. No, sorry, for fifteen dollars.")


def test_a_second_request_is_served_from_the_changed_record(brain: Brain, toolbox: Make) -> None:
    """After one request another may follow; the account is looked up again."""
    session, tools = brain.start(0), toolbox()
    _hear(session, tools, "I want to cancel my subscription.", "4471", "Yes, go ahead.")
    assert "$98" in _hear(session, tools, "Why is my last invoice so high?")
    assert _hear(session, tools, "No, that is all.") == say.GOODBYE and session.ended
    assert _hear(session, tools, "Hello?") == ""


def test_steering_of_the_talk(brain: Brain, toolbox: Make) -> None:
    """Repeats, "are you still there", asking for a person, goodbyes in the middle."""
    session, tools = brain.start(0), toolbox()
    asked = _hear(session, tools, "I want to cancel my subscription.")
    assert _hear(session, tools, "Could you repeat that?") == asked
    assert _hear(session, tools, "Hello? Are you still there?").startswith(say.HERE)
    assert _hear(session, tools, "Let me talk to a person, please.") == say.HAND_OVER
    assert _hear(session, tools, "Yes, please.") == say.HAND_OVER_NOW and session.ended
    leaving = brain.start(0)
    assert _hear(leaving, tools, "I want to cancel my subscription.", "Thank you, goodbye.") == say.GOODBYE
    assert leaving.ended


def test_patience_has_limits(toolbox: Make) -> None:
    """Whatever is said, the agent neither loops for ever nor acts."""
    brain = make_brain(load_agent(AGENTS, "embedded-700"), Program(attempts=3))
    for opening in ("I want to cancel my subscription.", "Hello.", "I have a new card for my account."):
        session, tools = brain.start(0), toolbox()
        _hear(session, tools, opening)
        for _ in range(12):
            if session.ended:
                break
            _hear(session, tools, "The sky is blue over the hills.")
        assert session.ended and tools.state.current.version == 0
