"""Thirteen agents at once through Dagster's run queue: no lock error, no lost output, a whole lock file.

    python -m tests.bench.thirteen_agents [--agents 13] [--at-once 13] [--folder /tmp/thirteen]

A copy of this project, cut to four calls, scores embedded-700 by DVC, which fills a memo; then params.yaml
names thirteen agents that differ from it in their id alone, so that what runs is planning, layout and DVC.
They are launched by the job `score_all`, as from the UI, with as many runs at once as asked for. Exit code 0
when everything holds. A second start takes the memo of the first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

from assets.checks import outputs_beside_lock
from inquesto_dag.provenance.dvc import read_lock
from inquesto_dag.stages.chain import CHAIN
from tests.assets.dagster_ui import DagsterUi, open_ui
from tests.assets.projects import set_agents, set_runs_at_once
from tests.provenance.small_project import SmallProject, copy_inputs

LIMIT_S = 3600.0
LOCK_ERRORS = ("Unable to acquire lock", "is busy, it is being blocked by", "LockError")


def prepare(folder: Path, agents: list[str], at_once: int) -> SmallProject:
    """The project with these agents and this many runs at once, its memo warm; its memo outlives it."""
    shutil.rmtree(folder / "project", ignore_errors=True)
    project = copy_inputs(folder / "project", folder / "memo")
    # Four calls hold not every scenario and line, which the table's check asks for: that is cut with them.
    project.edit(
        "assets/population.py",
        "for column, values in expected.items()",
        'for column, values in expected.items() if column == "call_id"',
    )
    project.dvc("repro", "record@embedded-700")
    set_agents(project.folder, agents)
    set_runs_at_once(project.folder, at_once)
    return project


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


def inspect(project: SmallProject, agents: list[str]) -> list[str]:
    """What is wrong with lock file, outputs and logs; nothing when all is right."""
    scored = [stage for stage in CHAIN if stage.group != "validation"]  # which `score_all` leaves out
    targets = [name for stage in scored for name in stage.targets(tuple(agents))]
    locked = read_lock(project.folder)
    faults = [f"{name} is not in dvc.lock" for name in targets if name not in locked]
    faults += [
        fault for name in targets if name in locked for fault in outputs_beside_lock(project.folder, name)
    ]
    status = project.dvc("status", "--with-deps", "leaderboard", code=None)
    if "up to date" not in status:
        faults.append(f"dvc status: {status}")
    for log in sorted((project.folder / ".dagster").rglob("*.err")):
        text = log.read_text(errors="replace")
        faults += [f"{log} tells of {error!r}" for error in LOCK_ERRORS if error in text]
    present = sum(name in locked for name in targets)
    print(f"{present} of {len(targets)} stages in dvc.lock; dvc status: {status.strip()}", flush=True)
    return faults


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agents", type=int, default=13)
    parser.add_argument("--at-once", type=int, default=13)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/thirteen"))
    given = parser.parse_args()
    agents = [f"agent-{number:02}" for number in range(1, given.agents + 1)]
    started = time.monotonic()
    project = prepare(given.folder, agents, given.at_once)
    print(f"embedded-700 scored in {time.monotonic() - started:.0f} s", flush=True)
    started = time.monotonic()
    with open_ui(project.folder, given.folder / "ui.log", **project.environment) as ui:
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
