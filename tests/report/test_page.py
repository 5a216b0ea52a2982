"""A record's page as files: what it says, what it links to, what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.report.overview import summarise
from inquesto_dag.report.page import write_record_page
from inquesto_dag.scoring.citation import citation, views_line
from tests.report.conftest import AGENT, Written
from tests.report.material import make_material


def _call_data(index: Path, call_id: str) -> dict[str, Any]:
    text = (index.parent / "calls" / f"{call_id}.js").read_text()
    match = re.fullmatch(r"inquestoCall\((.*)\);\n", text, re.S)
    assert match
    return dict(json.loads(match.group(1)))


def _index_data(index: Path) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="index">(.*?)</script>', index.read_text(), re.S)
    assert match
    return dict(json.loads(match.group(1)))


def test_N2_the_page_states_the_citation_of_its_record(written: Written) -> None:
    """Word for word, with the views beside it; and an incomplete record says so (D13)."""
    text = written.index.read_text()
    assert citation(written.material.record) in text
    assert views_line(written.material.record) in text
    assert "1 unjudged and 1 infrastructure of 8 calls are not scored" in text


def test_A5_the_judges_known_error_stands_beside_what_ran(written: Written) -> None:
    """In words, and a dash where nothing was planted; and each call names the way back to its sound."""
    text = written.index.read_text()
    assert "97.4 % (90.9–99.3; 74 of 76)" in text and "<td>impostor served</td><td>–</td>" in text
    call = written.material.record["population"]["calls"] and _index_data(written.index)["calls"][0]["id"]
    trail = _call_data(written.index, call)["trail"]
    assert (
        trail == f"inquesto-dag explain data/record/{written.material.calls[0]['agent']}/record.json {call}"
    )


def test_every_planned_call_is_listed_with_its_result(written: Written) -> None:
    """Results, events and reasons in the table are those of `results`, in the plan's order."""
    listed = _index_data(written.index)["calls"]
    assert [row["id"] for row in listed] == [row["call_id"] for row in written.material.population]
    for row, result in zip(listed, written.material.results, strict=True):
        assert (row["passed"], row["status"], row["why"]) == (
            result["passed"],
            result["status"],
            result["why"],
        )
        assert row["events"] == json.loads(result["events"])


def test_judged_events_are_shown_though_only_detected_ones_were_handed_over(written: Written) -> None:
    """`events` holds no judged event; the call whose judge found a wrong amount shows it all the same."""
    assert not any(row["source"] == "judge" for row in written.material.events)
    call_id = next(r["call_id"] for r in written.material.results if "wrong_information" in r["events"])
    shown = {event["event"]: event for event in _call_data(written.index, call_id)["events"]}
    assert shown["wrong_information"]["severity"] == "S4"
    assert shown["wrong_information"]["evidence"]["turns"] == [3, 5]


def test_sound_is_linked_where_the_calls_stage_put_it(written: Written) -> None:
    """Relative links that resolve from the page; a call without a recording has none."""
    missing = [row["call_id"] for row in written.material.calls if row["ended_by"] == "infrastructure"]
    for row in written.material.calls:
        audio = _call_data(written.index, row["call_id"])["audio"]
        if row["call_id"] in missing:
            assert audio is None
            continue
        expected = f"../../../calls/{AGENT}/recordings/{row['call_id']}/call.flac"
        assert audio["call"] == expected
        assert (written.index.parent / audio["call"]).resolve().is_file()
        assert (written.index.parent / audio["line"]).resolve().is_file()


def test_no_network_and_no_folder_of_this_machine(written: Written) -> None:
    """Nothing is loaded from elsewhere, and no absolute path is in the files."""
    project = str(written.index.parents[4])
    for path in [written.index, *(written.index.parent / "calls").iterdir()]:
        text = path.read_text()
        assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|url\(|@import""", text)
        assert project not in text


def test_the_same_inputs_give_the_same_bytes_also_from_a_temporary_folder(written: Written) -> None:
    """A stage writes into a sibling folder that is renamed later: links and bytes stay the same."""
    other = written.index.parents[2] / ".tmp-1-x-agent" / "page"
    again = write_record_page(other, **written.material.page_arguments())
    files = sorted(p.relative_to(other) for p in other.rglob("*") if p.is_file())
    assert files == sorted(
        p.relative_to(written.index.parent) for p in written.index.parent.rglob("*") if p.is_file()
    )
    for path in files:
        assert (again.parent / path).read_bytes() == (written.index.parent / path).read_bytes()


def test_a_call_that_was_never_placed_is_listed_and_has_no_file(tmp_path: Path) -> None:
    """A planned call without a row in `calls` is an infrastructure failure, no crash and no dead link."""
    made = make_material(tmp_path, AGENT, ("good", "good", "infrastructure"))
    lost = made.calls.pop()["call_id"]
    index = write_record_page(tmp_path / "data" / "record" / AGENT / "page", **made.page_arguments())
    row = next(row for row in _index_data(index)["calls"] if row["id"] == lost)
    assert (row["opened"], row["duration"], row["status"]) == (False, None, "infrastructure")
    assert not (index.parent / "calls" / f"{lost}.js").exists()


def test_a_missing_recording_of_a_scored_call_is_an_error(tmp_path: Path) -> None:
    """Only an infrastructure failure may lack its sound."""
    made = make_material(tmp_path, AGENT, ("good", "good", "good"))
    (made.call_folder / made.calls[1]["call_id"] / "line.flac").unlink()
    with pytest.raises(InputError, match=r"line\.flac.*does not exist"):
        write_record_page(tmp_path / "page", **made.page_arguments())


def test_a_call_without_a_result_is_refused(written: Written, tmp_path: Path) -> None:
    """Tables of two populations do not make a page."""
    arguments = written.material.page_arguments()
    arguments["results"] = arguments["results"].iloc[1:]
    with pytest.raises(CheckFailed, match="has no result"):
        write_record_page(tmp_path / "page", **arguments)


def test_a_record_of_which_nothing_is_scored_has_dashes(tmp_path: Path) -> None:
    """All calls unjudged: no score, no views, no latencies, and still a page."""
    made = make_material(tmp_path, AGENT, ("unjudged", "infrastructure", "unjudged"))
    assert made.record["score"]["n"] == 0
    overview = summarise(made.record, made.results, [], made.protocol)
    assert overview.score.figures == "\u2013" and overview.score.value is None
    assert {bar.figures for bar in overview.views} == {"\u2013"}
    assert overview.says == "No call was scored."
    text = write_record_page(tmp_path / "page", **made.page_arguments()).read_text()
    assert "None" not in re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)


def test_V4_the_worst_group_is_named_with_its_difference(written: Written) -> None:
    """The fairness bar is the worst group's rate, and the note says which group."""
    fairness = written.material.record["views"]["fairness"]
    bar = summarise(written.material.record, written.material.results, [], written.material.protocol).views[3]
    block = fairness["groups"][fairness["worst"]]
    assert bar.count == f"{block['passes']} of {block['n']}"
    assert fairness["worst"].replace("_", " ") in bar.note
