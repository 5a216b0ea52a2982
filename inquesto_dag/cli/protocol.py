"""`inquesto-dag protocol`: the versions of the protocol, and what they demand."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from inquesto_dag.clauses.bindings import count, faults, find_bindings, hold
from inquesto_dag.clauses.load import load_clauses
from inquesto_dag.provenance.release import new_version, release_path, release_version, version_folder
from inquesto_dag.provenance.version_diff import diff_versions


def release(project: Path, version: str) -> None:
    """Write the release of a version, or say that it stands."""
    path = release_path(project, version).relative_to(project).as_posix()
    if release_version(project, version):
        typer.echo(f"{version} is released: commit {path}; from now on a change is a new version")
    else:
        typer.echo(f"{version} was released before, and every file is as it was")


def new(project: Path, version: str, source: str) -> None:
    """Copy a version and say how to score with it."""
    folder = new_version(project, version, source).relative_to(project).as_posix()
    typer.echo(f"{folder} is a copy of {source}; set `protocol: {version}` in params.yaml to score with it")


def print_clauses(project: Path, *, as_json: bool) -> int:
    """Each clause: id, state, demand, what is not there, tests. Returns the exit code: 1 for a fault."""
    clauses = load_clauses()
    bindings = find_bindings(project / "tests")
    holdings = hold(clauses, bindings)
    if as_json:
        rows = [{**h.clause.model_dump(), "state": h.state, "tests": list(h.tests)} for h in holdings]
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        typer.echo(f"Inquesto protocol {clauses.version}: {clauses.source}\n")
        for holding in holdings:
            clause = holding.clause
            typer.echo(f"{clause.id:4} {holding.state:14} {clause.demands}")
            for name in ("not_built", "lacks"):
                if text := getattr(clause, name):
                    typer.echo(f"{'':19} {name.replace('_', ' ')}: {text}")
            for test in holding.tests:
                typer.echo(f"{'':19} {test}")
        typer.echo(f"\n{count(holdings)}")
    found = faults(clauses, bindings)
    for fault in found:
        typer.echo(f"error: {fault}", err=True)
    return 1 if found else 0


def print_diff(project: Path, version: str, other: str) -> None:
    """One line a difference: `~` changed, `-` only in the first, `+` only in the second."""
    found = diff_versions(version_folder(project, version), version_folder(project, other))
    for difference in found:
        typer.echo(str(difference))
    if not found:
        typer.echo(f"{version} and {other} are the same, byte for byte")
