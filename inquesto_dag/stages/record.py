"""Stage `record`: an agent's score, every call's result, and the page that shows both (PROTOCOL R1-N4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.chat.roles import UNNAMED, component_of, is_model
from inquesto_dag.agents.config import AgentConfig, fingerprint, load_agent
from inquesto_dag.errors import CheckFailed
from inquesto_dag.files import canonical_json, read_json, sha256_bytes, write_json
from inquesto_dag.judging.model import served_models
from inquesto_dag.protocol.load import protocol_digest
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.provenance.lineage import build_lineage
from inquesto_dag.provenance.profile import SCRIPTED_CALLER, load_profile
from inquesto_dag.report.page import write_record_page
from inquesto_dag.scoring.record import build_record
from inquesto_dag.scoring.results import all_events, result_rows
from inquesto_dag.stages.chain import CHAIN
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import RESULTS

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import EngineSpec

PINNED = "pinned"


@dataclass(frozen=True)
class Measured:
    """All tables before the record, as plain rows, and what the record says of them."""

    population: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    turns: list[dict[str, Any]]
    tool_calls: list[dict[str, Any]]
    segments: list[dict[str, Any]]
    transcripts: list[dict[str, Any]]
    heard: list[dict[str, Any]]
    detected: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]
    judge_errors: list[dict[str, Any]]


def run(ctx: StageContext) -> None:
    """Write `record.json`, `results` and `page/`."""
    agent = ctx.required_agent()
    measured = read_measured(ctx)
    lineage = build_lineage(ctx.project, [(s.name, agent if s.per_agent else None) for s in before()])
    results, record = make_record(ctx, measured, profile_run(ctx, measured.verdicts), lineage)
    with ctx.output() as folder:
        ctx.write(folder, RESULTS, results)
        write_json(folder / "record.json", record)
        write_record_page(
            folder / "page", record, results, measured.population, measured.calls, measured.turns,
            measured.tool_calls, measured.segments, measured.transcripts, measured.detected,
            measured.verdicts, ctx.folder("calls", agent) / "recordings", protocol=ctx.protocol,
            prices=load_agent(ctx.agents_folder, agent).prices,
        )  # fmt: skip


def read_measured(ctx: StageContext) -> Measured:
    """The tables of this agent that a record is made of."""
    agent = ctx.required_agent()
    calls, turns, tool_calls = (ctx.rows(name, "calls", agent) for name in ("calls", "turns", "tool_calls"))
    segments, transcripts, heard = (
        ctx.rows(name, "annotations", agent) for name in ("segments", "transcripts", "heard")
    )
    return Measured(
        population=ctx.rows("population", "population"),
        calls=calls,
        turns=turns,
        tool_calls=tool_calls,
        segments=segments,
        transcripts=transcripts,
        heard=heard,
        detected=ctx.rows("events", "events", agent),
        verdicts=ctx.rows("verdicts", "verdicts", agent),
        judge_errors=ctx.rows("judge_errors", "judge_error"),
    )


def make_record(
    ctx: StageContext,
    measured: Measured,
    ran: Mapping[str, Mapping[str, str]],
    lineage: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of `tables.RESULTS` and the record; `ran` is what filled each role (see `profile_run`)."""
    protocol = ctx.protocol
    events = all_events(
        protocol, measured.population, measured.detected, measured.verdicts, measured.tool_calls
    )
    results = result_rows(
        protocol, measured.population, measured.calls, measured.tool_calls, events, measured.verdicts
    )
    record = build_record(
        protocol=protocol,
        protocol_digest=protocol_digest(ctx.protocol_folder),
        agent=describe_agent(load_agent(ctx.agents_folder, ctx.required_agent())),
        pinned=load_profile(PINNED).roles(),
        profile_specified=ctx.profile.roles(),
        profile_run=ran,
        population=measured.population,
        population_size=len(plan_calls(protocol)),
        results=results,
        events=events,
        transcripts=measured.transcripts,
        heard=measured.heard,
        timing=timing_of(measured.calls),
        judge_errors=measured.judge_errors,
        lineage=lineage,
    )
    return results, record


def before() -> list[Any]:
    """The stages up to the record."""
    names = [stage.name for stage in CHAIN]
    return list(CHAIN[: names.index("record")])


def describe_agent(config: AgentConfig) -> dict[str, Any]:
    """What a record says of its agent: who, a digest of what decides its results, and its window in ms."""
    return {
        "id": config.id,
        "fingerprint": fingerprint(config),
        # The same for agents that differ in their window alone, which A4 puts side by side.
        "fingerprint_but_window": fingerprint(config.model_copy(update={"endpointing_ms": 0})),
        "kind": config.kind,
        "brain": config.brain.kind,
        "recogniser": config.recogniser,
        "voice": config.voice.name,
        "endpointing_ms": config.endpointing_ms,
        "interruptible": config.interruptible,
    }


def profile_run(ctx: StageContext, verdicts: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """What ran in each role: its name, and the digest of its identity where it has one (PROTOCOL D16).

    Engines are named by the files that were loaded, the judge by its verdicts, and one that is a model by
    what its endpoint says that it serves; the caller is the one that the stage `calls` has, which refuses a
    profile that names another.
    """
    ran: dict[str, dict[str, str]] = {"caller": {"name": SCRIPTED_CALLER}}
    if ctx.profile.caller != SCRIPTED_CALLER:
        ran["caller"] = {"name": named(served_callers(ctx.folder("calls", ctx.agent) / "recordings"))}
    if ctx.engine_spec is not None:
        ran.update(engine_digests(ctx.engine_spec))
    judges = sorted({row["judge"] for row in verdicts})
    if len(judges) > 1:
        raise CheckFailed(f"come from {len(judges)} judges: {judges}", where="verdicts", field="judge")
    if judges:
        name = judges[0].partition("@")[0]
        if is_model(ctx.profile.judge):  # what was asked for is not always what an endpoint serves
            name = named(served_models(verdicts))
        ran["judge"] = {"name": name, "sha256": sha256_bytes(judges[0].encode())}
    return ran


def named(served: list[str]) -> str:
    """One name for what an endpoint served in a role: all of its names, or `unnamed`."""
    return "-and-".join(served)[:64].rstrip("-._") or UNNAMED


def served_callers(recordings: Path) -> list[str]:
    """The components that answered as callers, as the traces of the calls name them (PROTOCOL D16)."""
    served: set[str] = set()
    for path in sorted(recordings.glob("*/trace.json")):
        caller = read_json(path).get("caller", {})
        served |= {component_of(model) for model in caller.get("served", [])}
        if caller.get("replies") and not caller["served"]:
            served.add(UNNAMED)
    return sorted(served)


def engine_digests(spec: EngineSpec) -> dict[str, dict[str, str]]:
    """Name of each role's engine and digest of its identity as it is here: files, versions, settings."""
    from inquesto_dag.speech.engines import Engines

    return {
        role: {"name": identity["model_name"], "sha256": sha256_bytes(canonical_json(identity))}
        for role, identity in Engines(spec).identities().items()
    }


def timing_of(calls: list[dict[str, Any]]) -> str:
    """`declared` or `measured`; CheckFailed when the calls disagree."""
    kinds = sorted({row["timing"] for row in calls})
    if len(kinds) != 1:
        raise CheckFailed(f"calls have the timings {kinds}, and need one", where="calls", field="timing")
    return str(kinds[0])
