"""This machine, shared or claimed: measured times are honest when nothing else computes (DESIGN, A call).

Every stage that runs holds one lock file shared, and a measured run holds it alone. It is an advisory
`flock` in the temporary folder, which the kernel releases when its holder ends in whatever way. What is not
ours is seen by the processors' own counters (`proc(5)`, /proc/stat). The load average would not do: it still
tells of the stage that ended half a minute ago.
"""

from __future__ import annotations

import fcntl
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from inquesto_dag.errors import CheckFailed, InfrastructureError
from inquesto_dag.units import Seconds

LOCK_NAME = "inquesto-dag-machine.lock"
# A measured call uses one processor; on the smallest machine, of two, half of the other one may be in use.
BUSY_LIMIT = 0.25  # of all processors, by others
SAMPLE_S: Seconds = 2.0


def lock_path() -> Path:
    """The lock file of this machine, one for all users that share a temporary folder."""
    return Path(tempfile.gettempdir()) / LOCK_NAME


@contextmanager
def share_machine(name: str) -> Iterator[None]:
    """Compute beside other stages; waits while a measured run has the machine to itself, and says so."""
    with _opened() as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{name}: waits for a measured run to end ({_holders()})", file=sys.stderr, flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def claim_machine(name: str) -> Iterator[Claim]:
    """Have the machine alone; InfrastructureError when another stage runs on it, or others keep it busy."""
    with _opened() as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InfrastructureError(
                f"times are measured, and other stages run on this machine ({_holders()}): what they compute "
                "would be in the latencies",
                where=name,
                remedy="wait until they have ended, then run the same command again",
            ) from None
        busy = busy_share(SAMPLE_S)
        if busy > BUSY_LIMIT:
            raise InfrastructureError(
                f"times are measured, and other processes use {_cores(busy)}: what they compute would be in "
                f"the latencies (at most {_cores(BUSY_LIMIT)} may be in use)",
                where=name,
                remedy="stop them (`top` names them) or take another machine, and run the command again",
            )
        yield Claim(name, _Usage.now())


@dataclass(frozen=True)
class Claim:
    """The machine as it was when a measured run began."""

    name: str
    began: _Usage

    def others_share(self) -> float:
        """How much of all processors others used on average since then, 0 to 1."""
        return _Usage.now().share_of_others(self.began)

    def check(self) -> None:
        """CheckFailed when others used more than BUSY_LIMIT while the run was measured."""
        share = self.others_share()
        if share > BUSY_LIMIT:
            raise CheckFailed(
                f"other processes used {_cores(share)} on average while the calls were measured (at most "
                f"{_cores(BUSY_LIMIT)} may be in use), so the latencies are not the agent's",
                where=self.name,
                remedy="stop them (`top` names them), then run the same command again",
            )


def busy_share(seconds: Seconds) -> float:
    """How much of all processors is in use while this process sleeps so long, 0 to 1."""
    before = _Usage.now()
    time.sleep(seconds)
    return _Usage.now().share_of_others(before)


@dataclass(frozen=True)
class _Usage:
    """Time in s since boot: all processors busy, all processors together, this process and its children."""

    busy_s: float
    total_s: float
    own_s: float

    @classmethod
    def now(cls) -> _Usage:
        # user nice system idle iowait irq softirq steal; guest times are inside user and nice already. Time
        # that a hypervisor gave to others (steal) is as lost to a measurement as that of a process here.
        with open("/proc/stat", encoding="ascii") as stream:
            ticks = [int(value) for value in stream.readline().split()[1:9]]
        per_second = os.sysconf("SC_CLK_TCK")
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return cls(
            (sum(ticks) - ticks[3] - ticks[4]) / per_second,
            sum(ticks) / per_second,
            sum(usage.ru_utime + usage.ru_stime for usage in own),
        )

    def share_of_others(self, since: _Usage) -> float:
        total = self.total_s - since.total_s
        others = (self.busy_s - since.busy_s) - (self.own_s - since.own_s)
        return max(0.0, others / total) if total > 0 else 0.0


@contextmanager
def _opened() -> Iterator[int]:
    """The lock file, made when it is not there; a lock on it ends with the block."""
    path = lock_path()
    # Not O_CREAT alone: in a sticky folder the kernel refuses that for another user's file
    # (fs.protected_regular).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o644))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _holders() -> str:
    """Processes that hold the lock, as far as the kernel tells (`/proc/locks`)."""
    named = []
    with suppress(OSError):
        inode = lock_path().stat().st_ino
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode) and words[4] != "0":
                command = Path(f"/proc/{words[4]}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                named.append(f"process {words[4]}: {command[:120]}")
    return "; ".join(named) or f"they hold {lock_path()}"


def _cores(share: float) -> str:
    count = os.cpu_count() or 1
    return f"{share * count:.1f} of {count} processors"
