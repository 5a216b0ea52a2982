"""Errors of measured times against those that are known: onsets, offsets, latencies, overlaps.

Conventions: a known turn has `speaker`, `start_s` and `end_s`, a measured one is a row of
`tables.TRANSCRIPTS`; an error is measured minus known, in ms. A known turn belongs to the measured turn of
its speaker that it overlaps most; several that belong to one are held against it together: first onset, last
offset. What was measured was never told the known times (PROTOCOL D2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from inquesto_dag.events.rows import Row, present
from inquesto_dag.units import Seconds

EDGES = ("caller_onset", "caller_offset", "agent_onset", "agent_offset")
TIMES = (*EDGES, "latency", "overlap")


@dataclass
class TimeErrors:
    """Errors in ms by kind of time (`TIMES`); known turns that nothing was measured of, and the reverse."""

    errors_ms: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in TIMES})
    missed: int = 0
    extra: int = 0

    def add(self, other: TimeErrors) -> None:
        """Take another call's errors along."""
        for name, values in other.errors_ms.items():
            self.errors_ms[name] += values
        self.missed += other.missed
        self.extra += other.extra

    def summary(self, names: Iterable[str] = TIMES) -> dict[str, Any]:
        """`missed`, `extra`, and for each kind of time n, mean, 95th percentile and worst in ms."""
        return {
            "missed": self.missed,
            "extra": self.extra,
            "errors_ms": {name: spread(self.errors_ms[name]) for name in names},
        }


def spread(errors_ms: Sequence[float]) -> dict[str, float | int | None]:
    """n, mean, and of the magnitudes the 95th percentile (nearest rank) and the worst; None of no errors."""
    if not errors_ms:
        return {"n": 0, "mean": None, "p95": None, "worst": None}
    sizes = sorted(abs(value) for value in errors_ms)
    rank = max(0, -(-95 * len(sizes) // 100) - 1)
    return {
        "n": len(sizes),
        "mean": round(fmean(errors_ms), 2),
        "p95": round(sizes[rank], 2),
        "worst": round(sizes[-1], 2),
    }


@dataclass(frozen=True)
class _Span:
    start_s: Seconds
    end_s: Seconds


def time_errors(known: Sequence[Row], measured: Sequence[Row]) -> TimeErrors:
    """The errors of one call."""
    found = TimeErrors()
    homes: dict[int, list[Row]] = {}
    for turn in known:
        home = _home(turn, measured)
        if home is None:
            found.missed += 1
        else:
            homes.setdefault(home, []).append(turn)
    spans = {
        home: _Span(min(turn["start_s"] for turn in own), max(turn["end_s"] for turn in own))
        for home, own in homes.items()
    }
    rows = {int(row["turn"]): row for row in measured}
    found.extra = len(rows) - len(spans)
    for home, span in spans.items():
        row = rows[home]
        found.errors_ms[f"{row['speaker']}_onset"].append(1000 * (row["start_s"] - span.start_s))
        found.errors_ms[f"{row['speaker']}_offset"].append(1000 * (row["end_s"] - span.end_s))
        answered = int(row["reply_to"]) if present(row.get("reply_to")) else None
        if answered is None or answered not in spans:
            continue
        caller, caller_row = spans[answered], rows[answered]
        if present(row["latency_s"]):
            found.errors_ms["latency"].append(1000 * (row["latency_s"] - (span.start_s - caller.end_s)))
        over, over_measured = _overlap(span, caller), _overlap(_span_of(row), _span_of(caller_row))
        if over or over_measured:
            found.errors_ms["overlap"].append(1000 * (over_measured - over))
    return found


def _home(turn: Row, measured: Sequence[Row]) -> int | None:
    """The measured turn of the same speaker that a known one overlaps most, if any."""
    overlaps = [
        (min(turn["end_s"], row["end_s"]) - max(turn["start_s"], row["start_s"]), int(row["turn"]))
        for row in measured
        if row["speaker"] == turn["speaker"]
    ]
    length, home = max(overlaps, default=(0.0, -1))
    return home if length > 0 else None


def _span_of(row: Mapping[str, Any]) -> _Span:
    return _Span(row["start_s"], row["end_s"])


def _overlap(a: _Span, b: _Span) -> Seconds:
    return max(0.0, min(a.end_s, b.end_s) - max(a.start_s, b.start_s))
