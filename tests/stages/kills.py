"""A stage killed again and again, each time resumed: what must hold, counted.

Used by the suite with a few kills, and by `python -m tests.bench.kills` with many.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from inquesto_dag.files import TEMPORARY
from tests.stages.short_calls import MEMO, command, environment

END_S = 600.0
DELAY_S = 0.5  # a call whose sentences are in the memo takes about as long
Entry = tuple[int, int]  # inode and mtime in ns: another writer's entry has another inode


@dataclass
class KillLog:
    """What was seen: kills of the whole tree and of the parent alone, entries found at each kill, faults."""

    trees: int = 0
    parents: int = 0
    entries_at_kill: list[int] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)  # memo entries that a later run wrote again
    half_outputs: list[str] = field(default_factory=list)  # what stood in the output's place before the end
    groups: list[int] = field(default_factory=list)

    @property
    def kills(self) -> int:
        """Kills in all."""
        return self.trees + self.parents


def kill_until(project: Path, agent: str, kills: int, *, calls: int, seed: int, workers: int) -> KillLog:
    """Start `stage calls`, kill it at a random instant, and so on `kills` times; then let it end.

    An instant is a number of calls that were finished since the start, 0 to what spreads the kills over all
    `calls`, and up to DELAY_S more; so some kills hit the start, and most hit calls in the middle.
    AssertionError when a run ends before it could be killed: there are too few calls.
    """
    rng = random.Random(seed)
    log = KillLog()
    known: dict[str, Entry] = {}
    output = project / "data" / "calls" / agent
    for number in range(kills):
        before = len(known)
        process = start_stage(project, agent, workers)
        log.groups.append(process.pid)
        budget = calls * (number + 1) // (kills + 1)
        goal, extra = rng.randint(0, max(0, budget - before)), rng.uniform(0.0, DELAY_S)
        wait_for_calls(project, process, before + goal)
        time.sleep(extra)
        assert process.poll() is None, f"run {number} ended before its kill: give it more calls"
        if rng.random() < 0.5:
            os.killpg(process.pid, signal.SIGKILL)
            log.trees += 1
        else:
            process.kill()
            log.parents += 1
        process.wait()
        if output.exists():
            log.half_outputs.append(f"after kill {number}: {sorted(path.name for path in output.iterdir())}")
        found = call_entries(project)
        log.rewritten += [name for name, entry in known.items() if found.get(name) != entry]
        log.entries_at_kill.append(len(found))
        known = found
    process = start_stage(project, agent, workers)
    log.groups.append(process.pid)
    assert process.wait(END_S) == 0, (project / "stage.log").read_text()
    log.rewritten += [name for name, entry in known.items() if call_entries(project).get(name) != entry]
    return log


def start_stage(project: Path, agent: str, workers: int) -> subprocess.Popen[bytes]:
    """`inquesto-dag stage calls` in a process group of its own."""
    with (project / "stage.log").open("wb") as stream:
        return subprocess.Popen(
            command("calls", agent, "--workers", str(workers)),
            cwd=project,
            env=environment(project),
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_for_calls(project: Path, process: subprocess.Popen[bytes], count: int) -> None:
    """Until so many calls are in the memo, or the process has ended."""
    limit = time.monotonic() + END_S
    while len(call_entries(project)) < count and process.poll() is None:
        assert time.monotonic() < limit, (project / "stage.log").read_text()
        time.sleep(0.02)


def call_entries(project: Path) -> dict[str, Entry]:
    """Inode and mtime of each finished call in the memo, by key."""
    found = {}
    for path in (project / MEMO / "call").glob("??/*"):
        if not path.name.startswith(TEMPORARY):
            state = path.stat()
            found[path.name] = (state.st_ino, state.st_mtime_ns)
    return found


def survivors(groups: list[int], seconds: float = 10.0) -> list[str]:
    """Processes of these groups that still run after so long; a killed parent's workers end by themselves."""
    limit = time.monotonic() + seconds
    while True:
        found = [line for line in _processes() if int(line.split()[0]) in groups]
        if not found or time.monotonic() > limit:
            return found
        time.sleep(0.1)


def _processes() -> list[str]:
    """Group, state and command of every process that is not a zombie."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,args="], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if not line.split()[1].startswith("Z")]


def leftovers(folder: Path) -> list[str]:
    """Temporary files and folders below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob(f"{TEMPORARY}*"))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file's bytes by its path in a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file()
    }  # fmt: skip
