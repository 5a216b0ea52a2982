"""Running one stage of a project: what `dvc.yaml` calls, and so what Dagster calls.

DVC digests a stage's dependencies *after* its command, so code edited in mid-run would be recorded as the
code that ran. The runner therefore takes the stage's inputs before and after, and refuses the output when
they differ. Under DVC it also refuses to read another stage's output that is not the one in `dvc.lock`: a
number must not come from a table that somebody edited.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.provenance.digests import Digests
from inquesto_dag.provenance.dvc import DvcStage, require_stages, resolve_stages
from inquesto_dag.provenance.inputs import changes, inputs_on_disk
from inquesto_dag.provenance.memo import default_memo
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.profile import Profile, load_profile
from inquesto_dag.provenance.release import require_frozen
from inquesto_dag.provenance.state import ProjectState
from inquesto_dag.speech.engines import EngineSpec
from inquesto_dag.stages.chain import find_stage, load_run, target
from inquesto_dag.stages.context import StageContext, default_workers
from inquesto_dag.stages.placement import placed
from inquesto_dag.stages.report import StageReport

DVC_STAGE_VARIABLE = "DVC_STAGE"  # set by DVC for the commands that it runs


def run_stage(
    project: Path,
    name: str,
    agent: str | None = None,
    *,
    workers: int | None = None,
    cluster: str | None = None,
) -> StageReport:
    """Run a stage, or its partition for an agent, and write its report; returns the report.

    `workers` and `cluster` say where it is computed (see `placement`) and decide nothing of it. InputError
    for an unknown stage or agent, CheckFailed when a dependency changed during the run; the output is then
    not put in place.
    """
    ctx = open_context(project, name, agent, workers=workers)
    run = load_run(find_stage(name))
    with placed(ctx, workers=workers, cluster=cluster) as ctx:
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
    stages = resolve_stages(project)
    require_stages(project, stages, [target(name, agent)])
    guard = watch_inputs(project, stages[target(name, agent)])
    if os.environ.get(DVC_STAGE_VARIABLE):
        refuse_edited_outputs(project, target(name, agent))
    report = StageReport(name, agent, workers=count)
    return StageContext(project, name, params, agent, memo, spec, count, report, guard, stage.protocol)


def watch_inputs(project: Path, stage: DvcStage) -> Callable[[], None]:
    """Take a stage's inputs; the function returned raises CheckFailed when they are others by then.

    InputError, now, for a dependency that does not exist.
    """
    digests = Digests(project)
    before = inputs_on_disk(stage, digests)
    digests.save()
    for dep, digest in before.deps.items():
        if digest is None:
            raise InputError("does not exist", where=project / dep, remedy="restore it, or run its stage")

    def guard() -> None:
        changed = changes(inputs_on_disk(stage, digests), before, digests)
        digests.save()
        if changed:
            raise CheckFailed(
                f"its inputs changed while it ran: {'; '.join(str(change) for change in changed[:5])}",
                where=stage.name,
                remedy="run it again; what was computed is kept in the memo",
            )

    return guard


def refuse_edited_outputs(project: Path, name: str) -> None:
    """CheckFailed when a stage would read another's output that is not the one in `dvc.lock`."""
    state = ProjectState(project)
    for dep in state.stages[name].deps:
        for producer in state.producers(dep):
            if producer in state.locked:
                missing, edited = state.out_faults(producer)
                if missing or edited:
                    raise CheckFailed(
                        "; ".join([*missing, *edited]),
                        where=f"{name}: reads {producer}",
                        remedy="run `inquesto-dag score`, which restores it",
                    )
    state.digests.save()


def make_engine_spec(profile: Profile, memo_root: Path | None) -> EngineSpec:
    """The picklable spec from which each worker loads its own one-thread engines."""
    from inquesto_dag.speech.fetch import models_folder

    return EngineSpec.for_roles(profile.roles(), models_folder(), memo_root)
