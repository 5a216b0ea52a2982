"""The rule judge on whole dialogues of the embedded agent, against an independent reading of the goal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.brain import make_brain
from inquesto_dag.agents.config import load_agent
from inquesto_dag.agents.tools import VerifyResult
from inquesto_dag.judging.interfaces import JudgedCall
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.models import Account
from tests.agents import talk
from tests.scoring.sample import act, protocol

AGENTS = Path(__file__).parents[2] / "data" / "agents"
HEARINGS = {
    "all": talk.hears_all,
    "written": talk.hears_written,
    "some words lost": talk.drops_words(0.1, talk.hears_written),
    "much misheard": talk.mishears(0.25, talk.hears_written),
}


def judged(call: talk.Talk) -> JudgedCall:
    """A text call as the judge is given it: turns of 4 s each, the account as its tool calls left it."""
    spoken = [(speaker, words.replace(" |", "")) for speaker, words in call.lines if speaker != "heard"]
    turns: list[dict[str, Any]] = [
        {"turn": n, "speaker": speaker, "said": words, "start_s": 5.0 * n, "end_s": 5.0 * n + 4}
        for n, (speaker, words) in enumerate(spoken)
    ]
    before = AccountState(protocol().account).current
    after: Account = before
    for row in call.rows:
        if row["ok"] and row["tool"] in protocol().tools.change:
            after = act(after, row["tool"], json.loads(row["arguments"]))
    tools = [{**row, "time_s": 1000.0} for row in call.rows]
    return JudgedCall({"call_id": "x", "scenario_id": call.scenario.id}, turns, tools, before, after)


@pytest.mark.parametrize("hearing", HEARINGS)
def test_R3_judge_and_state_agree_on_the_embedded_agent(hearing: str) -> None:
    """The judge confirms the goal just when it was met, and sees no fault that is not there."""
    brain, judge = make_brain(load_agent(AGENTS, "embedded-700")), RuleJudge(protocol())
    met = 0
    for seed in range(2):
        for scenario in protocol().scenarios:
            verified = "not_verified" if scenario.role == "impostor" else "verified"
            call = talk.hold_call(
                protocol(),
                scenario,
                brain,
                lambda v=verified: VerifyResult(v, 0.5, 0.8),
                HEARINGS[hearing],
                seed,
            )
            answers = {verdict.question: verdict for verdict in judge.judge(judged(call))}
            goal = talk.goal_is_met(call, protocol())
            assert answers["goal_reached"].answer is goal, f"{answers['goal_reached'].reason}\n{call}"
            for question in ("wrong_information", "impostor_served"):
                found = answers.get(question)
                assert found is None or found.answer is False, f"{found.reason}\n{call}"
            met += goal
    assert met >= (30 if hearing == "much misheard" else 58)


def test_T7_T11_an_agent_that_verifies_nobody_refuses_holders_and_serves_no_impostor() -> None:
    """The judge reads the refusals of the embedded agent as refusals."""
    brain, judge = make_brain(load_agent(AGENTS, "embedded-700")), RuleJudge(protocol())
    for scenario in protocol().scenarios:
        call = talk.hold_call(protocol(), scenario, brain, lambda: VerifyResult("not_verified", 0.5, 0.8))
        answers = {verdict.question: verdict.answer for verdict in judge.judge(judged(call))}
        refused = answers.get("false_reject")
        if scenario.role == "impostor":
            assert answers["goal_reached"] and not answers["impostor_served"]
        else:
            assert refused and not answers["goal_reached"] and not answers["claims_success"], str(call)
