"""What each stage promises beyond its schema: a sound table passes, and every promise can be broken."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from assets.suites import Expectation, Validation, validate_table
from inquesto_dag.files import write_json, write_table
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.stages.chain import CHAIN, STAGES
from tests.assets.tables_that_pass import SHA, passing_table

ROOT = Path(__file__).parents[2]
AGENT = "one"
MODULES = {stage.name: import_module(f"assets.{stage.name}") for stage in CHAIN}
CALLS = ["a-x.clean.us_female", "b-y.babble.uk_male"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the real protocol, two planned calls, and what promises read of other stages."""
    shutil.copytree(ROOT / "data" / "protocols", tmp_path / "data" / "protocols")
    (tmp_path / "params.yaml").write_text(
        "protocol: v0.1\nprofile: embedded\npopulation: quick\nagents:\n  - one\n"
    )
    planned = passing_table("population", call_id=CALLS)
    write_table(tmp_path / "data" / "population" / "population.parquet", planned)
    placed = passing_table("calls", call_id=CALLS, infrastructure_error=[None, None])
    write_table(tmp_path / "data" / "calls" / AGENT / "calls.parquet", placed)
    write_json(
        tmp_path / "data" / "verifier" / "verifier.json",
        {"threshold": 0.75, "minimum_speech_s": 1.6},
    )
    return tmp_path


def full_plan() -> pd.DataFrame:
    from inquesto_dag.tables import POPULATION

    protocol = load_protocol(ROOT / "data" / "protocols" / "v0.1")
    return POPULATION.conform(take_slice(plan_calls(protocol), "quick"))


def sound_table(table: str) -> pd.DataFrame:
    """A table that keeps its stage's promises."""
    columns: dict[str, dict[str, list[Any]]] = {
        "utterances": {
            "onset_s": [0.1, 0.2], "offset_s": [1.0, 1.5], "duration_s": [1.0, 1.6],
            "pauses_s": ["[]", "[[0, 1]]"],
            "active_level_dbov": [-26.05, -25.95], "sha256": [SHA, SHA], "path": ["a.flac", "b.flac"],
        },
        "lines": {
            "utterance_id": ["u", "u", "u"], "condition": ["clean", "telephone", "babble"],
            "codec": ["none", "g711_mu", "none"], "snr_db": [None, None, 10.2],
            "low_band_db": [0.0, -31.0, 0.0], "high_band_db": [0.0, -40.0, 0.0],
        },
        "verifier": {
            "utterance_id": ["h", "i", "s", "g"], "kind": ["holder", "impostor", "impostor", "holder"],
            "enrolled_voice": ["af_heart", "af_heart", "af_heart", "am_michael"],
            "similarity": [0.8, 0.7, 0.9, 0.76], "speech_s": [2.0, 2.0, 1.0, 2.0],
        },
        "calls": {
            "call_id": CALLS, "agent": [AGENT, AGENT], "duration_s": [30.0, 40.0],
            "account_after": ["{}", "{}"], "call_sha256": [SHA, SHA],
        },
        "turns": {
            "call_id": CALLS, "speaker": ["caller", "agent"], "start_s": [0.5, 1.0], "end_s": [1.0, 2.0],
        },
        "tool_calls": {
            "call_id": CALLS, "arguments": ["{}", "{}"], "result": ["{}", "{}"],
            "version_before": [0, 0], "version_after": [0, 1],
        },
        "segments": {"call_id": CALLS, "start_s": [0.5, 1.0], "end_s": [1.0, 2.0]},
        "transcripts": {
            "call_id": CALLS, "speaker": ["caller", "agent"], "start_s": [0.5, 1.0], "end_s": [1.0, 2.0],
            "reply_to": [None, 0], "latency_s": [None, -0.4],
        },
        "heard": {
            "call_id": CALLS, "reference_words": [9, 9], "substitutions": [1, 0], "deletions": [0, 9],
        },
        "events": {
            "call_id": CALLS, "event": ["talk_over", "unverified_action"], "severity": ["S2", "S5"],
            "source": ["audio", "trace"], "evidence": ["{}", "{}"],
        },
        "verdicts": {
            "call_id": CALLS, "question": ["goal_reached", "context_loss"], "judge": ["j", "j"],
            "evidence": ["{}", "{}"],
        },
        "results": {
            "call_id": CALLS, "status": ["scored", "scored"], "goal": [True, True], "max_severity": [2, 3],
            "passed": [True, False], "events": ["[]", "[]"],
        },
        "judge_errors": {
            "event": ["context_loss", "goal_reached"], "planted": [9, 9], "found": [8, 9],
            "clean": [9, 9], "silent": [9, 8], "judge": ["j", "j"],
        },
        "probes": {
            "probe": ["sound", "mute"], "call_id": CALLS, "realised": [True, False],
            "fault": [None, "the caller left"], "planted": ["[]", '["slow_turn"]'], "open": ["[]", "[]"],
            "found": ["[]", "[]"], "call_sha256": [SHA, SHA],
        },
    }  # fmt: skip
    return full_plan() if table == "population" else passing_table(table, **columns[table])


# Table, column, row (a name stands for all rows), the value that breaks a promise.
FAULTS: list[tuple[str, str, int, Any]] = [
    ("population", "scenario_id", 0, "another-scenario"),
    ("population", "call_id", 0, "another.call.id"),
    ("utterances", "onset_s", 0, 1.0),
    ("utterances", "offset_s", 1, 1.61),
    ("utterances", "pauses_s", 1, "[0, 1"),
    ("utterances", "active_level_dbov", 1, -25.8),
    ("utterances", "sha256", 0, "abc"),
    ("utterances", "path", 0, "b.flac"),
    ("lines", "codec", 0, "g711_mu"),
    ("lines", "codec", 1, "none"),
    ("lines", "snr_db", 0, 10.0),
    ("lines", "snr_db", 2, None),
    ("lines", "snr_db", 2, 9.4),
    ("lines", "snr_db", 2, 10.6),
    ("lines", "low_band_db", 1, -19.0),
    ("lines", "high_band_db", 1, -19.0),
    ("lines", "low_band_db", 0, -1.0),
    ("lines", "high_band_db", 0, 1.0),
    ("lines", "low_band_db", 2, -1.0),
    ("lines", "high_band_db", 2, -1.0),
    ("lines", "codec", 2, "g711_mu"),
    ("lines", "snr_db", 1, 10.0),
    ("verifier", "similarity", 0, 0.74),
    ("verifier", "similarity", 3, 0.74),
    ("verifier", "similarity", 1, 0.75),
    ("verifier", "kind", 0, "impostor"),
    ("calls", "call_id", 1, "not.planned.call"),
    ("calls", "agent", 0, "another"),
    ("calls", "duration_s", 0, 901.0),
    ("calls", "account_after", 0, "{"),
    ("calls", "call_sha256", 1, ""),
    ("turns", "end_s", 0, 0.4),
    ("turns", "call_id", 0, "not.planned.call"),
    ("turns", "speaker", 0, "agent"),
    ("tool_calls", "version_before", 1, 2),
    ("tool_calls", "arguments", 1, "amount=49"),
    ("tool_calls", "result", 1, "done"),
    ("tool_calls", "call_id", 0, "not.planned.call"),
    ("segments", "end_s", 0, 0.5),
    ("segments", "end_s", 1, 1000.0),
    ("segments", "call_id", 1, CALLS[0]),
    ("transcripts", "end_s", 1, 1.0),
    ("transcripts", "latency_s", 0, 0.5),
    ("transcripts", "latency_s", 1, 1000.0),
    ("transcripts", "reply_to", 0, 1),
    ("transcripts", "call_id", 1, CALLS[0]),
    ("heard", "substitutions", 0, 10),
    ("heard", "deletions", 1, 10),
    ("heard", "call_id", 1, "not.planned.call"),
    ("events", "event", 0, "rudeness"),
    ("events", "severity", 0, "S3"),
    ("events", "source", 0, "judge"),
    ("events", "source", 1, "audio"),
    ("events", "call_id", 0, "not.planned.call"),
    ("events", "evidence", 0, "heard it"),
    ("verdicts", "question", 0, "was_polite"),
    ("verdicts", "judge", 1, "another"),
    ("verdicts", "evidence", 1, "turn 3"),
    ("verdicts", "reason", 0, ""),
    ("verdicts", "call_id", 1, CALLS[0]),
    ("results", "passed", 0, False),
    ("results", "passed", 1, True),
    ("results", "passed", 0, None),
    ("results", "goal", 0, False),
    ("results", "status", 0, "unjudged"),
    ("results", "events", 0, "none"),
    ("results", "why", 0, ""),
    ("results", "call_id", 1, "not.planned.call"),
    ("judge_errors", "found", 0, 10),
    ("judge_errors", "silent", 0, 10),
    ("judge_errors", "judge", 1, "another"),
    ("probes", "probe", 0, "another"),
    ("probes", "call_id", 0, "not.planned.call"),
    ("probes", "planted", 0, "none"),
    ("probes", "open", 1, "none"),
    ("probes", "found", 1, "none"),
    ("probes", "fault", 0, "left"),
    ("probes", "fault", 1, None),
    ("probes", "call_sha256", 1, ""),
]
TABLES_WITH_PROMISES = [(stage, table) for stage, module in MODULES.items() for table in module.PROMISES]
STAGE_OF = {table: stage for stage, table in TABLES_WITH_PROMISES}


def promises(project: Path, table: str) -> list[Expectation]:
    agent = AGENT if STAGES[STAGE_OF[table]].per_agent else None
    return list(MODULES[STAGE_OF[table]].PROMISES[table](project, agent))


def check(project: Path, table: str, frame: pd.DataFrame) -> Validation:
    return validate_table(table, frame, promises(project, table))


@pytest.mark.parametrize(("stage", "table"), TABLES_WITH_PROMISES)
def test_a_sound_table_keeps_its_promises(project: Path, stage: str, table: str) -> None:
    """No promise complains about a sound table."""
    assert check(project, table, sound_table(table)).failures == ()


@pytest.mark.parametrize(("table", "column", "row", "value"), FAULTS)
def test_a_broken_promise_is_seen(project: Path, table: str, column: str, row: int, value: Any) -> None:
    """One wrong cell is enough."""
    frame = sound_table(table)
    frame.loc[row, column] = value
    outcome = check(project, table, frame)
    assert outcome.failures, f"nobody minds {column} = {value!r}"
    assert not any("raised_exception" in failure for failure in outcome.failures)


@pytest.mark.parametrize("table", ["population", "calls", "results"])
def test_a_lost_call_is_seen(project: Path, table: str) -> None:
    """A row too few: the population and every stage's calls are complete or refused."""
    assert check(project, table, sound_table(table).iloc[1:]).failures


@pytest.mark.parametrize("table", ["utterances", "lines"])
def test_an_empty_bank_is_seen(project: Path, table: str) -> None:
    """No caller line at all is no result."""
    assert check(project, table, sound_table(table).iloc[:0]).failures


def test_every_promise_has_a_fault_that_breaks_it(project: Path) -> None:
    """A check that cannot fail is a defect: each expectation complains about at least one of the faults."""
    idle = {}
    for _, table in TABLES_WITH_PROMISES:
        kinds = {(e.kind, str(e.arguments)) for e in promises(project, table)}
        broken: set[tuple[str, str]] = set()
        frames = [sound_table(table).iloc[1:], sound_table(table).iloc[:0]]
        for name, column, row, value in FAULTS:
            if name == table:
                frame = sound_table(table)
                frame.loc[row, column] = value
                frames.append(frame)
        for expectation in promises(project, table):
            key = (expectation.kind, str(expectation.arguments))
            if any(validate_table(table, frame, [expectation]).failures for frame in frames):
                broken.add(key)
        if kinds - broken:
            idle[table] = sorted(kinds - broken)
    # Rules about each event type are one rule for eleven types; two of them stand for all.
    idle["events"] = [k for k in idle.get("events", []) if "row_condition" not in k[1]]
    assert {table: keys for table, keys in idle.items() if keys} == {}
