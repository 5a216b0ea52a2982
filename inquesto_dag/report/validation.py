"""The page of the stage `validation`: sensitivity and specificity by event, threshold pairs, timing errors.

Everything is read from the report that `validation.probes.results.summarise` makes; the sound of calls that
were not read right lies beside the page, in `../recordings/PROBE/CALL/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inquesto_dag.files import write_bytes
from inquesto_dag.report.figures import bar_of, number_text, words
from inquesto_dag.report.page import render
from inquesto_dag.validation.timing import TIMES


def write_validation_page(folder_out: Path, report: Mapping[str, Any]) -> Path:
    """Write the page into `folder_out` and return its `index.html`; the same report, the same bytes."""
    whole = report["timing"]["all"]
    text = render(
        "validation.html.j2",
        index={},
        title="Inquesto: how often the events are right",
        calls=report["calls"],
        judge=report["judge"],
        probes=[
            {**probe, "near": words(probe["near"]) if probe["near"] else ""} for probe in report["probes"]
        ],
        not_realised=report["not_realised"],
        events=[_event(row) for row in report["events"]],
        pairs=[
            {
                "event": words(pair["event"]),
                "below": pair["below"],
                "above": pair["above"],
                "right_below": _of(pair["right_below"]),
                "right_above": _of(pair["right_above"]),
            }
            for pair in report["pairs"]
        ],
        missed=whole["missed"],
        extra=whole["extra"],
        timing=[
            (words(name), str(found["n"]), *(number_text(found[key], 1) for key in ("mean", "p95", "worst")))
            for name, found in ((name, whole["errors_ms"][name]) for name in TIMES)
        ],
        by=[_view(report, view) for view in ("condition", "group", "style")],
        wrong=[
            {
                **row,
                "what": ", ".join(f"{words(event['event'])} ({event['fault']})" for event in row["events"]),
                "sound": f"../recordings/{row['probe']}/{row['call_id']}/call.flac",
            }
            for row in report["wrong"]
        ],
    )
    path = folder_out / "index.html"
    write_bytes(path, text.encode())
    return path


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    found, silent = row["sensitivity"], row["specificity"]
    return {
        "name": words(row["event"]),
        "planted": found["n"],
        "found": found["passes"],
        "sensitivity": bar_of("sensitivity", found),
        "clean": silent["n"],
        "alarms": silent["n"] - silent["passes"],
        "specificity": bar_of("specificity", silent),
    }


def _of(rate: Mapping[str, Any]) -> str:
    return f"{rate['passes']} of {rate['n']}"


def _view(report: Mapping[str, Any], view: str) -> tuple[str, list[str], list[tuple[str, list[str]]]]:
    values = sorted(report["events"][0]["by"][view])
    table = [
        (
            words(row["event"]),
            [
                f"{_of(row['by'][view][value]['sensitivity'])} · {_of(row['by'][view][value]['specificity'])}"
                for value in values
            ],
        )
        for row in report["events"]
    ]
    return view, [words(value) for value in values], table
