"""What a stage is given: the project, its parameters, the memo, the engines' spec, and one way to write.

Layout: `data/STAGE/` or, per agent, `data/STAGE/AGENT/`. A stage writes into a fresh folder that takes the
place of the old one only when the stage has finished, so no reader ever sees half an output.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import TEMPORARY, make_folder, read_table, sweep_temporaries, write_table
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.provenance.params import Params
from inquesto_dag.provenance.profile import Profile, load_profile
from inquesto_dag.stages.report import StageReport

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    from inquesto_dag.protocol.models import Protocol
    from inquesto_dag.speech.engines import Engines, EngineSpec
    from inquesto_dag.tables import Table

Item = TypeVar("Item")
Result = TypeVar("Result")
WORKERS_VARIABLE = "INQUESTO_WORKERS"


def _no_guard() -> None:
    """Nothing to check: a stage outside a project's chain."""


@dataclass(frozen=True)
class StageContext:
    """Everything that enters a stage from outside (STYLE 5)."""

    project: Path
    stage: str
    params: Params
    agent: str | None
    memo: Memo
    engine_spec: EngineSpec | None
    workers: int
    report: StageReport
    guard: Callable[[], None] = _no_guard  # called before an output takes its place; raises to refuse it
    parts: tuple[str, ...] | None = None  # of the protocol; None: all of them
    executor: Callable[[int], Executor] | None = None  # where items are computed; None: on this machine

    def folder(self, stage: str, agent: str | None = None) -> Path:
        """The output folder of a stage, or of its partition for an agent."""
        base = self.project / "data" / stage
        return base / agent if agent else base

    @property
    def target(self) -> Path:
        """The folder that this run of this stage leaves behind."""
        return self.folder(self.stage, self.agent)

    @contextmanager
    def output(self) -> Iterator[Path]:
        """A fresh folder that becomes `target` when the block ends without an error; else it is removed."""
        target = self.target
        make_folder(target.parent)
        _sweep_dead(target.parent)
        fresh = target.parent / f"{TEMPORARY}{os.getpid()}-{uuid.uuid4().hex[:8]}-{target.name}"
        try:
            fresh.mkdir()
            yield fresh
            sweep_temporaries(fresh)  # of workers that died while they wrote into it; others did their items
            self.guard()
            _replace_folder(fresh, target)
        except OSError as error:
            raise InfrastructureError(
                f"could not be written: {error.strerror or error}",
                where=error.filename or target,
                remedy="free space or make the folder writable, then run the same command again",
            ) from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def read(self, table: str, stage: str, agent: str | None = None) -> pd.DataFrame:
        """A table of another stage; InputError names the file when it is missing or truncated."""
        return read_table(self.folder(stage, agent) / f"{table}.parquet")

    def rows(self, table: str, stage: str, agent: str | None = None) -> list[dict[str, Any]]:
        """The same as plain rows, with None for an empty cell."""
        return plain_rows(self.read(table, stage, agent))

    def write(self, folder: Path, table: Table, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """Conform rows to a table's schema and write them as `folder/TABLE.parquet`; counts them."""
        frame = table.conform(rows)
        write_table(folder / f"{table.name}.parquet", frame)
        self.report.rows[table.name] = len(frame)
        return frame

    def map(
        self, function: Callable[[Item, Engines], Result], items: Sequence[Item], label: str
    ) -> list[Result]:
        """`function(item, engines)` for every item, in order, over this context's workers."""
        from inquesto_dag.stages.parallel import map_items

        return map_items(
            function, items, spec=self.engine_spec, workers=self.workers, label=label, report=self.report,
            make_executor=self.executor,
        )  # fmt: skip

    @property
    def protocol_folder(self) -> Path:
        """Where the protocol version of the parameters lies."""
        return self.project / "data" / "protocols" / self.params.protocol

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol version of the parameters, checked; of it what the stage names."""
        from inquesto_dag.protocol.load import keep_parts, load_protocol

        protocol = load_protocol(self.protocol_folder)
        return protocol if self.parts is None else keep_parts(protocol, self.parts)

    @cached_property
    def profile(self) -> Profile:
        """The profile of the parameters."""
        return load_profile(self.params.profile)

    @property
    def agents_folder(self) -> Path:
        """Where the agents' files lie; a stage that reads one calls `agents.config.load_agent` itself."""
        return self.project / "data" / "agents"

    def required_agent(self, agent: str | None = None) -> str:
        """The agent asked for, or this run's; InputError when there is neither."""
        chosen = agent or self.agent
        if chosen is None:
            raise InputError("needs an agent", where=self.stage, remedy="pass --agent NAME")
        return chosen


def default_workers() -> int:
    """`$INQUESTO_WORKERS`, or one worker for each processor that this process may use."""
    value = os.environ.get(WORKERS_VARIABLE)
    if not value:
        return max(1, len(os.sched_getaffinity(0)))
    if not value.isdigit() or int(value) < 1:
        raise InputError(
            f"is {value!r}", where=f"${WORKERS_VARIABLE}", remedy="set it to a whole number from 1 on"
        )
    return int(value)


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as a list of dicts of Python values, with None for an empty cell."""
    names = list(frame.columns)
    columns = [_plain(frame[name]) for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _plain(series: pd.Series[Any]) -> list[Any]:
    empty, values = series.isna().tolist(), series.astype(object).tolist()
    return [None if gone else value for gone, value in zip(empty, values, strict=True)]


def _replace_folder(fresh: Path, target: Path) -> None:
    """Rename `fresh` to `target`; an old target is moved aside first and removed last."""
    aside = None
    if target.exists():
        aside = target.parent / f"{TEMPORARY}{os.getpid()}-{uuid.uuid4().hex[:8]}-old-{target.name}"
        target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        if aside is not None:
            aside.rename(target)
        raise
    if aside is not None:
        shutil.rmtree(aside, ignore_errors=True)


def _sweep_dead(folder: Path) -> None:
    """Remove the temporary folders of runs that were killed; those of running processes stay."""
    for path in folder.glob(f"{TEMPORARY}*"):
        match = re.match(rf"{re.escape(TEMPORARY)}(\d+)-", path.name)
        if match and path.is_dir() and not _alive(int(match.group(1))):
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def rows_by_call(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows of each call, in their order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(str(row["call_id"]), []).append(dict(row))
    return found
