"""Copies of this project to run and to break, and the outputs of a small record to fill them with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from inquesto_dag.files import write_json, write_table
from inquesto_dag.tables import TABLES
from tests.report.material import Material, make_material

ROOT = Path(__file__).parents[2]
STAGE_OF = {
    "population": "population",
    "calls": "calls", "turns": "calls", "tool_calls": "calls",
    "segments": "annotations", "transcripts": "annotations", "heard": "annotations",
    "events": "events", "verdicts": "verdicts", "results": "record",
}  # fmt: skip


def copy_project(target: Path) -> Path:
    """The project's code and inputs without outputs, in a git and DVC repository of their own."""
    ignore = shutil.ignore_patterns("__pycache__", ".tmp-*")
    for name in ("inquesto_dag", "assets", "data/protocols", "data/agents"):
        shutil.copytree(ROOT / name, target / name, ignore=ignore)
    (target / ".dvc").mkdir()
    for name in (".dvc/config", ".dvcignore", ".gitignore", "dvc.yaml", "params.yaml", "dagster.yaml"):
        shutil.copy(ROOT / name, target / name)
    subprocess.run(["git", "init", "--quiet", "."], cwd=target, check=True)
    return target


def set_agents(project: Path, agents: list[str]) -> None:
    """Name these agents in `params.yaml`, each with a file: a copy of embedded-700 under its own id."""
    import yaml

    path = project / "params.yaml"
    values = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**values, "agents": agents}, sort_keys=False))
    text = (project / "data" / "agents" / "embedded-700.yaml").read_text()
    assert "id: embedded-700" in text
    for agent in agents:
        file = project / "data" / "agents" / f"{agent}.yaml"
        if not file.exists():
            file.write_text(text.replace("id: embedded-700", f"id: {agent}"))


def set_runs_at_once(project: Path, number: int) -> None:
    """Let the run queue start this many runs at once; the project itself starts one."""
    settings = project / "dagster.yaml"
    text = settings.read_text()
    assert "max_concurrent_runs: 1" in text
    settings.write_text(text.replace("max_concurrent_runs: 1", f"max_concurrent_runs: {number}"))


def lay_out_record(project: Path, agent: str, stages: set[str]) -> Material:
    """Write what these stages would leave for an agent: eight calls, one of each behaviour."""
    material = make_material(project, agent)
    for table, stage in STAGE_OF.items():
        if stage in stages:
            folder = project / "data" / stage / ("" if stage == "population" else agent)
            write_table(folder / f"{table}.parquet", TABLES[table].conform(getattr(material, table)))
    if "record" in stages:
        write_json(project / "data" / "record" / agent / "record.json", material.record)
    return material
