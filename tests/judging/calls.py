"""Calls for the rule judge: a dialogue as pairs of speaker and words, on the project's own protocol."""

from __future__ import annotations

from typing import Any

from inquesto_dag.judging.interfaces import JudgedCall, Verdict
from inquesto_dag.judging.rules import RuleJudge
from tests.scoring.sample import act, protocol, scenario, verified_trace

Row = dict[str, Any]


def turns_of(*said: str) -> list[Row]:
    """Rows of TURNS; `C: ...` is the caller, `A: ...` the agent. Each turn takes 4 s and a pause of 1 s."""
    rows = []
    for number, line in enumerate(said):
        speaker, _, words = line.partition(": ")
        rows.append(
            {
                "call_id": "x",
                "turn": number,
                "speaker": {"C": "caller", "A": "agent"}[speaker],
                "move": "reply",
                "said": words,
                "heard": None,
                "start_s": 5.0 * number,
                "end_s": 5.0 * number + 4,
            }
        )
    return rows


def call_of(scenario_id: str, *said: str, done: bool = False, tools: list[Row] | None = None) -> JudgedCall:
    """A call of a scenario; with `done` the required action was made and the account shows it."""
    wanted, before = scenario(scenario_id), protocol().account
    after = before
    if done:
        assert wanted.required_action is not None
        after = act(before, wanted.required_action.tool, dict(wanted.required_action.arguments))
    plan = {"call_id": f"{scenario_id}.clean.us_female", "scenario_id": scenario_id, "role": wanted.role}
    return JudgedCall(plan, turns_of(*said), verified_trace("x") if tools is None else tools, before, after)


def verdicts(call: JudgedCall) -> dict[str, Verdict]:
    """The rule judge's verdict per question."""
    return {verdict.question: verdict for verdict in RuleJudge(protocol()).judge(call)}


def answer(question: str, scenario_id: str, *said: str, **more: Any) -> bool:
    """Its answer to one question."""
    found = verdicts(call_of(scenario_id, *said, **more))[question].answer
    assert found is not None
    return found
