"""`inquesto-dag status`: one table of stages and agents, why each is not current, and what repairs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from inquesto_dag.provenance.digests import Digests, shown_names
from inquesto_dag.provenance.state import ProjectState, TargetState, project_states

SHARED = "all agents"
VALIDATION = "validation"  # the one stage that no score reads
COLOURS = {
    "current": "green", "stale": "yellow", "follows": "dim yellow", "missing": "red",
    "edited on disk": "bold red", "never run": "cyan",
}  # fmt: skip
WIDEST = 5  # agents with a column each; more are grouped by having the same states


def print_status(project: Path, *, as_json: bool, check: bool) -> int:
    """Print where every stage stands; returns 1 when `check` is set and not everything is current, else 0."""
    digests = Digests(project)
    state = ProjectState(project, digests)
    targets = project_states(state)
    digests.save()
    current = all(target.kind == "current" for target in targets)
    left_over, repair = left_over_agents(state), repair_line(state, targets)
    if as_json:
        found = {
            "current": current,
            "targets": [{"target": target.target, **asdict(target)} for target in targets],
            "left_over": state.left_over(),
            "repair": repair,
        }
        typer.echo(json.dumps(found, indent=2))
    else:
        if sys.stdout.isatty():
            _print_table(targets)
        else:
            _print_lines(targets)
        for line in reason_lines(targets):
            typer.echo(line)
        if left_over:
            typer.echo(f"dvc.lock also holds {', '.join(left_over)}, which params.yaml names no more")
        typer.echo(repair or "everything is current")
    return 1 if check and not current else 0


def left_over_agents(state: ProjectState) -> list[str]:
    """Agents of `dvc.lock` that `params.yaml` names no more, and stages that `dvc.yaml` has no more."""
    return sorted({name.partition("@")[2] or name for name in state.left_over()})


def repair_line(state: ProjectState, targets: Sequence[TargetState]) -> str | None:
    """The one command that makes everything current, and what it does; None when everything is."""
    kinds = {target.kind for target in targets} - {"current"}
    if not kinds:
        return None
    lost = [t for t in targets if t.kind == "missing" and not _in_cache(state, t.target)]
    if lost and (state.project / ".dvc" / "config").is_file() and _has_remote(state.project):
        return "next: run `dvc pull`, which brings the missing outputs; then `inquesto-dag score`"
    if {target.stage for target in targets if target.kind != "current"} == {VALIDATION}:
        return "next: run `inquesto-dag validate events`, when you want it; no score depends on it"
    if kinds <= {"missing", "edited on disk", "follows"}:
        return "next: run `inquesto-dag score`, which restores the outputs"
    return "next: run `inquesto-dag score`, which computes what is not current and leaves the rest"


def _in_cache(state: ProjectState, name: str) -> bool:
    return all(state.digests.in_cache(digest) for digest in state.locked[name].outs.values())


def _has_remote(project: Path) -> bool:
    return any(
        "[core]" in (text := path.read_text(encoding="utf-8")) and "remote" in text
        for path in (project / ".dvc" / "config", project / ".dvc" / "config.local")
        if path.is_file()
    )


def reason_lines(targets: Iterable[TargetState]) -> list[str]:
    """One line for every target that is not current by itself; agents with the same reasons share one."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[TargetState]] = {}
    for target in targets:
        if target.kind in ("current", "follows") or (target.kind == "never run" and not target.reasons):
            continue
        reasons = tuple(r.replace(target.agent, "AGENT") if target.agent else r for r in target.reasons)
        groups.setdefault((target.stage, target.kind, reasons), []).append(target)
    lines = []
    for (stage, kind, reasons), members in groups.items():
        if len(members) == 1:
            name, told = members[0].target, members[0].reasons
        else:
            agents = [str(member.agent) for member in members]
            name, told = f"{stage} of {shown_names(agents, 4)}", reasons
        lines.append(f"{name} is {kind}: {'; '.join(told)}")
    return lines


def _print_lines(targets: Sequence[TargetState]) -> None:
    width = max(len(target.target) for target in targets)
    for target in targets:
        follows = f" {shown_names(target.follows)}" if target.kind == "follows" else ""
        typer.echo(f"{target.target:{width}}  {target.kind}{follows}")


def _print_table(targets: Sequence[TargetState]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    stages = list(dict.fromkeys(target.stage for target in targets))
    cells = {(target.stage, target.agent): target.kind for target in targets}
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("stage")
    columns = group_agents(targets)
    for name in [SHARED, *columns]:
        table.add_column(name)
    for stage in stages:
        row = [cells.get((stage, None)), *(cells.get((stage, agents[0])) for agents in columns.values())]
        table.add_row(stage, *(Text(kind or "", style=COLOURS.get(kind or "", "")) for kind in row))
    Console().print(table)


def group_agents(targets: Sequence[TargetState]) -> dict[str, list[str]]:
    """Columns of the table: one for each agent, or, of many, one for all whose stages stand the same."""
    states: dict[str, list[str]] = {}
    for target in targets:
        if target.agent:
            states.setdefault(target.agent, []).append(target.kind)
    if len(states) <= WIDEST:
        return {agent: [agent] for agent in states}
    groups: dict[tuple[str, ...], list[str]] = {}
    for agent, kinds in states.items():
        groups.setdefault(tuple(kinds), []).append(agent)
    return {shown_names(agents, 1): agents for agents in groups.values()}
