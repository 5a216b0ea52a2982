"""What a materialisation shows: rows, costs, reuse, citation, previews, pictures, and a link to the page.

Links are paths of the address at which the UI is open: `inquesto-dag ui` serves the project's `data/` folder
at `/data`, as browsers refuse to follow a `file://` link out of a page that came from a server.
"""

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import dagster as dg

from inquesto_dag.files import read_json, read_table
from inquesto_dag.stages.chain import Stage
from inquesto_dag.stages.report import StageReport

DATA_ROUTE = "/data"
# What a count of a stage's report is about, in the order in which it is shown.
COUNTED = {
    "call": "calls",
    "probe": "calls of probes placed",
    "annotation": "recordings annotated",
    "tts": "utterances synthesised",
    "asr": "segments recognised",
    "verifier": "voices embedded",
}


def run_metadata(project: Path, stage: Stage, agent: str | None, started: float) -> dict[str, Any]:
    """Metadata of an output as it lies on disk, by a run that began at `started` (s since the epoch).

    DVC may have found the output current; costs are then those of the run that made it, as `ran_now` says.
    What cannot be shown of a table is told under `not_shown`: the checks, not this, judge the output.
    """
    folder = project / "data" / stage.name / (agent or "")
    metadata = {**_citation(folder), **_costs(project, stage, agent, started), **_links(project, folder)}
    try:
        metadata |= _pictures(project, stage, folder, agent)
    except Exception:
        metadata["not_shown"] = dg.MetadataValue.text(traceback.format_exc(limit=-2))
    return metadata


def _citation(folder: Path) -> dict[str, Any]:
    """The record's citation and its views (PROTOCOL N2)."""
    if not (folder / "record.json").exists():
        return {}
    from inquesto_dag.scoring.citation import citation, views_line

    record = read_json(folder / "record.json")
    score = record["score"]["score"]
    return {
        "citation": dg.MetadataValue.text(citation(record)),
        "views": dg.MetadataValue.text(views_line(record)),
        # A number of its own: Dagster draws it over the runs.
        **({} if score is None else {"score_percent": dg.MetadataValue.float(round(float(score), 2))}),
        "complete": dg.MetadataValue.bool(bool(record["complete"])),
    }


def _costs(project: Path, stage: Stage, agent: str | None, started: float) -> dict[str, Any]:
    """Rows, wall time, the engines' share, and what was computed or came from the memo."""
    path = StageReport(stage.name, agent).path(project)
    if not path.exists():
        return {}
    report = read_json(path)
    shown: dict[str, Any] = {
        "ran_now": dg.MetadataValue.bool(path.stat().st_mtime >= started),
        "stage_wall_s": dg.MetadataValue.float(float(report["wall_s"])),
    }
    if report["engine_share"]:
        shown["engine_share_percent"] = dg.MetadataValue.float(round(100 * report["engine_share"], 1))
    shown |= count_entries(report["counts"])
    rows = report["rows"]
    if len(rows) == 1:
        shown["dagster/row_count"] = dg.MetadataValue.int(next(iter(rows.values())))
    else:
        shown |= {f"{table}_rows": dg.MetadataValue.int(count) for table, count in rows.items()}
    return shown


def count_entries(counts: Mapping[str, int]) -> dict[str, Any]:
    """`calls_computed` and `calls_reused` as numbers, and everything that was counted as a small table."""
    from assets.previews import markdown_table

    shown: dict[str, Any] = {}
    rows = []
    for kind, name in COUNTED.items():
        computed, reused = (counts.get(f"{kind}_{outcome}", 0) for outcome in ("computed", "reused"))
        if computed or reused:
            rows.append([name, computed, reused])
    for kind in ("call", "annotation"):
        if f"{kind}_computed" in counts or f"{kind}_reused" in counts:
            for outcome in ("computed", "reused"):
                number = counts.get(f"{kind}_{outcome}", 0)
                shown[f"{kind}s_{outcome}"] = dg.MetadataValue.int(number)
    if rows:
        table = markdown_table(["", "computed", "from the memo"], rows)
        shown["computed_and_reused"] = dg.MetadataValue.md(table)
    return shown


def _links(project: Path, folder: Path) -> dict[str, Any]:
    links: dict[str, Any] = {}
    page = folder / "page" / "index.html"
    if page.exists():
        relative = page.relative_to(project / "data").as_posix()
        links["page"] = dg.MetadataValue.url(f"{DATA_ROUTE}/{quote(relative)}")
    return {**links, "folder": dg.MetadataValue.path(str(folder))}


def _pictures(project: Path, stage: Stage, folder: Path, agent: str | None) -> dict[str, Any]:
    from assets.plots import draw_stage
    from assets.previews import preview_table

    drawn = {name: dg.MetadataValue.md(text) for name, text in draw_stage(project, stage.name, agent).items()}
    tables = {
        f"{table}_preview": dg.MetadataValue.md(preview_table(table, read_table(folder / f"{table}.parquet")))
        for table in stage.tables
    }
    return drawn | tables
