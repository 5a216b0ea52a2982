"""`inquesto-dag export`, a record's crate; `verify`, what a crate alone can show."""

from __future__ import annotations

from pathlib import Path

import typer

from inquesto_dag.cli.audit import print_links
from inquesto_dag.cli.project import refuse_data
from inquesto_dag.exchange.export import export_record
from inquesto_dag.exchange.verify import verify_crate


def print_export(project: Path, path: Path, out: Path | None, *, sound: bool) -> None:
    """Write the crate, by default `crates/AGENT` of the project, and say where."""
    from inquesto_dag.audit.walk import read_record

    if out is not None:
        refuse_data(project, out)
    folder = out or project / "crates" / str(read_record(path)["agent"]["id"])
    count = export_record(project, path, folder, sound=sound)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    typer.echo(f"{folder}: {count} files, {size / 1e6:.1f} MB")
    typer.echo(f"check it anywhere: inquesto-dag verify {folder}")


def print_verify(crate: Path, *, as_json: bool, page: Path | None) -> int:
    """One line a link, and the page where asked; 1 when a link fails."""
    return print_links(verify_crate(crate), as_json=as_json, page=page, of=f"verification of {crate}")
