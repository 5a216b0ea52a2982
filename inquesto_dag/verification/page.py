"""The verifier's page: every score by line and kind, the threshold in its margin, and both errors over it.

Self-contained and small, with a drawing of its own: it lies in the output of the stage `verifier`, on which
calls depend, so it must not change whenever the look of the record's pages does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from inquesto_dag.verification.errors import ALIKE, HOLDER, IMPOSTOR, Score, rejected

NAMES = {HOLDER: "holders", IMPOSTOR: "impostors", ALIKE: "same sex and accent"}
WIDTH, LEFT, RIGHT, ROW = 800, 240, 20, 24  # px
# ruff: noqa: E501  style rules and markup in one line each
STYLE = """:root { color-scheme: light dark; --paper: #fbfbfa; --ink: #1d1f23; --soft: #5b6068; --rule: #d8d8d3;
  --holder: #1f6f8b; --impostor: #c7472e; --alike: #b8860b; --gap: #1f6f8b22; }
@media (prefers-color-scheme: dark) { :root { --paper: #131518; --ink: #e8eaed; --soft: #a9b0b9; --rule: #3a4048;
  --holder: #62b6d1; --impostor: #ea6f57; --alike: #d6b254; --gap: #62b6d133; } }
body { margin: 2rem auto; max-width: 800px; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Liberation Sans", Arial, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.02rem; margin-top: 2rem; } p { max-width: 70ch; }
svg { width: 100%; height: auto; } text { font-size: 12px; fill: var(--soft); } text.name { fill: var(--ink); }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
td, th { padding: 0.3rem 0.5rem; text-align: right; border-bottom: 1px solid var(--rule); font-weight: 400; }
td:first-child, th:first-child { text-align: left; } th { color: var(--soft); } .scroll { overflow-x: auto; }
.rule { stroke: var(--rule); } .at { stroke: var(--ink); stroke-dasharray: 4 3; } .gap { fill: var(--gap); }
circle.holder { fill: var(--holder); } circle.impostor { fill: var(--impostor); } circle.alike { fill: var(--alike); }
polyline { fill: none; stroke-width: 2; } polyline.holder { stroke: var(--holder); }
polyline.impostor { stroke: var(--impostor); } polyline.alike { stroke: var(--alike); }
text.holder { fill: var(--holder); } text.impostor { fill: var(--impostor); } text.alike { fill: var(--alike); }
"""


def draw_page(report: Mapping[str, Any], scores: Sequence[Score]) -> str:
    """The page of a verifier's report (`stages.verifier`): one HTML document, no script, no network."""
    low = int(10 * min([report["threshold"], *(score.similarity for score in scores)])) / 10
    body = [
        f"<h1>Speaker verifier {escape(report['encoder'])}</h1>",
        f"<p>Threshold <b>{report['threshold']:.3f}</b>, in the middle of a margin of "
        f"<b>{report['margin']:.3f}</b> between the lowest holder ({report['lowest_holder']:.3f}) and the highest "
        f"impostor of the population ({report['highest_impostor']:.3f}). {_equal(report['all'])}</p>",
        f"<p><b>Known limit.</b> {_limit(report)}</p>",
        "<h2>Every score</h2>",
        _strips(scores, report, low),
        "<h2>Errors over the threshold</h2>",
        _curves(scores, report, low),
        "<h2>By line</h2>",
        _table(report),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>Speaker verifier</title><style>\n{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _equal(block: Mapping[str, Any]) -> str:
    found = block["equal_error"]
    if found is None:
        return ""
    where = f"at a threshold from {found['low']:.3f} to {found['high']:.3f}"
    return f"Equal error {100 * found['rate']:.1f} %, {where}."


def _limit(report: Mapping[str, Any]) -> str:
    block = report["all"]
    if not block["alike"]:
        return "No voice of the holder's sex and accent is there to try."
    found = block["equal_error_alike"]
    return (
        f"Impostors with a voice of the holder's sex and accent ({escape(', '.join(report['alike_voices']))}) "
        f"are not in the population. Of {block['alike']} such openings <b>{block['alike_accepted']}</b> score at "
        f"or above the threshold, the highest {block['highest_alike']:.3f}; against them alone the equal error "
        f"is {100 * found['rate']:.1f} %. The identity view measures what an agent does with the signal, and "
        "not how good the signal is."
    )


def _place(value: float, low: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (min(max(value, low), 1.0) - low) / (1.0 - low), 1)


def _axis(low: float, bottom: float, name: str) -> list[str]:
    ticks = [low + step / 10 for step in range(round((1.0 - low) * 10) + 1)]
    return [
        *(
            f'<text x="{_place(tick, low)}" y="{bottom + 18:g}" text-anchor="middle">{tick:.1f}</text>'
            for tick in ticks
        ),
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{bottom + 36:g}" text-anchor="middle">{name}</text>',
    ]


def _margin(report: Mapping[str, Any], low: float, top: float, bottom: float) -> list[str]:
    left, right = (_place(report[name], low) for name in ("highest_impostor", "lowest_holder"))
    at = _place(report["threshold"], low)
    return [
        f'<rect class="gap" x="{left}" width="{right - left:.1f}" y="{top:g}" height="{bottom - top:g}"/>',
        f'<line class="at" x1="{at}" x2="{at}" y1="{top:g}" y2="{bottom:g}"/>',
        f'<text class="name" x="{at}" y="{top - 6:g}" text-anchor="middle">threshold {report["threshold"]:.3f}'
        "</text>",
    ]


def _strips(scores: Sequence[Score], report: Mapping[str, Any], low: float) -> str:
    rows = [
        (condition, kind, found)
        for condition in report["by_condition"]
        for kind in NAMES
        if (found := [s for s in scores if s.condition == condition and s.kind == kind])
    ]
    bottom = 30 + ROW * len(rows)
    parts = _margin(report, low, 24, bottom)
    for number, (condition, kind, found) in enumerate(rows):
        y = 30 + ROW * number + ROW / 2
        parts.append(
            f'<text class="name" x="{LEFT - 10}" y="{y + 4:g}" text-anchor="end">{escape(condition)}, '
            f"{NAMES[kind]}</text>"
            f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>'
        )
        parts += [
            f'<circle class="{kind}" cx="{_place(s.similarity, low)}" cy="{y:g}" r="4.5" opacity="0.6">'
            f"<title>{escape(s.voice)} {s.similarity:.3f}</title></circle>"
            for s in found
        ]
    parts += _axis(low, bottom, "similarity to the enrolment (cosine)")
    return _svg(parts, bottom + 44, "scores of holders and impostors by line, with the threshold")


def _curves(scores: Sequence[Score], report: Mapping[str, Any], low: float) -> str:
    top, bottom = 24.0, 214.0
    steps = [low + (1.0 - low) * step / 200 for step in range(201)]
    parts = _margin(report, low, top, bottom)
    for percent in (0, 25, 50, 75, 100):
        y = bottom - (bottom - top) * percent / 100
        parts.append(
            f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:g}" y2="{y:g}"/>'
            f'<text x="{LEFT - 8}" y="{y + 4:g}" text-anchor="end">{percent} %</text>'
        )
    labels = {
        HOLDER: "holders rejected",
        IMPOSTOR: "impostors accepted",
        ALIKE: "same sex and accent accepted",
    }
    for line, (kind, label) in enumerate(labels.items()):
        values = [score.similarity for score in scores if score.kind == kind]
        if not values:
            continue
        points = []
        for threshold in steps:
            share = rejected(values, threshold) / len(values)
            share = share if kind == HOLDER else 1 - share
            points.append(f"{_place(threshold, low)},{bottom - (bottom - top) * share:.1f}")
        parts.append(f'<polyline class="{kind}" points="{" ".join(points)}"/>')
        parts.append(f'<text class="{kind}" x="4" y="{top + 14 + 18 * line:g}">{label}</text>')
    parts += _axis(low, bottom, "threshold (cosine)")
    return _svg(parts, bottom + 44, "share of holders rejected and impostors accepted over the threshold")


def _svg(parts: Sequence[str], height: float, said: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def _table(report: Mapping[str, Any]) -> str:
    head = (
        "Line", "Lowest holder", "Highest impostor", "Margin", "Equal error, %",
        "Highest of same sex and accent", "of them accepted",
    )  # fmt: skip
    rows = []
    for name, block in [*report["by_condition"].items(), ("all", report["all"])]:
        equal = block["equal_error"]
        cells = [
            name,
            *(_number(block[key]) for key in ("lowest_holder", "highest_impostor", "margin")),
            "–" if equal is None else f"{100 * equal['rate']:.1f}",
            _number(block["highest_alike"]),
            f"{block['alike_accepted']} of {block['alike']}",
        ]
        rows.append("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>")
    titles = "".join(f"<th>{title}</th>" for title in head)
    return f'<div class="scroll"><table><tr>{titles}</tr>{"".join(rows)}</table></div>'


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("-", "−")
