"""One real stage through both doors: Dagster launches DVC, DVC runs it once, and the checks see the disk."""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.files import read_table, write_table
from inquesto_dag.provenance.dvc import locked_digest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of the project without outputs, in a git repository of its own."""
    ignore = shutil.ignore_patterns("__pycache__", ".tmp-*")
    for name in ("inquesto_dag", "assets", "data/protocols", "data/agents"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignore)
    (tmp_path / ".dvc").mkdir()
    for name in (".dvc/config", ".dvcignore", ".gitignore", "dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / ".dvc" / "site"))
    return tmp_path


def materialise(project: Path, instance: Any, name: str) -> Any:
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    from assets.definitions import build_definitions

    defs = build_definitions(project)
    return dg.materialize(
        [*defs.assets, *defs.asset_checks],
        selection=dg.AssetSelection.assets(name),
        instance=instance,
        resources=defs.resources,
        raise_on_error=False,
    )


def test_population_runs_once_by_either_door_and_its_checks_watch_the_disk(project: Path) -> None:
    """First run executes, second does not; `dvc repro` finds nothing to do; a tampered table is refused."""
    import dagster as dg

    table = project / "data" / "population" / "population.parquet"
    with dg.DagsterInstance.ephemeral() as instance:
        first = materialise(project, instance, "population")
        assert first.success
        checks = {e.check_name: e.passed for e in first.get_asset_check_evaluations()}
        assert checks == {"population_table": True, "disk_matches_lock": True}
        (event,) = first.asset_materializations_for_node("population")
        assert event.tags is not None
        assert event.tags["dagster/data_version"] == locked_digest(project, "population")
        assert event.metadata["ran_now"].value is True
        written = table.stat().st_mtime_ns

        second = materialise(project, instance, "population")
        (again,) = second.asset_materializations_for_node("population")
        assert again.metadata["ran_now"].value is False
        assert again.tags == event.tags
        assert table.stat().st_mtime_ns == written

        by_hand = subprocess.run(
            [sys.executable, "-m", "dvc", "repro", "population"],
            cwd=project, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "didn't change, skipping" in by_hand.stdout

        table.chmod(0o644)
        write_table(table, read_table(table).iloc[1:])
        from assets.checks import expectations_for, outputs_beside_lock
        from assets.population import PROMISES
        from assets.suites import validate_table

        suite = expectations_for(project, "population", None, PROMISES["population"])
        outcome = validate_table("population", read_table(table), suite)
        assert any("row_count" in fault for fault in outcome.failures)
        (differing,) = outputs_beside_lock(project, "population")
        assert differing == "data/population is not what was computed: changed population.parquet"
        third = materialise(project, instance, "population")  # DVC sees the change and restores the output
        assert third.success
        assert outputs_beside_lock(project, "population") == []


def test_a_stage_that_fails_fails_its_asset(project: Path) -> None:
    """A protocol that cannot be loaded: the run fails, nothing half-written stays."""
    import dagster as dg

    (project / "data" / "protocols" / "v0.1" / "account.yaml").write_text("number: [\n")
    with dg.DagsterInstance.ephemeral() as instance:
        assert not materialise(project, instance, "population").success
    assert not list((project / "data").glob(".tmp-*"))
    assert not (project / "data" / "population").exists()
