"""The whole population for three agents from an empty memo: times, the engines' share, and what it shows.

    python -m tests.bench.full_population [--folder /tmp/full-population]

A clone of this repository's last commit places all 306 calls to embedded-700, then to the two other agents,
and is then asked for everything again. Nothing else should run on the machine. The same folder given again
is reported on, not run again. Exit code 1 when a call was lost or a limit is not kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from inquesto_dag.files import read_json, write_json
from inquesto_dag.provenance.dvc import dvc_environment
from inquesto_dag.speech.fetch import models_folder

ROOT = Path(__file__).resolve().parents[2]
FIRST, AGENTS = "embedded-700", ("embedded-400", "embedded-700", "embedded-1100")
CALLS = 306
TIMES = "bench-times.json"
# Wall seconds: what two cores may take, and what may pass when nothing changed.
LIMITS = {"first agent": 75 * 60, "two more": 30 * 60, "score": 5, "dvc repro": 5, "status": 3, "audit": 10}
ENGINES_SHARE = 0.85


def run(folder: Path, *command: str) -> float:
    """Wall seconds of a Python command (`-m dvc repro`) in the clone; CalledProcessError when it fails."""
    environment = {
        **os.environ, **dvc_environment(), "PYTHONPATH": str(folder), "INQUESTO_MEMO": str(folder / ".memo"),
        "INQUESTO_MODELS": str(models_folder().resolve()),
    }  # fmt: skip
    started = time.perf_counter()
    subprocess.run([sys.executable, *command], cwd=folder, env=environment, check=True)
    return time.perf_counter() - started


def place_all(folder: Path) -> dict[str, float]:
    """Clone, place every call; the wall seconds of the first agent and of the two others together."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    score = ("-m", "inquesto_dag", "score", "--population", "full")
    return {"first agent": run(folder, *score, "--agent", FIRST), "two more": run(folder, *score)}


def ask_again(folder: Path) -> dict[str, float]:
    """Wall seconds of commands when nothing changed, each the second time."""
    record = f"data/record/{FIRST}/record.json"
    commands = {
        "score": ("-m", "inquesto_dag", "score"),
        "dvc repro": ("-m", "dvc", "repro", "--quiet"),
        "status": ("-m", "inquesto_dag", "status"),
        "audit": ("-m", "inquesto_dag", "audit", record),
    }
    return {name: [run(folder, *command) for _ in range(2)][1] for name, command in commands.items()}


def engines_share(folder: Path, agents: tuple[str, ...]) -> float:
    """Share of the stages' wall time, over all workers, that engines were at work, for these agents."""
    reports = [read_json(path) for path in sorted((folder / ".reports").glob("*.json"))]
    chosen = [report for report in reports if report["agent"] in (None, *agents)]
    capacity = sum(report["wall_s"] * report["workers"] for report in chosen)
    return float(sum(sum(report["engine_s"].values()) for report in chosen) / capacity)


def show(folder: Path) -> list[str]:
    """Print what the population shows; returns the agents that lost a call."""
    (windows,) = read_json(folder / "data/leaderboard/leaderboard.json")["endpointing"]
    columns = ("endpointing_ms", "score", "calls_with_talk_over", "overlapping_replies", "median_latency_s")
    print("\n" + "".join(f"{name:>22}" for name in columns))
    for row in windows["agents"]:
        print("".join(f"{row[name]:22.1f}" if name == "score" else f"{row[name]:>22}" for name in columns))
    records = {agent: read_json(folder / f"data/record/{agent}/record.json") for agent in AGENTS}
    for agent, record in records.items():
        print(f"\nword error of what {agent} heard, %")
        for condition, groups in record["heard"]["by_condition_and_group"].items():
            print(f"  {condition:10}", *(f"{k} {v['word_error_percent']:5.1f}" for k, v in groups.items()))
    return [agent for agent, record in records.items() if not whole(record)]


def whole(record: dict[str, Any]) -> bool:
    """Whether every call of the population was placed and judged."""
    status = record["status"]
    return bool(status["scored"] == CALLS and not status["unjudged"] and not status["infrastructure"])


def main() -> int:
    """Run what has not been run, report all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/full-population"))
    folder: Path = parser.parse_args().folder.resolve()
    if not (folder / TIMES).exists():
        write_json(folder.parent / f"{folder.name}-{TIMES}", place_all(folder))
        (folder.parent / f"{folder.name}-{TIMES}").rename(folder / TIMES)
    times = {**read_json(folder / TIMES), **ask_again(folder)}
    run(folder, "-m", "inquesto_dag", "timings")
    lost = show(folder)
    print()
    kept = True
    for name, seconds in times.items():
        kept &= seconds <= LIMITS[name]
        print(f"{name:12} {seconds:8.1f} s of at most {LIMITS[name]} s")
    for agents, name in (((FIRST,), "first agent"), (AGENTS, "all agents")):
        share = engines_share(folder, agents)
        kept &= share >= ENGINES_SHARE or name != "first agent"
        print(f"engines, {name}: {100 * share:.0f} % of the time of the workers")
    for agent in lost:
        print(f"{agent} lost calls")
    return 0 if kept and not lost else 1


if __name__ == "__main__":
    sys.exit(main())
