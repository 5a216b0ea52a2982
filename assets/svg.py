"""Small charts as SVG, for Markdown: Dagster shows an image from a data address and nothing that scripts.

Positions come from `inquesto_dag.report` where its pages draw the same; here is only ink. A chart is 640 px
wide on white paper, so that it reads the same in both of Dagster's themes.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from inquesto_dag.report.charts import HEIGHT, WIDTH, Curve
from inquesto_dag.report.figures import Bar, Histogram, number_text

PAPER, INK, SOFT, RULE, ACCENT = "#ffffff", "#1d1f23", "#5b6068", "#e4e4e0", "#1f6f8b"
SEVERITY = {"S1": "#9aa0a8", "S2": "#d9b04a", "S3": "#cf7a1c", "S4": "#c7472e", "S5": "#98162b"}
WARN, BAD = SEVERITY["S2"], SEVERITY["S4"]
PAGE = 640  # px
LABEL, DRAWN, ROW = 150, 290, 26  # px: names, drawing, one row


@dataclass(frozen=True)
class Mark:
    """One value of a row: its place and its colour."""

    value: float
    colour: str


def as_markdown(svg: str, title: str) -> str:
    """The chart as a Markdown image."""
    data = base64.b64encode(svg.encode()).decode()
    return f"![{title}](data:image/svg+xml;base64,{data})"


def draw_bars(
    bars: Sequence[Bar], colours: Sequence[str] = (), *, top: float = 100.0, unit: str = "%"
) -> str:
    """Rates or counts, one row each, with interval and figures; `top` is the scale's end."""
    parts = []
    for index, bar in enumerate(bars):
        y = ROW * index + 20
        parts.append(_text(LABEL - 10, y + 4, bar.name, anchor="end"))
        parts.append(_box(LABEL, y - 7, DRAWN, 14, "#f3f3f1"))
        if bar.value is not None:
            colour = colours[index] if colours else ACCENT
            parts.append(_box(LABEL, y - 7, DRAWN * min(bar.value, top) / top, 14, colour))
        if bar.low is not None and bar.high is not None:
            low, high = (LABEL + DRAWN * limit / top for limit in (bar.low, bar.high))
            ends = "".join(_line(x, y - 5, x, y + 5) for x in (low, high))
            parts.append(_line(low, y, high, y) + ends)
        figures = f"{bar.figures} {unit}".strip() if bar.value is not None else bar.figures
        parts.append(_text(LABEL + DRAWN + 10, y + 4, figures, weight=600))
        parts.append(_text(LABEL + DRAWN + 76, y + 4, bar.count, colour=SOFT))
    return _sheet(parts, ROW * len(bars) + 14)


def draw_histogram(histogram: Histogram) -> str:
    """Columns over an axis of seconds, with the protocol's limits as lines."""
    left, base = (PAGE - histogram.width) / 2, 150
    colours = {"bad": BAD, "warn": WARN, "": ACCENT}
    parts = [
        _box(
            left + column.x,
            base - 120 * column.height,
            column.width,
            120 * column.height,
            colours[column.kind],
        )
        for column in histogram.columns
    ]
    parts.append(_line(left, base, left + histogram.width, base, RULE))
    parts += [_text(left + x, base + 18, label, anchor="middle", colour=SOFT) for x, label in histogram.ticks]
    for x, label, kind in histogram.limits:
        colour = colours[kind or "bad"]
        parts.append(_line(left + x, 22, left + x, base, colour, dashed=True))
        parts.append(_text(left + x, 14, label, anchor="middle", colour=colour))
    return _sheet(parts, 180)


def draw_strips(
    rows: Sequence[tuple[str, Sequence[Mark]]], low: float, high: float, limit: float, limit_name: str
) -> str:
    """Every value as a mark on its row between `low` and `high`, tenths, and one limit across all rows."""
    width = PAGE - LABEL - 30

    def place(value: float) -> float:
        return LABEL + width * (min(max(value, low), high) - low) / (high - low)

    bottom = ROW * len(rows) + 34
    parts = []
    for index, (name, marks) in enumerate(rows):
        y = ROW * index + 40
        parts.append(_text(LABEL - 12, y + 4, name, anchor="end"))
        parts.append(_line(LABEL, y, LABEL + width, y, RULE))
        parts += [
            f'<circle cx="{place(mark.value):.1f}" cy="{y}" r="4.5" fill="{mark.colour}" opacity="0.55"/>'
            for mark in marks
        ]
    parts.append(_line(place(limit), 22, place(limit), bottom, INK, dashed=True))
    parts.append(_text(place(limit), 14, f"{limit_name} {number_text(limit, 3)}", anchor="middle"))
    for step in range(round((high - low) * 10) + 1):
        value = low + step / 10
        parts.append(_text(place(value), bottom + 18, number_text(value), anchor="middle", colour=SOFT))
    return _sheet(parts, bottom + 28)


def draw_curve(curve: Curve) -> str:
    """One value against the endpointing window, each agent a point with its interval."""
    left, top = (PAGE - WIDTH) / 2, 34
    parts = [_text(left, 16, f"{curve.title}, {curve.unit}", weight=600)]
    for y, label in curve.y_ticks:
        parts.append(_line(left, top + y, left + WIDTH, top + y, RULE))
        parts.append(_text(left - 8, top + y + 4, label, anchor="end", colour=SOFT))
    for x, label in curve.x_ticks:
        parts.append(_text(left + x, top + HEIGHT + 20, label, anchor="middle", colour=SOFT))
    parts.append(
        f'<polyline transform="translate({left} {top})" points="{curve.path}" fill="none" stroke="{ACCENT}"/>'
    )
    for point in curve.points:
        if point.low is not None and point.high is not None:
            parts.append(_line(left + point.x, top + point.low, left + point.x, top + point.high))
        parts.append(f'<circle cx="{left + point.x}" cy="{top + point.y}" r="4" fill="{ACCENT}"/>')
        parts.append(_text(left + point.x + 8, top + point.y - 7, point.label))
    return _sheet(parts, top + HEIGHT + 30)


def stack(charts: Sequence[str], title: str) -> str:
    """Charts below each other, as Markdown."""
    return "\n\n".join(as_markdown(chart, title) for chart in charts)


def _sheet(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PAGE} {height:g}" width="{PAGE}" '
        f'height="{height:g}" font-family="Inter, Helvetica, Arial, sans-serif" font-size="12.5">'
        f'<rect width="{PAGE}" height="{height:g}" rx="6" fill="{PAPER}"/>{"".join(parts)}</svg>'
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = INK, weight: int = 400
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
        f"{escape(text)}</text>"
    )


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{colour}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = INK, *, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="1.3"{dashes}/>'
    )
