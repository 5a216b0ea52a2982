"""The parallel map: order, reuse of processes, dead workers, errors, and a killed parent."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inquesto_dag.errors import CheckFailed, InfrastructureError
from inquesto_dag.stages.parallel import map_items
from inquesto_dag.stages.pool import kept_pool
from inquesto_dag.stages.progress import PlainProgress, duration
from inquesto_dag.stages.report import StageReport
from tests.stages import workers


@pytest.mark.parametrize("count", [1, 2])
def test_results_come_in_the_order_of_the_items(count: int) -> None:
    """Whatever finishes first, and with one worker as with two."""
    report = StageReport("test", workers=count)
    got = map_items(workers.square, list(range(12)), spec=None, workers=count, label="squares", report=report)
    assert got == [n * n for n in range(12)]
    assert report.worker_s >= 0.01 * sum(n % 3 for n in range(12))


def test_no_items_need_no_worker() -> None:
    """An empty map is an empty list, and starts nothing."""
    assert map_items(workers.square, [], spec=None, workers=2, label="none") == []


def test_workers_are_other_processes_of_one_thread() -> None:
    """Two workers do not compute here, and their libraries are held to one thread."""
    got = map_items(workers.process_of, [1, 2, 3, 4], spec=None, workers=2, label="processes")
    assert os.getpid() not in {pid for _, pid, _ in got}
    assert {threads for _, _, threads in got} == {"1"}


def test_items_of_a_dead_worker_are_run_again(tmp_path: Path) -> None:
    """A worker killed in the middle loses nothing."""
    items = [(number, str(tmp_path)) for number in range(8)]
    assert map_items(workers.die_once, items, spec=None, workers=2, label="dying") == list(range(8))
    assert (tmp_path / "died").exists()


def test_an_item_that_always_kills_its_worker_ends_the_map() -> None:
    """Restarts are bounded, and the error names what was in flight."""
    with pytest.raises(InfrastructureError, match=r"died 4 times; in flight: .*2"):
        map_items(workers.die_always, [0, 1, 2], spec=None, workers=2, label="dying")


@pytest.mark.parametrize("count", [1, 2])
def test_an_error_of_the_function_arrives_whole(count: int) -> None:
    """Place, field and remedy survive the trip from a worker."""
    with pytest.raises(CheckFailed, match="item 1: x: does not hold") as caught:
        map_items(workers.refuse, [0, 1, 2], spec=None, workers=count, label="refusing")
    assert caught.value.remedy == "do better"


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    """SIGKILL of a stage leaves no worker behind."""
    program = (
        "from inquesto_dag.stages.parallel import map_items\n"
        "from tests.stages import workers\n"
        "if __name__ == '__main__':\n"
        f"    items = [({str(tmp_path)!r}, 60.0)] * 2\n"
        "    map_items(workers.mark_and_sleep, items, spec=None, workers=2, label='x')\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(program)
    root = Path(__file__).parents[2]
    parent = subprocess.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": str(root)})
    try:
        _until(lambda: len(list(tmp_path.glob("worker-*"))) == 2)
        pids = [int(path.name.partition("-")[2]) for path in tmp_path.glob("worker-*")]
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    _until(lambda: not any(_runs(pid) for pid in pids))


def _until(condition: object, seconds: float = 30.0) -> None:
    assert callable(condition)
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.1)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_plain_progress_tells_done_rate_and_time_left() -> None:
    """Not on a terminal: a line every 5 s at most, and one at the end."""
    now = [0.0]
    out = io.StringIO()
    lines = PlainProgress("calls", 30, out, lambda: now[0])
    for _ in range(30):
        now[0] += 2.0
        lines.advance()
    lines.finish()
    told = out.getvalue().splitlines()
    assert told[0] == "calls: 3/30, 0.50/s, 54.0 s left"
    assert told[-1] == "calls: 30/30 done in 1 min 0 s"
    assert len(told) == 10  # at 6, 12, ... 54 s, and the end


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.25, "4.2 s"), (59.96, "60.0 s"), (200, "3 min 20 s"), (3900, "1 h 5 min")]
)
def test_durations_read_well(seconds: float, text: str) -> None:
    """Seconds, minutes and hours, whichever fit."""
    assert duration(seconds) == text


def test_the_maps_of_a_stage_share_their_workers_until_one_dies(tmp_path: Path) -> None:
    """Engines load once for all maps of a stage; a pool that broke is replaced, and the map goes on."""
    with kept_pool(2) as take:

        def processes() -> set[int]:
            got = map_items(
                workers.process_of, [1, 2, 3, 4], spec=None, workers=2, label="processes", make_executor=take
            )
            return {process for _, process, _ in got}

        first = processes()
        assert len(first | processes()) <= 2
        items = [(number, str(tmp_path)) for number in range(8)]
        got = map_items(workers.die_once, items, spec=None, workers=2, label="dying", make_executor=take)
        assert got == list(range(8))
        after = processes()
        assert not after & first
    assert not any(Path(f"/proc/{process}").exists() for process in first | after)
