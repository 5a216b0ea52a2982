"""One stage by one worker, a pool of two, a Dask cluster of two, side by side: times, and the same results.

    python -m tests.bench.executors FINISHED [--stage calls] [--calls 12] [--agent embedded-700] [--rounds 1]

FINISHED is a scored project; it is only read. Each way gets a copy of the stage's inputs, cut to the first
so many calls of the population, and an empty memo, so that the engines do everything. Starting the cluster is
not counted, since it serves many runs; loading engines is: workers are started again for each run of theirs.
Exit code 1 when results differ.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.files import read_json, read_table, write_table
from inquesto_dag.stages.chain import find_stage
from tests.stages.dask_cluster import dask_cluster
from tests.stages.kills import tree
from tests.stages.short_calls import ROOT, command, run_command

WAYS = ("1 worker", "pool of 2", "Dask, 2 workers")


@dataclass(frozen=True)
class Timed:
    """One run: wall time of the command and of the stage in s, seconds inside engines, every output byte."""

    wall_s: float
    stage_s: float
    engine_s: float
    output: dict[str, bytes]


def cut_inputs(finished: Path, project: Path, stage: str, agent: str, calls: int) -> None:
    """A copy of what the stage reads, with this code and the first so many calls."""
    shutil.copytree(finished / "data" / "protocols", project / "data" / "protocols")
    shutil.copytree(finished / "data" / "agents", project / "data" / "agents")
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, project / name)
    (project / "inquesto_dag").symlink_to(ROOT / "inquesto_dag")
    shutil.copy(ROOT / ".dvcignore", project)  # byte code that is written meanwhile is no change
    for read in {"population", *find_stage(stage).reads}:
        part = agent if find_stage(read).per_agent else ""
        shutil.copytree(finished / "data" / read / part, project / "data" / read / part)
    population = project / "data" / "population" / "population.parquet"
    kept = read_table(population).head(calls)
    if len(kept) < calls:
        raise SystemExit(f"{finished} has {len(kept)} calls, fewer than {calls}")
    write_table(population, kept)
    table = project / "data" / "calls" / agent / "calls.parquet"
    if table.exists():
        rows = read_table(table)
        write_table(table, rows[rows["call_id"].isin(kept["call_id"])].reset_index(drop=True))


def run_way(inputs: Path, folder: Path, stage: str, agent: str, *options: str) -> Timed:
    """Run the stage's command on a fresh copy with an empty memo."""
    project = folder / "project"
    shutil.copytree(inputs, project, symlinks=True)
    started = time.perf_counter()
    run_command(project, command(stage, agent, *options))
    wall_s = time.perf_counter() - started
    report: dict[str, Any] = read_json(project / ".reports" / f"{stage}@{agent}.json")
    output = tree(project / "data" / stage / agent)
    return Timed(wall_s, report["wall_s"], sum(report["engine_s"].values()), output)


def measure(finished: Path, stage: str, agent: str, calls: int, rounds: int) -> dict[str, list[Timed]]:
    """Every way, `rounds` times, the ways taking turns so that a busy minute hits all alike."""
    found: dict[str, list[Timed]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory(prefix="inquesto-executors-") as name:
        base = Path(name)
        cut_inputs(finished, base / "inputs", stage, agent, calls)
        for turn in range(rounds):
            for number, way in enumerate(WAYS):
                folder = base / f"run-{turn}-{number}"
                folder.mkdir()
                if way == WAYS[2]:
                    with dask_cluster(folder, workers=2) as cluster:
                        timed = run_way(base / "inputs", folder, stage, agent, "--cluster", cluster.address)
                else:
                    workers = str(number + 1)
                    timed = run_way(base / "inputs", folder, stage, agent, "--workers", workers)
                found[way].append(timed)
                shutil.rmtree(folder)
    return found


def table(found: dict[str, list[Timed]]) -> list[str]:
    """A line for each way: median times, and how many times as fast as the first."""
    first = statistics.median(run.wall_s for run in found[WAYS[0]])
    lines = [f"{'':<16} {'command':>9} {'stage':>9} {'engines':>9} {'speed':>6}"]
    for way, runs in found.items():
        wall, stage, engines = (
            statistics.median(getattr(run, name) for run in runs)
            for name in ("wall_s", "stage_s", "engine_s")
        )
        lines.append(f"{way:<16} {wall:7.1f} s {stage:7.1f} s {engines:7.1f} s {first / wall:5.2f}x")
    pool, dask = (statistics.median(run.stage_s for run in found[way]) for way in WAYS[1:])
    lines.append(f"Dask against the pool, stage alone: {dask / pool:.2f} of its time")
    return lines


def main() -> int:
    """Measure, print, and compare results; the exit code."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("finished", type=Path, help="a scored project; it is only read")
    parser.add_argument("--stage", default="calls", choices=("calls", "annotations"))
    parser.add_argument("--agent", default="embedded-700")
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    found = measure(asked.finished.resolve(), asked.stage, asked.agent, asked.calls, asked.rounds)
    cores = os.cpu_count()
    print(f"{asked.stage} of {asked.calls} calls, empty memo, {cores} processors, median of {asked.rounds}")
    print("\n".join(table(found)))
    outputs = [run.output for runs in found.values() for run in runs]
    same = all(output == outputs[0] for output in outputs)
    told = "the same bytes" if same else "DIFFERENT"
    print(f"results: {told} ({len(outputs[0])} files, {len(outputs)} runs)")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
