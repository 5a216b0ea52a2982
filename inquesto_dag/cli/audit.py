"""`inquesto-dag audit`, one line for each link of a record; `explain`, one call walked back to its sound."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import typer

from inquesto_dag.audit.explain import explain, export_clips
from inquesto_dag.audit.links import Link
from inquesto_dag.audit.page import counted, write_links_page
from inquesto_dag.audit.walk import Depth, audit, read_record
from inquesto_dag.cli.project import refuse_data


def print_audit(
    project: Path,
    path: Path,
    depth: Depth,
    *,
    sample: int | None,
    seed: int,
    as_json: bool,
    page: Path | None,
) -> int:
    """Walk and print, and write the page where asked; 1 when a link fails."""
    walked = audit(project, path, depth, sample=sample, seed=seed)
    return print_links(walked, as_json=as_json, page=page, of=f"audit of {path}")


def print_links(walked: Iterable[Link], *, as_json: bool, page: Path | None, of: str) -> int:
    """Print links as they come, or all as JSON, and write the page where asked; 1 when one fails."""
    links: list[Link] = []
    for link in walked:
        links.append(link)
        if not as_json:
            typer.echo(f"{link.outcome:18} {link.name:28} {link.detail}".rstrip())
    failed = [link for link in links if link.failed]
    if as_json:
        typer.echo(json.dumps({"holds": not failed, "links": [asdict(link) for link in links]}, indent=1))
    else:
        typer.echo(f"\n{'FAILS' if failed else 'holds'}: {counted(links)}")
    if page is not None:
        write_links_page(page, links, of=of)
        typer.echo(f"page {page}", err=as_json)
    return 1 if failed else 0


def print_trail(project: Path, path: Path, call_id: str, clips: Path | None) -> None:
    """Print one call walked back, and write its clips where asked."""
    if clips is not None:
        refuse_data(project, clips)
    trail = explain(project, read_record(path), call_id)
    typer.echo(trail.call_id)
    for step in trail.steps:
        typer.echo(f"\n{step.title}")
        for line in step.lines:
            typer.echo(f"  {line}")
        typer.echo(f"  [{step.source}: {step.digest}]")
    if clips is not None:
        for written in export_clips(trail, clips):
            typer.echo(f"\nclip {written}")
    elif trail.clips:
        typer.echo("\nadd `--clips FOLDER` for the sound of each event")
