"""PROTOCOL D17: everything that decides a result is in its key, and nothing else is.

Keys need the digests of model files and load no network, so these tests are quick where models lie.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inquesto_dag.agents.config import load_agent
from inquesto_dag.calls.bank import BankEntry
from inquesto_dag.calls.job import CallJob, run_job
from inquesto_dag.files import canonical_json, sha256_file
from inquesto_dag.judging.interfaces import JudgedCall
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.provenance import versions
from inquesto_dag.provenance.code import ROOT
from inquesto_dag.provenance.memo import Memo, result_key
from inquesto_dag.speech.engines import Engines, EngineSpec, engines_for
from inquesto_dag.speech.fetch import fetch, models_folder
from inquesto_dag.stages.annotations import Recorded, annotate_recording
from inquesto_dag.stages.verdicts import Rubric
from inquesto_dag.units import Audio
from tests.judging.calls import call_of

pytestmark = pytest.mark.engines

AUDIO = np.linspace(-0.5, 0.5, 16_000, dtype=np.float32)


class Asked(Exception):
    """Leaves a memo that was asked for a key."""


class Keys(Memo):
    """Notes the key that it is asked for, and has nothing."""

    def compute(self, kind: str, code: Any, parts: Mapping[str, Any], function: Callable[[], bytes]) -> bytes:
        raise Asked(kind, result_key(kind, code, parts))


def key_of(work: Callable[[Engines], object], **spec: Any) -> tuple[str, str]:
    """Kind and key of what some work asks the memo for first."""
    engines = engines_for(EngineSpec(**{"models": models_folder(), "memo": Path("unused"), **spec}))
    engines.memo = Keys(Path("unused"))
    with pytest.raises(Asked) as asked:
        work(engines)
    kind, key = asked.value.args
    return kind, key


def speak(engines: Engines, **other: Any) -> object:
    line = {"text": "Yes, please.", "voice": "af_heart", "language": "en-us", "speed": 1.0, **other}
    return engines.tts.speak(line.pop("text"), **line)


def other_models(folder: Path, model: str, file: str) -> Path:
    """The models folder with one file changed in one bit, the rest linked."""
    for source in models_folder().iterdir():
        target = folder / source.name
        if source.is_dir() and source.name != model:
            target.symlink_to(source)
        elif source.is_dir():
            target.mkdir()
            for path in source.iterdir():
                if path.name == file:
                    content = bytearray(path.read_bytes())
                    content[-1] ^= 1
                    (target / path.name).write_bytes(content)
                else:
                    (target / path.name).symlink_to(path)
    return folder


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed model is refused before its key is asked for; here the key itself is looked at."""
    from inquesto_dag.speech import catalogue, engines

    def present(name: str, folder: Path) -> dict[str, Path]:
        (model,) = catalogue.models_named([name])
        found = {file.name: folder / name / file.name for file in model.files}
        return {name: path for name, path in found.items() if path.exists()}

    monkeypatch.setattr(engines, "require", present)


WORK: dict[str, Callable[[Engines], object]] = {
    "synthesis": speak,
    "recognition": lambda engines: engines.recogniser().recognise(AUDIO),
    "embedding": lambda engines: engines.speaker.embed(AUDIO),
}


@pytest.mark.parametrize(
    ("kind", "other"),
    [
        ("synthesis", {"text": "Yes please."}), ("synthesis", {"voice": "am_michael"}),
        ("synthesis", {"language": "en-gb"}), ("synthesis", {"speed": 1.01}),
    ],
    ids=str,
)  # fmt: skip
def test_D17_what_is_said_and_how_is_in_the_key_of_a_synthesis(kind: str, other: dict[str, Any]) -> None:
    """Text, voice, language, speed."""
    first, second = key_of(speak), key_of(lambda engines: speak(engines, **other))
    assert first[0] == second[0] == kind and first[1] != second[1]


@pytest.mark.parametrize("kind", ["recognition", "embedding"])
def test_D17_what_is_heard_is_in_the_key(kind: str) -> None:
    """One sample by one step of 16 bits; less than a step is not heard, since engines are given steps."""
    changed, same = AUDIO.copy(), AUDIO.copy()
    changed[100] += 1 / 32768
    same[100] += 1 / 32768 / 1000

    def key(audio: Audio) -> tuple[str, str]:
        if kind == "recognition":
            return key_of(lambda engines: engines.recogniser().recognise(audio))
        return key_of(lambda engines: engines.speaker.embed(audio))

    assert key(AUDIO)[0] == kind and key(changed) != key(AUDIO) == key(same)


@pytest.mark.parametrize(
    ("kind", "model", "file"),
    [
        ("synthesis", "kokoro-int8", "kokoro-v1.0.int8.onnx"), ("synthesis", "kokoro-voices", "af_heart.bin"),
        ("recognition", "whisper-base", "config.json"), ("recognition", "whisper-base", "vocabulary.json"),
        ("embedding", "ge2e", "pretrained.pt"),
    ],
)  # fmt: skip
def test_D17_every_file_that_an_engine_loads_is_in_the_key(
    tmp_path: Path, unchecked: None, kind: str, model: str, file: str
) -> None:
    """By its bytes, and not by where they lie."""
    (tmp_path / "same").symlink_to(models_folder())
    base = key_of(WORK[kind])
    assert key_of(WORK[kind], models=tmp_path / "same") == base
    (tmp_path / "other").mkdir()
    assert key_of(WORK[kind], models=other_models(tmp_path / "other", model, file)) != base


def test_what_an_engine_does_not_use_is_not_in_its_key(tmp_path: Path, unchecked: None) -> None:
    """Another voice's pack, a stray file beside a model, the number of threads."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    voices = other_models(tmp_path / "a", "kokoro-voices", "bf_emma.bin")
    assert key_of(speak, models=voices, threads=2) == key_of(speak)
    stray = other_models(tmp_path / "b", "whisper-base", "no such file")
    (stray / "whisper-base" / ".tmp-123-model.bin").write_text("half a download")
    assert key_of(WORK["recognition"], models=stray, threads=2) == key_of(WORK["recognition"])


LIBRARIES = {
    "synthesis": {"numpy", "soxr", "onnxruntime", "kokoro-onnx", "espeakng-loader", "phonemizer-fork",
                  "soundfile"},
    "recognition": {"numpy", "faster-whisper", "ctranslate2", "tokenizers"},
    "embedding": {"numpy", "torch"},
}  # fmt: skip


@pytest.mark.parametrize("kind", LIBRARIES)
def test_D17_the_libraries_that_compute_are_in_the_key(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of any of them is another result; of any other package it is not."""
    base, real = key_of(WORK[kind]), versions._installed
    everything = {package for packages in versions.LIBRARIES.values() for package in packages}
    deciding = set()
    for package in everything:
        with monkeypatch.context() as patch:
            patch.setattr(versions, "_installed", lambda p, x=package: "other" if p == x else real(p))
            if key_of(WORK[kind]) != base:
                deciding.add(package)
    assert deciding == LIBRARIES[kind]


FUNCTIONS = {
    "synthesis": {"synthesis", "kokoro-int8"},
    "recognition": {"recognition", "whisper"},
    "embedding": {"embedding", "ge2e"},
    "call": {"call", "kokoro-int8", "whisper", "silero", "ge2e", "policy"},
    "annotation": {"annotation", "silero", "whisper"},
    "verdict": {"verdict", "rules"},
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_D17_the_code_that_computes_is_in_the_key(
    kind: str, work: dict[str, Callable[[Engines], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of each function behind it, and of no other."""
    base, real = key_of(work[kind]), versions.function_version
    deciding = set()
    for function in versions.FUNCTIONS:
        with monkeypatch.context() as patch:
            for module in ("provenance.versions", "agents.config", "judging.rules"):
                patch.setattr(f"inquesto_dag.{module}.function_version",
                              lambda f, x=function: "other" if f == x else real(f))  # fmt: skip
            if key_of(work[kind]) != base:
                deciding.add(function)
    assert deciding == FUNCTIONS[kind]


@pytest.fixture(scope="module")
def protocol() -> Protocol:
    return load_protocol(ROOT / "data" / "protocols" / "v0.1")


@pytest.fixture(scope="module")
def another_recogniser() -> str:
    """No agent's: fetched by digest when it is not here, since a key holds a model's own digest."""
    fetch(["whisper-tiny"], models_folder())
    return "whisper-tiny"


@pytest.fixture(scope="module")
def job(protocol: Protocol) -> CallJob:
    """A call whose files need not exist: its key asks for digests."""
    row = next(row for row in plan_calls(protocol) if row["condition"] == "babble")
    entry = BankEntry("u", "Hello.", Path("a"), "1" * 64, Path("b"), "2" * 64, 0.0, 1.0)
    return CallJob(
        row=row, scenario=next(s for s in protocol.scenarios if s.id == row["scenario_id"]),
        account=protocol.account, agent=load_agent(ROOT / "data" / "agents", "embedded-700"),
        bank={"opening": entry}, bed_path=Path("bed"), bed_sha256="3" * 64,
        verifier={"threshold": 0.7, "margin": 0.1, "enrolments": {"af_heart": [1.0, 0.0], "x": [0.0, 1.0]}},
    )  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    path = tmp_path_factory.mktemp("recording") / "call.flac"
    path.write_bytes(b"any bytes: the key holds their digest")
    return Recorded("x", path, sha256_file(path), "whisper-base")


@pytest.fixture
def work(job: CallJob, recording: Recorded, protocol: Protocol) -> dict[str, Callable[[Engines], object]]:
    call = call_of("cancel_sub-legit", "C: Hello.")
    return {
        **WORK,
        "call": lambda engines: run_job(job, engines),
        "annotation": lambda engines: annotate_recording(recording, engines),
        "verdict": lambda _: Rubric(RuleJudge(protocol), protocol).verdicts(call, Keys(Path())),
    }  # fmt: skip


def variants(value: Any) -> list[tuple[str, Any]]:
    """A JSON value with each leaf changed in turn, with the path of that leaf."""
    if isinstance(value, dict):
        return [(f"{k}.{p}", {**value, k: v}) for k in value for p, v in variants(value[k])]
    if isinstance(value, list):
        return [
            (f"{i}.{p}", [*value[:i], v, *value[i + 1 :]])
            for i, item in enumerate(value)
            for p, v in variants(item)
        ]
    return [("", "another" if value != "another" else "a third")]


def call_key(job: CallJob) -> tuple[str, str]:
    return key_of(lambda engines: run_job(job, engines))


def test_D17_everything_of_a_call_is_in_its_key(job: CallJob, another_recogniser: str) -> None:
    """Every column of its row, setting of its agent, line of its bank, the bed, threshold and enrolment."""
    settings = job.agent
    timing = settings.timing.model_copy(
        update={"brain": settings.timing.brain.model_copy(update={"sigma": 0.9})}
    )
    agents = [
        settings.model_copy(update=update)
        for update in (
            {"endpointing_ms": 701}, {"interruptible": not settings.interruptible}, {"greeting": "Hi."},
            {"recogniser": another_recogniser}, {"timing": timing},
            {"voice": settings.voice.model_copy(update={"speed": 1.1})},
            {"voice": settings.voice.model_copy(update={"name": "am_puck"})},
        )
    ]  # fmt: skip
    entry = job.bank["opening"]
    entries = [
        dataclasses.replace(entry, **change)
        for change in ({"text": "Hello!"}, {"clean_sha256": "4" * 64}, {"carried_sha256": "4" * 64},
                       {"onset_s": 0.1}, {"offset_s": 1.1})
    ]  # fmt: skip
    replace = dataclasses.replace
    other = [
        *(replace(job, row={**job.row, name: "another"}) for name in job.row if name != "enrolled_voice"),
        *(replace(job, agent=agent) for agent in agents),
        *(replace(job, bank={"opening": e}) for e in entries),
        replace(job, bank={"opening": entry, "goodbye": entry}),
        replace(job, bank={"goodbye": entry}),
        replace(job, bed_sha256="4" * 64),
        replace(job, verifier={**job.verifier, "threshold": 0.71}),
        replace(job, verifier={**job.verifier, "enrolments": {"af_heart": [0.9, 0.1]}}),
        replace(job, row={**job.row, "enrolled_voice": "x"}),
        replace(job, scenario=job.scenario.model_copy(update={"lines": {"opening": "Good day."}})),
        replace(job, account=job.account.model_copy(update={"billing_email": "x@example.com"})),
    ]
    keys = [call_key(job), *map(call_key, other)]
    assert {kind for kind, _ in keys} == {"call"}
    assert len(set(keys)) == len(other) + 1


def test_what_decides_nothing_of_a_call_is_not_in_its_key(job: CallJob) -> None:
    """The agent's name, where files lie, other voices' enrolments, figures that only describe."""
    entry = job.bank["opening"]
    entry = dataclasses.replace(entry, clean_path=Path("c"), carried_path=Path("d"), utterance_id="v")
    agent = job.agent.model_copy(update={"id": "another", "description": "Another."})
    same = dataclasses.replace(
        job, agent=agent, bank={"opening": entry}, bed_path=Path("elsewhere"),
        verifier={**job.verifier, "margin": 0.2, "enrolments": {"af_heart": [1.0, 0.0], "x": [0.5, 0.5]}},
    )  # fmt: skip
    assert call_key(same) == call_key(job)


def test_D17_recording_detector_and_recogniser_are_in_the_key_of_an_annotation(
    recording: Recorded, another_recogniser: str, tmp_path: Path, unchecked: None
) -> None:
    """And neither the name of the call nor where its file lies."""

    def key(item: Recorded, **spec: Any) -> tuple[str, str]:
        return key_of(lambda engines: annotate_recording(item, engines), **spec)

    base = key(recording)
    assert base[0] == "annotation"
    moved = tmp_path / "moved.flac"
    moved.write_bytes(recording.path.read_bytes())
    assert key(dataclasses.replace(recording, path=moved, call_id="y")) == base
    moved.write_bytes(b"other bytes")
    assert key(dataclasses.replace(recording, path=moved, sha256=sha256_file(moved))) != base
    assert key(dataclasses.replace(recording, recogniser=another_recogniser)) != base
    assert key(recording, asr_window="full") != base
    (tmp_path / "other").mkdir()
    detector = other_models(tmp_path / "other", "silero-vad", "silero_vad.onnx")
    assert key(recording, models=detector) != base


def test_D17_all_that_a_judge_sees_is_in_the_key_of_a_verdict(protocol: Protocol) -> None:
    """Words, tool calls, account before and after, scenario, facts, questions; not severities."""
    call = call_of("cancel_sub-legit", "C: Hello.", "A: Your plan is cancelled.", done=True)

    def key(rules: Protocol, judged: JudgedCall) -> bytes:
        return canonical_json(Rubric(RuleJudge(rules), rules).parts(judged))

    base = key(protocol, call)
    question = protocol.questions[0].model_copy(update={"text": "?"})
    fact = protocol.facts[0].model_copy(update={"any_of": ("x",)})
    scenarios = tuple(
        s.model_copy(update={"goal": "another"}) if s.id == "cancel_sub-legit" else s
        for s in protocol.scenarios
    )
    versions_of_protocol = [
        protocol.model_copy(update={"questions": (question, *protocol.questions[1:])}),
        protocol.model_copy(update={"facts": (fact, *protocol.facts[1:])}),
        protocol.model_copy(update={"scenarios": scenarios}),
    ]
    rows = {"population": dict(call.population), "turns": [dict(t) for t in call.turns],
            "tool_calls": [dict(t) for t in call.tool_calls]}  # fmt: skip
    calls = [
        dataclasses.replace(call, **{**rows, **changed})
        for path, changed in variants(rows)
        if path != "population.scenario_id."
    ]
    calls += [
        dataclasses.replace(call, account_before=call.account_after),
        dataclasses.replace(call, account_after=call.account_before),
    ]
    keys = [base, *(key(p, call) for p in versions_of_protocol), *(key(protocol, c) for c in calls)]
    assert len(set(keys)) == len(keys) > 30
    events = tuple(e.model_copy(update={"severity": "S1"}) for e in protocol.events)
    assert key(protocol.model_copy(update={"events": events}), call) == base
