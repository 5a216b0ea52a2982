"""Thirteen agents at once through Dagster's run queue: no lock error, no lost output, a whole lock file.

    python -m tests.bench.thirteen_agents FINISHED [--agents 13] [--at-once 13] [--folder /tmp/thirteen]

FINISHED is a project in which embedded-700 has been scored; it is only read. A copy gets this code, thirteen
agents that differ from embedded-700 in their id alone, and the memo, so that what runs is planning, laying
out and DVC. All of the chain is launched by the job `score_all`, as from the UI, with as many runs at once as
agents. Exit code 0 when everything that is asked for holds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from assets.checks import outputs_beside_lock
from inquesto_dag.provenance.dvc import read_lock
from inquesto_dag.stages.chain import CHAIN
from tests.assets.dagster_ui import DagsterUi, open_ui
from tests.assets.projects import copy_project, set_agents

LIMIT_S = 3600.0
LOCK_ERRORS = ("Unable to acquire lock", "is busy, it is being blocked by", "LockError")


def prepare(finished: Path, folder: Path, agents: list[str], at_once: int) -> Path:
    """The copy of the project, its memo and shared outputs, with these agents and this many runs at once."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    project = copy_project(folder / "project")
    memo = Path(os.environ.get("INQUESTO_MEMO") or finished / ".memo")
    shutil.copytree(memo, project / ".memo", copy_function=_link)
    set_agents(project, agents)
    settings = project / "dagster.yaml"
    text = settings.read_text()
    assert "max_concurrent_runs: 1" in text
    settings.write_text(text.replace("max_concurrent_runs: 1", f"max_concurrent_runs: {at_once}"))
    return project


def _link(source: str, target: str) -> None:
    """Entries are replaced, never written to, so that a hard link is a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def score_all(ui: DagsterUi, agents: list[str]) -> list[str]:
    """Launch the job, wait for its backfill; what of its runs is not as it should be."""
    ui.launch_job("score_all")
    until = time.monotonic() + 300
    while not ui.backfills():
        assert time.monotonic() < until, ui.runs()
        time.sleep(1.0)
    status = ui.wait_for_backfill(ui.backfills()[0]["id"], LIMIT_S)
    runs = ui.runs()
    faults = [] if status == "COMPLETED_SUCCESS" else [f"the backfill is {status}"]
    faults += [
        f"run {run['runId']} of {run['partition']} is {run['status']}"
        for run in runs
        if run["status"] != "SUCCESS"
    ]
    of_agents = [run for run in runs if run["partition"]]
    if {run["partition"] for run in of_agents} != set(agents):
        faults.append(f"runs of {sorted({run['partition'] for run in of_agents})}")
    print(f"{len(of_agents)} runs of agents, at most {most_at_once(of_agents)} at once", flush=True)
    return faults


def most_at_once(runs: list[dict[str, float]]) -> int:
    """The largest number of runs that were under way at one time."""
    changes = sorted([(run["startTime"], 1) for run in runs] + [(run["endTime"], -1) for run in runs])
    under_way = most = 0
    for _, change in changes:
        under_way += change
        most = max(most, under_way)
    return most


def inspect(project: Path, agents: list[str]) -> list[str]:
    """What is wrong with lock file, outputs and logs; nothing when all is right."""
    targets = [name for stage in CHAIN for name in stage.targets(tuple(agents))]
    locked = read_lock(project)
    faults = [f"{name} is not in dvc.lock" for name in targets if name not in locked]
    faults += [f"dvc.lock has {name}" for name in locked if name not in targets]
    faults += [fault for name in targets if name in locked for fault in outputs_beside_lock(project, name)]
    status = subprocess.run(
        [sys.executable, "-m", "dvc", "status"], cwd=project, capture_output=True, text=True, check=False
    )
    if "up to date" not in status.stdout:
        faults.append(f"dvc status: {status.stdout}{status.stderr}")
    for log in sorted((project / ".dagster").rglob("*.err")):
        text = log.read_text(errors="replace")
        faults += [f"{log} tells of {error!r}" for error in LOCK_ERRORS if error in text]
    print(f"{len(locked)} entries in dvc.lock for {len(targets)} stages; dvc status: {status.stdout.strip()}")
    return faults


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("finished", type=Path)
    parser.add_argument("--agents", type=int, default=13)
    parser.add_argument("--at-once", type=int, default=13)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/thirteen"))
    given = parser.parse_args()
    agents = [f"agent-{number:02}" for number in range(1, given.agents + 1)]
    project = prepare(given.finished.resolve(), given.folder, agents, given.at_once)
    os.environ["DVC_SITE_CACHE_DIR"] = str(given.folder / "site")
    os.environ.pop("INQUESTO_MEMO", None)
    started = time.monotonic()
    with open_ui(project, given.folder / "ui.log") as ui:
        opened = time.monotonic()
        print(f"the UI was open after {opened - started:.1f} s", flush=True)
        faults = score_all(ui, agents)
        print(f"{len(agents)} agents took {time.monotonic() - opened:.0f} s on {os.cpu_count()} processors")
    faults += inspect(project, agents)
    for fault in faults:
        print(f"WRONG {fault}")
    print("all is right" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
