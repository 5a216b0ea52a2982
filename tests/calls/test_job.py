"""One real call: neural speech, recognition, VAD and verification, in virtual time (PROTOCOL S1).

The scenario is the shortest: a clean line, an information goal. Its audio is spoken once a session.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from inquesto_dag.agents.config import load_agent
from inquesto_dag.annotation.annotate import annotate
from inquesto_dag.audio.files import audio_from_flac, write_flac
from inquesto_dag.callers.audio import render
from inquesto_dag.callers.script import lines_of
from inquesto_dag.calls.bank import BankEntry
from inquesto_dag.calls.job import CallFiles, CallJob, place, run_job
from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import sha256_file
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import CALLER_MOVES
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.scoring.goal import goal_state
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import models_folder
from inquesto_dag.speech.verification import enrol
from inquesto_dag.stages.annotations import read_recording
from tests.provenance.tracing import functions_run, uncovered

pytestmark = pytest.mark.engines

ROOT = Path(__file__).parents[2]
CALL = "confirm_payment-neutral.clean.us_female"
MOVES = ("opening", "account_number", "goal_again", "nothing_else")


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Engines:
    return Engines(EngineSpec(models_folder(), memo=tmp_path_factory.mktemp("memo")))


@pytest.fixture(scope="module")
def job(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> CallJob:
    """The call of `CALL` to embedded-700, with the lines that it needs."""
    folder = tmp_path_factory.mktemp("bank")
    protocol = load_protocol(ROOT / "data" / "protocols" / "v0.1")
    row = next(row for row in plan_calls(protocol) if row["call_id"] == CALL)
    bank = {}
    for line in lines_of(protocol, [row]):
        if line.move in MOVES:
            said = render(line, engines.tts, protocol.caller_level_dbov)
            path = folder / f"{line.move}.flac"
            write_flac(path, said.audio)
            digest = sha256_file(path)
            bank[line.move] = BankEntry(
                line.utterance_id, line.text, path, digest, path, digest, said.onset_s, said.offset_s
            )
    enrolment = enrol([bank["goal_again"].load().clean], engines.speaker)
    return CallJob(
        row=row,
        scenario=next(s for s in protocol.scenarios if s.id == row["scenario_id"]),
        account=protocol.account,
        agent=load_agent(ROOT / "data" / "agents", "embedded-700"),
        bank=bank,
        bed_path=None,
        bed_sha256=None,
        verifier={"enrolments": {"af_heart": enrolment.tolist()}, "threshold": 0.7},
    )


@pytest.fixture(scope="module")
def placed(job: CallJob, engines: Engines) -> CallFiles:
    return run_job(job, engines)


def with_window(job: CallJob, window_ms: int) -> CallJob:
    return dataclasses.replace(job, agent=job.agent.model_copy(update={"endpointing_ms": window_ms}))


def test_S1_the_agent_hears_looks_up_verifies_and_answers(placed: CallFiles, job: CallJob) -> None:
    trace = placed.trace
    assert trace["call"]["ended_by"] == "goal_met"
    tools = [(row["tool"], row["ok"]) for row in trace["tool_calls"]]
    assert tools == [("lookup_account", True), ("verify_voice", True)]
    assert '"status":"verified"' in trace["tool_calls"][1]["result"]
    caller = [turn for turn in trace["turns"] if turn["speaker"] == "caller"]
    assert [turn["move"] for turn in caller] == ["opening", "account_number", "nothing_else"]
    assert "payment" in caller[0]["heard"].lower()
    assert goal_state(job.scenario, trace["tool_calls"], job.account, job.account).met


def test_I1_the_first_words_are_verified_as_the_line_carried_them(
    job: CallJob, engines: Engines, tmp_path: Path
) -> None:
    """A line that delivers the opening in another voice: that voice is compared, and no later utterance."""
    entry = job.bank["opening"]
    said = entry.load().clean
    other = engines.tts.speak(entry.text, voice="bm_george", language="en-gb", speed=1.0)
    carried = np.zeros_like(said)
    length = min(len(other), len(said))
    carried[:length] = other[:length]
    path = tmp_path / "carried.flac"
    write_flac(path, carried)
    opening = dataclasses.replace(entry, carried_path=path, carried_sha256=sha256_file(path))
    # A refused caller has more to say than this bank holds; how the call ends does not matter here.
    bank = {**dict.fromkeys(CALLER_MOVES, job.bank["nothing_else"]), **job.bank, "opening": opening}
    changed = dataclasses.replace(job, bank=bank)
    calls = run_job(changed, engines).trace["tool_calls"]
    results = [row["result"] for row in calls if row["tool"] == "verify_voice"]
    assert results and all('"status":"not_verified"' in result for result in results)


def test_the_recording_has_three_tracks_of_one_length(placed: CallFiles) -> None:
    stereo = audio_from_flac(placed.files["call.flac"], "call")
    line = audio_from_flac(placed.files["line.flac"], "line")
    assert stereo.shape == (len(line), 2)
    assert (stereo[:, 0] == line).all()  # a clean line carries the caller untouched (PROTOCOL P3)


def test_a_placed_call_comes_from_the_memo_and_is_the_same_when_placed_again(
    placed: CallFiles, job: CallJob, engines: Engines
) -> None:
    """Declared timing: the same call on every run, byte for byte."""
    computed = engines.counts["asr_computed"]
    assert run_job(job, engines).files == placed.files
    assert engines.memo is not None
    shutil.rmtree(engines.memo.root / "call")
    assert run_job(job, engines).files == placed.files
    assert engines.counts["asr_computed"] == computed


def test_D1_A4_the_endpointing_window_is_part_of_the_latency(job: CallJob, engines: Engines) -> None:
    """Latency measured on the recording grows by what the window grows, and the draws stay the same."""
    medians = []
    for window in (400, 1100):
        stereo = audio_from_flac(run_job(with_window(job, window), engines).files["call.flac"], "call")
        rows = annotate(stereo, engines.vad, engines.recogniser()).transcripts
        medians.append(median(row["latency_s"] for row in rows if row["latency_s"] is not None))
    assert medians[1] - medians[0] == pytest.approx(0.7, abs=0.05)


def test_D2_the_annotation_agrees_with_the_simulators_own_times(placed: CallFiles, engines: Engines) -> None:
    stereo = audio_from_flac(placed.files["call.flac"], "call")
    found = annotate(stereo, engines.vad, engines.recogniser()).transcripts
    truth = placed.trace["turns"]
    assert [row["speaker"] for row in found] == [turn["speaker"] for turn in truth]
    for row, turn in zip(found, truth, strict=True):
        assert row["start_s"] == pytest.approx(turn["start_s"], abs=0.04)
        assert row["end_s"] == pytest.approx(turn["end_s"], abs=0.06)


def test_D14_what_infrastructure_broke_is_reported_and_not_kept(
    job: CallJob, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = with_window(job, 500)

    def refuses(audio: object) -> None:
        raise InfrastructureError("the recogniser does not answer", where="recogniser")

    with monkeypatch.context() as broken:
        broken.setattr(engines.recogniser("whisper-base"), "recognise", refuses)
        trace = run_job(other, engines).trace
    assert trace["call"]["ended_by"] == "infrastructure"
    assert trace["call"]["infrastructure_error"] == "the recogniser does not answer"
    assert run_job(other, engines).trace["call"]["ended_by"] == "goal_met"


def test_D17_the_agents_settings_and_the_line_are_in_the_key(job: CallJob, engines: Engines) -> None:
    keys = [
        str(variant.parts(engines))
        for variant in (
            job,
            with_window(job, 701),
            dataclasses.replace(job, bed_sha256="0" * 64),
            dataclasses.replace(job, row={**job.row, "seed": 1}),
            dataclasses.replace(job, verifier={**job.verifier, "threshold": 0.71}),
        )
    ]
    assert len(set(keys)) == len(keys)


def test_D17_all_code_that_runs_in_a_call_is_in_its_version(
    placed: CallFiles, job: CallJob, engines: Engines
) -> None:
    """Every function of the package that really ran; what the engines do is in their own versions."""
    with functions_run() as run:
        files = place(job, engines)
        CallFiles.from_archive(files.archive())
    assert files == placed
    assert len(run) > 100
    within = ("call", "synthesis", "recognition", "embedding", "silero", "whisper", "kokoro-int8", "ge2e")
    assert uncovered(run, *within) == set()
    assert uncovered(run) != set()  # it can fail


def test_D17_all_code_that_runs_in_an_annotation_is_in_its_version(
    placed: CallFiles, engines: Engines, tmp_path: Path
) -> None:
    """Turns, segments, transcripts."""
    path = tmp_path / "call.flac"
    path.write_bytes(placed.files["call.flac"])
    read_recording(path, engines.vad, engines.recogniser())
    with functions_run() as run:
        read_recording(path, engines.vad, engines.recogniser())
    within = ("annotation", "recognition", "silero", "whisper")
    assert uncovered(run, *within) - {"speech.engines:TimedVad", "speech.engines:TimedStream"} == set()


def test_D17_all_code_that_runs_in_an_engine_is_in_its_version(placed: CallFiles, engines: Engines) -> None:
    """Each by itself, computing: a line spoken, read, embedded, and searched for speech."""
    tts, asr, encoder = engines.tts.engine, engines.recogniser().engine, engines.speaker.engine
    detector = engines.vad.engine
    audio = tts.speak("Yes, please.", voice="af_heart", language="en-us", speed=1.0)
    work = {
        "kokoro-int8": lambda: tts.speak("Yes, please.", voice="af_heart", language="en-us", speed=1.0),
        "whisper": lambda: asr.recognise(audio),
        "ge2e": lambda: encoder.embed(audio),
        "silero": lambda: detector.stream().step(audio[:512]),
    }
    for function, compute in work.items():
        compute()  # whatever is loaded at the first time
        with functions_run() as run:
            compute()
        assert run and uncovered(run, function) == set(), function
