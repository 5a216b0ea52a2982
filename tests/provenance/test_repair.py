"""Outputs that were edited, deleted or cut off: all see it, one command repairs it, no wrong number."""

from __future__ import annotations

import json
import os
import shutil
import warnings
from pathlib import Path

import pytest

from inquesto_dag.files import read_json
from tests.provenance.small_project import AGENTS, SmallProject

pytestmark = pytest.mark.engines

A, B = AGENTS


def first_recording(project: SmallProject, agent: str) -> Path:
    """The folder of an agent's first call."""
    return min((project.folder / "data" / "calls" / agent / "recordings").iterdir())


def flip(path: Path) -> None:
    """Change one bit in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def check_of(project: SmallProject, stage: str, agent: str) -> tuple[bool, str]:
    """The `disk_matches_lock` check of a stage's part, run by Dagster: whether it passed, what it says."""
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    from assets.definitions import build_definitions

    defs = build_definitions(project.folder)
    job = dg.define_asset_job(
        "check",
        selection=dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey(stage), "disk_matches_lock")),
    )
    with dg.DagsterInstance.ephemeral() as instance:
        result = (
            dg.Definitions.merge(defs, dg.Definitions(jobs=[job]))
            .resolve_job_def("check")
            # A job of checks alone has no partitions to validate a key against.
            .execute_in_process(tags={"dagster/partition": agent}, instance=instance, raise_on_error=False)
        )
        (evaluation,) = result.get_asset_check_evaluations()
        return evaluation.passed, str(evaluation.description)


def reports(project: SmallProject) -> dict[str, int]:
    """When each target's command last ran."""
    return {path.name: path.stat().st_mtime_ns for path in (project.folder / ".reports").glob("*.json")}


def test_status_check_and_dvc_see_what_was_harmed_and_score_repairs_it(project: SmallProject) -> None:
    """A call's file deleted, one bit of a recording flipped, a table truncated: restored byte for byte."""
    earlier, ran = project.outputs(), reports(project)
    trace, recording = first_recording(project, A) / "trace.json", first_recording(project, B) / "call.flac"
    table = project.folder / "data" / "annotations" / A / "segments.parquet"
    assert check_of(project, "calls", A) == (True, "None")
    trace.unlink()
    flip(recording)
    table.chmod(0o644)
    table.write_bytes(table.read_bytes()[:-100])

    harmed = {
        f"calls@{A}": f"removed recordings/{trace.parent.name}/trace.json",
        f"calls@{B}": f"changed recordings/{recording.parent.name}/call.flac",
        f"annotations@{A}": "changed segments.parquet",
    }
    shown = json.loads(project.cli("status", "--json"))
    found = {t["target"]: t for t in shown["targets"] if t["kind"] not in ("current", "follows")}
    assert {name: target["kind"] for name, target in found.items()} == dict.fromkeys(harmed, "edited on disk")
    assert "inquesto-dag score" in shown["repair"]
    by_dvc = json.loads(project.dvc("status", "--json"))
    for name, told in harmed.items():
        assert told in found[name]["reasons"][0]
        stage, _, agent = name.partition("@")
        passed, description = check_of(project, stage, agent)
        assert not passed and told in description
        assert any("changed outs" in change for change in by_dvc[name] if isinstance(change, dict))

    project.cli("score")
    assert project.outputs() == earlier
    assert reports(project) == ran
    assert check_of(project, "annotations", A)[0]


def test_no_wrong_number_is_printed_or_computed_from(project: SmallProject) -> None:
    """A record that was edited: the leaderboard refuses to read it, `score` restores it before it cites."""
    earlier = project.outputs()
    path = project.folder / "data" / "record" / A / "record.json"
    record = read_json(path)
    true = f"{100 * record['score']['passes'] / record['score']['n']:.1f}%"
    path.chmod(0o644)
    path.write_text(json.dumps({**record, "score": {**record["score"], "passes": 1, "interval": [0, 1]}}))
    wrong = f"{100 / record['score']['n']:.1f}%"
    assert wrong != true

    told = project.dvc("repro", "--single-item", "leaderboard", code=None)
    assert (
        f"leaderboard: reads record@{A}: data/record/{A} is not what was computed: changed record.json"
        in told
    )
    # DVC removes an output before its command, so that there is none now rather than a wrong one.
    assert not (project.folder / "data" / "leaderboard").exists()

    told = project.cli("score", "--agent", A)
    assert f"restoring: record@{A}" in told
    assert f"= {true}" in told and wrong not in told
    assert project.outputs() == earlier


def test_an_edit_that_keeps_size_and_time_is_repaired_without_the_run_cache(project: SmallProject) -> None:
    """What DVC would not notice, in a clone that has outputs in its cache and no record of runs."""
    earlier, ran = project.outputs(), reports(project)
    shutil.rmtree(project.folder / ".dvc" / "cache" / "runs")
    recording = first_recording(project, A) / "line.flac"
    stat = recording.stat()
    flip(recording)
    os.utime(recording, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert not check_of(project, "calls", A)[0]
    project.cli("score", "--agent", A)
    assert project.outputs() == earlier
    assert reports(project) == ran


def test_an_output_that_cannot_be_restored_is_computed_again(project: SmallProject) -> None:
    """Neither in the cache nor on disk as it was: its stage runs, and gives the same bytes."""
    earlier = project.outputs()
    shutil.rmtree(project.folder / ".dvc" / "cache")
    path = project.folder / "data" / "events" / B / "events.parquet"
    path.chmod(0o644)
    path.write_bytes(b"no table")
    before = reports(project)
    project.cli("score", "--agent", B)
    assert project.outputs() == earlier
    assert f"events@{B}.json" in {name for name, time in reports(project).items() if before[name] != time}
