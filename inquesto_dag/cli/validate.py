"""`inquesto-dag validate`: how often the events are right, and how far the measured times are off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from inquesto_dag.cli.score import bring_up_to_date, choose_agents, require_current, restore_outputs
from inquesto_dag.errors import InputError
from inquesto_dag.files import read_json, read_table
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.release import require_frozen
from inquesto_dag.provenance.runs import one_at_a_time
from inquesto_dag.scoring.rate import rounded
from inquesto_dag.stages.context import plain_rows, rows_by_call
from inquesto_dag.validation.timing import TIMES, TimeErrors, time_errors

STAGE = "validation"


def validate_events(project: Path) -> int:
    """Bring the stage up to date and print what was planted and found; returns the exit code."""
    params = load_params(project)
    require_frozen(project, params.protocol)
    load_protocol(project / "data" / "protocols" / params.protocol)
    with one_at_a_time(project):
        restore_outputs(project)
        if bring_up_to_date(project, [STAGE]) != 0:
            return 1
        require_current(project, [STAGE])
    folder = project / "data" / STAGE
    print_events(read_json(folder / "validation.json"))
    typer.echo(f"\nreport {folder / 'validation.json'}\npage   {folder / 'page' / 'index.html'}")
    return 0


def print_events(report: Mapping[str, Any]) -> None:
    """The events, the threshold pairs, the times, and every call that was not read right."""
    lost = len(report["not_realised"])
    typer.echo(f"{report['calls']} calls of {len(report['probes'])} probes, {lost} of them not as planned")
    typer.echo(f"\n{'':20} {'planted':>7} {'found':>6} {'%':>6}   {'clean':>6} {'alarms':>6} {'%':>6}")
    for row in report["events"]:
        found, silent = row["sensitivity"], row["specificity"]
        typer.echo(
            f"{row['event']:20} {found['n']:7} {found['passes']:6} {rounded(found['score']):>6}   "
            f"{silent['n']:6} {silent['n'] - silent['passes']:6} {rounded(silent['score']):>6}"
        )
    typer.echo("")
    for pair in report["pairs"]:
        below, above = pair["right_below"], pair["right_above"]
        typer.echo(
            f"{pair['below']} {below['passes']} of {below['n']} silent, "
            f"{pair['above']} {above['passes']} of {above['n']} found"
        )
    typer.echo("")
    print_times(report["timing"]["all"])
    for row in report["wrong"]:
        what = ", ".join(f"{event['event']} {event['fault']}" for event in row["events"])
        typer.echo(f"not right: {row['probe']} {row['call_id']}: {what}")


def print_times(found: Mapping[str, Any]) -> None:
    """Errors in ms by kind of time."""
    typer.echo(f"{'ms, measured - known':20} {'n':>6} {'mean':>7} {'95 %':>7} {'worst':>7}")
    for name in TIMES:
        errors = found["errors_ms"][name]
        typer.echo(
            f"{name.replace('_', ' '):20} {errors['n']:6} {rounded(errors['mean']):>7} "
            f"{rounded(errors['p95']):>7} {rounded(errors['worst']):>7}"
        )
    typer.echo(f"turns missed {found['missed']}, seen that are none {found['extra']}")


def validate_timing(project: Path, agents: Sequence[str]) -> None:
    """Print the errors of the annotator's times over all calls of some agents (all of `params.yaml`).

    InputError for an agent without calls and annotations on disk.
    """
    for agent in choose_agents(load_params(project), agents):
        whole = TimeErrors()
        for errors in errors_of(project, agent).values():
            whole.add(errors)
        typer.echo(f"{agent}")
        print_times(whole.summary())


def errors_of(project: Path, agent: str) -> dict[str, TimeErrors]:
    """The errors of each of an agent's calls; the simulator's own times are in `turns` (PROTOCOL D2)."""
    tables = {
        "turns": project / "data" / "calls" / agent / "turns.parquet",
        "transcripts": project / "data" / "annotations" / agent / "transcripts.parquet",
    }
    for path in tables.values():
        if not path.exists():
            raise InputError("does not exist", where=path, remedy=f"run `inquesto-dag score --agent {agent}`")
    known, measured = (rows_by_call(plain_rows(read_table(path))) for path in tables.values())
    return {call: time_errors(turns, measured.get(call, [])) for call, turns in known.items()}
