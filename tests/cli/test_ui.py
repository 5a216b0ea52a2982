"""`inquesto-dag ui`: what it says when it cannot start. Starting, ending it: tests/assets/test_queue.py."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from inquesto_dag.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose web server ends at once and says why."""
    for name in ("dvc.yaml", "params.yaml", "dagster.yaml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "__init__.py").touch()
    (tmp_path / "assets" / "serve.py").write_text(
        "import os, sys\n"
        "print('definitions of', os.environ['INQUESTO_PROJECT'], 'on', sys.argv[1])\n"
        "sys.exit('they are broken')\n"
    )
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["inquesto-dag", "ui", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_servers_that_end_are_an_error_with_what_they_said(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1, the last lines of their log, the log's place; no traceback."""
    port = free_port()
    assert run(monkeypatch, "--project", str(project), "--port", str(port)) == 1
    told = capsys.readouterr()
    assert f"starting Dagster on {project}" in told.out and "open http" not in told.out
    assert "ended by itself, exit code 1; it said:" in told.err
    assert f"definitions of {project} on {port}\nthey are broken" in told.err
    assert f"next: see {project}/.dagster/ui.log" in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize("port", ["taken", "70000"])
def test_a_port_that_cannot_be_used_is_refused_before_anything_starts(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    """Exit code 2 and another port to try."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        chosen = str(taken.getsockname()[1]) if port == "taken" else port
        assert run(monkeypatch, "--project", str(project), "--port", chosen) == 2
    told = capsys.readouterr().err
    assert f"port {chosen} of 127.0.0.1 cannot be used" in told
    assert "next: end what uses it, or choose another: inquesto-dag ui --port " in told
    assert not (project / ".dagster").exists()
