"""One row a call: its goal, its events, whether it passed, and why (PROTOCOL R1-R4, D13, D14).

Conventions: inputs are rows of the tables of that name. A call counts (`scored`) when it took place and the
judge answered every question of its role; otherwise it is `infrastructure`, `caller` (who did not play its
part) or `unjudged`, has no goal and no pass, and makes the record incomplete. Each planned call has exactly
one row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from inquesto_dag.errors import CheckFailed
from inquesto_dag.events.rows import Row, by_call, severity_number
from inquesto_dag.judging.outcomes import GOAL, answers_of, judged_events, merge_events, missing_answers
from inquesto_dag.protocol.models import Account, Protocol
from inquesto_dag.scoring.goal import goal_state
from inquesto_dag.tables import CALLER_FAULT


def passes(goal: bool, max_severity: int, fail_severity: int) -> bool:
    """PROTOCOL R1: the goal, and no event at or above the threshold."""
    return goal and max_severity < fail_severity


def all_events(
    protocol: Protocol,
    population: Sequence[Row],
    events: Sequence[Row],
    verdicts: Sequence[Row],
    tool_calls: Sequence[Row],
) -> list[dict[str, Any]]:
    """Events of every planned call, detected ones joined with judged ones, one a type and call.

    A type that the trace and the judge both saw (T11) keeps the trace's row.
    """
    scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
    detected, judged, used = by_call(events), by_call(verdicts), by_call(tool_calls)
    rows: list[dict[str, Any]] = []
    for call in population:
        call_id = str(call["call_id"])
        seen = judged_events(
            protocol, scenarios[call["scenario_id"]], call_id, judged.get(call_id, []), used.get(call_id, [])
        )
        rows += merge_events(detected.get(call_id, []), seen)
    return rows


def result_rows(
    protocol: Protocol,
    population: Sequence[Row],
    calls: Sequence[Row],
    tool_calls: Sequence[Row],
    events: Sequence[Row],
    verdicts: Sequence[Row],
) -> list[dict[str, Any]]:
    """Rows of `tables.RESULTS`, one a planned call. `events` are those of `all_events`.

    Raises CheckFailed when a call, event or verdict belongs to no planned call: the inputs are then of
    different populations (PROTOCOL P7).
    """
    planned = {str(row["call_id"]) for row in population}
    for name, rows in (
        ("calls", calls),
        ("tool_calls", tool_calls),
        ("events", events),
        ("verdicts", verdicts),
    ):
        strangers = sorted({str(row["call_id"]) for row in rows} - planned)
        if strangers:
            raise CheckFailed(
                f"holds calls that were not planned: {', '.join(strangers[:3])}",
                where=name,
                remedy="run the stages again on one population",
            )
    scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
    placed = {str(row["call_id"]): row for row in calls}
    used, seen, judged = by_call(tool_calls), by_call(events), by_call(verdicts)
    limit = severity_number(protocol.fail_severity)
    rows_out = []
    for plan in population:
        call_id = str(plan["call_id"])
        scenario, call = scenarios[plan["scenario_id"]], placed.get(call_id)
        found = sorted(seen.get(call_id, []), key=lambda e: (-severity_number(e["severity"]), e["event"]))
        row: dict[str, Any] = {
            **{name: plan[name] for name in _PLAN_COLUMNS},
            "status": "scored",
            "goal_state": None,
            "goal_judged": None,
            "goal": None,
            "events": json.dumps([event["event"] for event in found]),
            "max_severity": None,
            "passed": None,
        }
        rows_out.append(row)
        if call is None or call["ended_by"] == "infrastructure":
            problem = "no call was recorded" if call is None else call["infrastructure_error"]
            status = "caller" if str(problem).startswith(CALLER_FAULT) else "infrastructure"
            row.update(status=status, events="[]", why=f"not scored: {problem or 'infrastructure failed'}")
            continue
        state = goal_state(
            scenario,
            used.get(call_id, []),
            protocol.account,
            Account.model_validate_json(call["account_after"]),
        )
        worst = max((severity_number(event["severity"]) for event in found), default=0)
        row.update(goal_state=state.met, max_severity=worst)
        unanswered = missing_answers(protocol, scenario.role, judged.get(call_id, []))
        if unanswered:
            row.update(status="unjudged", why=f"not scored: no answer to {', '.join(unanswered)}")
            continue
        confirmed = answers_of(judged[call_id])[GOAL]
        goal = state.met and confirmed
        row.update(goal_judged=confirmed, goal=goal, passed=passes(goal, worst, limit))
        reasons = [] if state.met else [state.why]
        if not confirmed:
            reasons.append("the judge does not confirm the outcome")
        reasons += [
            f"{e['event']} ({e['severity']})" for e in found if severity_number(e["severity"]) >= limit
        ]
        minor = [f"{e['event']} ({e['severity']})" for e in found if severity_number(e["severity"]) < limit]
        if row["passed"]:
            row["why"] = "passed" + (f"; noted: {', '.join(minor)}" if minor else "")
        else:
            row["why"] = "; ".join(reasons)
    return rows_out


_PLAN_COLUMNS = ("call_id", "scenario_id", "family", "style", "role", "condition", "group")
