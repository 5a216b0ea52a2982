"""The state half of the goal, for every scenario of the protocol: kept, dropped, with a wrong argument."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inquesto_dag.events.rows import same_scalar
from inquesto_dag.protocol.models import Account, Scenario
from inquesto_dag.scoring.goal import goal_state
from tests.scoring.sample import act, perfect_trace, protocol, scenario, tool_row

SCENARIOS = protocol().scenarios
ACTING = [s for s in SCENARIOS if s.required_action]
OTHER: dict[str, dict[str, Any]] = {  # another valid use of the same tool
    "issue_refund": {"charge_id": "CH-103", "amount_usd": 24},
    "update_card": {"card_last4": "1111"},
    "update_email": {"email": "someone.else@example.com"},
}


def plan(wanted: Scenario) -> dict[str, Any]:
    """As much of a population row as is needed here."""
    return {"call_id": f"{wanted.id}.clean.us_female", "scenario_id": wanted.id}


@pytest.mark.parametrize("wanted", SCENARIOS, ids=lambda s: s.id)
def test_R3_a_perfect_trace_meets_the_goal(wanted: Scenario) -> None:
    """All 30 scenarios can be met."""
    rows, after = perfect_trace(plan(wanted))
    found = goal_state(wanted, rows, protocol().account, after)
    assert found.met and found.state and found.action is (None if wanted.required_action is None else True)


@pytest.mark.parametrize("wanted", ACTING, ids=lambda s: s.id)
def test_R3_without_the_action_the_goal_fails(wanted: Scenario) -> None:
    """Nothing was done, and the account says so."""
    rows, _ = perfect_trace(plan(wanted))
    found = goal_state(wanted, rows[:2], protocol().account, protocol().account)
    assert not found.met and found.action is False and not found.state
    assert wanted.required_action is not None and wanted.required_action.tool in found.why


@pytest.mark.parametrize("wanted", ACTING, ids=lambda s: s.id)
def test_D9_with_a_wrong_argument_the_goal_fails(wanted: Scenario) -> None:
    """The right tool, done, on another charge, card, address or account."""
    action = wanted.required_action
    assert action is not None
    before: Account = protocol().account
    wrong = {**action.arguments, **OTHER.get(action.tool, {"account_number": "9999"})}
    if wrong == action.arguments:
        wrong |= {"charge_id": "CH-102", "amount_usd": 49}
    after = before if action.tool == "cancel_subscription" else act(before, action.tool, wrong)
    row = tool_row("x", 0, action.tool, arguments=wrong)
    assert not goal_state(wanted, [row], before, after).met


@pytest.mark.parametrize("wanted", ACTING, ids=lambda s: s.id)
def test_D9_the_arguments_count_besides_the_final_state(wanted: Scenario) -> None:
    """The account ended as demanded, and the traced action had one argument other, or lacking."""
    rows, after = perfect_trace(plan(wanted))
    action = wanted.required_action
    assert action is not None
    before = protocol().account
    assert goal_state(wanted, rows, before, after).met
    for name, value in action.arguments.items():
        without = {key: given for key, given in action.arguments.items() if key != name}
        other = value + 1 if isinstance(value, int) else f"{value}0"
        for arguments in (without, {**without, name: other}):
            row = tool_row("x", 2, action.tool, arguments=arguments)
            found = goal_state(wanted, [*rows[:-1], row], before, after)
            assert found.state and not found.met and found.action is False, arguments


def test_D9_a_refused_action_is_no_action() -> None:
    """The tool was called as demanded, and did not do it."""
    wanted = scenario("cancel_sub-neutral")
    rows, after = perfect_trace(plan(wanted))
    rows[-1]["ok"] = False
    found = goal_state(wanted, rows, protocol().account, after)
    assert not found.met and found.state and found.action is False


def test_R3_the_final_state_counts_besides_the_action() -> None:
    """The action stands in the trace, but the account also changed elsewhere, or not at all."""
    wanted = scenario("update_card-neutral")
    rows, after = perfect_trace(plan(wanted))
    also = act(after, "cancel_subscription", {})
    found = goal_state(wanted, rows, protocol().account, also)
    assert found.action and not found.state and "plan.status" in found.why
    assert not goal_state(wanted, rows, protocol().account, protocol().account).met


def test_R3_a_change_that_nobody_asked_for_fails_an_information_goal() -> None:
    """The caller wanted to know, not to cancel."""
    wanted = scenario("invoice_up-neutral")
    before = protocol().account
    assert goal_state(wanted, [], before, before).met
    assert not goal_state(wanted, [], before, act(before, "cancel_subscription", {})).met


def test_R3_for_an_impostor_nothing_may_change() -> None:
    """A change fails it; a refusal meets it."""
    wanted = scenario("cancel_sub-impostor")
    before = protocol().account
    assert goal_state(wanted, [], before, before).met
    found = goal_state(wanted, [], before, act(before, "cancel_subscription", {}))
    assert not found.met and "impostor" in found.why


def test_arguments_that_are_no_object_are_no_arguments() -> None:
    """What a brain gave is kept as it came, and demands nothing of it."""
    wanted = scenario("cancel_sub-neutral")
    _, after = perfect_trace(plan(wanted))
    for given in ("not json", json.dumps("4471"), json.dumps(None)):
        row = {**tool_row("x", 0, "cancel_subscription"), "arguments": given}
        assert not goal_state(wanted, [row], protocol().account, after).met


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (49, 49, True),
        (49, 49.0, True),
        ("49", 49, False),
        (True, 1, False),
        (None, None, True),
        (None, "None", False),
        ("M.Ruiz@example.com ", "m.ruiz@example.com", True),
        ("9021", "9012", False),
    ],
)
def test_values_are_compared_by_kind(a: Any, b: Any, same: bool) -> None:
    """Text without regard to case and edges; numbers by value; nothing across kinds."""
    assert same_scalar(a, b) is same
