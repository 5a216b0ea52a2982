"""From a judge's answers to failure events (PROTOCOL T6-T9, T11): the join of verdicts, trace and taxonomy.

Conventions: verdicts are rows of `tables.VERDICTS`, tool calls rows of `tables.TOOL_CALLS`, events rows of
`tables.EVENTS`, all of one call. A question that was not answered raises nothing: such a call is unjudged
(PROTOCOL D13) and is never scored, so no event of it is lost in a rate.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inquesto_dag.events.rows import present
from inquesto_dag.protocol.models import EventType, Protocol, Role, Scenario

GOAL = "goal_reached"
CLAIM = "claims_success"
PROMISED_NOT_DONE = "promised_not_done"


def questions_for(protocol: Protocol, role: Role) -> tuple[str, ...]:
    """Ids of the rubric questions that are asked about a call of this role."""
    return tuple(question.id for question in protocol.questions if role in question.roles)


def judged_in(protocol: Protocol, event: str) -> frozenset[Role]:
    """Roles of the calls that the question behind an event, or the goal, is asked of; none without one."""
    wanted = CLAIM if event == PROMISED_NOT_DONE else event
    return frozenset(
        role
        for question in protocol.questions
        if question.event == event or question.id == wanted
        for role in question.roles
    )


def missing_answers(protocol: Protocol, role: Role, verdicts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Ids of the questions of this role without a yes or a no; the call is unjudged unless it is empty."""
    answered = {row["question"] for row in verdicts if present(row["answer"])}
    return [question for question in questions_for(protocol, role) if question not in answered]


def answers_of(verdicts: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Question id to answer, for the questions that have one."""
    return {str(row["question"]): bool(row["answer"]) for row in verdicts if present(row["answer"])}


def judged_events(
    protocol: Protocol,
    scenario: Scenario,
    call_id: str,
    verdicts: Sequence[Mapping[str, Any]],
    tool_calls: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Events of one call that the judge sees, T9 among them (judge x trace), as rows of `tables.EVENTS`."""
    answers = answers_of(verdicts)
    evidence = {str(row["question"]): row for row in verdicts}
    types = {event.name: event for event in protocol.events}
    rows = []
    for question in protocol.questions:
        if question.event and scenario.role in question.roles and answers.get(question.id):
            rows.append(_row(call_id, types[question.event], evidence[question.id]))
    required = scenario.required_action
    if required is not None and answers.get(CLAIM) and PROMISED_NOT_DONE in types:
        done = any(row["tool"] == required.tool and bool(row["ok"]) for row in tool_calls)
        if not done:
            row = _row(call_id, types[PROMISED_NOT_DONE], evidence[CLAIM])
            row["evidence"] = json.dumps(
                {**json.loads(row["evidence"]), "never_done": required.tool}, sort_keys=True
            )
            rows.append(row)
    return rows


def merge_events(*sources: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Events of one call from several detectors, one a type; the first source that saw a type keeps it."""
    merged: dict[str, dict[str, Any]] = {}
    for source in sources:
        for row in source:
            merged.setdefault(str(row["event"]), dict(row))
    return list(merged.values())


def _row(call_id: str, event: EventType, verdict: Mapping[str, Any]) -> dict[str, Any]:
    given = verdict["evidence"]
    shown = json.loads(given) if isinstance(given, str) and given else dict(given or {})
    return {
        "call_id": call_id,
        "event": event.name,
        "severity": event.severity,
        "source": "judge",
        "time_s": None,
        "value": None,
        "threshold": None,
        "unit": None,
        "evidence": json.dumps(
            {"question": verdict["question"], "reason": verdict["reason"], **shown}, sort_keys=True
        ),
    }
