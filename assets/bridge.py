"""From a stage to an asset: its body launches DVC, its data version is the output's digest in `dvc.lock`.

`dvc repro` by hand and a materialisation here are the same run by two doors. No `from __future__ import
annotations` in these modules: Dagster reads the annotations of its contexts.
"""

import sys
import time
from pathlib import Path
from typing import Any

import dagster as dg

from assets.run_metadata import run_metadata
from inquesto_dag.provenance.digests import Digests
from inquesto_dag.provenance.dvc import (
    dvc_environment,
    locked_digest,
    repro_command,
    resolve_stages,
)
from inquesto_dag.provenance.inputs import agent_file, inputs_on_disk, is_produced, shared_version
from inquesto_dag.provenance.params import load_params
from inquesto_dag.stages.chain import Stage, target
from inquesto_dag.tables import TABLES

PIPES = "pipes"
AGENT_FILE = "agent_file"  # the asset of assets/agent_file.py
OWNERS = ["team:inquesto"]


def agent_partitions(project: Path) -> dg.StaticPartitionsDefinition:
    """One partition for each agent of `params.yaml`, the one home of that list."""
    return dg.StaticPartitionsDefinition(list(load_params(project).agents))


def code_version(project: Path, stage: Stage, digests: Digests | None = None) -> str:
    """A digest of what decides a stage's output but others' outputs and, where it has one, the agent's file.

    From the same `Inputs` as `inquesto-dag status` and the record's lineage, digests as DVC takes them, so
    that DVC and Dagster say the same of what is stale.
    """
    stages = resolve_stages(project)
    agent = load_params(project).agents[0] if stage.per_agent else None
    resolved = stages[target(stage.name, agent)]
    produced = [out for other in stages.values() for out in other.outs]
    left_out = [dep for dep in resolved.deps if is_produced(dep, produced)]
    inputs = inputs_on_disk(resolved, digests or Digests(project), but=left_out)
    return shared_version(inputs, agent, produced)


def data_of(stage: Stage, agent: str | None) -> str:
    """The folder of a stage's output relative to the project; that of all agents when none is given."""
    return f"data/{stage.name}" + (f"/{agent}" if stage.per_agent and agent else "")


def asset_deps(project: Path, stage: Stage) -> list[str]:
    """The assets that a stage reads: other stages, and `agent_file` where it depends on the agent's file."""
    agent = load_params(project).agents[0]
    deps = resolve_stages(project)[target(stage.name, agent if stage.per_agent else None)].deps
    return [*stage.reads, *([AGENT_FILE] if agent_file(agent) in deps else [])]


def stage_asset(project: Path, stage: Stage, digests: Digests | None = None) -> dg.AssetsDefinition:
    """The asset of a stage, partitioned by agent where the stage is."""

    @dg.asset(
        name=stage.name,
        deps=asset_deps(project, stage),
        partitions_def=agent_partitions(project) if stage.per_agent else None,
        group_name=stage.group,
        description=stage.description,
        kinds={"dvc", *[kind for kind in stage.kinds if kind != "python"]},
        owners=OWNERS,
        code_version=code_version(project, stage, digests),
        metadata=table_schemas(stage),
        required_resource_keys={PIPES},
    )
    def materialise(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
        from inquesto_dag.provenance.release import require_frozen

        # The stage asks this too, but DVC may restore an output without running its stage.
        require_frozen(project, load_params(project).protocol)
        agent = context.partition_key if stage.per_agent else None
        name = target(stage.name, agent)
        started = time.time()
        context.resources.pipes.run(
            context=context,
            command=[sys.executable, "-m", "assets.launch", *repro_command([name], single=True)],
            cwd=str(project),
            env=dvc_environment(),
        )
        return dg.MaterializeResult(
            data_version=dg.DataVersion(locked_digest(project, name)),
            metadata=run_metadata(project, stage, agent, started),
        )

    return materialise


def table_schemas(stage: Stage) -> dict[str, Any]:
    """Each table's columns with unit and meaning, for the catalogue."""
    schemas: dict[str, Any] = {}
    for name in stage.tables:
        columns = [
            dg.TableColumn(
                column.name,
                column.kind,
                description=column.description + (f" [{column.unit}]" if column.unit else ""),
                constraints=dg.TableColumnConstraints(
                    nullable=column.nullable, unique=TABLES[name].key == (column.name,)
                ),
            )
            for column in TABLES[name].columns
        ]
        key = "dagster/column_schema" if len(stage.tables) == 1 else f"{name}_schema"
        schemas[key] = dg.MetadataValue.table_schema(dg.TableSchema(columns=columns))
    return schemas
