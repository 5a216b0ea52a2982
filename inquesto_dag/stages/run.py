"""Running one stage of a project: what `dvc.yaml` calls, and so what Dagster calls.

DVC digests a stage's dependencies *after* its command, so code edited in mid-run would be recorded as the
code that ran. The runner therefore fingerprints them before and after, and refuses the output when they
differ.
"""

from __future__ import annotations

import time
from pathlib import Path

from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.provenance.dvc import resolve_stages
from inquesto_dag.provenance.fingerprint import changed_paths, fingerprint_paths
from inquesto_dag.provenance.memo import default_memo
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.profile import Profile, load_profile
from inquesto_dag.provenance.release import require_frozen
from inquesto_dag.speech.engines import EngineSpec
from inquesto_dag.stages.chain import find_stage, load_run, target
from inquesto_dag.stages.context import StageContext, default_workers
from inquesto_dag.stages.report import StageReport


def run_stage(
    project: Path, name: str, agent: str | None = None, *, workers: int | None = None
) -> StageReport:
    """Run a stage, or its partition for an agent, and write its report; returns the report.

    InputError for an unknown stage or agent, CheckFailed when a dependency changed during the run; the
    output is then not put in place.
    """
    ctx = open_context(project, name, agent, workers=workers)
    run = load_run(find_stage(name))
    started = time.perf_counter()
    run(ctx)
    ctx.report.wall_s = time.perf_counter() - started
    ctx.report.write(project)
    return ctx.report


def open_context(
    project: Path, name: str, agent: str | None = None, *, workers: int | None = None
) -> StageContext:
    """The context of one stage of a project, from `params.yaml`, `dvc.yaml` and the environment.

    Every stage passes here, whoever runs it, so here a released protocol version that was changed is refused.
    """
    stage, params = find_stage(name), load_params(project)
    require_frozen(project, params.protocol)
    if stage.per_agent and agent not in params.agents:
        raise InputError(
            f"unknown agent {agent!r}" if agent else "needs an agent",
            where=name,
            field="--agent",
            remedy=f"use one of {', '.join(params.agents)}, or add it to `agents` in params.yaml",
        )
    if not stage.per_agent and agent:
        raise InputError("is the same for every agent", where=name, remedy="leave --agent out")
    memo = default_memo(project)
    count = workers or default_workers()
    spec = make_engine_spec(load_profile(params.profile), memo.root) if stage.engines else None
    depends = [project / path for path in resolve_stages(project)[target(name, agent)].deps]
    before = fingerprint_paths(depends)

    def guard() -> None:
        changed = changed_paths(before, fingerprint_paths(depends))
        if changed:
            raise CheckFailed(
                f"changed while the stage ran: {', '.join(str(path) for path in changed[:5])}",
                where=target(name, agent),
                remedy="run it again; what was computed is kept in the memo",
            )

    report = StageReport(name, agent, workers=count)
    return StageContext(project, name, params, agent, memo, spec, count, report, guard, stage.protocol)


def make_engine_spec(profile: Profile, memo_root: Path | None) -> EngineSpec:
    """The picklable spec from which each worker loads its own one-thread engines."""
    from inquesto_dag.speech.fetch import models_folder

    return EngineSpec.for_roles(profile.roles(), models_folder(), memo_root)
