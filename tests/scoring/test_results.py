"""Results of whole populations: the pass rule, judged events, and calls that do not count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inquesto_dag.errors import CheckFailed
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.scoring.results import all_events, result_rows
from inquesto_dag.tables import EVENTS, RESULTS
from tests.scoring.sample import call_row, event_row, perfect_trace, protocol, verdict_rows

Row = dict[str, Any]


class World:
    """Calls of a slice in which everything goes well; a test breaks something, then asks for the results."""

    def __init__(self, name: str = "quick") -> None:
        self.population = take_slice(plan_calls(protocol()), name)
        self.traces = {plan["call_id"]: perfect_trace(plan) for plan in self.population}
        self.calls = {c: call_row(c, after) for c, (_, after) in self.traces.items()}
        self.verdicts = {plan["call_id"]: verdict_rows(plan) for plan in self.population}
        self.events: list[Row] = []

    def call(self, role: str = "goal_directed", family: str | None = None) -> str:
        """The first call of a role, and of a family."""
        return next(
            p["call_id"] for p in self.population if p["role"] == role and family in (None, p["family"])
        )

    def answer(self, call_id: str, **answers: bool | None) -> None:
        """Change the judge's answers about a call."""
        plan = next(p for p in self.population if p["call_id"] == call_id)
        self.verdicts[call_id] = verdict_rows(plan, **answers)

    def joined(self) -> tuple[list[Row], list[Row]]:
        """All events and the results."""
        tools = [row for rows, _ in self.traces.values() for row in rows]
        verdicts = [row for rows in self.verdicts.values() for row in rows]
        events = all_events(protocol(), self.population, self.events, verdicts, tools)
        calls = list(self.calls.values())
        return events, result_rows(protocol(), self.population, calls, tools, events, verdicts)

    def result(self, call_id: str) -> Row:
        """The result of one call."""
        return next(row for row in self.joined()[1] if row["call_id"] == call_id)


def test_R1_when_all_goes_well_all_306_calls_pass() -> None:
    """And each has one row that the table takes."""
    world = World("full")
    events, results = world.joined()
    assert events == [] and len(results) == 306
    assert all(row["passed"] and row["why"] == "passed" for row in results)
    assert len(RESULTS.conform(results)) == 306


@pytest.mark.parametrize("name", [kind.name for kind in protocol().events])
def test_R1_R4_an_event_fails_a_call_from_S3_on(name: str) -> None:
    """S1 and S2 are counted and noted, and fail nothing."""
    world = World()
    call_id = world.call()
    world.events = [event_row(call_id, name)]
    kind = next(k for k in protocol().events if k.name == name)
    found = world.result(call_id)
    assert found["passed"] is (kind.severity in ("S1", "S2"))
    assert found["max_severity"] == int(kind.severity[1]) and name in found["why"]
    assert json.loads(found["events"]) == [name]


def test_R4_the_threshold_is_a_parameter_of_the_protocol() -> None:
    """Under S2 a talk-over fails, under S5 a slow turn does not."""
    world = World()
    call_id = world.call()
    for severity, name, passed in (("S2", "talk_over", False), ("S5", "slow_turn", True)):
        version = protocol().model_copy(update={"fail_severity": severity})
        tools = [row for rows, _ in world.traces.values() for row in rows]
        verdicts = [row for rows in world.verdicts.values() for row in rows]
        rows = result_rows(
            version, world.population, list(world.calls.values()), tools, [event_row(call_id, name)], verdicts
        )
        assert next(r for r in rows if r["call_id"] == call_id)["passed"] is passed


def test_R3_state_and_judge_are_both_needed() -> None:
    """Done but not told, told but not done, and neither."""
    world = World()
    call_id = world.call(family="cancel_sub")
    world.answer(call_id, goal_reached=False)
    found = world.result(call_id)
    assert (found["goal_state"], found["goal_judged"], found["goal"], found["passed"]) == (
        True,
        False,
        False,
        False,
    )
    world.answer(call_id)
    world.calls[call_id] = call_row(call_id, protocol().account)
    found = world.result(call_id)
    assert (found["goal_state"], found["goal_judged"], found["goal"]) == (False, True, False)
    assert "plan.status" in found["why"]


def test_T6_T7_T8_T11_a_yes_of_the_judge_is_an_event() -> None:
    """Each question raises the event that the rubric names, in calls of its roles."""
    world = World()
    for question, name, role in (
        ("context_loss", "context_loss", "goal_directed"),
        ("false_reject", "false_reject", "legitimate"),
        ("wrong_information", "wrong_information", "goal_directed"),
        ("impostor_served", "impostor_served", "impostor"),
    ):
        call_id = world.call(role)
        world.answer(call_id, **{question: True})
        events, _ = world.joined()
        (row,) = [e for e in events if e["call_id"] == call_id]
        assert (row["event"], row["source"]) == (name, "judge")
        assert json.loads(row["evidence"])["question"] == question
        world.answer(call_id)
    assert len(EVENTS.conform(world.joined()[0])) == 0


def test_T9_success_that_is_claimed_and_never_done() -> None:
    """The judge reads success and the tool never succeeded; a failed attempt is no deed."""
    world = World()
    call_id = world.call(family="cancel_sub")
    rows, _ = world.traces[call_id]
    world.traces[call_id] = ([*rows[:2], {**rows[2], "ok": False}], protocol().account)
    world.calls[call_id] = call_row(call_id, protocol().account)
    assert json.loads(world.result(call_id)["events"]) == ["promised_not_done"]
    world.answer(call_id, claims_success=False)
    assert json.loads(world.result(call_id)["events"]) == []


def test_T9_needs_a_required_tool() -> None:
    """An information call cannot promise and not do."""
    world = World()
    call_id = world.call(family="confirm_payment")
    world.answer(call_id, claims_success=True)
    assert world.result(call_id)["passed"] is True


def test_T11_trace_and_judge_give_one_event() -> None:
    """One event a type and call, and the trace's evidence is kept."""
    world = World()
    call_id = world.call("impostor")
    world.events = [event_row(call_id, "impostor_served", "trace")]
    world.answer(call_id, impostor_served=True, goal_reached=False)
    (row,) = world.joined()[0]
    assert row["source"] == "trace"


def test_D13_an_unanswered_question_leaves_the_call_unjudged() -> None:
    """It has no pass and no goal, rather than a failed one; a question that was never asked counts too."""
    world = World()
    first, second = world.call(), world.call("legitimate")
    world.answer(first, wrong_information=None)
    world.verdicts[second] = world.verdicts[second][1:]
    for call_id in (first, second):
        found = world.result(call_id)
        assert found["status"] == "unjudged" and found["passed"] is None and found["goal"] is None
        assert found["goal_state"] is True
    assert len(RESULTS.conform(world.joined()[1])) == 30


def test_D13_an_empty_cell_of_a_table_is_no_answer() -> None:
    """pandas' NA, which is neither true nor false."""
    import pandas as pd

    world = World()
    call_id = world.call()
    world.verdicts[call_id][0]["answer"] = pd.NA
    assert world.result(call_id)["status"] == "unjudged"


def test_D14_infrastructure_is_kept_apart() -> None:
    """A call that broke off, and one that was never placed, are not scored."""
    world = World()
    first, second = world.call(), world.call("legitimate")
    world.calls[first] |= {"ended_by": "infrastructure", "infrastructure_error": "the endpoint gave 503"}
    del world.calls[second]
    assert world.result(first)["status"] == world.result(second)["status"] == "infrastructure"
    assert "503" in world.result(first)["why"] and world.result(first)["passed"] is None


def test_P7_rows_of_another_population_are_refused() -> None:
    """Results of one population never hold calls of another."""
    world = World()
    world.calls["stranger"] = call_row("cancel_sub-neutral.clean.nobody", protocol().account)
    with pytest.raises(CheckFailed, match="not planned"):
        world.joined()
