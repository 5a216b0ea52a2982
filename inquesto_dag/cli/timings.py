"""`inquesto-dag timings`: what the last run of each stage cost, and how much of it the engines were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from inquesto_dag.errors import InputError
from inquesto_dag.files import read_json
from inquesto_dag.stages.chain import CHAIN, target
from inquesto_dag.stages.report import REPORTS


def print_timings(project: Path) -> None:
    """One line a stage and agent in the chain's order, then the sum; InputError when nothing has run."""
    reports = [read_json(path) for path in sorted((project / REPORTS).glob("*.json"))]
    if not reports:
        raise InputError("no stage has run yet", where=project / REPORTS, remedy="run `inquesto-dag score`")
    order = [stage.name for stage in CHAIN]
    reports.sort(key=lambda report: (report["agent"] or "", order.index(report["stage"])))
    typer.echo(f"{'stage':36} {'wall s':>8} {'engines':>8} {'computed':>9} {'reused':>7}")
    for report in reports:
        typer.echo(_line(target(report["stage"], report["agent"]), [report]))
    typer.echo(_line("all", reports))


def _line(name: str, reports: list[dict[str, Any]]) -> str:
    wall = sum(report["wall_s"] for report in reports)
    capacity = sum(report["wall_s"] * report["workers"] for report in reports)
    engines = sum(sum(report["engine_s"].values()) for report in reports)
    share = f"{100 * engines / capacity:.0f} %" if engines else "–"
    counts = {
        outcome: sum(
            number for report in reports for key, number in report["counts"].items() if key.endswith(outcome)
        )
        for outcome in ("computed", "reused")
    }
    return f"{name:36} {wall:8.1f} {share:>8} {counts['computed']:9} {counts['reused']:7}"
