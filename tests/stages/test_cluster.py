"""A stage's items on a real Dask cluster: the same results, workers that die, workers that are refused."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.errors import CheckFailed, InfrastructureError, InputError
from inquesto_dag.speech.engines import EngineSpec
from inquesto_dag.stages import cluster as cluster_module
from inquesto_dag.stages import parallel, pool
from inquesto_dag.stages.cluster import CLUSTER_VARIABLE, Joined, cluster_address, join_cluster, use_cluster
from inquesto_dag.stages.cluster_worker import expect_workers, find_faults
from inquesto_dag.stages.parallel import map_items
from tests.stages import workers
from tests.stages.dask_cluster import ROOT, DaskCluster, dask_cluster
from tests.stages.kills import call_entries, leftovers, tree
from tests.stages.short_calls import AGENT, CALLS, ShortCalls, copy_project, run_calls


@pytest.fixture
def shared(tmp_path: Path) -> tuple[Path, EngineSpec]:
    """A project's folder, and engines with models and memo beside it."""
    for name in ("project/data", "models", "memo"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "models" / "weights").write_bytes(b"12345")
    return tmp_path / "project", EngineSpec(tmp_path / "models", tmp_path / "memo")


@pytest.fixture
def joined(cluster: DaskCluster, shared: tuple[Path, EngineSpec]) -> Iterator[Joined]:
    """A cluster of two workers, checked."""
    with join_cluster(cluster.address, *shared) as found:
        yield found


def on(joined: Joined, function: Any, items: list[Any]) -> list[Any]:
    """The map of a function over items on a cluster."""
    return map_items(
        function, items, spec=None, workers=joined.workers, label="cluster", make_executor=joined.executor
    )


def test_results_come_in_order_from_other_processes_of_one_thread(joined: Joined) -> None:
    """As from the pool, and twice in one run."""
    assert on(joined, workers.square, list(range(12))) == [n * n for n in range(12)]
    got = on(joined, workers.process_of, [1, 2, 3, 4])
    assert [item for item, _, _ in got] == [1, 2, 3, 4]
    assert os.getpid() not in {pid for _, pid, _ in got}
    assert {threads for _, _, threads in got} == {"1"}


def test_items_of_a_dead_worker_are_run_again_elsewhere(joined: Joined, tmp_path: Path) -> None:
    """SIGKILL of a worker in the middle loses nothing."""
    items = [(number, str(tmp_path)) for number in range(8)]
    assert on(joined, workers.die_once, items) == list(range(8))
    assert (tmp_path / "died").exists()


def test_an_error_of_the_function_arrives_whole(joined: Joined) -> None:
    """Place, field and remedy survive the trip."""
    with pytest.raises(CheckFailed, match="item 1: x: does not hold") as caught:
        on(joined, workers.refuse, [0, 1, 2])
    assert caught.value.remedy == "do better"


def make_shared(folder: Path) -> tuple[Path, EngineSpec]:
    """A project's folder and a spec, for a cluster of the test's own."""
    for name in ("project/data", "models"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return folder / "project", EngineSpec(folder / "models", folder / "memo")


def refusal(cluster: DaskCluster, folder: Path) -> InfrastructureError:
    """Why a cluster is not joined."""
    with (
        pytest.raises(InfrastructureError) as told,
        join_cluster(cluster.address, *make_shared(folder)),
    ):
        pass
    return told.value


def copy_code(folder: Path) -> Path:
    """The package as another project has it; returns the path to import it from."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "inquesto_dag", folder / "inquesto_dag", ignore=ignored)
    return folder


def test_an_item_that_kills_every_worker_is_named_and_so_is_what_flies_when_the_scheduler_dies(
    tmp_path: Path,
) -> None:
    """Dask tries an item on four workers, as many as the pool. A dead scheduler is noticed at once."""
    marks = tmp_path / "marks"
    marks.mkdir()
    with (
        dask_cluster(tmp_path, workers=1) as own,
        join_cluster(own.address, *make_shared(tmp_path)) as joined,
    ):
        with pytest.raises(InfrastructureError, match=r"4 workers died over 2\n"):
            on(joined, workers.die_always, [2])
        assert parallel.MAX_RESTARTS + 1 == 4
        killer = threading.Thread(target=_kill_when, args=(own, marks))
        killer.start()
        lost = r"the scheduler tcp://\S+ is gone; in flight: \('/.*\n.*finished items are kept"
        started = time.monotonic()
        with pytest.raises(InfrastructureError, match=lost):
            on(joined, workers.mark_and_sleep, [(str(marks), 60.0)] * 3)
        assert time.monotonic() - started < 55.0  # though its worker still computes
        killer.join()


def _kill_when(cluster: DaskCluster, marks: Path) -> None:
    while not list(marks.iterdir()):
        time.sleep(0.1)
    cluster.scheduler.kill()


def test_a_cluster_without_workers_is_told_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the run with the command that starts some; in it when the last one died."""
    monkeypatch.setattr(cluster_module, "CONNECT_S", 3.0)
    monkeypatch.setattr(cluster_module, "NO_WORKER_S", 1.0)
    monkeypatch.setattr(cluster_module, "WATCH_S", 0.2)
    with dask_cluster(tmp_path) as own:
        error = refusal(own, tmp_path)
        assert error.problem == "the cluster has no workers"
        assert f"dask worker {own.address} --nthreads 1" in error.remedy
        # Without a nanny it is not started again.
        own.start_worker("--no-nanny", environment=dict.fromkeys(pool.THREAD_VARIABLES, "1"))
        with (
            join_cluster(own.address, *make_shared(tmp_path)) as joined,
            pytest.raises(InfrastructureError, match="has had no worker for 1 s; in flight: 2"),
        ):
            on(joined, workers.die_always, [2])


def test_a_scheduler_that_cannot_be_reached_is_said_with_a_remedy(
    shared: tuple[Path, EngineSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port on which nobody listens."""
    monkeypatch.setattr(cluster_module, "CONNECT_S", 1.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with (
            pytest.raises(InfrastructureError, match=r"no Dask scheduler answers in 1 s.*\n.*dask scheduler"),
            join_cluster(address, *shared),
        ):
            pass


def test_workers_that_would_give_other_results_are_refused_before_work_is_sent(tmp_path: Path) -> None:
    """Two threads, another package's version, other code: each worker is named with what is wrong of it."""
    other = copy_code(tmp_path / "other")
    with (other / "inquesto_dag" / "units.py").open("a") as stream:
        stream.write("# another line\n")
    package = tmp_path / "packages" / "kokoro_onnx-9.9.9.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: kokoro-onnx\nVersion: 9.9.9\n")
    with dask_cluster(tmp_path) as own:
        own.start_worker("--nthreads", "2")
        own.start_worker(environment={"PYTHONPATH": str(package.parent)})
        own.start_worker(environment={"PYTHONPATH": str(other)})
        head, *faults = refusal(own, tmp_path).problem.splitlines()
    assert head == "not every worker would give this project's results:"
    parts = ("has 2 threads; start it with", "has kokoro-onnx 9.9.9, not", f"imports other code from {other}")
    assert len(faults) == len(parts)
    for part in parts:
        assert len([fault for fault in faults if "tcp://127.0.0.1" in fault and part in fault]) == 1, faults
    assert leftovers(tmp_path / "project") == leftovers(tmp_path / "memo") == []


def test_workers_that_the_code_left_behind_are_refused_and_late_ones_check_themselves(tmp_path: Path) -> None:
    """A worker computes with what it has imported, even when the change was taken back."""
    code = copy_code(tmp_path / "code")
    with dask_cluster(tmp_path) as own:
        own.start_worker(environment={"PYTHONPATH": str(code)})
        with join_cluster(own.address, *make_shared(tmp_path)) as joined:
            assert on(joined, workers.square, [3]) == [9]
            own.start_worker("--no-nanny", environment={"OMP_NUM_THREADS": "4"})
            late = r"joined later: .*\n.*lets libraries use more threads"
            with pytest.raises(InfrastructureError, match=late):
                on(joined, workers.mark_and_sleep, [(str(tmp_path / "project"), 1.0)] * 8)
        module = code / "inquesto_dag" / "units.py"
        module.write_text(module.read_text())
        problem = refusal(own, tmp_path).problem
        assert "was started before the code was last changed; start it again" in problem


def test_folders_and_models_that_a_worker_does_not_see_are_named(
    cluster: DaskCluster, shared: tuple[Path, EngineSpec], tmp_path: Path
) -> None:
    """What is expected lies elsewhere, as on a machine that does not share it."""
    with expect_workers(*shared) as expected:
        assert all(found == [] for found in cluster.run(find_faults, expected).values())
        moved = replace(
            expected,
            marks={what: f"/not/shared/{Path(path).name}" for what, path in expected.marks.items()},
            models=str(tmp_path / "nowhere"),
        )
        for faults in cluster.run(find_faults, moved).values():
            assert faults == [
                "does not see the folder of the project (/not/shared); share it there",
                "does not see the folder of the memo (/not/shared); share it there",
                f"does not have the same models in {tmp_path / 'nowhere'}; share them under this path",
            ]
        (shared[1].models / "weights").write_bytes(b"1234")
        assert all("same models" in found[0] for found in cluster.run(find_faults, expected).values())


def test_marks_of_a_killed_run_are_swept_and_others_are_left(shared: tuple[Path, EngineSpec]) -> None:
    """By machine and process."""
    project, spec = shared
    data = project / "data"
    ours, theirs = data / ".tmp-1-a-cluster", data / ".tmp-2-b-cluster"
    gone = int(Path("/proc/sys/kernel/pid_max").read_text()) + 1  # no process can have it
    ours.write_text(f"{socket.gethostname()}-{gone}-x")
    theirs.write_text(f"another-machine-{gone}-x")
    with expect_workers(project, spec) as expected:
        assert not ours.exists()
        assert theirs.exists()
        assert Path(expected.marks["the project"]).read_text() == expected.token
    assert sorted(path.name for path in data.iterdir()) == [theirs.name]


@pytest.mark.parametrize("address", ["localhost:8786", "tcp://host", "http://host:8786", "tcp://:1 "])
def test_an_address_that_is_none_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By option and by variable, each named."""
    with pytest.raises(InputError, match=r"^--cluster: is .*\n.*tcp://HOST:8786"):
        cluster_address(address)
    monkeypatch.setenv(CLUSTER_VARIABLE, address)
    with pytest.raises(InputError, match=r"^\$INQUESTO_CLUSTER: is "):
        cluster_address(None)


def test_an_address_reaches_the_stages_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `score --cluster` asks for, the stages that DVC starts see; the option comes first."""
    monkeypatch.setenv(CLUSTER_VARIABLE, "")
    assert cluster_address(None) is None
    use_cluster(None)
    assert os.environ[CLUSTER_VARIABLE] == ""
    use_cluster("tcp://one:8786")
    assert cluster_address(None) == "tcp://one:8786"
    assert cluster_address("tls://two:1") == "tls://two:1"


@pytest.mark.engines
def test_one_worker_the_pool_and_a_cluster_whose_worker_is_killed_give_the_same_calls(
    short_calls: ShortCalls, cluster: DaskCluster, tmp_path: Path
) -> None:
    """Byte for byte, with a worker killed in the middle of both; engines are loaded once in each process."""
    for name in ("pool", "cluster"):
        project = copy_project(short_calls.project, tmp_path / name, without=("call",))
        shutil.rmtree(project / "data" / "calls")
        killed: list[int] = []
        killer = threading.Thread(target=_kill_a_worker, args=(project, name, cluster, killed))
        killer.start()
        report = run_calls(project, **({"workers": 2} if name == "pool" else {"cluster": cluster.address}))  # type: ignore[arg-type]
        killer.join()
        assert len(killed) == 1
        assert tree(project / "data" / "calls" / AGENT) == short_calls.output
        assert len(call_entries(project)) == CALLS
        assert leftovers(project / "data") == []
        assert report.workers == 2
    loaded = cluster.run(workers.engines_loaded)
    assert set(loaded.values()) <= {0, 1}
    assert 1 in loaded.values()


def _kill_a_worker(project: Path, where: str, cluster: DaskCluster, killed: list[int]) -> None:
    """SIGKILL of one process that computes, when two calls are finished."""
    while len(call_entries(project)) < 2:
        time.sleep(0.02)
    if where == "pool":
        import multiprocessing

        pid = multiprocessing.active_children()[0].pid
        assert pid is not None
    else:
        pid = next(iter(cluster.run(os.getpid).values()))
    os.kill(pid, signal.SIGKILL)
    killed.append(pid)


@pytest.mark.engines
def test_only_rows_travel(short_calls: ShortCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job and what comes back are small beside the recording that the call leaves."""
    sizes: list[tuple[int, int]] = []

    def weigh(function: Any, items: Any, **options: Any) -> Any:
        results = map_items(function, items, **options)
        for item, result in zip(items, results, strict=True):
            sizes.append((len(pickle.dumps(item)), len(pickle.dumps(result))))
        return results

    monkeypatch.setattr(parallel, "map_items", weigh)
    run_calls(short_calls.project, workers=1)
    assert len(sizes) == CALLS
    recordings = short_calls.project / "data" / "calls" / AGENT / "recordings"
    smallest = min(path.stat().st_size for path in recordings.glob("*/call.flac"))
    assert max(job for job, _ in sizes) < 50_000
    assert max(rows for _, rows in sizes) < 50_000 < smallest
