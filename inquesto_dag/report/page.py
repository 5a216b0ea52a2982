"""A record's page: `index.html` and one small script file per call, all static, all relative, no network.

The page opens from a folder (`file://`) or a server. A call's data is a script that calls `inquestoCall`,
because a browser lets a page from a folder read other files in no other way. Sound is linked, not copied:
FLAC files stay where the `calls` stage put them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from inquesto_dag.errors import CheckFailed
from inquesto_dag.files import write_bytes
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.report.call import CallRows, Recording, describe_call, median_latency, replies
from inquesto_dag.report.overview import limits_of, summarise
from inquesto_dag.report.rows import Row, Rows, parsed, plain_rows, rows_by_call, script_json
from inquesto_dag.scoring.results import all_events

if TYPE_CHECKING:
    from inquesto_dag.agents.config import Prices

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = ("dom.js", "timeline.js", "call.js", "calls.js")
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def write_record_page(
    folder_out: Path,
    record: Mapping[str, Any],
    results: Rows,
    population: Rows,
    calls: Rows,
    turns: Rows,
    tool_calls: Rows,
    segments: Rows,
    transcripts: Rows,
    events: Rows,
    verdicts: Rows,
    call_folder: Path,
    *,
    protocol: Protocol,
    prices: Prices | None = None,
) -> Path:
    """Write a record's page into `folder_out`, return its `index.html`; the same inputs give the same bytes.

    Tables are those of `inquesto_dag.tables`, as frames or as rows. `events` are the detected ones; what the
    judge saw is joined to them by `scoring.results.all_events`, be it there already or not. Recordings are
    `call_folder/CALL_ID/{call,line}.flac`, linked relative to `folder_out` (a sibling folder that later
    takes its place keeps the links right). `prices` are those of the agent's model. Raises InputError for a
    missing or damaged recording, CheckFailed for a call without a result or with an id that is no file name.
    """
    plans = {str(row["call_id"]): row for row in plain_rows(population)}
    outcomes = {str(row["call_id"]): row for row in plain_rows(results)}
    placed = {str(row["call_id"]): row for row in plain_rows(calls)}
    by_call: dict[str, dict[str, list[Row]]] = {
        "turns": rows_by_call(turns, "turn"),
        "tool_calls": rows_by_call(tool_calls, "index"),
        "segments": rows_by_call(segments, "track", "segment"),
        "transcripts": rows_by_call(transcripts, "turn"),
        "verdicts": rows_by_call(verdicts),
        "events": rows_by_call(
            all_events(
                protocol,
                list(plans.values()),
                plain_rows(events),
                plain_rows(verdicts),
                plain_rows(tool_calls),
            )
        ),
    }
    index_rows = []
    for order, (call_id, plan) in enumerate(plans.items()):
        result = outcomes.get(call_id)
        if result is None or not FILE_NAME.fullmatch(call_id):
            problem = "has no result" if result is None else "cannot be a file's name"
            raise CheckFailed(problem, where="results", field=call_id, remedy="run the `record` stage again")
        call = placed.get(call_id)
        if call is not None:
            rows = CallRows(
                plan, call, result, **{name: found.get(call_id, []) for name, found in by_call.items()}
            )
            recording = _recording(call_folder / call_id, folder_out, call)
            data = script_json(describe_call(rows, recording, protocol, prices))
            write_bytes(folder_out / "calls" / f"{call_id}.js", f"inquestoCall({data});\n".encode())
        index_rows.append(_index_row(order, plan, result, call, by_call["transcripts"].get(call_id, [])))
    scored = {call_id for call_id, row in outcomes.items() if row["status"] == "scored"}
    latencies = [
        float(reply["latency"])
        for call_id, rows_ in by_call["transcripts"].items()
        if call_id in scored
        for reply in replies(rows_)
    ]
    overview = summarise(record, list(outcomes.values()), latencies, protocol)
    title = f"Inquesto {overview.version}: {overview.agent}"
    index = {
        "title": title,
        "calls": index_rows,
        "limits": limits_of(protocol),
        "conditions": [condition.id for condition in protocol.conditions],
        "groups": [voice.group for voice in protocol.voices],
        "events": [{"name": kind.name, "severity": kind.severity, "id": kind.id} for kind in protocol.events],
    }
    text = render(
        "record.html.j2",
        title=title,
        o=overview,
        timing=record["timing"],
        fail_severity=protocol.fail_severity,
        index=index,
    )
    write_bytes(folder_out / "index.html", text.encode())
    return folder_out / "index.html"


def render(
    template: str, *, index: Mapping[str, Any], scripts: Sequence[str] = SCRIPTS, **values: Any
) -> str:
    """A page of this package's templates with style, theme and scripts inside; all values are escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    # The files of this package and escaped JSON are the only text that enters as markup.
    own = {
        "style": Markup(_source("style.css")),
        "theme": Markup(_source("theme.js")),
        "script": Markup("\n".join(_source(name) for name in scripts)),
        "index": Markup(script_json(index)),
    }
    return environment.get_template(template).render(**own, **values)


def _source(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _recording(folder: Path, page: Path, call: Row) -> Recording | None:
    """The call's recording; None only where the call failed for want of infrastructure and left none."""
    if call["ended_by"] == "infrastructure" and not (folder / "call.flac").exists():
        return None
    link = quote(os.path.relpath(folder.resolve(), page.resolve()).replace(os.sep, "/"))
    return Recording(folder, f"{link}/call.flac", f"{link}/line.flac")


def _index_row(order: int, plan: Row, result: Row, call: Row | None, transcripts: list[Row]) -> Row:
    return {
        "order": order,
        "id": plan["call_id"],
        **{name: plan[name] for name in ("family", "style", "role", "condition", "group")},
        "scenario": plan["scenario_id"],
        **{name: result[name] for name in ("status", "goal", "passed", "max_severity", "why")},
        "events": parsed(result["events"]) or [],
        "latency": median_latency(transcripts),
        "duration": None if call is None else call["duration_s"],
        "ended_by": None if call is None else call["ended_by"],
        "opened": call is not None,
    }
