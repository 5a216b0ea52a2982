"""Dagster too refuses a released protocol version that was changed, before DVC is asked (PROTOCOL N4)."""

from __future__ import annotations

import shutil
from pathlib import Path

from inquesto_dag.provenance.release import release_version
from tests.assets.test_materialise import materialise

ROOT = Path(__file__).parents[2]


def test_N4_an_asset_refuses_a_released_version_that_was_changed(tmp_path: Path) -> None:
    """Its step fails with the file's name, and DVC, which could restore an older output, has not run."""
    import dagster as dg

    for name in ("inquesto_dag", "data/protocols/v0.1", "data/agents"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    release_version(tmp_path, "v0.1")
    lines = tmp_path / "data" / "protocols" / "v0.1" / "lines.yaml"
    lines.write_text(lines.read_text().replace("Okay", "All right"))
    with dg.DagsterInstance.ephemeral() as instance:
        run = materialise(tmp_path, instance, "population")
    assert not run.success
    error = run.failure_data_for_node("population").error
    told = [part.message for part in (error, error.cause) if part is not None]
    assert any("lines.yaml was changed" in message for message in told)
    assert not (tmp_path / "dvc.lock").exists()
