"""Tampering with a finished project, one kind at a time: `audit` fails and names the broken link."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from inquesto_dag.audio.files import read_flac, write_flac
from inquesto_dag.files import read_json, read_table, write_json, write_table
from inquesto_dag.provenance.digests import Digests
from inquesto_dag.provenance.dvc import read_lock
from tests.provenance.small_project import AGENTS, SmallProject

pytestmark = pytest.mark.engines

AGENT, OTHER = AGENTS
RECORD = Path("data/record") / AGENT / "record.json"


def outcomes(project: SmallProject, *options: str, code: int | None = None) -> dict[str, tuple[str, str]]:
    """Outcome and detail by link, as `audit --json` says."""
    printed = project.cli("audit", str(RECORD), "--json", *options, code=code)
    # Progress of --deep follows, from the other stream.
    found, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
    assert found["holds"] == all(
        link["outcome"] not in ("changed", "missing", "dirty") for link in found["links"]
    )
    return {link["name"]: (link["outcome"], link["detail"]) for link in found["links"]}


def relock(project: SmallProject, stage: str, out: str) -> None:
    """Make dvc.lock name what stands on disk now, in every place, as a forger would."""
    before = read_lock(project.folder)[stage].outs[out]
    now = Digests(project.folder, keep=False).digest(out)
    lock = project.folder / "dvc.lock"
    lock.write_text(lock.read_text().replace(before, str(now)))


def edit_record(project: SmallProject, change: Callable[[dict], None]) -> None:  # type: ignore[type-arg]
    record = read_json(project.folder / RECORD)
    change(record)
    write_json(project.folder / RECORD, record)


def edit_table(
    project: SmallProject, stage: str, table: str, change: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    path = project.folder / "data" / stage / AGENT / f"{table}.parquet"
    write_table(path, change(read_table(path)))


@pytest.fixture
def copy(finished: SmallProject, tmp_path: Path) -> Iterator[SmallProject]:
    """A finished project of this test's own."""
    folder = tmp_path / "p"
    shutil.copytree(finished.folder, folder, symlinks=True)
    yield SmallProject(folder, finished.memo)
    shutil.rmtree(folder)


@pytest.fixture
def with_events(eventful: SmallProject, tmp_path: Path) -> Iterator[SmallProject]:
    """A copy of the eventful project of this test's own."""
    folder = tmp_path / "p"
    shutil.copytree(eventful.folder, folder, symlinks=True)
    yield SmallProject(folder, eventful.memo)
    shutil.rmtree(folder)


def test_an_honest_record_holds_at_every_depth(copy: SmallProject) -> None:
    """Every link is `ok`, also where recordings are annotated and calls are placed again."""
    found = outcomes(copy, "--deep", "--sample", "1", code=0)
    assert {name for name, (outcome, _) in found.items() if outcome != "ok"} == {"protocol: release"}
    assert found["protocol: release"][0] == "note"
    assert {"record: file", "lineage: chain", "calls: output", "models", "revision", "events: found again",
            "verdicts: judged again", "record: numbers", "annotations: annotated again",
            "calls: placed again"} <= set(found)  # fmt: skip


def test_a_score_that_was_edited(copy: SmallProject) -> None:
    """The file is not the one in the lock, and the number does not follow from the tables."""
    edit_record(copy, lambda record: record["score"].update(score=99.0))
    found = outcomes(copy, code=1)
    assert found["record: file"][0] == "changed"
    assert found["record: numbers"][0] == "changed"
    assert "score.score" in found["record: numbers"][1]


def test_an_event_removed_and_the_score_made_to_match(with_events: SmallProject) -> None:
    """Bytes, and the detectors, which find it again."""
    copy = with_events
    path = copy.folder / "data" / "events" / AGENT / "events.parquet"
    events = read_table(path)
    assert len(events)
    gone = events.iloc[0]
    write_table(path, events.iloc[1:].reset_index(drop=True))
    relock(copy, f"events@{AGENT}", f"data/events/{AGENT}")
    copy.cli("stage", "record", "--agent", AGENT)
    relock(copy, f"record@{AGENT}", f"data/record/{AGENT}")
    found = outcomes(copy, code=1)
    assert found["events: found again"][0] == "changed"
    assert f"{gone['call_id']} {gone['event']}" in found["events: found again"][1]
    assert found["record: numbers"][0] == "ok"


def test_a_verdict_that_was_flipped(copy: SmallProject) -> None:
    """The judge, asked again, answers otherwise."""

    def flip(verdicts: pd.DataFrame) -> pd.DataFrame:
        verdicts.loc[0, "answer"] = not bool(verdicts.loc[0, "answer"])
        return verdicts

    edit_table(copy, "verdicts", "verdicts", flip)
    found = outcomes(copy, code=1)
    assert found["verdicts: output"][0] == "changed"
    assert "verdicts.parquet" in found["verdicts: output"][1]
    assert found["verdicts: judged again"][0] == "changed"


def test_a_recording_replaced_by_another_of_the_same_length(copy: SmallProject) -> None:
    """The table of calls names its digest, and so does the lock."""
    path = next((copy.folder / "data" / "calls" / AGENT / "recordings").glob("*/call.flac"))
    audio = read_flac(path)
    write_flac(path, np.ascontiguousarray(audio[::-1]))
    found = outcomes(copy, code=1)
    assert found["calls: output"][0] == "changed"
    assert found["calls: recordings"][0] == "changed"
    assert f"{path.parent.name}/call.flac" in found["calls: recordings"][1]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("data/protocols/v0.1/scenarios/cancel_sub.yaml", "no longer use my plan", "have no use for my plan"),
        ("data/protocols/v0.1/events.yaml", "severity: S2", "severity: S1"),
        ("data/protocols/v0.1/scoring.yaml", "fail_severity: S3", "fail_severity: S4"),
    ],
    ids=["scenario reworded", "severity lowered", "threshold of severity lowered"],
)  # fmt: skip
def test_a_protocol_file_that_was_edited(with_events: SmallProject, path: str, old: str, new: str) -> None:
    """The version's digest is another, and a stage that reads the file says so."""
    copy = with_events
    copy.edit(path, old, new)
    found = outcomes(copy, code=1)
    assert found["protocol: files"][0] == "changed"
    readers = [
        name
        for name, (outcome, detail) in found.items()
        if name.endswith("dependencies") and outcome == "changed" and Path(path).name in detail
    ]
    assert readers or path.endswith("scoring.yaml")  # read by the record alone
    if "severity" in old and "fail" not in old:
        assert found["events: found again"][0] == "changed"


def test_a_model_file_that_was_swapped(
    copy: SmallProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of another digest is not what was loaded; one that is not here is said to be so."""
    from inquesto_dag.speech.fetch import models_folder

    models = tmp_path / "models"
    shutil.copytree(models_folder(), models, copy_function=lambda a, b: Path(b).symlink_to(a))
    swapped = next((models / "ge2e").iterdir())
    data = bytearray(swapped.read_bytes())
    swapped.unlink()
    data[len(data) // 2] ^= 1
    swapped.write_bytes(data)
    monkeypatch.setenv("INQUESTO_MODELS", str(models))
    assert outcomes(copy, "--depth", "digests", code=1)["models"][0] == "changed"
    swapped.unlink()
    assert outcomes(copy, "--depth", "digests", code=0)["models"][0] == "not available here"


def test_a_parameter_edited_after_the_run(copy: SmallProject) -> None:
    """`params.yaml` no longer says what the stages ran with."""
    copy.edit("params.yaml", "population: quick", "population: full")
    found = outcomes(copy, code=1)
    assert found["parameters"][0] == "changed"
    assert "population" in found["parameters"][1]


def test_a_lock_edited_to_match_a_forged_output(copy: SmallProject) -> None:
    """The record's lineage still names what the output was."""
    edit_table(copy, "annotations", "heard", lambda heard: heard.assign(insertions=heard["insertions"] + 1))
    relock(copy, f"annotations@{AGENT}", f"data/annotations/{AGENT}")
    found = outcomes(copy, code=1)
    assert found["annotations: output"][0] == "changed"
    assert "dvc.lock has another" in found["annotations: output"][1]
    assert found["record: numbers"][0] == "changed"


def test_the_lineage_of_another_agent_pasted_in(copy: SmallProject) -> None:
    """Its stages wrote another agent's folders."""
    other = read_json(copy.folder / "data" / "record" / OTHER / "record.json")
    edit_record(copy, lambda record: record.update(lineage=other["lineage"]))
    found = outcomes(copy, code=1)
    assert found["lineage: chain"][0] == "changed"
    assert f"data/calls/{OTHER}" in found["lineage: chain"][1]


def test_a_truncated_record(copy: SmallProject) -> None:
    """Wrong input: the file and what to do are named, nothing is audited."""
    path = copy.folder / RECORD
    path.write_bytes(path.read_bytes()[:500])
    printed = copy.cli("audit", str(RECORD), code=2)
    assert "truncated" in printed and "record.json" in printed
    path.write_text("{}")
    assert "not a whole record" in copy.cli("audit", str(RECORD), code=2)
    path.unlink()
    assert "does not exist" in copy.cli("audit", str(RECORD), code=2)


def test_what_is_missing_and_what_is_not_here_are_told_apart(copy: SmallProject) -> None:
    """An output that is gone is missing; a lock without the stage leaves the comparison open."""
    shutil.rmtree(copy.folder / "data" / "line_audio")
    found = outcomes(copy, "--depth", "digests", code=1)
    assert found["line_audio: output"][0] == "missing"
    assert "dvc pull" in found["line_audio: output"][1]
    (copy.folder / "dvc.lock").unlink()
    assert outcomes(copy, "--depth", "digests", code=1)["record: file"][0] == "not available here"


def test_a_record_from_a_dirty_tree_is_told(copy: SmallProject) -> None:
    """What no commit holds cannot be had again from the revision that the record names."""
    edit_record(copy, lambda record: record["lineage"]["revision"].update(dirty=True))
    outcome, detail = outcomes(copy, "--depth", "digests", code=1)["revision"]
    assert outcome == "dirty" and "dirty tree" in detail


def test_explain_walks_a_failed_call_back_to_its_sound(with_events: SmallProject, tmp_path: Path) -> None:
    """Result, event, clip, words, tools, line, utterance and scenario, each with its digest."""
    copy = with_events
    events = read_table(copy.folder / "data" / "events" / AGENT / "events.parquet")
    timed = events[events["time_s"].notna()].iloc[0]
    printed = copy.cli("explain", str(RECORD), str(timed["call_id"]), "--clips", str(tmp_path / "clips"))
    lock = read_lock(copy.folder)
    for said in (f"event {timed['event']}", "tool calls", "utterance ", "scenario ", "ended: ",
                 lock[f"events@{AGENT}"].outs[f"data/events/{AGENT}"]):  # fmt: skip
        assert said in printed
    clip = read_flac(next((tmp_path / "clips").glob("*.flac")))
    assert clip.ndim == 2 and 0 < len(clip) <= 6.1 * 16_000 and np.any(clip)
    assert "no call 'nobody'" in copy.cli("explain", str(RECORD), "nobody", code=2)
