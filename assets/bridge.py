"""From a stage to an asset: its body launches DVC, its data version is the output's digest in `dvc.lock`.

`dvc repro` by hand and a materialisation here are the same run by two doors. No `from __future__ import
annotations` in these modules: Dagster reads the annotations of its contexts.
"""

import time
from pathlib import Path
from typing import Any

import dagster as dg

from inquesto_dag.files import read_json
from inquesto_dag.provenance.dvc import (
    dvc_environment,
    locked_digest,
    repro_command,
    resolve_stages,
)
from inquesto_dag.provenance.fingerprint import digest_paths
from inquesto_dag.provenance.params import load_params, load_yaml
from inquesto_dag.stages.chain import Stage, target
from inquesto_dag.stages.report import StageReport
from inquesto_dag.tables import TABLES

PIPES = "pipes"
OWNERS = ["team:inquesto"]


def agent_partitions(project: Path) -> dg.StaticPartitionsDefinition:
    """One partition for each agent of `params.yaml`, the one home of that list."""
    return dg.StaticPartitionsDefinition(list(load_params(project).agents))


def code_version(project: Path, stage: Stage) -> str:
    """A digest of what decides a stage's output but other stages' outputs: its deps, params and command.

    Derived from `dvc.yaml`, so that DVC and Dagster say the same of what is stale.
    """
    stages = resolve_stages(project)
    names = stage.targets(load_params(project).agents)
    outputs = {out for resolved in stages.values() for out in resolved.outs}
    inputs = {
        dep for name in names for dep in stages[name].deps
        if not any(dep == out or out.startswith(f"{dep}/") for out in outputs)
    }  # fmt: skip
    values = load_yaml(project / "params.yaml")
    params = {name: values.get(name) for name in stages[names[0]].params}
    digest = digest_paths(project, [project / path for path in sorted(inputs)])
    return f"{digest[:16]}-{_short_digest([params, [stages[name].command for name in names]])}"


def _short_digest(value: Any) -> str:
    from inquesto_dag.files import canonical_json, sha256_bytes

    return sha256_bytes(canonical_json(value))[:8]


def stage_asset(project: Path, stage: Stage) -> dg.AssetsDefinition:
    """The asset of a stage, partitioned by agent where the stage is."""

    @dg.asset(
        name=stage.name,
        deps=list(stage.reads),
        partitions_def=agent_partitions(project) if stage.per_agent else None,
        group_name=stage.group,
        description=stage.description,
        kinds={"dvc", *[kind for kind in stage.kinds if kind != "python"]},
        owners=OWNERS,
        code_version=code_version(project, stage),
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
            command=repro_command([name], single=True),
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


def run_metadata(project: Path, stage: Stage, agent: str | None, started: float) -> dict[str, Any]:
    """Where the output lies, and what its run cost: of this run, or of the one that DVC found unchanged."""
    folder = project / "data" / stage.name / (agent or "")
    metadata: dict[str, Any] = {"folder": dg.MetadataValue.path(str(folder))}
    path = StageReport(stage.name, agent).path(project)
    if path.exists():
        report = read_json(path)
        metadata["ran_now"] = dg.MetadataValue.bool(path.stat().st_mtime >= started)
        metadata["stage_wall_s"] = dg.MetadataValue.float(report["wall_s"])
        metadata["engine_share"] = dg.MetadataValue.float(report["engine_share"] or 0.0)
        metadata["results"] = dg.MetadataValue.json(report["counts"])
        for table, count in report["rows"].items():
            metadata["dagster/row_count" if len(report["rows"]) == 1 else f"{table}_rows"] = count
    page = folder / "page" / "index.html"
    if page.exists():
        metadata["page"] = dg.MetadataValue.url(page.as_uri())
    return metadata
