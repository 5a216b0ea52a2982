"""Runs of DVC beside each other, what a kill leaves of them, and a cache whose bytes are not what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from inquesto_dag.cli.score import bring_up_to_date, not_current, restore_outputs
from inquesto_dag.provenance.digests import file_md5
from inquesto_dag.provenance.dvc import read_lock, repro_command
from inquesto_dag.provenance.runs import HELD, nobody_works, one_at_a_time, repro, runs_at_work
from tests.provenance.tiny_project import DVC_YAML, dvc, write_tiny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny project, run once."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / "site"))
    folder = write_tiny(tmp_path / "project")
    dvc(folder, "repro", "--quiet")
    return folder


def cached(project: Path, digest: str) -> Path:
    return project / ".dvc" / "cache" / "files" / "md5" / digest[:2] / digest[2:]


def harm(path: Path, data: bytes) -> None:
    """Other bytes in an object of the cache, which stays as DVC leaves it: not to be written."""
    path.chmod(0o644)
    path.write_bytes(data)
    path.chmod(0o444)


def test_a_damaged_object_of_the_cache_is_not_restored_but_computed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """DVC would put the damaged bytes back, and then say that all is up to date."""
    path = project / "data" / "base" / "all.txt"
    true = path.read_bytes()
    harm(cached(project, file_md5(path)), b"!" * len(true))
    path.unlink()
    restore_outputs(project)
    assert (
        "base: 1 damaged files in DVC's cache are removed\nto compute again: base" in capsys.readouterr().out
    )
    assert bring_up_to_date(project, ["whole"]) == 0
    assert path.read_bytes() == true
    assert not_current(project, ["whole"]) == []
    assert file_md5(cached(project, file_md5(path))) == file_md5(path)


def test_a_damaged_listing_in_the_cache_is_not_taken_for_an_empty_output(project: Path) -> None:
    """DVC would make an empty folder of it, and write that into the lock."""
    before = read_lock(project)
    harm(cached(project, before["base"].outs["data/base"]), b"[]")
    for path in (project / "data" / "base").iterdir():
        path.unlink()
    (project / "data" / "base").rmdir()
    restore_outputs(project)
    assert bring_up_to_date(project, ["whole"]) == 0
    assert read_lock(project) == before
    assert not_current(project, ["whole"]) == []


def test_damage_that_dvc_brings_back_by_its_run_cache_is_repaired_in_the_same_command(project: Path) -> None:
    """A parameter changed and taken back: DVC restores the earlier output without looking at its bytes."""
    path = project / "data" / "base" / "all.txt"
    true = path.read_bytes()
    (project / "in.txt").write_text("other\n")
    dvc(project, "repro", "--quiet")
    harm(next(p for p in (project / ".dvc/cache/files").rglob("*") if p.is_file() and p.read_bytes() == true),
         b"?" * len(true))  # fmt: skip
    (project / "in.txt").write_text("in\n")
    assert bring_up_to_date(project, ["whole"]) == 0
    assert path.read_bytes() == true
    assert not_current(project, ["whole"]) == []


@pytest.mark.parametrize("left", ["half", "a number that another process has by now"])
def test_what_a_killed_run_left_hinders_no_later_one(project: Path, left: str) -> None:
    """DVC alone fails on both until somebody removes its file by hand."""
    entry = {"pid": os.getpid(), "cmd": "dvc repro"}
    text = json.dumps({"write": {str(project / "data" / "base"): entry}, "read": {}})
    (project / HELD).write_text(text[:-20] if left == "half" else text)
    (project / "in.txt").write_text("other\n")
    by_hand = subprocess.run(
        [sys.executable, "-m", "dvc", "repro", "--quiet"], cwd=project, capture_output=True, check=False
    )
    assert by_hand.returncode != 0
    assert repro(project, ["whole"]) == 0
    assert (project / "data" / "base" / "in.txt").read_text() == "other\n"


def slow_run(project: Path) -> subprocess.Popen[bytes]:
    """A `dvc repro` in its first stage, which has put its output in place and takes two seconds more."""
    slow = DVC_YAML.replace("data/base/in.txt\n    deps", "data/base/in.txt && sleep 2\n    deps")
    assert slow != DVC_YAML
    (project / "dvc.yaml").write_text(slow)
    (project / "in.txt").write_text("other\n")
    running = subprocess.Popen(repro_command(["whole"]), cwd=project, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not (runs_at_work(project) and (project / "data" / "base" / "in.txt").exists()):
        assert time.monotonic() < until and running.poll() is None
        time.sleep(0.05)
    return running


def test_the_output_of_a_run_at_work_is_left_alone(project: Path) -> None:
    """The lock does not name it yet; taken for an edit, it would be removed before DVC stores it."""
    running = slow_run(project)
    told: list[str] = []
    with nobody_works(project, told.append):
        assert runs_at_work(project) == []
    assert len(told) == 1 and f"process {running.pid} (dvc --wait-for-lock repro whole)" in told[0]
    restore_outputs(project)
    assert running.wait() == 0
    assert (project / "data" / "base" / "in.txt").read_text() == "other\n"
    assert not_current(project, ["whole"]) == []


def test_a_run_waits_for_one_whose_score_was_killed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kill of `score` leaves its `dvc repro` alive; DVC alone would fail on the paths that it holds."""
    running = slow_run(project)
    assert repro(project, ["whole"]) == 0
    assert f"waiting for the run that works on this project: process {running.pid}" in capsys.readouterr().err
    assert running.wait() == 0
    assert (project / "data" / "whole" / "x.txt").read_text().startswith("other\n")


def test_one_score_at_a_time(project: Path) -> None:
    """The second waits, says for whom, and has its turn."""
    told: list[str] = []
    entered = threading.Event()

    def second() -> None:
        with one_at_a_time(project, told.append):
            entered.set()

    with one_at_a_time(project):
        other = threading.Thread(target=second)
        other.start()
        assert not entered.wait(0.5)
    other.join(10)
    assert entered.is_set()
    assert told == [f"waiting for another `score` on this project: process {os.getpid()}"]
