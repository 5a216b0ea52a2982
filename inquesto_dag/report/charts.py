"""Small charts of the leaderboard as positions: differences around zero, one value against windows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inquesto_dag.report.figures import interval_text, number_text, signed_text

STEPS = (0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0)


@dataclass(frozen=True)
class Difference:
    """A pair of agents: the difference in points with its interval, on a scale of 0-100 around 50."""

    a: str
    b: str
    figures: str
    interval: str
    counts: str
    p_value: str
    dot: float | None
    low: float | None
    high: float | None
    clear: bool  # the interval does not hold zero


def differences(pairs: Sequence[Mapping[str, Any]]) -> tuple[tuple[Difference, ...], float]:
    """Pairs as drawn, and the scale's end in points: the smallest of 5, 10, 20, 50, 100 that holds all."""
    limits = [abs(value) for pair in pairs for value in (pair["interval"] or [])]
    largest = max(limits, default=0.0)
    end = next(size for size in (5.0, 10.0, 20.0, 50.0, 100.0) if size >= min(largest, 100.0))

    def place(points: float) -> float:
        return round(50 + 50 * max(-end, min(end, points)) / end, 2)

    drawn = []
    for pair in pairs:
        span, value = pair["interval"], pair["difference"]
        drawn.append(
            Difference(
                a=pair["a"],
                b=pair["b"],
                figures=signed_text(value),
                interval=interval_text(None)
                if span is None
                else f"{signed_text(span[0])} to {signed_text(span[1])}",
                counts=f"{pair['only_a']} : {pair['only_b']} of {pair['n']}",
                p_value=p_text(pair["p_value"]),
                dot=None if value is None else place(value),
                low=None if span is None else place(span[0]),
                high=None if span is None else place(span[1]),
                clear=span is not None and (span[0] > 0 or span[1] < 0),
            )
        )
    return tuple(drawn), end


def p_text(p_value: float | None) -> str:
    """A p value to three digits; `< 0.001` below that, an en dash for none."""
    if p_value is None:
        return number_text(None)
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


@dataclass(frozen=True)
class Point:
    """One agent of a curve: x, y, the ends of its interval in px if it has one, and its label."""

    x: float
    y: float
    low: float | None
    high: float | None
    label: str
    agent: str


@dataclass(frozen=True)
class Curve:
    """A value against the endpointing window; agents without a value are left out."""

    title: str
    unit: str
    points: tuple[Point, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]

    @property
    def path(self) -> str:
        """The points' polyline."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


WIDTH, HEIGHT = 300, 150  # px of a curve's drawing area


def curve(
    title: str,
    unit: str,
    rows: Sequence[tuple[str, float, float | None, Sequence[float] | None]],
    *,
    digits: int = 0,
    ceiling: float | None = None,
) -> Curve:
    """A curve of rows (agent, window in ms, value, interval), between round numbers that hold zero.

    `ceiling` ends the scale there at most, 100 for a percentage.
    """
    known = [row for row in rows if row[2] is not None]
    windows = [row[1] for row in rows]
    left, right = min(windows), max(windows)
    top = max([0.0, *(max([value or 0.0, *(span or [])]) for _, _, value, span in known)])
    # A median is negative where most replies talk over.
    bottom = min([0.0, *(row[2] or 0.0 for row in known)])
    if ceiling is not None:
        top = min(top, ceiling)
    if top == bottom:
        top = 1.0
    step = next((size for size in STEPS if (top - bottom) / size <= 4), STEPS[-1])
    end, start = step * max(1, math.ceil(top / step - 1e-9)), step * math.floor(bottom / step + 1e-9)

    def across(window: float) -> float:
        return round(20 + (WIDTH - 40) * ((window - left) / (right - left) if right > left else 0.5), 2)

    def down(value: float) -> float:
        return round(HEIGHT * (1 - (value - start) / (end - start)), 2)

    return Curve(
        title,
        unit,
        tuple(
            Point(
                across(window),
                down(value),
                None if span is None else down(span[0]),
                None if span is None else down(span[1]),
                number_text(value, digits),
                agent,
            )
            for agent, window, value, span in known
            if value is not None
        ),
        tuple((across(window), f"{window:g} ms") for window in sorted(set(windows))),
        tuple(
            (down(step * k), number_text(step * k, 0 if step >= 1 else 2))
            for k in range(round(start / step), round(end / step) + 1)
        ),
    )
