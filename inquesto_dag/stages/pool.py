"""Worker processes of this machine: one thread each, for all maps of a stage, ended with the stage.

None of this decides a result.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress

PR_SET_PDEATHSIG = 1  # prctl(2): the signal that a process gets when its parent ends
# One thread for each process: two processes of one thread speak 1.4 times as fast as one of two (measured).
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip


class KeptPool(ProcessPoolExecutor):
    """A pool of this machine that a map leaves running, for the stage's next one: engines load once."""

    def __init__(self, workers: int) -> None:
        # Spawned, not forked: a fork copies locks of threads that it does not copy.
        context = multiprocessing.get_context("spawn")
        super().__init__(workers, mp_context=context, initializer=_prepare_worker)
        self.stopped = False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool when what is in flight is given up; a map that is done leaves it as it is."""
        if cancel_futures:
            self.stopped = True
            super().shutdown(wait, cancel_futures=True)

    def end(self) -> None:
        """End the processes, which have no work any more."""
        super().shutdown()


@contextmanager
def kept_pool(workers: int) -> Iterator[Callable[[int], Executor]]:
    """What gives every map of a stage the same pool, or a new one after it broke; ended with the block."""
    pools: list[KeptPool] = []

    def take(_items: int) -> Executor:
        if not pools or pools[-1].stopped:
            pools.append(KeptPool(workers))
        return pools[-1]

    try:
        yield take
    finally:
        for pool in pools:
            pool.end()


def _prepare_worker() -> None:
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers an interrupt for all
    _die_with_parent()


def _die_with_parent() -> None:
    """End this worker at the instant when its parent is killed; it would wait for work for ever.

    By the kernel, since a thread may have to wait for native code: a worker that went on for a second would
    compute what the resumed run computes, and write into a folder that it has swept. The thread sees a
    parent that was killed before the kernel was told.
    """
    import ctypes
    from multiprocessing import parent_process

    parent = parent_process()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
