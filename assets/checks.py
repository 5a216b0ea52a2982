"""Blocking checks of every stage: its tables by Great Expectations, and its output against `dvc.lock`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import dagster as dg

from assets.bridge import agent_partitions
from assets.suites import Expectation, Validation, schema_expectations, validate_table
from inquesto_dag.errors import InputError
from inquesto_dag.files import read_table
from inquesto_dag.provenance.state import ProjectState
from inquesto_dag.stages.chain import Stage, target
from inquesto_dag.tables import TABLES

LOCK_CHECK = "disk_matches_lock"
# What a stage promises of a table beyond its schema; made when the check runs, as it may read the project.
Promise = Callable[[Path, str | None], Sequence[Expectation]]
Promises = Mapping[str, Promise]


def stage_checks(project: Path, stage: Stage, promises: Promises) -> list[dg.AssetChecksDefinition]:
    """One check for each table, and one that the bytes on disk are those that `dvc.lock` names."""
    unknown = set(promises) - set(stage.tables)
    if unknown:
        raise ValueError(f"{stage.name} writes no table {sorted(unknown)}")
    checks = [table_check(project, stage, table, promises.get(table)) for table in stage.tables]
    return [*checks, lock_check(project, stage)]


def expectations_for(
    project: Path, table: str, agent: str | None, promise: Promise | None
) -> list[Expectation]:
    """A table's whole suite: its schema's, and its stage's."""
    return [*schema_expectations(TABLES[table]), *(promise(project, agent) if promise else ())]


def table_check(project: Path, stage: Stage, table: str, promise: Promise | None) -> dg.AssetChecksDefinition:
    """The blocking check of one table."""

    @dg.asset_check(
        asset=stage.name,
        name=f"{table}_table",
        description=f"{TABLES[table].description}: schema, limits, key, and what {stage.name} promises of it",
        blocking=True,
        partitions_def=agent_partitions(project) if stage.per_agent else None,
    )
    def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        return table_result(project, stage, table, checked_agent(context, stage), promise)

    return check


def checked_agent(context: dg.AssetCheckExecutionContext, stage: Stage) -> str | None:
    """The agent whose output a check is about; None for a stage that has no part for each agent."""
    if not stage.per_agent:
        return None
    if not context.has_partition_key:
        # The UI's "Execute all" gives none, and Dagster 1.13 then cannot store the result.
        raise dg.Failure(
            f"{stage.name} has a part for each agent, and Dagster cannot check it without one: "
            "launch the job check_outputs, or materialise the agent's partition."
        )
    return str(context.partition_key)


def table_result(
    project: Path, stage: Stage, table: str, agent: str | None, promise: Promise | None
) -> dg.AssetCheckResult:
    """Every expectation of a table as it lies on disk; one that cannot be read met none."""
    path = project / "data" / stage.name / (agent or "") / f"{table}.parquet"
    try:
        frame = read_table(path)
    except InputError as error:
        return dg.AssetCheckResult(passed=False, description=str(error))
    outcome = validate_table(table, frame, expectations_for(project, table, agent, promise))
    return dg.AssetCheckResult(
        passed=outcome.passed,
        description="; ".join(outcome.failures[:3]) or None,
        metadata={
            "rows": len(frame),
            "expectations": outcome.expectations,
            "not_met": len(outcome.failures),
            "results": dg.MetadataValue.md(show_outcomes(outcome)),
        },
    )


def show_outcomes(validation: Validation) -> str:
    """Every expectation with what was seen, as a Markdown table, those that are not met first."""
    from assets.previews import markdown_table

    rows = [
        [
            "met" if o.met else "NOT MET",
            o.kind.removeprefix("expect_").replace("_", " "),
            o.about,
            o.asks,
            o.seen,
        ]
        for o in validation.outcomes
    ]
    return markdown_table(["", "expectation", "about", "asks", "seen"], rows)


def lock_check(project: Path, stage: Stage) -> dg.AssetChecksDefinition:
    """That nobody changed an output behind DVC's back, which Dagster cannot see by itself."""

    @dg.asset_check(
        asset=stage.name,
        name=LOCK_CHECK,
        description="The output's bytes on disk have the digest that dvc.lock names",
        blocking=True,
        partitions_def=agent_partitions(project) if stage.per_agent else None,
    )
    def check(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        return lock_result(project, stage, checked_agent(context, stage))

    return check


def lock_result(project: Path, stage: Stage, agent: str | None) -> dg.AssetCheckResult:
    """What of an output is not on disk as `dvc.lock` has it."""
    differing = outputs_beside_lock(project, target(stage.name, agent))
    return dg.AssetCheckResult(
        passed=not differing,
        description="; ".join(differing) or None,
        metadata={"next": "run `inquesto-dag score`, which restores the output"} if differing else {},
    )


def outputs_beside_lock(project: Path, name: str) -> list[str]:
    """What of a target's outputs is not on disk as `dvc.lock` has it: one sentence each, none when all is."""
    state = ProjectState(project)
    if name not in state.locked:
        return [f"{name} is not in dvc.lock"]
    missing, edited = state.out_faults(name)
    state.digests.save()
    return [*missing, *edited]
