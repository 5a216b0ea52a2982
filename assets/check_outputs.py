"""Job `check_outputs`: every check of every output as it lies on disk, nothing computed, nothing restored.

A materialisation starts DVC, and DVC restores what was edited before any check sees it. And the checks of a
partitioned asset cannot be run by themselves in Dagster 1.13: "Execute all" gives them no partition. So this
job runs them for each agent, and reports each result under its asset, check and partition.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg

from assets.checks import LOCK_CHECK, lock_result, table_result
from inquesto_dag.provenance.dvc import read_lock
from inquesto_dag.provenance.params import load_params
from inquesto_dag.stages.chain import CHAIN, Stage, target


def run_checks(project: Path) -> Iterator[tuple[Stage, str | None, str, dg.AssetCheckResult]]:
    """Stage, agent, name and result of each check of what `dvc.lock` names, in the chain's order."""
    locked = read_lock(project)
    for stage in CHAIN:
        promises = import_module(f"assets.{stage.name}").PROMISES
        for agent in load_params(project).agents if stage.per_agent else [None]:
            if target(stage.name, agent) in locked:
                for table in stage.tables:
                    result = table_result(project, stage, table, agent, promises.get(table))
                    yield stage, agent, f"{table}_table", result
                yield stage, agent, LOCK_CHECK, lock_result(project, stage, agent)


def check_outputs_job(project: Path) -> dg.JobDefinition:
    """The job; its run fails when a check fails, and says which."""

    @dg.op(description="Run every check and report its result under its asset and partition.")
    def check_every_output(context: dg.OpExecutionContext) -> None:
        failed = []
        for stage, agent, name, result in run_checks(project):
            context.instance.report_runless_asset_event(
                dg.AssetCheckEvaluation(
                    asset_key=dg.AssetKey(stage.name),
                    check_name=name,
                    passed=bool(result.passed),
                    metadata=result.metadata,
                    description=result.description,
                    blocking=True,
                    partition=agent,
                    target_materialization_data=_latest(context.instance, stage, agent),
                )
            )
            where = f"{target(stage.name, agent)} {name}"
            if result.passed:
                context.log.info(f"{where}: passed")
            else:
                context.log.error(f"{where}: {result.description}")
                failed.append(where)
        if failed:
            raise dg.Failure(f"{len(failed)} checks failed: {', '.join(failed)}", allow_retries=False)

    @dg.job(
        description="Every check of every output as it lies on disk: Great Expectations on each table, and "
        "each byte against dvc.lock. Computes and restores nothing; results stand under each asset's checks.",
    )
    def check_outputs() -> None:
        check_every_output()

    return check_outputs


def _latest(instance: dg.DagsterInstance, stage: Stage, agent: str | None) -> Any:
    """The materialisation that a result is about; None when Dagster knows of none."""
    from dagster._core.definitions.asset_checks.asset_check_evaluation import (
        AssetCheckEvaluationTargetMaterializationData,
    )

    records = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(stage.name), asset_partitions=[agent] if agent else None),
        limit=1,
    ).records
    if not records:
        return None
    record = records[0]
    return AssetCheckEvaluationTargetMaterializationData(
        run_id=record.event_log_entry.run_id, storage_id=record.storage_id, timestamp=record.timestamp
    )
