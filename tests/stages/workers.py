"""Top-level functions that the tests run in worker processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from inquesto_dag.errors import CheckFailed


def square(item: int, engines: object) -> int:
    assert engines is None
    time.sleep(0.01 * (item % 3))  # finishing order differs from the order of the items
    return item * item


def process_of(item: int, engines: object) -> tuple[int, int, str]:
    return item, os.getpid(), os.environ.get("OMP_NUM_THREADS", "")


def die_once(item: tuple[int, str], engines: object) -> int:
    """Item 3 kills its worker the first time that it is run."""
    number, folder = item
    mark = Path(folder) / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_always(item: int, engines: object) -> int:
    if item == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def refuse(item: int, engines: object) -> int:
    if item == 1:
        raise CheckFailed("does not hold", where="item 1", field="x", remedy="do better")
    return item


def mark_and_sleep(item: tuple[str, float], engines: object) -> int:
    folder, seconds = item
    (Path(folder) / f"worker-{os.getpid()}").touch()
    time.sleep(seconds)
    return os.getpid()


def engines_loaded() -> int:
    """How many sets of engines this process has made."""
    from inquesto_dag.speech.engines import _engines

    return _engines.cache_info().currsize
