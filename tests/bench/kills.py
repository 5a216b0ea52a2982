"""kill -9 at random instants during `calls`, each time resumed; then what follows, up to the record.

    python -m tests.bench.kills FINISHED [--kills 20] [--agent embedded-700] [--seed 1] [--workers 2]

FINISHED is a scored project; it is only read. Two copies with its memo, but for calls and what follows from
them, are brought to the record: one undisturbed, one killed again and again during `calls`, the whole process
tree or the parent alone. Exit code 1 unless records and calls are the same bytes, no memo entry was ever
written twice, nothing half stood in the output's place, and nothing was left behind.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from inquesto_dag.files import read_table
from inquesto_dag.stages.chain import find_stage
from tests.stages.kills import call_entries, kill_until, leftovers, survivors, tree
from tests.stages.short_calls import MEMO, ROOT, command, run_command

AFTER = ("annotations", "events", "verdicts", "record")


def copy_inputs(finished: Path, project: Path, agent: str) -> None:
    """What `calls` reads, with this code, and the memo but for calls and what follows from them."""
    for name in ("protocols", "agents", *find_stage("calls").reads):
        if not (project / "data" / name).exists():
            shutil.copytree(finished / "data" / name, project / "data" / name)
    for name in ("dvc.yaml", "params.yaml", "dvc.lock"):
        if (finished / name).exists():
            shutil.copy((finished if name == "dvc.lock" else ROOT) / name, project / name)
    (project / "inquesto_dag").symlink_to(ROOT / "inquesto_dag")
    for kind in ("synthesis", "recognition", "embedding"):
        if (finished / MEMO / kind).exists():
            shutil.copytree(finished / MEMO / kind, project / MEMO / kind)
    assert not (project / "data" / "calls" / agent).exists()


def main() -> int:
    """Run both, say what was found; the exit code."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("finished", type=Path, help="a scored project; it is only read")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--agent", default="embedded-700")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="inquesto-kills-") as name:
        faults = killed_against_undisturbed(Path(name), asked)
    print("\n".join(faults) if faults else "all of it holds")
    return 1 if faults else 0


def killed_against_undisturbed(base: Path, asked: argparse.Namespace) -> list[str]:
    """What does not hold, one line each."""
    calm, killed = base / "calm", base / "killed"
    for project in (calm, killed):
        copy_inputs(asked.finished.resolve(), project, asked.agent)
    run_command(calm, command("calls", asked.agent, "--workers", str(asked.workers)))
    population = len(read_table(calm / "data" / "population" / "population.parquet"))
    log = kill_until(
        killed, asked.agent, asked.kills, calls=population, seed=asked.seed, workers=asked.workers
    )
    print(
        f"{log.kills} kills ({log.trees} of the tree, {log.parents} of the parent alone), calls finished at "
        f"each: {log.entries_at_kill}, then {len(call_entries(killed))} of {population}"
    )
    print(f"calls begun: at most {population} + {asked.workers} in flight x {log.kills} kills")
    faults = [f"memo entry written again: {entry}" for entry in log.rewritten]
    faults += [f"half an output: {output}" for output in log.half_outputs]
    faults += [f"left in data/: {path}" for path in leftovers(killed / "data")]
    faults += [f"still runs: {line}" for line in survivors(log.groups)]
    if len(call_entries(killed)) != population:
        faults.append(f"{len(call_entries(killed))} calls in the memo, {population} planned")
    for stage in AFTER:
        for project in (calm, killed):
            run_command(project, command(stage, asked.agent))
    for stage in ("calls", *AFTER):
        one, two = (tree(project / "data" / stage / asked.agent) for project in (calm, killed))
        different = sorted(path for path in one.keys() | two.keys() if one.get(path) != two.get(path))
        faults += [f"{stage}: {path} differs" for path in different]
        print(f"{stage}: {len(one)} files, {len(different)} differ")
    return faults


if __name__ == "__main__":
    raise SystemExit(main())
