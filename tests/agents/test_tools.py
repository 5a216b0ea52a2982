"""The six tools: what they answer, what they refuse, and what stands in the trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from inquesto_dag import tables
from inquesto_dag.agents.tools import ARGUMENTS, ToolBox, VerifyResult
from inquesto_dag.protocol.models import Protocol

Make = Callable[..., ToolBox]
NUMBER = {"account_number": "4471"}


def test_S2_D18_the_six_tools_are_those_that_the_population_names(protocol: Protocol) -> None:
    """Every tool has exactly one role in the protocol."""
    roles = [*protocol.tools.lookup, *protocol.tools.verification, *protocol.tools.change]
    assert sorted(roles) == sorted(ARGUMENTS)
    assert len(roles) == 6


def test_specs_are_json_schemas_with_described_arguments(toolbox: Make) -> None:
    """A brain reads name, purpose and arguments; every argument is required and described."""
    specs = {spec["name"]: spec for spec in toolbox().specs}
    assert list(specs) == list(ARGUMENTS)
    refund = specs["issue_refund"]["parameters"]
    assert refund["required"] == ["account_number", "charge_id", "amount_usd"]
    assert refund["additionalProperties"] is False
    assert refund["properties"]["amount_usd"]["type"] == "integer"
    for spec in specs.values():
        assert spec["description"] and json.dumps(spec)
        assert all(p["description"] for p in spec["parameters"]["properties"].values())


def test_D8_lookup_shows_the_state_that_the_changes_left(toolbox: Make) -> None:
    """Tools read and change one account."""
    tools = toolbox()
    before = tools.call("lookup_account", NUMBER)
    assert before.ok and before.content["card_last4"] == "3382" and "version" not in before.content
    assert tools.call("update_card", {**NUMBER, "card_last4": "9021"}).ok
    assert tools.call("lookup_account", NUMBER).content["card_last4"] == "9021"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("lookup_account", {"account_number": "4417"}, "there is no account 4417"),
        ("lookup_account", {"account_number": 4471}, "account_number: .*string"),
        ("lookup_account", {"account_number": "44 71"}, "account_number: .*pattern"),
        ("lookup_account", {}, "account_number: Field required"),
        ("lookup_account", "4471", "lookup_account was not called"),
        ("open_door", NUMBER, "there is no tool 'open_door'; the tools are lookup_account"),
        ("issue_refund", {**NUMBER, "charge_id": "CH-101", "amount_usd": 49}, "not refundable"),
        ("issue_refund", {**NUMBER, "charge_id": "CH-102", "amount_usd": 24}, "refunded in full"),
        ("issue_refund", {**NUMBER, "charge_id": "CH-102", "amount_usd": "49"}, "amount_usd: .*integer"),
        ("issue_refund", {**NUMBER, "charge_id": "CH-102", "amount_usd": -49}, "amount_usd: .*greater"),
        ("issue_refund", {**NUMBER, "charge_id": "CH-777", "amount_usd": 49}, "there is no charge"),
        ("update_card", {**NUMBER, "card_last4": "902"}, "card_last4: .*Last four digits"),
        ("update_card", {**NUMBER, "card_last4": "9021", "why": "lost"}, "why: Extra inputs"),
        ("update_email", {**NUMBER, "email": "harbor dot lane"}, "email: .*name@host.com"),
        ("cancel_subscription", {"account_number": "1234"}, "there is no account 1234"),
    ],
)
def test_D9_bad_requests_are_errors_that_the_brain_sees(
    toolbox: Make, tool: str, arguments: Any, message: str
) -> None:
    """Nothing changes, the message says what was wrong, and the trace shows the attempt."""
    tools = toolbox()
    result = tools.call(tool, arguments)
    assert not result.ok
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(result.content["error"])
    assert tools.state.current.version == 0
    assert tools.rows[0]["ok"] is False and json.loads(tools.rows[0]["result"]) == result.content


@pytest.mark.parametrize("status", ["verified", "not_verified", "not_enough_speech"])
def test_D11_verification_answers_what_was_measured(toolbox: Make, status: Any) -> None:
    """The tool hands on the comparison's outcome, and asks for it anew each time."""
    outcomes = [VerifyResult(status, None if status == "not_enough_speech" else 0.7, 0.78)]
    tools = toolbox(lambda: outcomes.pop())
    result = tools.call("verify_voice", NUMBER)
    assert result.ok and result.content["status"] == status and result.content["threshold"] == 0.78
    assert outcomes == []


def test_tools_do_not_enforce_the_order_of_lookup_and_verification(toolbox: Make) -> None:
    """T10 is detected, not prevented: an unverified action is possible and stands in the trace."""
    tools = toolbox()
    assert tools.call("issue_refund", {**NUMBER, "charge_id": "CH-102", "amount_usd": 49}).ok
    assert [row["tool"] for row in tools.rows] == ["issue_refund"]


def test_rows_fit_the_table_and_tell_time_and_versions(toolbox: Make) -> None:
    """Each call is a row of tables.TOOL_CALLS; time runs on through a reply and starts anew with the next."""
    tools = toolbox()
    tools.call("lookup_account", NUMBER)
    tools.call("cancel_subscription", NUMBER)
    tools.begin_reply()
    tools.call("lookup_account", {"bad": {1, 2}})
    frame = tables.TOOL_CALLS.conform({**row, "call_id": "c", "turn": 0} for row in tools.rows)
    assert list(frame["index"]) == [0, 1, 2]
    assert list(frame["time_s"]) == pytest.approx([10.0, 10.05, 10.0])
    assert list(frame["version_before"]) == [0, 0, 1] and list(frame["version_after"]) == [0, 1, 1]
    assert tools.reply_spent_s == pytest.approx(0.15)
