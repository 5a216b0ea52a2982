"""A stage's items on a Dask cluster: the same functions, the same results, other machines.

Every worker is checked before work is sent (see `cluster_worker`), and checks itself before its first item,
so that one that joins later is held to the same. Only rows travel: audio goes through the shared folders.
Dask gives items of a worker that died to others.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.stages.cluster_worker import (
    Expected,
    carrier_versions,
    expect_workers,
    find_faults,
    run_when_fit,
    unfit,
)
from inquesto_dag.units import Seconds

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import EngineSpec

CLUSTER_VARIABLE = "INQUESTO_CLUSTER"
CONNECT_S: Seconds = 10.0
NO_WORKER_S: Seconds = 60.0  # a nanny starts a worker that died again within some seconds
WATCH_S: Seconds = 2.0


@dataclass(frozen=True)
class Joined:
    """A cluster whose workers were checked: how many they are, and an executor over them for each map."""

    workers: int
    executor: Callable[[int], Executor]


def cluster_address(given: str | None) -> str | None:
    """The address asked for, or that of `$INQUESTO_CLUSTER`; InputError when it is not `tcp://HOST:PORT`."""
    address = given if given is not None else os.environ.get(CLUSTER_VARIABLE) or None
    if address is not None and not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d+", address):
        raise InputError(
            f"is {address!r}",
            where=f"${CLUSTER_VARIABLE}" if given is None else "",
            field="" if given is None else "--cluster",
            remedy="write the address that `dask scheduler` prints, such as tcp://HOST:8786",
        )
    return address


def use_cluster(given: str | None) -> None:
    """Have the stages that this process starts, by DVC or otherwise, compute on this cluster."""
    address = cluster_address(given)
    if address is not None:
        os.environ[CLUSTER_VARIABLE] = address


@contextmanager
def join_cluster(address: str, project: Path, spec: EngineSpec) -> Iterator[Joined]:
    """Connect to a scheduler and check every worker; the connection ends with the block.

    Raises InputError when `distributed` is not installed, InfrastructureError when the scheduler cannot be
    reached, has no workers, or has one that would not give this project's results.
    """
    with ExitStack() as stack:
        client = stack.enter_context(_connect(address))
        expected = stack.enter_context(expect_workers(project, spec))
        _wait_for_workers(client, address)
        faults = {
            worker: [_unable(found)] if isinstance(found, Exception) else found
            for worker, found in client.run(find_faults, expected, on_error="return").items()
        }
        faulty = {worker: found for worker, found in faults.items() if found}
        if faulty:
            told = [f"{worker} {fault}" for worker, found in sorted(faulty.items()) for fault in found]
            raise unfit(address, told)
        yield Joined(len(faults), lambda _count: ClusterExecutor(client, address, expected, len(faults)))


class ClusterExecutor(Executor):
    """A Dask client as an executor whose cluster may fail: then its futures do, and say why.

    A future whose item killed every worker that ran it raises ItemGivenUp; all raise ExecutorLost when the
    scheduler is gone or no worker has been there for NO_WORKER_S. `Client.get_executor()` will not do: when a
    connection breaks while a result is fetched, its future never ends (seen with distributed 2026.8.0).
    """

    def __init__(self, client: Any, address: str, expected: Expected, workers: int) -> None:
        self.size = workers  # as they come and go
        self._client, self._address, self._expected = client, address, expected
        self._open: dict[Future[Any], Any] = {}  # each with Dask's own future
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Compute on a worker (see `concurrent.futures.Executor.submit`)."""
        from inquesto_dag.stages.parallel import ExecutorLost

        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            # Not pure: a key made of the arguments would give another run's result for the same item.
            theirs = self._client.submit(
                run_when_fit, self._expected, function, *arguments, pure=False, **named
            )
        except Exception as error:  # a client whose scheduler is gone refuses in several ways
            raise ExecutorLost(f"the cluster {self._address} takes no work ({error})") from error
        self._open[future] = theirs
        theirs.add_done_callback(lambda done: self._pass_on(done, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; `cancel_futures` gives up what has not begun. The client stays open."""
        self._ended.set()
        if cancel_futures or not wait:
            with suppress(Exception):  # a client without a scheduler
                self._client.cancel(list(self._open.values()))
        else:
            futures.wait(list(self._open))

    def _pass_on(self, theirs: Any, future: Future[Any]) -> None:
        from distributed.scheduler import KilledWorker

        from inquesto_dag.stages.parallel import ExecutorLost, ItemGivenUp

        try:
            value = theirs.result()
        except KilledWorker as error:
            self._end(future, ItemGivenUp(error.allowed_failures + 1))
        except BaseException as error:
            lost = theirs.status in ("cancelled", "lost") or self._client.status != "running"
            self._end(future, ExecutorLost(f"the scheduler {self._address} is gone") if lost else error)
        else:
            if self._open.pop(future, None) is not None:
                future.set_result(value)

    def _end(self, future: Future[Any], error: BaseException) -> None:
        if self._open.pop(future, None) is not None:
            future.set_exception(error)

    def _watch(self) -> None:
        """Fail what waits when no worker is left; Dask would wait for one for ever."""
        from inquesto_dag.stages.parallel import ExecutorLost

        last_seen = time.monotonic()
        while not self._ended.wait(WATCH_S):
            count = _worker_count(self._client)
            if count:
                self.size, last_seen = count, time.monotonic()
            elif time.monotonic() - last_seen > NO_WORKER_S:
                lost = ExecutorLost(f"the cluster {self._address} has had no worker for {NO_WORKER_S:.0f} s")
                for future in list(self._open):
                    self._end(future, lost)


@contextmanager
def _connect(address: str) -> Iterator[Any]:
    try:
        import dask
        import distributed
    except ImportError as error:
        raise InputError(
            "needs the package distributed", where="--cluster",
            remedy='pip install -c constraints.txt -e ".[cluster]"',
        ) from error  # fmt: skip
    import logging
    import warnings

    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what goes wrong is said by our own errors
    client: Any = None
    try:
        with warnings.catch_warnings(), dask.config.set({"distributed.comm.timeouts.connect": CONNECT_S}):
            warnings.simplefilter("ignore")  # versions are compared below, and refused
            client = distributed.Client(  # type: ignore[no-untyped-call]
                address, timeout=CONNECT_S, set_as_default=False
            )
        theirs = client.run_on_scheduler(carrier_versions)
    except Exception as error:  # OSError, TimeoutError, and whatever another version's answer breaks
        if client is not None:
            client.close(timeout=1)
        raise InfrastructureError(
            f"no Dask scheduler answers in {CONNECT_S:.0f} s ({_first_line(error)})",
            where=address,
            remedy="start one with `dask scheduler`, correct the address, or leave the cluster out",
        ) from error
    try:
        mine = carrier_versions()
        others = [name for name in mine if theirs.get(name) != mine[name]]
        if others:
            raise unfit(
                address, [f"the scheduler has {name} {theirs.get(name)}, not {mine[name]}" for name in others]
            )
        yield client
    finally:
        client.close(timeout=5)


def _wait_for_workers(client: Any, address: str) -> None:
    limit = time.monotonic() + CONNECT_S
    while not _worker_count(client):
        if time.monotonic() > limit:
            raise InfrastructureError(
                "the cluster has no workers",
                where=address,
                remedy=f"start some in this project's environment: `dask worker {address} --nthreads 1 "
                "--nworkers N`",
            )
        time.sleep(0.2)


def _worker_count(client: Any) -> int:
    try:
        return len(client.nthreads())
    except Exception:  # a client that has lost its scheduler; its futures tell
        return 0


def _unable(error: Exception) -> str:
    return f"cannot run this project's code ({_first_line(error)}); start it in this project's environment"


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}".removesuffix(": ")
