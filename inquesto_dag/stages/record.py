"""Stage `record`: an agent's score, every call's result, and the page that shows both (PROTOCOL R1-N4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.config import AgentConfig, fingerprint, load_agent
from inquesto_dag.errors import CheckFailed
from inquesto_dag.files import canonical_json, sha256_bytes, write_json
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
    from inquesto_dag.speech.engines import Engines

PINNED = "pinned"


def run(ctx: StageContext) -> None:
    """Write `record.json`, `results` and `page/`."""
    agent = ctx.required_agent()
    config = load_agent(ctx.agents_folder, agent)
    protocol = ctx.protocol
    population = ctx.rows("population", "population")
    calls, turns, tool_calls = (ctx.rows(name, "calls", agent) for name in ("calls", "turns", "tool_calls"))
    segments, transcripts, heard = (
        ctx.rows(name, "annotations", agent) for name in ("segments", "transcripts", "heard")
    )
    verdicts = ctx.rows("verdicts", "verdicts", agent)
    detected = ctx.rows("events", "events", agent)
    events = all_events(protocol, population, detected, verdicts, tool_calls)
    results = result_rows(protocol, population, calls, tool_calls, events, verdicts)
    record = build_record(
        protocol=protocol,
        protocol_digest=protocol_digest(ctx.protocol_folder),
        agent=describe_agent(config),
        pinned=load_profile(PINNED).roles(),
        profile_specified=ctx.profile.roles(),
        profile_run=profile_run(ctx, verdicts),
        population=population,
        population_size=len(plan_calls(protocol)),
        results=results,
        events=events,
        transcripts=transcripts,
        heard=heard,
        timing=timing_of(calls),
        lineage=build_lineage(ctx.project, [(s.name, agent if s.per_agent else None) for s in before()]),
    )
    with ctx.output() as folder:
        ctx.write(folder, RESULTS, results)
        write_json(folder / "record.json", record)
        write_record_page(
            folder / "page", record, results, population, calls, turns, tool_calls, segments, transcripts,
            detected, verdicts, ctx.folder("calls", agent) / "recordings", protocol=protocol,
        )  # fmt: skip


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

    Engines are named by the files that were loaded, the judge by its verdicts; the caller is the one that the
    stage `calls` has, which refuses a profile that names another.
    """
    ran: dict[str, dict[str, str]] = {"caller": {"name": SCRIPTED_CALLER}}
    (identities,) = ctx.map(identify_engines, [None], "engines")
    for role, identity in identities.items():
        ran[role] = {"name": identity["model_name"], "sha256": sha256_bytes(canonical_json(identity))}
    judges = sorted({row["judge"] for row in verdicts})
    if len(judges) > 1:
        raise CheckFailed(f"come from {len(judges)} judges: {judges}", where="verdicts", field="judge")
    if judges:
        ran["judge"] = {"name": judges[0].partition("@")[0], "sha256": sha256_bytes(judges[0].encode())}
    return ran


def identify_engines(item: None, engines: Engines) -> dict[str, dict[str, Any]]:
    """The identities of the engines as they are loaded here: files by digest, versions, settings."""
    return engines.identities()


def timing_of(calls: list[dict[str, Any]]) -> str:
    """`declared` or `measured`; CheckFailed when the calls disagree."""
    kinds = sorted({row["timing"] for row in calls})
    if len(kinds) != 1:
        raise CheckFailed(f"calls have the timings {kinds}, and need one", where="calls", field="timing")
    return str(kinds[0])
