"""DVC's runs on a project: ours start when no other is at work, and what the dead left is taken away.

DVC notes who reads and writes which path in `.dvc/tmp/rwlock`, and gives up at once on a path that another
holds. The file outlives a kill: then it names processes whose numbers others have by now, or it is half
written, and either makes every later run fail until somebody removes it by hand.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from inquesto_dag.provenance.dvc import checkout_command, dvc_environment, nobody_writes, repro_command

HELD = Path(".dvc", "tmp", "rwlock")  # dvc.rwlock, as of 3.67
GUARD = Path(".dvc", "tmp", "rwlock.lock")
SCORE_LOCK = Path(".dvc", "tmp", "inquesto", "score.lock")
PAUSE_S = 0.5

Tell = Callable[[str], None]


def to_stderr(text: str) -> None:
    """Tell a user, beside what a command prints."""
    print(text, file=sys.stderr, flush=True)


def repro(project: Path, targets: Sequence[str], *, single: bool = False, force: bool = False) -> int:
    """Run `dvc repro` on targets, its output on this terminal; returns its exit code.

    A run that failed while another was at work is repeated after that: what it lacked may have been a path
    that the other held.
    """
    command = repro_command(targets, single=single, force=force)
    while True:
        with nobody_works(project):
            pass  # it takes what it needs itself
        code = _run(project, command)
        if code == 0 or not runs_at_work(project):
            return code


def checkout(project: Path, targets: Sequence[str]) -> int:
    """Put targets' outputs back from DVC's cache; returns the exit code, 0 when all were there."""
    return _run(project, checkout_command(targets))


@contextmanager
def nobody_works(project: Path, tell: Tell = to_stderr) -> Iterator[None]:
    """Wait until no run of DVC is at work on the project, and keep new ones from starting in this block.

    There is no limit to the wait: those who work are living processes, and a stage may take hours.
    """
    told = False
    while True:
        with nobody_writes(project):
            others = runs_at_work(project)
            if not others:
                _drop_held(project)
                yield
                return
        if not told:
            tell(f"waiting for the run that works on this project: {'; '.join(others)}")
        told = True
        time.sleep(PAUSE_S)


@contextmanager
def one_at_a_time(project: Path, tell: Tell = to_stderr) -> Iterator[None]:
    """Hold the project's one place for a `score`; a second one waits here until the first has ended."""
    path = project / SCORE_LOCK
    if not path.parents[2].is_dir():  # not a DVC repository
        yield
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("a+", encoding="ascii")
    except OSError:  # a project that may not be written to
        yield
        return
    with stream:
        if not _locked(stream):
            stream.seek(0)
            tell(f"waiting for another `score` on this project: process {stream.read().strip() or 'unknown'}")
            fcntl.flock(stream, fcntl.LOCK_EX)
        stream.truncate(0)
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        yield  # closing the stream, or the process' end, gives the lock back


def runs_at_work(project: Path) -> list[str]:
    """The living DVC processes that hold paths of the project, as `process 123 (dvc repro …)`."""
    return [f"process {pid} ({name})" for pid, name in sorted(_holders(project).items())]


def _holders(project: Path) -> dict[int, str]:
    try:
        held = json.loads((project / HELD).read_bytes())
        entries = [*held.get("write", {}).values()]
        entries += [reader for readers in held.get("read", {}).values() for reader in readers]
        pids = {int(entry["pid"]) for entry in entries}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # none, or a file that nobody can read: DVC cannot either
    found = {pid: _dvc_command(pid) for pid in pids}
    return {pid: command for pid, command in found.items() if command}


def _dvc_command(pid: int) -> str:
    """What a process that is a DVC was called as; empty for any other, or none."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""
    for at, word in enumerate(words[:6]):
        if Path(word).name == "dvc":
            return " ".join(["dvc", *filter(None, words[at + 1 :])])
    return ""


def _drop_held(project: Path) -> None:
    """Remove DVC's note of who holds what, when nobody does: it names the dead, or cannot be read."""
    path = project / HELD
    if not path.is_file():
        return
    try:
        with (project / GUARD).open("a+b") as guard:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if not _holders(project):
                path.unlink(missing_ok=True)
    except OSError:  # a project that may not be written to
        return


def _locked(stream: IO[str]) -> bool:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _run(project: Path, command: list[str]) -> int:
    return subprocess.run(
        command, cwd=project, env={**os.environ, **dvc_environment()}, check=False
    ).returncode
