"""Agents at once through Dagster's run queue: real runs, a real daemon, one lock file.

The stages are the two without engines; `tests/bench/thirteen_agents.py` does the whole chain for thirteen.
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from assets.checks import outputs_beside_lock
from inquesto_dag.cli.ui import require_free
from inquesto_dag.errors import InputError
from inquesto_dag.provenance.dvc import read_lock
from tests.assets.dagster_ui import open_ui, servers_of
from tests.assets.projects import copy_project, lay_out_record, set_agents, set_runs_at_once

AGENTS = ["one", "two", "three"]


def test_three_agents_at_once_leave_a_whole_lock_file_and_the_ui_ends_with_all_it_started(
    tmp_path: Path,
) -> None:
    """Runs overlap, every run succeeds, every output is the lock's; then an interrupt ends every process."""
    project = copy_project(tmp_path / "project")
    set_agents(project, AGENTS)
    for agent in AGENTS:
        lay_out_record(project, agent, {"population", "calls", "annotations"})
    set_runs_at_once(project, len(AGENTS))
    environment = {"DVC_SITE_CACHE_DIR": str(tmp_path / "site")}
    with open_ui(project, tmp_path / "ui.log", **environment) as ui:
        with urllib.request.urlopen(f"{ui.url}/data/agents/one.yaml") as answer:
            assert answer.read() == (project / "data" / "agents" / "one.yaml").read_bytes()
        with pytest.raises(InputError, match=rf"(?s)port {ui.port} .*next: .*--port {ui.port + 10}"):
            require_free(ui.port)
        backfill = ui.launch_backfill(["events", "verdicts"], AGENTS)
        assert ui.wait_for_backfill(backfill, 300) == "COMPLETED_SUCCESS"
        runs = ui.runs()
        started = servers_of(ui)
    assert {run["partition"]: run["status"] for run in runs} == dict.fromkeys(AGENTS, "SUCCESS")
    assert len(runs) == len(AGENTS)
    assert max(run["startTime"] for run in runs) < min(run["endTime"] for run in runs)

    targets = [f"{stage}@{agent}" for stage in ("events", "verdicts") for agent in AGENTS]
    assert set(read_lock(project)) == set(targets)
    assert [fault for target in targets for fault in outputs_beside_lock(project, target)] == []
    status = subprocess.run(
        [sys.executable, "-m", "dvc", "status", *targets],
        cwd=project, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "up to date" in status.stdout

    assert len(started) >= 3  # web server, daemon, code server
    assert [pid for pid in started if Path(f"/proc/{pid}/cmdline").exists() and _lives(pid)] == []
    assert "Traceback" not in (project / ".dagster" / "ui.log").read_text()


def _lives(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"
