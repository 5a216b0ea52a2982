"""What a stage's run cost: rows, wall time, seconds inside each engine, results computed and reused.

A report lies beside DVC (`.reports/STAGE[@AGENT].json`), never among the outputs: it differs from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inquesto_dag.files import write_json

REPORTS = ".reports"


@dataclass
class StageReport:
    """Counters of one run of one stage; times in s."""

    stage: str
    agent: str | None = None
    workers: int = 1
    wall_s: float = 0.0
    rows: dict[str, int] = field(default_factory=dict)
    engine_s: dict[str, float] = field(default_factory=dict)
    worker_s: float = 0.0  # busy time of all workers together; engine_s is a part of it
    counts: dict[str, int] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def add(self, engine_s: Mapping[str, float], counts: Mapping[str, int], busy_s: float) -> None:
        """Add what one item took inside the engines, what it reused, and its whole time in s."""
        for name, seconds in engine_s.items():
            self.engine_s[name] = self.engine_s.get(name, 0.0) + seconds
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.worker_s += busy_s

    @property
    def damage(self) -> str:
        """What a stage's last line says of damaged memo entries; empty when there were none."""
        count = self.counts.get("memo_damaged", 0)
        what = "entry" if count == 1 else "entries"
        return f", {count} damaged memo {what} computed again" if count else ""

    def path(self, project: Path) -> Path:
        """Where the report lies in a project."""
        return project / REPORTS / f"{self.stage}{f'@{self.agent}' if self.agent else ''}.json"

    def write(self, project: Path) -> Path:
        """Write the report atomically; returns its path."""
        engine_s = sum(self.engine_s.values())
        path = self.path(project)
        write_json(
            path,
            {
                "stage": self.stage,
                "agent": self.agent,
                "workers": self.workers,
                "wall_s": round(self.wall_s, 3),
                "rows": self.rows,
                "engine_s": {name: round(value, 3) for name, value in self.engine_s.items()},
                "worker_s": round(self.worker_s, 3),
                # Against what the workers could have given in this wall time, so that idle cores show.
                "engine_share": round(engine_s / (self.wall_s * self.workers), 4) if self.wall_s else None,
                "counts": self.counts,
                "notes": self.notes,
            },
        )
        return path
