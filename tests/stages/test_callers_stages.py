"""`caller_audio`, `line_audio` and `verifier`: what they plan, carry and calibrate, without engines."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from inquesto_dag.audio.babble import make_bed
from inquesto_dag.audio.files import read_flac, write_flac
from inquesto_dag.audio.levels import normalise
from inquesto_dag.audio.measure import snr_db
from inquesto_dag.callers.script import BankLine, lines_of
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.files import read_json, sha256_file
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.speech.catalogue import BABBLE_VOICES, CALLER_VOICES
from inquesto_dag.speech.verification import calibrate
from inquesto_dag.stages.babble_talks import TALKS
from inquesto_dag.stages.caller_audio import SpeakJob, group_lines, speak_lines
from inquesto_dag.stages.line_audio import CarryJob, bed_level_dbov, carry_utterance
from inquesto_dag.stages.verifier import (
    ScoreJob,
    calibration_scores,
    on_the_line,
    score_jobs,
    voices_alike,
    write_report,
)
from inquesto_dag.tables import LINES, UTTERANCES
from inquesto_dag.units import Audio, quantise

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def protocol() -> Protocol:
    return load_protocol(ROOT / "data" / "protocols" / "v0.1")


def speech_like(seconds: float, seed: int) -> Audio:
    """Noise in syllables of 0.2 s, with edges at digital silence."""
    n = round(seconds * 16_000)
    rng = np.random.default_rng(seed)
    syllables = np.abs(np.sin(np.pi * np.arange(n) / 3200))
    return quantise((0.1 * rng.standard_normal(n) * syllables).astype(np.float32))


class ToneSpeech:
    """Speaks every text as speech-like noise of its length; a test needs the stage's wiring, not a voice."""

    def __init__(self) -> None:
        self.spoken: list[str] = []

    def speak(self, text: str, *, voice: str, language: str, speed: float) -> Audio:
        self.spoken.append(text)
        return speech_like(0.3 + 0.05 * len(text), len(text))


@pytest.fixture(scope="module")
def bed() -> Audio:
    return make_bed([speech_like(3.0, seed) for seed in range(6)], 5.0, -36.0, 1)


def test_lines_with_one_text_and_voice_are_one_job(protocol: Protocol) -> None:
    """Every line is spoken once by one worker, the longest first; nothing is lost."""
    lines = lines_of(protocol, take_slice(plan_calls(protocol), "quick"))
    groups = group_lines(lines)
    assert sorted(line.utterance_id for group in groups for line in group) == sorted(
        line.utterance_id for line in lines
    )
    assert len({(group[0].voice, group[0].text) for group in groups}) == len(groups) < len(lines)
    assert all(len({(line.voice, line.text) for line in group}) == 1 for group in groups)
    lengths = [len(group[0].text) for group in groups]
    assert lengths == sorted(lengths, reverse=True)


def test_a_spoken_line_is_a_file_and_a_row_of_the_schema(protocol: Protocol, tmp_path: Path) -> None:
    """Level, bounds and digest in the row are those of the file."""
    lines = lines_of(protocol, take_slice(plan_calls(protocol), "quick"))
    hesitant = next(line for line in lines if line.style == "hesitant" and len(line.line.clauses) > 1)
    rows = speak_lines(SpeakJob((hesitant,), -26.0, tmp_path), SimpleNamespace(tts=ToneSpeech()))  # type: ignore[arg-type]
    (row,) = UTTERANCES.conform(rows).to_dict("records")
    path = tmp_path / row["path"]
    assert row["sha256"] == sha256_file(path)
    assert row["duration_s"] == len(read_flac(path)) / 16_000
    assert abs(row["active_level_dbov"] + 26.0) < 0.1
    assert 0 <= row["onset_s"] < row["offset_s"] <= row["duration_s"]
    pauses = json.loads(row["pauses_s"])
    assert len(pauses) == len(hesitant.line.clauses) - 1
    assert all(0.5 <= end - start <= 1.0 for start, end in pauses)


def test_P3_the_lines_of_an_utterance_differ_as_the_conditions_say(
    protocol: Protocol, bed: Audio, tmp_path: Path
) -> None:
    """Clean untouched, telephone band-limited by G.711, babble at 10 dB over a bed kept apart (D4-D6)."""
    clean = quantise(normalise(speech_like(2.0, 3), -26.0))
    write_flac(tmp_path / "u.flac", clean)
    write_flac(tmp_path / "bed.flac", bed)
    job = CarryJob(
        "u", tmp_path / "u.flac", sha256_file(tmp_path / "u.flac"), protocol.conditions,
        tmp_path / "bed.flac", tmp_path,
    )  # fmt: skip
    rows: dict[str, dict[str, Any]] = {
        row["condition"]: row
        for row in LINES.conform(carry_utterance(job, None)).to_dict("records")  # type: ignore[arg-type]
    }
    assert list(rows) == ["clean", "telephone", "babble"]
    for row in rows.values():
        assert row["sha256"] == sha256_file(tmp_path / row["path"])
        assert len(read_flac(tmp_path / row["path"])) == len(clean)
    assert rows["clean"]["sha256"] == rows["babble"]["sha256"] == sha256_file(tmp_path / "u.flac")
    assert [rows[name]["codec"] for name in rows] == ["none", "g711_mu", "none"]
    assert rows["telephone"]["low_band_db"] < -20.0
    assert rows["telephone"]["high_band_db"] < -20.0
    assert abs(rows["babble"]["snr_db"] - 10.0) < 0.5


def test_the_bed_lies_ten_db_below_the_callers(protocol: Protocol) -> None:
    """-26 dBov less 10 dB; two different ratios are refused, none means no bed."""
    assert bed_level_dbov(protocol) == pytest.approx(-36.0)
    clean, telephone, babble = protocol.conditions
    quiet = protocol.model_copy(update={"conditions": (clean, telephone)})
    assert bed_level_dbov(quiet) is None
    louder = babble.model_copy(update={"snr_db": 5.0})
    with pytest.raises(InputError, match=r"snr_db: asks for several noise ratios \[5.0, 10.0\]"):
        bed_level_dbov(protocol.model_copy(update={"conditions": (clean, babble, louder)}))


def test_D6_the_talkers_of_the_bed_are_six_or_more_and_no_callers() -> None:
    """Each with a talk of their own."""
    assert len(BABBLE_VOICES) == len(set(TALKS)) >= 6
    assert not set(BABBLE_VOICES) & set(CALLER_VOICES)


def test_a_noisy_line_is_heard_with_the_bed_and_others_as_they_are(
    protocol: Protocol, bed: Audio, tmp_path: Path
) -> None:
    """The verifier hears what the agent hears."""
    clean, telephone, babble = protocol.conditions
    speech = quantise(normalise(speech_like(2.0, 4), -26.0))
    write_flac(tmp_path / "bed.flac", bed)
    heard = on_the_line(speech, babble, tmp_path / "bed.flac", "one")
    assert abs(snr_db(speech, heard - speech) - 10.0) < 0.5
    assert np.array_equal(heard, on_the_line(speech, babble, tmp_path / "bed.flac", "one"))
    assert not np.array_equal(heard, on_the_line(speech, babble, tmp_path / "bed.flac", "two"))
    for condition in (clean, telephone):
        assert on_the_line(speech, condition, tmp_path / "bed.flac", "one") is speech


def test_I2_the_threshold_holds_for_every_caller_with_enough_speech(protocol: Protocol) -> None:
    """Goal-directed callers count as holders; openings too short to score do not move it (D11)."""
    jobs, rows = [], []
    for role, similarity, speech_s in (
        ("legitimate", 0.86, 2.0),
        ("legitimate", 0.10, 1.0),
        ("impostor", 0.70, 2.0),
        ("impostor", 0.99, 1.5),
        ("goal_directed", 0.80, 2.0),
    ):
        jobs.append(
            ScoreJob("u", protocol.conditions[0], Path("x"), Path("y"), "v", "af_heart", role, (1.0,))
        )
        rows.append({"similarity": similarity, "speech_s": speech_s})
    holders, impostors = calibration_scores(jobs, rows)
    assert (holders, impostors) == ([0.86, 0.80], [0.70])
    assert calibrate(holders, impostors).threshold == pytest.approx(0.75)
    rows[2]["similarity"] = 0.80
    with pytest.raises(CheckFailed, match="do not separate"):
        calibrate(*calibration_scores(jobs, rows))


def test_I2_D11_every_caller_is_scored_under_all_three_conditions(protocol: Protocol, tmp_path: Path) -> None:
    """The openings of all 102 callers: impostors against the holder's enrolment, others against their own."""
    population = plan_calls(protocol)
    callers = {(row["scenario_id"], row["voice"]): row["role"] for row in population}
    utterances = [
        {"scenario_id": scenario, "voice": voice, "move": move, "utterance_id": f"{scenario}.{voice}.{move}"}
        for scenario, voice in callers
        for move in ("opening", "goodbye")
    ]
    lines = [
        {"utterance_id": row["utterance_id"], "condition": c.id, "path": f"{row['utterance_id']}.{c.id}"}
        for row in utterances
        for c in protocol.conditions
    ]
    tables = {"utterances": utterances, "lines": lines, "population": population}
    ctx = SimpleNamespace(
        rows=lambda table, stage: tables[table], folder=lambda stage: tmp_path, protocol=protocol
    )
    enrolments = {voice.voice: [float(place)] for place, voice in enumerate(protocol.voices)}
    jobs = score_jobs(ctx, enrolments, tmp_path / "bed.flac")  # type: ignore[arg-type]
    assert len(jobs) == 102 * 3 == len({(job.utterance_id, job.condition.id) for job in jobs})
    for job in jobs:
        assert job.path == tmp_path / f"{job.utterance_id}.{job.condition.id}"
        assert job.utterance_id.endswith(f"{job.voice}.opening")
        against = "af_heart" if job.role == "impostor" else job.voice
        assert list(job.enrolment) == enrolments[against]
    assert sum(job.role == "impostor" for job in jobs) == 9


def test_a_bank_line_travels_to_a_worker(protocol: Protocol) -> None:
    """Jobs are pickled."""
    import pickle

    line = lines_of(protocol, plan_calls(protocol)[:1])[0]
    again: BankLine = pickle.loads(pickle.dumps(line))
    assert again == line


def test_I2_voices_alike_are_of_the_holders_sex_and_accent() -> None:
    """Two of the pack, never the holder's own nor one that whispers."""
    known = ["am_adam", "af_sarah", "af_heart", "af_nicole", "bf_emma", "af_bella", "af_nova"]
    assert voices_alike("af_heart", known) == ["af_bella", "af_nova"]
    assert voices_alike("bm_george", known) == []


def test_I2_the_report_leaves_the_calibration_alone_and_names_its_limit(tmp_path: Path) -> None:
    """Short openings are left out as in calls; a voice that is alike moves no threshold."""
    row = {"condition": "clean", "speech_s": 2.0}
    rows = [
        {**row, "kind": "holder", "voice": "af_heart", "similarity": 0.9},
        {**row, "kind": "impostor", "voice": "am_michael", "similarity": 0.6},
        {**row, "kind": "impostor", "voice": "am_michael", "similarity": 0.99, "speech_s": 0.5},
        {**row, "kind": "alike", "voice": "af_bella", "similarity": 0.8},
    ]
    numbers = {
        "encoder": "ge2e", "threshold": 0.75, "margin": 0.3, "lowest_holder": 0.9, "highest_impostor": 0.6,
    }  # fmt: skip
    write_report(tmp_path, numbers, rows, ["clean"])
    report = read_json(tmp_path / "report.json")
    assert {name: report[name] for name in numbers} == numbers
    assert (report["too_little_speech"], report["all"]["impostors_accepted"]) == (1, 0)
    assert (report["all"]["alike_accepted"], report["alike_voices"]) == (1, ["af_bella"])
    assert "af_bella" in (tmp_path / "page" / "index.html").read_text()
