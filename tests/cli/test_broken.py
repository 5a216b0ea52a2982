"""Calls that infrastructure broke are placed again by the next score, in a project of real DVC stages."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from inquesto_dag.cli.broken import MODEL_VARIABLE, broken_calls, place_broken_again, tell_broken
from tests.provenance.tiny_project import dvc, write_tiny

PLACE = """
import sys, pathlib, pandas
agent = sys.argv[1]
pathlib.Path("runs").open("a").write(agent + "\\n")
down = pathlib.Path("down").exists()
problem = "the endpoint failed (503)" if down and agent == "one" else None
folder = pathlib.Path("data/calls") / agent
folder.mkdir(parents=True)
pandas.DataFrame({"call_id": ["a", "b"], "infrastructure_error": [problem, None]}).to_parquet(
    folder / "calls.parquet")
"""
STAGES = """
stages:
  calls:
    foreach: ${agents}
    do:
      cmd: python place.py ${item}
      deps:
        - data/agents/${item}.yaml
      outs:
        - data/calls/${item}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two agents' calls, placed while the endpoint of one of them was down."""
    folder = tmp_path / "project"
    write_tiny(folder)
    (folder / "dvc.yaml").write_text(STAGES)
    (folder / "place.py").write_text(PLACE)
    (folder / ".gitignore").write_text("/data/calls\n")
    (folder / "down").touch()
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(folder / ".dvc" / "site"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    dvc(folder, "repro")
    return folder


def runs(project: Path) -> list[str]:
    return (project / "runs").read_text().split()


def test_D14_only_the_agent_with_broken_calls_is_placed_again(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Though to DVC nothing changed; and no more once all calls stand."""
    assert runs(project) == ["one", "two"]
    assert broken_calls(project, "one") == {"the endpoint failed (503)": 1}
    told = tell_broken(project, "one") or ""
    assert told.startswith("1 call not scored") and "the endpoint failed (503)" in told
    assert tell_broken(project, "two") is None
    dvc(project, "repro")
    assert runs(project) == ["one", "two"]
    (project / "down").unlink()
    assert place_broken_again(project, ["one", "two"]) == 0
    assert "one: 1 call that infrastructure broke: placing again" in capfd.readouterr().out
    assert runs(project) == ["one", "two", "one"] and not broken_calls(project, "one")
    assert place_broken_again(project, ["one", "two"]) == 0 and runs(project) == ["one", "two", "one"]
    assert "Data and pipelines are up to date" in dvc(project, "status")


def test_D14_what_is_run_anyway_is_not_run_twice(project: Path) -> None:
    """The agent's file changed, so the `dvc repro` that follows places its calls."""
    (project / "data" / "agents" / "one.yaml").write_text("window: 500\n")
    assert place_broken_again(project, ["one"]) == 0
    assert runs(project) == ["one", "two"]


def test_D17_calls_of_another_caller_are_placed_again(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model that plays the caller is named by the environment, which DVC does not see."""
    (project / "down").unlink()
    assert place_broken_again(project, ["one"]) == 0
    called = project / "data" / "calls" / "one" / "recordings" / "a"
    called.mkdir(parents=True)
    (called / "trace.json").write_text('{"caller": {"model": "qwen2.5:7b"}}')
    dvc(project, "commit", "--force")
    monkeypatch.setenv(MODEL_VARIABLE, "qwen2.5:7b")
    assert place_broken_again(project, ["one"], "qwen2.5-7b-instruct") == 0
    assert runs(project) == ["one", "two", "one"]
    monkeypatch.setenv(MODEL_VARIABLE, "another")
    assert place_broken_again(project, ["one"]) == 0  # a scripted caller has no model
    assert runs(project) == ["one", "two", "one"]
    assert place_broken_again(project, ["one"], "qwen2.5-7b-instruct") == 0
    assert f"1 call of another caller than ${MODEL_VARIABLE} names" in capfd.readouterr().out
    assert runs(project) == ["one", "two", "one", "one"]


def test_no_calls_are_no_broken_ones(tmp_path: Path) -> None:
    """A project in which nothing has run."""
    assert not broken_calls(tmp_path, "one") and place_broken_again(tmp_path, ["one"]) == 0
