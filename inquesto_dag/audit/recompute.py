"""The links that computing again shows: population, traces, events, verdicts, the record's numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inquesto_dag.audit.links import Link, differences, holds, row_differences
from inquesto_dag.errors import CheckFailed, InputError, InquestoError
from inquesto_dag.files import sha256_file
from inquesto_dag.judging.interfaces import verdict_rows
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.provenance.memo import default_memo
from inquesto_dag.provenance.params import Params
from inquesto_dag.stages.context import StageContext, default_workers, plain_rows
from inquesto_dag.stages.events import find_events
from inquesto_dag.stages.record import make_record, read_measured
from inquesto_dag.stages.report import StageReport
from inquesto_dag.stages.verdicts import judged_calls, make_judge
from inquesto_dag.tables import CALLS, EVENTS, POPULATION, RESULTS, TABLES, TOOL_CALLS, TURNS, VERDICTS

FILES = {"call.flac": "call_sha256", "line.flac": "line_sha256", "trace.json": "trace_sha256"}
# What is a link of its own, or says where and when a record was made.
APART = ("lineage", "agent")


def recorded_context(project: Path, record: Mapping[str, Any]) -> StageContext:
    """A context of the record's agent with the parameters that the record's lineage names."""
    stages = record["lineage"]["stages"]
    agent = str(record["agent"]["id"])
    params = Params(
        protocol=record["protocol"]["version"],
        profile=stages["calls"]["params"]["profile"],
        population=stages["population"]["params"]["population"],
        agents=(agent,),
    )
    report = StageReport("audit", agent)
    return StageContext(
        project, "record", params, agent, default_memo(project), None, default_workers(), report
    )


def recomputed_links(project: Path, record: Mapping[str, Any]) -> Iterator[Link]:
    """Every link of a record that tables and recordings show without an engine."""
    ctx = recorded_context(project, record)
    yield guarded("population: plan", lambda: population_plan(ctx))
    yield guarded("calls: recordings", lambda: recordings(ctx))
    yield guarded("calls: traces", lambda: traces(ctx))
    yield guarded("events: found again", lambda: events_again(ctx))
    yield guarded("verdicts: judged again", lambda: verdicts_again(ctx, record))
    yield guarded("record: numbers", lambda: numbers(ctx, record))


def guarded(name: str, check: Any) -> Link:
    """A link, or what stands in the way of its check."""
    try:
        link: Link = check()
    except InputError as error:
        gone = "does not exist" in error.problem
        return Link(name, "missing" if gone else "changed", str(error).splitlines()[0])
    except InquestoError as error:
        return Link(name, "changed", str(error).splitlines()[0])
    return link


def population_plan(ctx: StageContext) -> Link:
    """That the population is the one that the protocol plans (PROTOCOL P1-P7)."""
    planned = plain_rows(POPULATION.conform(take_slice(plan_calls(ctx.protocol), ctx.params.population)))
    stored = ctx.rows("population", "population")
    faults = row_differences(stored, planned, POPULATION.key)
    return holds("population: plan", faults, detail=f"{len(stored)} calls, as the protocol plans them")


def recordings(ctx: StageContext, files: Mapping[str, str] = FILES) -> Link:
    """That every file of every call has the digest that the table of calls names; `files` says which."""
    folder = ctx.folder("calls", ctx.agent) / "recordings"
    missing, changed, count = [], [], 0
    for call in ctx.rows("calls", "calls", ctx.agent):
        for file, column in files.items():
            path = folder / str(call["call_id"]) / file
            count += 1
            if not path.is_file():
                missing.append(f"{call['call_id']}/{file} is not here")
            elif sha256_file(path) != call[column]:
                changed.append(f"{call['call_id']}/{file} is another file than calls.parquet names")
    outcome: Any = "changed" if changed else "missing"
    return holds("calls: recordings", [*changed, *missing], outcome, f"{count} files by sha256")


def traces(ctx: StageContext) -> Link:
    """That the tables of calls, turns and tool calls say what the traces beside the recordings say."""
    folder = ctx.folder("calls", ctx.agent) / "recordings"
    calls = ctx.rows("calls", "calls", ctx.agent)
    found: dict[str, list[dict[str, Any]]] = {"turns": [], "tool_calls": []}
    of_calls = []
    for call in calls:
        path = folder / str(call["call_id"]) / "trace.json"
        try:
            trace = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise CheckFailed("is not a readable trace", where=path) from error
        of_calls.append({**trace["call"], "trace_sha256": call["trace_sha256"]})
        for name, rows in found.items():
            rows += trace[name]
    faults = row_differences(calls, plain_rows(CALLS.conform(of_calls)), CALLS.key)
    for table in (TURNS, TOOL_CALLS):
        stored = ctx.rows(table.name, "calls", ctx.agent)
        again = plain_rows(TABLES[table.name].conform(found[table.name]))
        faults += [f"{table.name}: {f}" for f in row_differences(stored, again, table.key)]
    return holds("calls: traces", faults, detail=f"{len(calls)} traces agree with the tables")


def events_again(ctx: StageContext) -> Link:
    """That the detectors find the same events in annotations and traces (PROTOCOL T1-T5, T10, T11)."""
    stored = ctx.rows("events", "events", ctx.agent)
    found = plain_rows(EVENTS.conform(find_events(ctx)))
    detail = f"{len(stored)} events found again"
    return holds("events: found again", row_differences(stored, found, EVENTS.key), detail=detail)


def verdicts_again(ctx: StageContext, record: Mapping[str, Any]) -> Link:
    """That the rule judge gives the same answers; another judge's cannot be had again for nothing."""
    name = "verdicts: judged again"
    judge = record["profile"]["run"].get("judge", {}).get("name")
    if judge != "rules":
        return Link(name, "not available here", f"the judge {judge} is no set of rules; see --deep")
    stored = ctx.rows("verdicts", "verdicts", ctx.agent)
    rules = make_judge(judge, ctx.protocol)
    rows = [row for call in judged_calls(ctx) for row in verdict_rows(rules, call)]  # without the memo
    found = plain_rows(VERDICTS.conform(rows))
    detail = f"{len(stored)} answers given again"
    return holds(name, row_differences(stored, found, VERDICTS.key), detail=detail)


def numbers(ctx: StageContext, record: Mapping[str, Any]) -> Link:
    """That score, intervals, views and analyses follow from the tables, and so does every call's result."""
    measured = read_measured(ctx)
    results, again = make_record(ctx, measured, record["profile"]["run"], record["lineage"])
    stored = ctx.rows("results", "record", ctx.agent)
    # As a file has it: tuples are lists there, and keys are text.
    found = json.loads(json.dumps(again))
    faults = differences(
        {key: value for key, value in record.items() if key not in APART},
        {key: value for key, value in found.items() if key not in APART},
    )
    rows = plain_rows(RESULTS.conform(results))
    faults += [f"results: {fault}" for fault in row_differences(stored, rows, RESULTS.key)]
    score = record["score"]
    detail = f"{score['passes']} of {score['n']} passed, and every other number follows from the tables"
    return holds("record: numbers", faults, detail=detail)
