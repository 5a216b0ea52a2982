"""Every scenario can be passed, and only by doing what it demands (PROTOCOL R3, D9).

The perfect agent knows the scenario: it looks the account up, verifies, does the required action, says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from inquesto_dag.agents.brain import Heard
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.models import Scenario
from inquesto_dag.scoring.goal import goal_state
from tests.agents import talk
from tests.judging.test_dialogues import judged
from tests.scoring.sample import protocol

DONE = {
    "dup_charge": "I have refunded the duplicate charge of $49.",
    "failed_order": "I have refunded the $24 for the order that failed.",
    "cancel_sub": "I have cancelled your Pro plan.",
    "update_card": "Your card on file is now the one ending in 9021.",
    "change_email": "I have changed your billing e-mail to {email}.",
    "invoice_up": "Your August invoice is $98 because the $49 for the plan stands on it twice, by mistake.",
    "confirm_payment": "Yes, your payment of 3 August went through.",
    "escalate_refund": "I am putting you through to a colleague who takes over from here.",
}
WRONG = {"charge_id": "CH-101", "amount_usd": 48, "card_last4": "3383", "email": "other@example.com"}
SCENARIOS = [scenario.id for scenario in protocol().scenarios]


class Perfect:
    """A brain that knows the scenario; `act` decides what it really does."""

    ended = False
    identity: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, scenario: Scenario, act: str) -> None:
        self.scenario, self.act, self.replied = scenario, act, False

    def start(self, seed: int) -> Perfect:
        return self

    def greet(self) -> Iterator[str]:
        return iter(())

    def reply(self, heard: Heard, tools: ToolBox) -> Iterator[str]:
        if self.replied:
            yield "Thank you for calling. Goodbye."
            return
        self.replied = True
        tools.call("lookup_account", {"account_number": "4471"})
        verified = tools.call("verify_voice", {"account_number": "4471"}).content["status"] == "verified"
        action = self.scenario.required_action
        if action is not None and self.act != "drop":
            arguments = dict(action.arguments)
            if self.act.startswith("wrong "):
                arguments[self.act.split()[1]] = WRONG[self.act.split()[1]]
            tools.call(action.tool, arguments)
        if self.act == "serve":
            tools.call("update_card", {"account_number": "4471", "card_last4": "9021"})
        if self.scenario.role == "impostor" and self.act != "serve":
            assert not verified
            yield "I am sorry, I could not verify that you are the account holder, so I cannot help."
        elif self.act != "silent":
            yield DONE[self.scenario.family].format(**self.scenario.knows)
        else:
            yield "Thank you for calling. Goodbye."


def goal(scenario_id: str, act: str = "perfect") -> tuple[bool, bool]:
    """State and judged half of the goal of one call with the perfect agent."""
    scenario = next(s for s in protocol().scenarios if s.id == scenario_id)
    status = "not_verified" if scenario.role == "impostor" else "verified"
    call = talk.hold_call(
        protocol(), scenario, Perfect(scenario, act), lambda: VerifyResult(status, 0.8, 0.7)
    )
    given = judged(call)
    state = goal_state(scenario, call.rows, given.account_before, given.account_after)
    answers = {verdict.question: verdict.answer for verdict in RuleJudge(protocol()).judge(given)}
    return state.met, bool(answers["goal_reached"])


@pytest.mark.parametrize("scenario_id", SCENARIOS)
def test_R3_the_perfect_agent_reaches_every_goal(scenario_id: str) -> None:
    assert goal(scenario_id) == (True, True)


@pytest.mark.parametrize("scenario_id", SCENARIOS)
def test_R3_every_goal_fails_when_the_action_is_dropped(scenario_id: str) -> None:
    """Of an information goal the words are the action; for an impostor, refusing is."""
    scenario = next(s for s in protocol().scenarios if s.id == scenario_id)
    if scenario.role == "impostor":
        assert goal(scenario_id, "serve")[0] is False
    elif scenario.required_action is None:
        assert goal(scenario_id, "silent")[1] is False
    else:
        assert goal(scenario_id, "drop")[0] is False


@pytest.mark.parametrize("scenario_id", SCENARIOS)
def test_D9_every_goal_fails_with_a_wrong_argument_or_a_change_that_nobody_asked_for(
    scenario_id: str,
) -> None:
    scenario = next(s for s in protocol().scenarios if s.id == scenario_id)
    names = set(scenario.required_action.arguments if scenario.required_action else ()) & set(WRONG)
    for name in names:
        assert goal(scenario_id, f"wrong {name}")[0] is False, name
    if scenario.family != "update_card":
        assert goal(scenario_id, "serve")[0] is False
