"""What a materialisation shows: figures of the report, previews, charts of the numbers on disk, links."""

from __future__ import annotations

import base64
import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from assets.plots import draw_stage
from assets.previews import COLUMNS, cell_text, markdown_table, preview_table
from assets.run_metadata import run_metadata
from assets.svg import as_markdown, draw_bars
from inquesto_dag.files import write_bytes, write_json, write_table
from inquesto_dag.report.figures import Bar
from inquesto_dag.scoring.citation import citation, views_line
from inquesto_dag.scoring.compare import build_leaderboard
from inquesto_dag.stages.chain import STAGES
from inquesto_dag.tables import TABLES
from tests.assets.projects import ROOT, lay_out_record
from tests.assets.tables_that_pass import passing_table
from tests.report.material import Material

AGENT = "agent-a"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Material]:
    """A project with the protocol and one agent's outputs: eight calls, one of each behaviour."""
    project = tmp_path_factory.mktemp("project")
    (project / "data").mkdir()
    (project / "data" / "protocols").symlink_to(ROOT / "data" / "protocols")
    (project / "params.yaml").write_bytes((ROOT / "params.yaml").read_bytes())
    stages = {"population", "calls", "annotations", "events", "verdicts", "record"}
    return project, lay_out_record(project, AGENT, stages)


def drawn(markdown: str) -> ET.Element:
    """The image of a Markdown text, parsed: a chart that is no XML is none."""
    match = re.fullmatch(r"!\[[^\]]+\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)", markdown)
    assert match, markdown[:80]
    return ET.fromstring(base64.b64decode(match[1]))


def texts(markdown: str) -> list[str]:
    return [element.text or "" for element in drawn(markdown).iter(f"{SVG}text")]


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_a_preview_of_columns_that_it_has(table: str) -> None:
    """As many rows as asked for, and how many are left."""
    assert set(COLUMNS[table]) <= {column.name for column in TABLES[table].columns}
    frame = passing_table(table)
    lines = preview_table(table, frame, rows=1).splitlines()
    assert lines[0] == "| " + " | ".join(COLUMNS[table]) + " |"
    assert lines[2].count(" | ") == len(COLUMNS[table]) - 1
    assert lines[-1] == "1 more rows"
    assert "more rows" not in preview_table(table, frame)


def test_a_preview_of_a_table_that_lacks_a_column_shows_the_others() -> None:
    """The check says what is wrong; the preview must not stop the run before it."""
    frame = passing_table("events").drop(columns="severity")
    assert preview_table("events", frame).startswith("| call_id | event | source |")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (pd.NA, "–"), (None, "–"), (float("nan"), "–"), (0.5, "0.5"), (2.0, "2"), (1.23456, "1.235"),
        (0.0, "0"), (True, "True"), (41, "41"), ("a | b\nc", "a \\| b c"), ("<b>x</b>", "\\<b\\>x\\</b\\>"),
        ("[x](http://y)", "\\[x\\](http://y)"), ("a" * 80, "a" * 71 + "…"), ([1], "\\[1\\]"),
    ],
)  # fmt: skip
def test_cells_are_short_and_never_markup(cell: Any, text: str) -> None:
    """What callers and judges said is shown as said."""
    assert cell_text(cell) == text
    assert markdown_table(["x"], [[cell]]).splitlines()[2] == f"| {text} |"


def test_names_in_charts_are_never_markup() -> None:
    """An agent may be called anything."""
    bars = [Bar("<script>&", "", "50", "1 of 2", 50.0, 10.0, 90.0)]
    assert texts(as_markdown(draw_bars(bars), "x"))[0] == "<script>&"


def test_a_record_shows_citation_views_score_and_failures(laid: tuple[Path, Material]) -> None:
    """The citation as it is cited, the numbers of record.json in the chart, and a link that the UI serves."""
    project, material = laid
    page = project / "data" / "record" / AGENT / "page" / "index.html"
    write_bytes(page, b"<p>")
    shown = run_metadata(project, STAGES["record"], AGENT, 0.0)
    assert shown["citation"].text == citation(material.record)
    assert shown["views"].text == views_line(material.record)
    assert shown["score_percent"].value == pytest.approx(material.record["score"]["score"], abs=0.01)
    assert shown["page"].url == f"/data/record/{AGENT}/page/index.html"
    assert shown["folder"].path == str(project / "data" / "record" / AGENT)
    score = material.record["score"]
    chart = texts(shown["score_and_views"].md_str)
    assert chart[:3] == [
        "Score",
        f"{100 * score['passes'] / score['n']:.1f} %",
        f"{score['passes']} of {score['n']}",
    ]
    assert {"Behavior", "Robustness", "Identity", "Fairness"} < set(chart)
    failures = texts(shown["failures_by_type"].md_str)
    by_type = material.record["failures"]["by_type"]
    assert sum(by_type.values()) > 0
    counted = dict(zip(failures[::3], failures[1::3], strict=True))
    assert {
        name.partition(" ")[2].replace(" ", "_"): int(count) for name, count in counted.items()
    } == by_type
    assert shown["results_preview"].md_str.startswith("| call_id | status |")
    failed = shown["failed_calls"].md_str.splitlines()[2:]
    assert len(failed) == score["n"] - score["passes"] > 0
    assert all(f"inquesto-dag explain data/record/{AGENT}/record.json " in line for line in failed)
    assert "not_shown" not in shown


def test_annotations_show_latencies_and_word_error_by_line(laid: tuple[Path, Material]) -> None:
    """As many replies as the table has; rates are ratios of sums."""
    project, material = laid
    shown = draw_stage(project, "annotations", AGENT)
    titles = drawn(shown["reply_latencies"])
    columns = [e for e in titles.iter(f"{SVG}rect") if e.get("fill") in ("#1f6f8b", "#d9b04a", "#c7472e")]
    assert columns and {"talk-over", "slow", "late"} <= set(texts(shown["reply_latencies"]))
    conditions = {row["call_id"]: row["condition"] for row in material.population}
    sums: dict[str, list[int]] = {}
    for row in material.heard:
        total = sums.setdefault(conditions[row["call_id"]], [0, 0])
        total[0] += row["substitutions"] + row["deletions"] + row["insertions"]
        total[1] += row["reference_words"]
    found = texts(shown["word_error_by_line"])
    rows = {found[i]: (found[i + 1], found[i + 2]) for i in range(0, len(found), 3)}
    assert rows == {
        name: (f"{100 * wrong / said:.1f} %", f"{wrong} of {said} words")
        for name, (wrong, said) in sums.items()
    }


def test_events_calls_verdicts_and_population_count_what_their_tables_hold(
    laid: tuple[Path, Material],
) -> None:
    """Each type that needs no judge, each end, each answer."""
    project, material = laid
    found = texts(draw_stage(project, "events", AGENT)["events_by_type"])
    counts = {
        found[i].partition(" ")[2].replace(" ", "_"): int(found[i + 1]) for i in range(0, len(found), 3)
    }
    assert sum(counts.values()) == len(material.events) > 0
    assert "context_loss" not in counts  # the judge's alone
    ends = texts(draw_stage(project, "calls", AGENT)["how_calls_ended"])
    assert ends[:2] == ["goal met", "7"] and ends[3:5] == ["infrastructure", "1"]
    answers = draw_stage(project, "verdicts", AGENT)["answers"].splitlines()
    yes = sum(row["answer"] for row in material.verdicts if row["question"] == "goal_reached")
    asked = sum(row["question"] == "goal_reached" for row in material.verdicts)
    assert f"| goal_reached | {yes} | {asked - yes} | 0 |" in answers
    planned = draw_stage(project, "population", None)["calls_by_line_and_group"].splitlines()[2:]
    assert sum(int(line.split("|")[-2]) for line in planned) == len(material.population)


def test_the_verifier_shows_every_similarity_against_the_threshold(tmp_path: Path) -> None:
    """Holders and impostors on rows of their own; openings with too little speech are not calibrated on."""
    folder = tmp_path / "data" / "verifier"
    frame = passing_table(
        "verifier", utterance_id=["a", "b", "c"], kind=["holder", "impostor", "impostor"],
        similarity=[0.9, 0.6, 0.99], speech_s=[2.0, 2.0, 0.1],
    )  # fmt: skip
    write_table(folder / "verifier.parquet", frame)
    write_json(folder / "verifier.json", {"threshold": 0.745, "minimum_speech_s": 1.6})
    chart = draw_stage(tmp_path, "verifier", None)["similarities"]
    assert {"clean, holder", "clean, impostor", "threshold 0.745", "0.6", "1.0"} <= set(texts(chart))
    marks = [(e.get("fill"), float(e.get("cx") or 0)) for e in drawn(chart).iter(f"{SVG}circle")]
    assert [colour for colour, _ in marks] == ["#1f6f8b", "#c7472e"]
    assert marks[0][1] > marks[1][1]


def test_the_leaderboard_shows_agents_side_by_side(laid: tuple[Path, Material], tmp_path: Path) -> None:
    """By rank, with the curve over windows and the paired differences."""
    _, material = laid
    other = {**material.record, "agent": {**material.record["agent"], "endpointing_ms": 400, "id": "b"}}
    rows = {name: material.results for name in (AGENT, "b")}
    board = build_leaderboard({AGENT: material.record, "b": other}, rows, resamples=100)
    write_json(tmp_path / "data" / "leaderboard" / "leaderboard.json", board)
    shown = draw_stage(tmp_path, "leaderboard", None)
    assert texts(shown["side_by_side"])[::3] == [AGENT, "b"]
    assert {"400 ms", "700 ms"} <= set(texts(shown["score_by_window"]))
    assert shown["paired_differences"].splitlines()[2].startswith(f"| {AGENT} | b | 0.0 | 0 | 0 |")


def test_costs_say_what_was_computed_and_what_came_from_the_memo(laid: tuple[Path, Material]) -> None:
    """Calls by themselves, engines in a table, rows of each table, and whether it ran now."""
    project, _ = laid
    report = {
        "stage": "calls", "agent": AGENT, "wall_s": 12.5, "engine_share": 0.625,
        "rows": {"calls": 8, "turns": 64, "tool_calls": 20},
        "counts": {"call_computed": 3, "call_reused": 5, "tts_computed": 7, "tts_reused": 2},
    }  # fmt: skip
    write_json(project / ".reports" / f"calls@{AGENT}.json", report)
    shown = run_metadata(project, STAGES["calls"], AGENT, 0.0)
    values = {name: entry.value for name, entry in shown.items()}
    assert values["ran_now"] is True
    assert (values["stage_wall_s"], values["engine_share_percent"]) == (12.5, 62.5)
    assert (values["calls_rows"], values["turns_rows"], values["tool_calls_rows"]) == (8, 64, 20)
    assert (values["calls_computed"], values["calls_reused"]) == (3, 5)
    assert values["computed_and_reused"].splitlines()[2:] == [
        "| calls | 3 | 5 |",
        "| utterances synthesised | 7 | 2 |",
    ]
    later = run_metadata(project, STAGES["calls"], AGENT, time.time() + 60)
    assert later["ran_now"].value is False


def test_a_broken_output_is_left_to_the_checks(tmp_path: Path) -> None:
    """No table, no pictures, and no error either: the materialisation says what it could not show."""
    shown = run_metadata(tmp_path, STAGES["events"], AGENT, 0.0)
    assert "events.parquet" in shown["not_shown"].text
    assert shown["folder"].path.endswith(f"data/events/{AGENT}")
