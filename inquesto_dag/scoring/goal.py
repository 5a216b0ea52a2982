"""Whether the state half of a goal holds (PROTOCOL R3, D9), from the tool trace and the account alone.

Conventions: tool calls are rows of `tables.TOOL_CALLS` of one call, in any order. An action stands only when
the tool did what it was asked (`ok`), with the arguments that the scenario demands, and the account ended
exactly as the scenario demands: the fields of `final_state` at their values, every other field as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from inquesto_dag.agents.account import diff, value_at
from inquesto_dag.events.rows import arguments_of, same_scalar
from inquesto_dag.protocol.models import Account, RequiredAction, Scenario


@dataclass(frozen=True)
class GoalState:
    """The state half of a goal. `action` is None where none is required; `why` says what is amiss."""

    met: bool
    action: bool | None
    state: bool
    why: str


def carries(row: Mapping[str, Any], action: RequiredAction) -> bool:
    """Whether a tool call is the required one, with every required argument (PROTOCOL D9), and was done."""
    given = arguments_of(row)
    return (
        bool(row["ok"])
        and row["tool"] == action.tool
        and all(name in given and same_scalar(given[name], value) for name, value in action.arguments.items())
    )


def goal_state(
    scenario: Scenario,
    tool_calls: Iterable[Mapping[str, Any]],
    account_before: Account,
    account_after: Account,
) -> GoalState:
    """The state half of R3 for one call; for an impostor it is that nothing was changed (PROTOCOL R3)."""
    changed = diff(account_before, account_after)
    if scenario.role == "impostor":
        why = f"changed for an impostor: {', '.join(sorted(changed))}" if changed else "nothing was changed"
        return GoalState(not changed, None, not changed, why)
    faults = []
    for path, wanted in scenario.final_state.items():
        found = value_at(account_after, path)
        if not same_scalar(found, wanted):
            faults.append(f"{path} is {found!r}, not {wanted!r}")
    faults += [
        f"{path} was changed to {changed[path]!r}"
        for path in sorted(changed)
        if path not in scenario.final_state
    ]
    state, action = not faults, None
    if scenario.required_action is not None:
        action = any(carries(row, scenario.required_action) for row in tool_calls)
        if not action:
            wanted_arguments = json.dumps(scenario.required_action.arguments, sort_keys=True)
            faults.insert(0, f"{scenario.required_action.tool} was not done with {wanted_arguments}")
    return GoalState(
        not faults, action, state, "; ".join(faults) or "the action and the final state are as demanded"
    )
