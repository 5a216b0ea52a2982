"""Stage `calls`: place every call of the population to one agent, and keep recording and trace."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.chat.roles import RoleModel, find_model, find_role_endpoint
from inquesto_dag.agents.config import AgentConfig, load_agent
from inquesto_dag.calls.bank import read_lines
from inquesto_dag.calls.job import CallFiles, CallJob, run_job
from inquesto_dag.calls.simulated import SimulatedCaller
from inquesto_dag.files import read_json, sha256_bytes
from inquesto_dag.provenance.profile import SCRIPTED_CALLER
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import CALLS, TOOL_CALLS, TURNS

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

RECORDINGS = "recordings"


def run(ctx: StageContext) -> None:
    """Write `calls`, `turns`, `tool_calls` and a folder of recordings, one a call."""
    jobs = plan_jobs(ctx)
    fetch_needed(jobs[0].agent if jobs else None)
    with ctx.output() as folder:
        work = [(job, folder / RECORDINGS / job.call_id) for job in take_turns(jobs)]
        placed = ctx.map(place_and_write, work, f"calls {ctx.agent}")
        by_id = {trace["call"]["call_id"]: trace for trace in placed}
        traces = [by_id[job.call_id] for job in jobs]
        ctx.write(folder, CALLS, [trace["call"] for trace in traces])
        ctx.write(folder, TURNS, [turn for trace in traces for turn in trace["turns"]])
        ctx.write(folder, TOOL_CALLS, [tool for trace in traces for tool in trace["tool_calls"]])


def plan_jobs(ctx: StageContext) -> list[CallJob]:
    """The calls of the population as jobs, in its order."""
    model = None
    if ctx.profile.caller != SCRIPTED_CALLER:
        model = find_model("caller", ctx.profile.caller, os.environ)
        find_role_endpoint("caller", os.environ)  # an address that is missing is said before any call
    agent = load_agent(ctx.agents_folder, ctx.required_agent())
    lines = read_lines(ctx.folder("caller_audio"), ctx.folder("line_audio"), ctx.protocol.conditions)
    verifier = read_json(ctx.folder("verifier") / "verifier.json")
    scenarios = {scenario.id: scenario for scenario in ctx.protocol.scenarios}
    jobs = []
    for row in ctx.rows("population", "population"):
        bed_path, bed_sha256 = lines.bed(row)
        jobs.append(
            CallJob(
                row=row,
                scenario=scenarios[row["scenario_id"]],
                account=ctx.protocol.account,
                agent=agent,
                bank=lines.bank(row),
                bed_path=bed_path,
                bed_sha256=bed_sha256,
                verifier=verifier,
                simulated=None if model is None else simulate(ctx, model, row),
            )
        )
    return jobs


def take_turns(jobs: Iterable[CallJob]) -> list[CallJob]:
    """The jobs with their families in turn: calls that run side by side then rarely need the same sentence
    of the agent at the same time, which both would have to synthesise."""
    families: dict[str, list[CallJob]] = defaultdict(list)
    for job in jobs:
        families[job.scenario.family].append(job)
    return [job for turn in zip_longest(*families.values()) for job in turn if job is not None]


def simulate(ctx: StageContext, model: RoleModel, row: Mapping[str, Any]) -> SimulatedCaller:
    """What plays the caller of a call of the population, and how its lines sound."""
    protocol = ctx.protocol
    return SimulatedCaller(
        model,
        protocol.caller_prompt,
        protocol.caller_level_dbov,
        voice=str(row["voice"]),
        language=next(voice.language for voice in protocol.voices if voice.voice == row["voice"]),
        codec=next(line.codec for line in protocol.conditions if line.id == row["condition"]),
    )


def fetch_needed(agent: AgentConfig | None) -> None:
    """Bring the model here that an agent's brain loads in process: not before such an agent is scored.

    InfrastructureError when no source gives it.
    """
    if agent is None or agent.brain.kind != "transformers":
        return
    from inquesto_dag.agents.chat.local_settings import needed_model, read_local
    from inquesto_dag.speech.fetch import fetch, models_folder

    settings, _ = read_local(agent.id, agent.brain.settings, agent.brain.transport)
    if (model := needed_model(settings)) is not None:
        fetch([model], models_folder())


def place_and_write(item: tuple[CallJob, Path], engines: Engines) -> dict[str, Any]:
    """Place one call, lay its files out, and return its trace with the trace's own digest."""
    job, folder = item
    files = call_files(job, engines)
    files.write(folder)
    trace = files.trace
    trace["call"]["trace_sha256"] = sha256_bytes(files.files["trace.json"])
    return trace


def call_files(job: CallJob, engines: Engines) -> CallFiles:
    """Place one call: its files, the trace as it is laid out, with the agent's id and in a reader's form.

    The memo's trace has another agent's id where two agents share a call.
    """
    files = run_job(job, engines)
    trace = files.trace
    trace["call"]["agent"] = job.agent.id
    text = json.dumps(trace, sort_keys=True, indent=1, ensure_ascii=False).encode()
    return CallFiles({**files.files, "trace.json": text})
