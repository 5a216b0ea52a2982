"""A real Dask scheduler with workers, each a process of its own, on this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCHEDULER = (
    "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
    "--idle-timeout", "600 s",  # should a test be killed that would end it
)  # fmt: skip
WORKER = (
    "-m", "distributed.cli.dask_worker", "--host", "127.0.0.1", "--no-dashboard", "--death-timeout", "60 s",
)  # fmt: skip
START_S = 120.0  # of processes that import much, on a machine that runs other tests


class DaskCluster:
    """A scheduler at `address`; workers are added by `start_worker`, and all end with `stop`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._logs = 0
        self.scheduler, log = self._start(SCHEDULER, {})
        self.address = _wait_for(log, r"Scheduler at:\s+(tcp://\S+)", self.scheduler)

    def start_worker(
        self, *options: str, count: int = 1, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start `count` workers of one thread, or as `options` say, and wait until they have registered."""
        threads = () if "--nthreads" in options else ("--nthreads", "1")
        arguments = (*WORKER, self.address, "--nworkers", str(count), *threads, *options)
        process, log = self._start(arguments, environment or {})
        _wait_for(log, r"(?s)" + r"(Registered to:).*?" * count, process)

    def run(self, function: Any, *arguments: Any) -> dict[str, Any]:
        """What a function gives on each worker, by address."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return dict(client.run(function, *arguments))

    def stop(self) -> None:
        """End every process."""
        for process in reversed(self._processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(
        self, arguments: tuple[str, ...], environment: Mapping[str, str]
    ) -> tuple[subprocess.Popen[bytes], Path]:
        self._logs += 1
        log = self.folder / f"dask-{self._logs}.log"
        paths = [environment.get("PYTHONPATH"), str(ROOT), os.environ.get("PYTHONPATH")]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=self.folder, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(p for p in paths if p)},
            )  # fmt: skip
        self._processes.append(process)
        return process, log


@contextmanager
def dask_cluster(folder: Path, workers: int = 0) -> Iterator[DaskCluster]:
    """A cluster of so many one-thread workers, ended with the block."""
    cluster = DaskCluster(folder)
    try:
        if workers:
            cluster.start_worker(count=workers)
        yield cluster
    finally:
        cluster.stop()


def _wait_for(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    limit = time.monotonic() + START_S
    while True:
        told = log.read_text(encoding="utf-8", errors="replace")
        found = re.search(pattern, told)
        if found:
            return found[1]
        if process.poll() is not None or time.monotonic() > limit:
            raise AssertionError(f"{process.args!r} did not start:\n{told}")
        time.sleep(0.1)
