"""Figures in words and on a 0-100 scale, as the pages print them. What does not exist is an en dash."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inquesto_dag.scoring.rate import rounded

DASH = "\u2013"
MINUS = "\u2212"


@dataclass(frozen=True)
class Bar:
    """A rate with its interval: name, note, the figures in words, and positions in percent for drawing."""

    name: str
    note: str
    figures: str
    count: str
    value: float | None
    low: float | None
    high: float | None

    @property
    def said(self) -> str:
        """The whole bar in words, for a reader who does not see it."""
        return f"{self.name}: {self.figures} percent, {self.count}"


def bar_of(name: str, block: Mapping[str, Any], note: str = "", *, digits: int = 1) -> Bar:
    """A bar of a record's rate block (passes, n, score, interval); with n = 0 it is empty and says so."""
    passes, n = int(block["passes"]), int(block["n"])
    limits = block.get("interval")
    value = rounded(Fraction(100 * passes, n), digits) if n else DASH
    return Bar(
        name=name,
        note=note,
        figures=value,
        count=f"{passes} of {n}" if n else "no calls",
        value=100 * passes / n if n else None,
        low=None if limits is None else float(limits[0]),
        high=None if limits is None else float(limits[1]),
    )


def interval_text(limits: Sequence[float] | None) -> str:
    """`55.6-85.8` with an en dash between the limits, in percent; an en dash alone for none."""
    return DASH if limits is None else f"{rounded(limits[0])}{DASH}{rounded(limits[1])}"


def number_text(value: float | None, digits: int = 1) -> str:
    """A number with a true minus sign; an en dash for none."""
    if value is None or not math.isfinite(value):
        return DASH
    text = f"{value:.{digits}f}"
    return text.replace("-", MINUS) if float(text) else text.lstrip("-")


def signed_text(value: float | None, digits: int = 1) -> str:
    """The same with a plus sign before what is above zero."""
    text = number_text(value, digits)
    return f"+{text}" if value is not None and text[0] not in f"{MINUS}{DASH}" and float(text) > 0 else text


def words(name: str) -> str:
    """`us_female` as `us female`."""
    return name.replace("_", " ")


@dataclass(frozen=True)
class Column:
    """One column of a histogram, in the units of its drawing: x and width in px, height 0-1, and a class."""

    x: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True)
class Histogram:
    """Columns, axis ticks (x, label) and limits (x, label, class) on a drawing `width` px wide."""

    width: int
    columns: tuple[Column, ...]
    ticks: tuple[tuple[float, str], ...]
    limits: tuple[tuple[float, str, str], ...]
    tallest: int = 0  # replies in the tallest column, which the height stands for


def latency_histogram(
    values: Sequence[float],
    limits: Mapping[str, float],
    *,
    low: float = -4.0,
    high: float = 5.0,
    width: int = 520,
) -> Histogram:
    """Reply latencies in s as columns of 0.25 s from `low` to `high`; what lies outside joins the ends.

    `limits` holds `talk_over_s`, `slow_median_s` and `slow_turn_s` (PROTOCOL T2-T4), the first as a positive
    number. A column is coloured by where its middle lies against them.
    """
    step = 0.25
    bins = round((high - low) / step)
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, max(0, math.floor((value - low) / step)))] += 1
    tallest = max(counts, default=0) or 1

    def place(time: float) -> float:
        return round((time - low) / (high - low) * width, 2)

    def kind(middle: float) -> str:
        if middle < -limits["talk_over_s"] or middle > limits["slow_turn_s"]:
            return "bad"
        return "warn" if middle > limits["slow_median_s"] else ""

    columns = []
    for index, count in enumerate(counts):
        if count:
            start = low + index * step
            title = f"{number_text(start, 2)} to {number_text(start + step, 2)} s: {count}"
            box = (place(start) + 0.75, place(step + low) - 1.5, count / tallest)
            columns.append(Column(*box, kind(start + step / 2), title))
    ticks = tuple(
        (place(second), number_text(second, 0) + (" s" if second == high else ""))
        for second in range(math.ceil(low), math.floor(high) + 1)
    )
    drawn = (
        (place(-limits["talk_over_s"]), "talk-over", ""),
        (place(limits["slow_median_s"]), "slow", "warn"),
        (place(limits["slow_turn_s"]), "late", ""),
    )
    return Histogram(width, tuple(columns), ticks, drawn, max(counts, default=0))
