"""`inquesto-dag protocol`: the versions of the protocol, and what they demand."""

from __future__ import annotations

from pathlib import Path

import typer

from inquesto_dag.errors import InputError
from inquesto_dag.provenance.release import new_version, protocols_folder, release_path, release_version
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


def print_diff(project: Path, version: str, other: str) -> None:
    """One line a difference: `~` changed, `-` only in the first, `+` only in the second."""
    folders = [protocols_folder(project) / name for name in (version, other)]
    for folder in folders:
        if not folder.is_dir():
            raise InputError("is not a folder", where=folder, remedy="name versions under data/protocols")
    found = diff_versions(*folders)
    for difference in found:
        typer.echo(str(difference))
    if not found:
        typer.echo(f"{version} and {other} are the same, byte for byte")
