"""`dvc.lock` is read whole, whoever writes it meanwhile: DVC truncates it and writes it anew in place."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.provenance import dvc
from inquesto_dag.provenance.dvc import read_lock

ENTRY = """  {name}:
    cmd: echo
    outs:
    - path: data/{name}
      md5: {digit}0000000000000000000000000000000
"""


def lock_of(*names: str) -> str:
    return "schema: '2.0'\nstages:\n" + "".join(ENTRY.format(name=n, digit=i) for i, n in enumerate(names))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".dvc" / "tmp").mkdir(parents=True)
    (tmp_path / ".dvc" / "tmp" / "lock").touch()
    (tmp_path / "dvc.lock").write_text(lock_of("one", "two"))
    return tmp_path


def test_a_reader_waits_for_the_writer_that_has_written_half(project: Path) -> None:
    """Half of the file is valid YAML that names one stage of three; no reader sees it."""
    whole = lock_of("one", "two", "three")
    half = lock_of("one")
    assert whole.startswith(half)
    writing, go_on = threading.Event(), threading.Event()

    def write() -> None:
        with (project / ".dvc" / "tmp" / "lock").open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            (project / "dvc.lock").write_text(half)
            writing.set()
            assert go_on.wait(10)
            (project / "dvc.lock").write_text(whole)

    seen: list[set[str]] = []
    writer = threading.Thread(target=write)
    reader = threading.Thread(target=lambda: seen.append(set(read_lock(project))))
    writer.start()
    assert writing.wait(10)
    reader.start()
    time.sleep(0.3)
    assert seen == []
    go_on.set()
    reader.join(10)
    writer.join(10)
    assert seen == [{"one", "two", "three"}]


def test_dvc_writes_under_the_lock_that_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real DVC cannot commit while that lock is held, and does when it is free again."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / ".site"))
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "dvc.yaml").write_text("stages:\n  one:\n    cmd: echo 1 > one\n    outs: [one]\n")
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--quiet"]
    with dvc.nobody_writes(tmp_path):
        running = subprocess.Popen(command, cwd=tmp_path)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(6)
        assert not (tmp_path / "dvc.lock").exists()
    assert running.wait(120) == 0
    assert set(read_lock(tmp_path)) == {"one"}


def test_a_lock_that_is_never_given_back_is_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says which file, and that another DVC is at work."""
    monkeypatch.setattr(dvc, "WRITE_LIMIT_S", 0.1)
    with (project / ".dvc" / "tmp" / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(InfrastructureError, match=r"tmp/lock: another DVC has held it"):
            read_lock(project)
    assert set(read_lock(project)) == {"one", "two"}


def test_a_project_without_dvc_is_read_as_it_is(tmp_path: Path) -> None:
    """Nobody can write what nobody has locked."""
    assert read_lock(tmp_path) == {}
    (tmp_path / "dvc.lock").write_text(lock_of("one"))
    assert set(read_lock(tmp_path)) == {"one"}
