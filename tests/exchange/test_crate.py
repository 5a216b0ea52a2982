"""A record's crate: it fits its profile, an honest one verifies anywhere, each forgery is named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from inquesto_dag.exchange.contents import METADATA, STATEMENT
from inquesto_dag.exchange.export import PROFILE
from inquesto_dag.files import read_json, read_table, sha256_file, write_json, write_table
from tests.exchange.profile import fill_cache, problems
from tests.provenance.small_project import AGENTS, SmallProject

pytestmark = pytest.mark.engines

AGENT = AGENTS[0]
RECORD = f"data/record/{AGENT}/record.json"


@pytest.fixture(scope="module")
def crate(eventful: SmallProject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The crate of a record whose calls have an event each."""
    folder = tmp_path_factory.mktemp("crate") / "c"
    said = eventful.cli("export", RECORD, "--out", str(folder))
    assert f"inquesto-dag verify {folder}" in said
    return folder


@pytest.fixture
def copy(crate: Path, tmp_path: Path) -> Iterator[Path]:
    """A crate of this test's own."""
    folder = tmp_path / "c"
    shutil.copytree(crate, folder)
    yield folder
    shutil.rmtree(folder)


def outcomes(project: SmallProject, crate: Path, code: int) -> dict[str, tuple[str, str]]:
    """Outcome and detail by link; run from a folder that holds no project, with the project's code."""
    done = subprocess.run(
        [sys.executable, "-m", "inquesto_dag", "verify", str(crate), "--json"],
        cwd=crate.parent, env={**os.environ, "PYTHONPATH": str(project.folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return {link["name"]: (link["outcome"], link["detail"]) for link in json.loads(done.stdout)["links"]}


def reseal(crate: Path) -> None:
    """Metadata and Statement made to fit what lies in the crate now, as a forger would."""
    metadata = read_json(crate / METADATA)
    statement = read_json(crate / STATEMENT)
    for subject in statement["subject"]:
        subject["digest"]["sha256"] = sha256_file(crate / subject["name"])
    write_json(crate / STATEMENT, statement)
    for entity in metadata["@graph"]:
        if "sha256" in entity:
            entity["sha256"] = sha256_file(crate / entity["@id"])
    write_json(crate / METADATA, metadata)


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    value = read_json(path)
    change(value)
    write_json(path, value)


def edit_table(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    write_table(path, change(read_table(path)))


def test_a_crate_fits_process_run_crate(crate: Path, copy: Path, tmp_path: Path) -> None:
    """By roc-validator; and the validator sees a crate whose actions name no instrument."""
    cache = fill_cache(tmp_path)
    assert problems(crate, cache) == []

    def without_instruments(metadata: Any) -> None:
        for entity in metadata["@graph"]:
            entity.pop("instrument", None)

    edit_json(copy / METADATA, without_instruments)
    assert any("instrument" in problem for problem in problems(copy, cache))


def test_an_honest_crate_holds_and_says_what_it_cannot_show(crate: Path, eventful: SmallProject) -> None:
    """Every link ok but those that need the project, the models or the sound."""
    found = outcomes(eventful, crate, 0)
    away = {name for name, (outcome, _) in found.items() if outcome == "not available here"}
    assert away == {"calls: sound", "parameters", "models", "revision"}
    assert {outcome for name, (outcome, _) in found.items() if name not in away} == {"ok"}
    assert "4 events found again" in found["events: found again"][1]


def test_the_metadata_describes_every_stage_and_file(crate: Path) -> None:
    """The profile, an action for each stage that left something, the record as main entity."""
    entities = {entity["@id"]: entity for entity in read_json(crate / METADATA)["@graph"]}
    assert entities["./"]["conformsTo"] == [{"@id": PROFILE}]
    assert entities["./"]["mainEntity"] == {"@id": RECORD}
    actions = {e["name"] for e in entities.values() if e["@type"] == "CreateAction"}
    assert {"stage population", "stage calls", "stage verdicts", "stage record"} <= actions
    statement = read_json(crate / STATEMENT)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert "slsa" not in json.dumps(statement).lower()


def test_with_sound_the_recordings_are_checked(eventful: SmallProject, tmp_path: Path) -> None:
    """Three files a call; another recording is seen, however well the crate is sealed."""
    folder = tmp_path / "c"
    eventful.cli("export", RECORD, "--out", str(folder), "--with-sound")
    assert outcomes(eventful, folder, 0)["calls: recordings"] == ("ok", "12 files by sha256")
    first, second = sorted(folder.rglob("call.flac"))[:2]
    shutil.copy(second, first)
    reseal(folder)
    found = outcomes(eventful, folder, 1)
    assert found["calls: recordings"][0] == found["calls: output"][0] == "changed"


def raise_score(crate: Path) -> None:
    edit_json(crate / RECORD, lambda record: record["score"].update(passes=record["score"]["passes"] - 1))


def drop_an_event(crate: Path) -> None:
    edit_table(crate / "data" / "events" / AGENT / "events.parquet", lambda rows: rows.iloc[1:])


def flip_a_verdict(crate: Path) -> None:
    def flip(rows: pd.DataFrame) -> pd.DataFrame:
        rows.loc[0, "answer"] = not rows.loc[0, "answer"]
        return rows

    edit_table(crate / "data" / "verdicts" / AGENT / "verdicts.parquet", flip)


def edit_a_trace(crate: Path) -> None:
    trace = sorted((crate / "data" / "calls").rglob("trace.json"))[0]
    edit_json(trace, lambda value: value["turns"][0].update(said="Good morning."))


def lower_a_severity(crate: Path) -> None:
    path = crate / "data" / "protocols" / "v0.1" / "events.yaml"
    path.write_text(path.read_text().replace("severity: S3", "severity: S2", 1))


def edit_the_agent(crate: Path) -> None:
    path = crate / "data" / "agents" / f"{AGENT}.yaml"
    path.write_text(path.read_text().replace("endpointing_ms: 400", "endpointing_ms: 300"))


def edit_a_listing(crate: Path) -> None:
    path = sorted((crate / "listings").glob("*.json"))[0]
    path.write_text(path.read_text()[:-1] + ", {}]")


def swap_the_lineage(crate: Path) -> None:
    def swap(record: Any) -> None:
        stages = record["lineage"]["stages"]
        stages["events"]["deps"][f"data/calls/{AGENT}"] = "0" * 32 + ".dir"

    edit_json(crate / RECORD, swap)


@pytest.mark.parametrize(
    ("forge", "links"),
    [
        (raise_score, {"record: numbers"}),
        (drop_an_event, {"events: output", "events: found again", "record: numbers"}),
        (flip_a_verdict, {"verdicts: output", "verdicts: judged again"}),
        (edit_a_trace, {"calls: output", "calls: recordings", "calls: traces"}),
        (lower_a_severity, {"protocol: files"}),
        (edit_the_agent, {"agent: settings"}),
        (edit_a_listing, {"population: output", "calls: output", "caller_audio: output", "line_audio: output",
                          "verifier: output", "annotations: output", "events: output", "verdicts: output"}),
        (swap_the_lineage, {"lineage: chain"}),
    ],
)  # fmt: skip
def test_a_forgery_is_seen_however_well_the_crate_is_sealed(
    forge: Callable[[Path], None], links: set[str], copy: Path, eventful: SmallProject
) -> None:
    """Digests of metadata and Statement fit again; the chain behind the record does not."""
    forge(copy)
    reseal(copy)
    found = outcomes(eventful, copy, 1)
    failed = {name for name, (outcome, _) in found.items() if outcome in ("changed", "missing")}
    assert found["crate: files"][0] == "ok"
    if forge is edit_a_listing:
        assert len(failed & links) == 1
    else:
        assert links <= failed


def test_the_page_shows_what_holds_and_what_does_not(
    crate: Path, copy: Path, eventful: SmallProject, tmp_path: Path
) -> None:
    """One file each, of a clean pass and of a failed one, whose broken links stand first."""
    flip_a_verdict(copy)
    for folder, code in ((crate, 0), (copy, 1)):
        page = tmp_path / f"{code}.html"
        eventful.cli("verify", str(folder), "--page", str(page), code=code)
        text = page.read_text()
        assert ("<h2>Holds</h2>" in text) == (code == 0)
        assert ("<b>verdicts: judged again</b>" in text) == (code == 1)
        assert "http" not in text.replace("http-equiv", "")


def test_what_was_changed_without_sealing_is_named(copy: Path, eventful: SmallProject) -> None:
    """A file that is gone, one that was edited, one too many, a Statement that was edited."""
    (copy / "README.md").unlink()
    lower_a_severity(copy)
    (copy / "data" / "more.txt").write_text("more")
    edit_json(copy / STATEMENT, lambda value: value["predicate"].update(citation="Inquesto v0.1 = 99.9%"))
    found = outcomes(eventful, copy, 1)
    assert "events.yaml has not the SHA-256" in found["crate: files"][1]
    assert "README.md is not here" in found["crate: files"][1]
    assert found["crate: nothing else"] == ("changed", "data/more.txt is not described")
    assert "citation" in found["statement"][1]


def test_what_is_no_crate_is_said(copy: Path, eventful: SmallProject, tmp_path: Path) -> None:
    """No folder, no metadata, metadata cut off, a record that leads out of the crate."""
    environment = {**os.environ, "PYTHONPATH": str(eventful.folder)}

    def said(path: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "inquesto_dag", "verify", str(path)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2 and "Traceback" not in done.stderr
        return done.stderr

    assert "does not exist" in said(tmp_path / "none")
    assert "is no crate" in said(copy / "data")
    whole = read_json(copy / METADATA)
    next(e for e in whole["@graph"] if e["@id"] == "./")["mainEntity"] = {"@id": "../../etc/passwd"}
    write_json(copy / METADATA, whole)
    assert "outside" in said(copy)
    (copy / METADATA).write_bytes((copy / METADATA).read_bytes()[:500])
    assert "is truncated" in said(copy)


def test_export_overwrites_nothing_and_refuses_what_is_not_the_records(
    crate: Path, eventful: SmallProject, tmp_path: Path
) -> None:
    """A folder that is there; a table that is not the one that the lineage names."""
    assert "exists already" in eventful.cli("export", RECORD, "--out", str(crate), code=2)
    project = SmallProject(tmp_path / "p", eventful.memo)
    shutil.copytree(eventful.folder, project.folder, symlinks=True)
    drop_an_event(project.folder)
    assert "is not the file that the record was made from" in project.cli(
        "export", RECORD, "--out", str(tmp_path / "c"), code=1
    )
    assert not (tmp_path / "c").exists()
