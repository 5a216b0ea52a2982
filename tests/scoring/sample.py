"""Rows of a small world: the project's own protocol, and calls in which everything goes as it should.

A test takes what goes well and breaks one thing in it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from inquesto_dag.agents.account import AccountState
from inquesto_dag.judging.outcomes import questions_for
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Account, Protocol, Scenario

Row = dict[str, Any]
FOLDER = Path(__file__).parents[2] / "data" / "protocols" / "v0.1"


@cache
def protocol() -> Protocol:
    """The project's protocol v0.1."""
    return load_protocol(FOLDER)


def scenario(scenario_id: str) -> Scenario:
    """One of its scenarios."""
    return next(s for s in protocol().scenarios if s.id == scenario_id)


def act(account: Account, tool: str, arguments: dict[str, Any]) -> Account:
    """The account after a change tool did what it was asked."""
    state = AccountState(account)
    if tool == "issue_refund":
        state.refund(arguments["charge_id"], arguments["amount_usd"])
    elif tool == "update_card":
        state.change_card(arguments["card_last4"])
    elif tool == "update_email":
        state.change_email(arguments["email"])
    else:
        state.cancel_plan()
    return state.current


def tool_row(call_id: str, index: int, tool: str, *, ok: bool = True, **more: Any) -> Row:
    """A row of TOOL_CALLS; `arguments` and `result` are given as objects."""
    return {
        "call_id": call_id,
        "index": index,
        "turn": index,
        "time_s": 5.0 + index,
        "tool": tool,
        "arguments": json.dumps(more.get("arguments", {"account_number": "4471"})),
        "ok": ok,
        "result": json.dumps(more.get("result", {})),
        "version_before": 0,
        "version_after": 0,
    }


def verified_trace(call_id: str) -> list[Row]:
    """A look-up and a verification that passed."""
    return [
        tool_row(call_id, 0, "lookup_account"),
        tool_row(
            call_id, 1, "verify_voice", result={"status": "verified", "similarity": 0.9, "threshold": 0.8}
        ),
    ]


def perfect_trace(plan: Row) -> tuple[list[Row], Account]:
    """The tool calls of an agent that does right by this call, and the account that they leave."""
    wanted, before = scenario(plan["scenario_id"]), protocol().account
    rows = verified_trace(plan["call_id"])
    if wanted.role == "impostor" or wanted.required_action is None:
        return rows, before
    action = wanted.required_action
    rows.append(tool_row(plan["call_id"], 2, action.tool, arguments=dict(action.arguments)))
    return rows, act(before, action.tool, dict(action.arguments))


def call_row(call_id: str, after: Account, **more: Any) -> Row:
    """A row of CALLS for a call that went well."""
    row = {
        "call_id": call_id,
        "agent": "sample",
        "duration_s": 30.0,
        "caller_turns": 3,
        "agent_turns": 3,
        "ended_by": "goal_met",
        "infrastructure_error": None,
        "timing": "declared",
        "snr_db": None,
        "account_after": after.model_dump_json(),
        "call_sha256": "0" * 64,
        "line_sha256": "0" * 64,
        "trace_sha256": "0" * 64,
    }
    return {**row, **more}


def verdict_rows(plan: Row, **answers: bool | None) -> list[Row]:
    """Verdicts of a call that went well, but for the given answers."""
    good = {"goal_reached": True, "claims_success": plan["role"] != "impostor"}
    return [
        {
            "call_id": plan["call_id"],
            "question": question,
            "answer": answers.get(question, good.get(question, False)),
            "reason": "because",
            "evidence": json.dumps({"turns": [1]}),
            "judge": "sample",
            "raw": "",
            "attempts": 1,
        }
        for question in questions_for(protocol(), plan["role"])
    ]


def turn(number: int, speaker: str, start_s: float, end_s: float, **more: Any) -> Row:
    """A row of TRANSCRIPTS of the call `x`."""
    row = {
        "call_id": "x",
        "turn": number,
        "speaker": speaker,
        "start_s": start_s,
        "end_s": end_s,
        "reply_to": None,
        "latency_s": None,
        "text": "a few words",
        "confidence": 0.9,
    }
    return {**row, **more}


def event_row(call_id: str, name: str, source: str | None = None) -> Row:
    """A row of EVENTS with the severity that the protocol fixes."""
    kind = next(e for e in protocol().events if e.name == name)
    return {
        "call_id": call_id,
        "event": name,
        "severity": kind.severity,
        "source": source or kind.source[0],
        "time_s": 1.0,
        "value": None,
        "threshold": kind.threshold,
        "unit": kind.unit,
        "evidence": "{}",
    }
