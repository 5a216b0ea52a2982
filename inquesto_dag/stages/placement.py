"""Where a stage's work runs: on this machine's pool, on a cluster, or alone on a machine for measured times.

None of this decides a result. It stays out of every key and fingerprint (DESIGN, Identity and memo).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from inquesto_dag.errors import InputError
from inquesto_dag.stages.chain import target
from inquesto_dag.stages.cluster import CLUSTER_VARIABLE, cluster_address, join_cluster
from inquesto_dag.stages.context import StageContext
from inquesto_dag.stages.machine import claim_machine, share_machine
from inquesto_dag.stages.pool import kept_pool

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import EngineSpec


@contextmanager
def placed(
    ctx: StageContext, *, workers: int | None = None, cluster: str | None = None
) -> Iterator[StageContext]:
    """The context with its workers in place until the block ends.

    `workers` and `cluster` are what the user asked for; without `cluster`, `$INQUESTO_CLUSTER` counts.
    InputError when both are asked for, and when a measured run is asked to share its machine.
    """
    name = target(ctx.stage, ctx.agent)
    address = cluster_address(cluster)
    if workers is not None and cluster is not None:
        raise InputError(
            "asks for workers of this machine and for a cluster",
            where=name,
            field="--workers",
            remedy="give one of --workers and --cluster: a cluster has the workers that it has",
        )
    if is_measured(ctx):
        _refuse_company(name, workers, address)
        with claim_machine(name) as claim:

            def guard() -> None:
                ctx.guard()
                ctx.report.notes["others_share"] = round(claim.others_share(), 4)
                claim.check()

            ctx.report.workers = 1
            yield replace(ctx, workers=1, guard=guard)
        return
    with share_machine(name):
        if ctx.engine_spec is None or (address is None and ctx.workers == 1):
            yield ctx
            return
        if address is None:
            with kept_pool(ctx.workers) as take:
                yield replace(ctx, executor=take)
            return
        spec = _absolute(ctx.engine_spec)  # a worker has a working folder of its own
        with join_cluster(address, ctx.project, spec) as joined:
            ctx.report.workers = joined.workers
            yield replace(ctx, workers=joined.workers, executor=joined.executor, engine_spec=spec)


def is_measured(ctx: StageContext) -> bool:
    """Whether this run takes an agent's times from the wall clock: stage `calls`, `timing.mode: measured`."""
    if ctx.stage != "calls" or ctx.agent is None:
        return False
    from inquesto_dag.agents.config import load_agent

    return load_agent(ctx.agents_folder, ctx.agent).timing.mode == "measured"


def _refuse_company(name: str, workers: int | None, address: str | None) -> None:
    reason = "times are measured, and calls that run beside each other would slow each other down"
    if workers is not None and workers > 1:
        raise InputError(
            reason, where=name, field=f"--workers {workers}",
            remedy="leave --workers out: a measured run has one worker",
        )  # fmt: skip
    if address is not None:
        raise InputError(
            "times are measured, and a cluster's machines are not this run's alone",
            where=name,
            field=f"--cluster {address}",
            remedy=f"run it without --cluster and without ${CLUSTER_VARIABLE}, on a machine that does "
            "nothing else",
        )


def _absolute(spec: EngineSpec) -> EngineSpec:
    return replace(spec, models=spec.models.resolve(), memo=spec.memo.resolve() if spec.memo else None)
