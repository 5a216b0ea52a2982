"""`inquesto-dag status`: lines, reasons, JSON, exit codes, and errors that say what to do."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from inquesto_dag.cli import main
from inquesto_dag.cli.status import group_agents, print_status, reason_lines
from inquesto_dag.provenance.state import TargetState
from tests.provenance.tiny_project import dvc, write_tiny


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project, run once."""
    folder = write_tiny(tmp_path_factory.mktemp("tiny"))
    dvc(folder, "repro", "--quiet")
    return folder


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished project."""
    return Path(shutil.copytree(finished, tmp_path / "tiny", symlinks=True))


def status(monkeypatch: pytest.MonkeyPatch, project: Path, *arguments: str) -> int:
    """The exit code of `inquesto-dag status` on a project."""
    monkeypatch.setattr(sys, "argv", ["inquesto-dag", "status", "--project", str(project), *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_all_current(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """One line a target and no reason; `--check` passes."""
    assert status(monkeypatch, project, "--check") == 0
    assert capsys.readouterr().out.splitlines() == [
        "base      current",
        "part@one  current",
        "part@two  current",
        "whole     current",
        "everything is current",
    ]


def test_what_is_not_current_says_why_and_what_repairs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """Stale and follows, edited and missing; `--check` fails, without it the exit code is 0."""
    (project / "data/agents/one.yaml").write_text("window: 1\n")
    assert status(monkeypatch, project) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "part@one  stale",
        "part@two  current",
        "whole     follows part@one",
        "part@one is stale: data/agents/one.yaml changed",
        "next: run `inquesto-dag score`, which computes what is not current and leaves the rest",
    ]
    assert status(monkeypatch, project, "--check") == 1
    capsys.readouterr()
    (project / "data/agents/one.yaml").write_text("window: 400\n")
    (project / "data/part/two/x.txt").write_text("another\n")
    shutil.rmtree(project / "data/whole")
    assert status(monkeypatch, project, "--check") == 1
    assert capsys.readouterr().out.splitlines()[2:] == [
        "part@two  edited on disk",
        "whole     missing",
        "part@two is edited on disk: data/part/two is not what was computed: changed x.txt",
        "whole is missing: data/whole is not on disk",
        "next: run `inquesto-dag score`, which restores the outputs",
    ]


def test_json_holds_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """For programs: state and reasons of each target, agents that were dropped, the repair."""
    (project / "params.yaml").write_text("level: 1\nagents:\n  - one\n")
    assert status(monkeypatch, project, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["current"] is False
    assert found["left_over"] == ["part@two"]
    assert [(t["target"], t["kind"]) for t in found["targets"]] == [
        ("base", "current"), ("part@one", "current"), ("whole", "stale"),
    ]  # fmt: skip
    assert found["targets"][2]["reasons"] == ["parameter agents changed from ['one', 'two'] to ['one']"]
    assert status(monkeypatch, project) == 0
    assert "dvc.lock also holds two, which params.yaml names no more" in capsys.readouterr().out


def test_a_clone_without_outputs_is_told_to_pull(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """Outputs neither here nor in the cache, and a remote that may have them."""
    shutil.rmtree(project / ".dvc" / "cache")
    shutil.rmtree(project / "data" / "whole")
    assert status(monkeypatch, project) == 0
    assert "dvc pull" not in capsys.readouterr().out
    dvc(project, "remote", "add", "--default", "shared", "/nowhere")
    assert status(monkeypatch, project) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("next: run `dvc pull`")


def test_a_conflict_in_the_lock_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """The file, what is wrong with it, the next step."""
    (project / "dvc.lock").write_text("<<<<<<< HEAD\nschema: '2.0'\n=======\n>>>>>>> other\n")
    assert status(monkeypatch, project) == 2
    error = capsys.readouterr().err
    assert "dvc.lock: has merge conflicts" in error and "next: take either side whole" in error


def test_agents_share_a_reason_and_a_column() -> None:
    """Thirteen agents that stand the same are one line and one column; one that does not has its own."""
    agents = [f"agent-{number}" for number in range(13)]
    targets = [TargetState("record", agent, "stale", (f"data/x/{agent} changed",)) for agent in agents[1:]]
    targets.insert(0, TargetState("record", agents[0], "current"))
    assert reason_lines(targets) == [
        "record of agent-1, agent-2, agent-3, agent-4 and 8 more is stale: data/x/AGENT changed"
    ]
    assert list(group_agents(targets)) == ["agent-0", "agent-1 and 11 more"]
    assert reason_lines(targets[:2]) == ["record@agent-1 is stale: data/x/agent-1 changed"]


def test_what_no_score_brings_up_to_date_is_named_with_its_command(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After `score` the validation may never have run; to run `score` again would change nothing."""
    stages = project / "dvc.yaml"
    stages.write_text(stages.read_text() + "  validation:\n    cmd: touch v\n    outs:\n      - v\n")
    print_status(project, as_json=False, check=False)
    assert capsys.readouterr().out.splitlines()[-1].startswith("next: run `inquesto-dag validate events`")


def test_a_terminal_gets_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path
) -> None:
    """Stages down, agents across."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert status(monkeypatch, project) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["stage", "all", "agents", "one", "two"]
    assert lines[1:4] == [["base", "current"], ["part", "current", "current"], ["whole", "current"]]
