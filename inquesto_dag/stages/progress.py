"""How long work tells where it stands: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Advance = Callable[[], None]
PLAIN_INTERVAL_S = 5.0


@contextmanager
def progress(
    label: str,
    total: int,
    *,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Advance]:
    """A function to call once for each finished item; shows done of total, rate, and time left."""
    out = stream or sys.stderr
    if out.isatty():
        with _bar(label, total, out) as advance:
            yield advance
    else:
        lines = PlainProgress(label, total, out, clock)
        yield lines.advance
        lines.finish()


class PlainProgress:
    """Progress as lines, one at most every PLAIN_INTERVAL_S, and one at the end."""

    def __init__(self, label: str, total: int, out: TextIO, clock: Callable[[], float]) -> None:
        self.label, self.total, self.out, self.clock = label, total, out, clock
        self.done = 0
        self.started = self.told = clock()

    def advance(self) -> None:
        """One more item is done."""
        self.done += 1
        if self.done < self.total and self.clock() - self.told >= PLAIN_INTERVAL_S:
            self.told = self.clock()
            self.out.write(self.line() + "\n")
            self.out.flush()

    def finish(self) -> None:
        """The last line: how many, and in what time."""
        elapsed = self.clock() - self.started
        self.out.write(f"{self.label}: {self.done}/{self.total} done in {duration(elapsed)}\n")
        self.out.flush()

    def line(self) -> str:
        """Done of total, rate, time left."""
        elapsed = self.clock() - self.started
        rate = self.done / elapsed if elapsed > 0 else 0.0
        left = duration((self.total - self.done) / rate) if rate > 0 else "unknown"
        return f"{self.label}: {self.done}/{self.total}, {rate:.2f}/s, {left} left"


def duration(seconds: float) -> str:
    """A time in s in words that fit it: `4.2 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def _bar(label: str, total: int, out: TextIO) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.2f}/s" if task.speed else "…/s", style="dim")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(file=out)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)
