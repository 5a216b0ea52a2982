"""A map over a pool of one-thread worker processes, in order, that outlives a dead worker.

Engines are loaded once per worker (`speech.engines.engines_for`). Any `concurrent.futures` executor will
do: the pool of this machine by default, `cluster.ClusterExecutor` for many machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.stages.pool import kept_pool
from inquesto_dag.stages.progress import Advance, progress

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines, EngineSpec
    from inquesto_dag.stages.report import StageReport

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_RESTARTS = 3  # pools that may break in one map; a fault that returns is the item's or the machine's


class ItemGivenUp(Exception):
    """An executor that itself runs items of dead workers again gave one up; holds how many died over it."""


class ExecutorLost(Exception):
    """An executor is gone with everything in flight; says how."""


@dataclass(frozen=True)
class _Outcome(Generic[Result]):
    value: Result
    engine_s: Mapping[str, float]
    counts: Mapping[str, int]
    busy_s: float


def map_items(
    function: Callable[[Item, Engines], Result],
    items: Sequence[Item],
    *,
    spec: EngineSpec | None,
    workers: int,
    label: str,
    report: StageReport | None = None,
    make_executor: Callable[[int], Executor] | None = None,
) -> list[Result]:
    """`[function(item, engines) for item in items]`, computed by `workers` processes.

    `function` stands at the top level of a module; without a spec it is given None for engines. One worker
    runs in this process. Items in flight when a worker dies are run again, at most MAX_RESTARTS times in
    all; after that InfrastructureError names the first of them. An error that `function` raises ends the map.
    """
    outcomes: list[_Outcome[Result]] = []
    count = min(workers, len(items))
    with progress(label, len(items)) as advance:
        if count <= 1 and make_executor is None:
            for item in items:
                outcomes.append(_run(function, item, spec))
                advance()
        else:
            with kept_pool(count) as take:
                outcomes = _map_pool(
                    function, items, spec, max(count, 1), label, make_executor or take, advance
                )
    if report is not None:
        for outcome in outcomes:
            report.add(outcome.engine_s, outcome.counts, outcome.busy_s)
    return [outcome.value for outcome in outcomes]


def _map_pool(
    function: Callable[[Item, Engines], Result],
    items: Sequence[Item],
    spec: EngineSpec | None,
    workers: int,
    label: str,
    make_executor: Callable[[int], Executor],
    advance: Advance,
) -> list[_Outcome[Result]]:
    done: dict[int, _Outcome[Result]] = {}
    restarts = 0
    while len(done) < len(items):
        waiting = [index for index in range(len(items)) if index not in done]
        executor = make_executor(min(workers, len(waiting)))
        flying: dict[Future[_Outcome[Result]], int] = {}
        try:
            while waiting or flying:
                # Two for each worker: none idles, and few are suspects when one dies.
                while waiting and len(flying) < 2 * getattr(executor, "size", workers):
                    index = waiting.pop(0)
                    flying[executor.submit(_run, function, items[index], spec)] = index
                finished, _ = wait(flying, return_when=FIRST_COMPLETED)
                for future in finished:
                    done[flying[future]] = _result(future, items[flying[future]], label)
                    del flying[future]
                    advance()
            executor.shutdown()
        except BrokenExecutor as error:
            restarts += 1
            _stop(executor)
            for future, index in flying.items():
                if index not in done and _succeeded(future):  # before the pool broke
                    done[index] = future.result()
                    advance()
            if restarts > MAX_RESTARTS:
                raise InfrastructureError(
                    f"a worker process died {restarts} times; in flight: {_named(items, flying, done)}",
                    where=label,
                    remedy="see whether memory ran out (dmesg), set INQUESTO_WORKERS lower, "
                    "and run it again: finished items are kept",
                ) from error
        except ExecutorLost as error:
            _stop(executor)
            raise InfrastructureError(
                f"{error}; in flight: {_named(items, flying, done)}",
                where=label,
                remedy="mend that and run the same command again: finished items are kept",
            ) from error
        except BaseException:
            _stop(executor)
            raise
    return [done[index] for index in range(len(items))]


def _result(future: Future[_Outcome[Result]], item: Item, label: str) -> _Outcome[Result]:
    try:
        return future.result()
    except ItemGivenUp as error:
        raise InfrastructureError(
            f"{error} workers died over {_short(item)}",
            where=label,
            remedy="see whether memory ran out on their machines (dmesg, the log of `dask worker`), start "
            "fewer workers there, and run it again: finished items are kept",
        ) from error


def _run(
    function: Callable[[Item, Engines], Result], item: Item, spec: EngineSpec | None
) -> _Outcome[Result]:
    started = time.perf_counter()
    engines: Any = None
    spent: dict[str, float] = {}
    counts: dict[str, int] = {}
    if spec is not None:
        from inquesto_dag.speech.engines import engines_for

        engines = engines_for(spec)
        spent, counts = dict(engines.spent), dict(engines.counts)
    value = function(item, engines)
    busy_s = time.perf_counter() - started
    if engines is None:
        return _Outcome(value, {}, {}, busy_s)
    return _Outcome(
        value,
        {name: total - spent.get(name, 0.0) for name, total in engines.spent.items()},
        {name: total - counts.get(name, 0) for name, total in engines.counts.items()},
        busy_s,
    )


def _stop(executor: Executor) -> None:
    """End a pool at once: what runs is given up, nothing new begins."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()


def _succeeded(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _named(items: Sequence[object], flying: Mapping[Any, int], done: Mapping[int, Any]) -> str:
    """The items in flight, in their order."""
    return ", ".join(_short(items[index]) for index in sorted(flying.values()) if index not in done)


def _short(item: object) -> str:
    text = repr(item)
    return text if len(text) <= 80 else text[:77] + "..."
