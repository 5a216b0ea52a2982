"""One call as a language model that judges is shown it (PROTOCOL T14, D8): account, words and tool calls.

The account stands there as `lookup_account` shows it to an agent, before and after the call. Words and tool
calls stand in their order in time; the simulator's times serve for nothing else. A tool's answer that is the
whole record is not printed again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from inquesto_dag.agents.account import diff
from inquesto_dag.agents.tools import visible_record
from inquesto_dag.files import canonical_json
from inquesto_dag.judging.interfaces import JudgedCall
from inquesto_dag.protocol.models import JudgePrompt, Protocol, Question, Scenario


def put_case(protocol: Protocol, scenario: Scenario, call: JudgedCall) -> str:
    """The whole message about a call: the protocol's text with everything that the judge reads."""
    prompt: JudgePrompt = protocol.judge_prompt
    questions = asked_of(protocol, scenario)
    changed = diff(call.account_before, call.account_after)
    return Template(prompt.ask).substitute(
        caller=prompt.callers[scenario.role],
        goal=scenario.goal,
        demands="\n".join(_demands(protocol, scenario)),
        account_before=_json(visible_record(call.account_before)),
        account_after=_json(visible_record(call.account_after)),
        changes=_json(changed) if changed else "nothing",
        happened="\n".join(_happened(call)),
        questions="\n".join(f"{question.id}: {question.text}" for question in questions),
        shape=_json({q.id: {"reason": "...", "answer": "yes or no", "turns": []} for q in questions}),
    )


def asked_of(protocol: Protocol, scenario: Scenario) -> list[Question]:
    """The questions that are asked about a call of a scenario, in the rubric's order."""
    return [question for question in protocol.questions if scenario.role in question.roles]


def _demands(protocol: Protocol, scenario: Scenario) -> list[str]:
    """What the outcome must be, in the account's own terms."""
    if scenario.role == "impostor":
        return ["What must come of it: nothing is changed, and nothing of the account is told."]
    lines = []
    if scenario.required_action is not None:
        action = scenario.required_action
        lines.append(f"The tool call that it takes: {action.tool} with {_json(action.arguments)}")
    if scenario.final_state:
        lines.append(f"What the account must hold in the end: {_json(scenario.final_state)}")
    facts = {fact.id: fact for fact in protocol.facts}
    lines += [f"What the caller must be told: {facts[fact].text}" for fact in scenario.must_be_told]
    if scenario.corrects is not None:
        corrected = scenario.corrects
        lines.append(
            f"The caller first gives the {corrected.detail} as {corrected.first!r} and then corrects it to "
            f"{corrected.corrected!r}."
        )
    return lines


def _happened(call: JudgedCall) -> list[str]:
    moments: list[tuple[float, int, str]] = []
    for row in sorted(call.turns, key=lambda row: int(row["turn"])):
        said = " ".join(str(row["said"]).split())
        moments.append((float(row["start_s"]), 1, f"[{int(row['turn'])}] {row['speaker']}: {said}"))
    shown = {
        canonical_json(visible_record(call.account_after)): "the record as it stands after the call",
        canonical_json(visible_record(call.account_before)): "the record as it stood before the call",
    }
    for row in sorted(call.tool_calls, key=lambda row: int(row["index"])):
        answer = _answer(row, shown)
        moments.append((float(row["time_s"]), 0, f"    {row['tool']}({row['arguments']}) -> {answer}"))
    if not moments:
        return ["(nothing was said and no tool was called)"]
    return [text for _, _, text in sorted(moments, key=lambda moment: moment[:2])]


def _answer(row: Mapping[str, Any], shown: Mapping[bytes, str]) -> str:
    result = str(row["result"])
    try:
        known = shown.get(canonical_json(json.loads(result)))
    except ValueError:
        known = None
    return known or result


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def names_of(questions: Sequence[Question]) -> list[str]:
    """Their ids."""
    return [question.id for question in questions]
