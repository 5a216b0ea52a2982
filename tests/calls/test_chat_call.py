"""Real calls to an agent with a language model: speech, recognition and endpoint, in virtual time.

The model is a server of the test's own; the caller gets its answer in the first reply, so a call is short.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from inquesto_dag.agents.config import AgentConfig, load_agent
from inquesto_dag.audio.files import write_flac
from inquesto_dag.callers.audio import render
from inquesto_dag.callers.script import lines_of
from inquesto_dag.calls.bank import BankEntry
from inquesto_dag.calls.job import CallJob, run_job
from inquesto_dag.files import sha256_file
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import models_folder
from tests.agents.chat.server import MODEL, Json, Wire, calls, says, serving, status

pytestmark = pytest.mark.engines

ROOT = Path(__file__).parents[2]
CALL = "confirm_payment-neutral.clean.us_female"
KEY = "sk-test-7e01fa"
GOOD = (
    calls(("lookup_account", {"account_number": "4471"}), text="One moment. "),
    says("Your payment of $98 went through. Is there anything else?"),
    says("Goodbye."),
)


def good(wire: Wire, body: Json) -> None:
    """The play that the dialogue has come to: one that a repeated request cannot use up."""
    roles = [message["role"] for message in body["messages"]]
    GOOD[0 if "tool" not in roles else min(roles.count("user"), 2)](wire, body)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Engines:
    return Engines(EngineSpec(models_folder(), memo=tmp_path_factory.mktemp("memo")))


@pytest.fixture(scope="module")
def job(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> CallJob:
    """The call of `CALL`; nobody verifies the voice in it, so any enrolment will do."""
    folder = tmp_path_factory.mktemp("bank")
    protocol = load_protocol(ROOT / "data" / "protocols" / "v0.1")
    row = next(row for row in plan_calls(protocol) if row["call_id"] == CALL)
    bank = {}
    for line in lines_of(protocol, [row]):
        if line.move in ("opening", "nothing_else"):
            said = render(line, engines.tts, protocol.caller_level_dbov)
            path = folder / f"{line.move}.flac"
            write_flac(path, said.audio)
            digest = sha256_file(path)
            bank[line.move] = BankEntry(
                line.utterance_id, line.text, path, digest, path, digest, said.onset_s, said.offset_s
            )
    scenario = next(s for s in protocol.scenarios if s.id == row["scenario_id"])
    enrolled = {"enrolments": {"af_heart": np.eye(1, 256)[0].tolist()}, "threshold": 0.7}
    return CallJob(row, scenario, protocol.account, agent(), bank, None, None, enrolled)


def agent(timing: str = "declared", **transport: object) -> AgentConfig:
    """The embedded agent with a model for a brain."""
    raw = load_agent(ROOT / "data" / "agents", "embedded-700").model_dump()
    reached = {"base_url_env": "CALL_URL", "api_key_env": "CALL_KEY", "first_wait_s": 0.01, **transport}
    raw["brain"] = {"kind": "openai", "settings": {"model": MODEL}, "transport": reached}
    raw["timing"]["mode"] = timing
    return AgentConfig.model_validate(raw)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALL_KEY", KEY)


def test_a_model_answers_a_call_and_its_key_stays_outside(
    job: CallJob, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller hears its answer; a second run asks nobody, and gives the same bytes."""
    with serving(good, key=KEY) as server:
        monkeypatch.setenv("CALL_URL", server.url)
        placed = run_job(job, engines)
        asked = len(server.requests)
        moved = dataclasses.replace(job, agent=agent(attempts=9))
        assert run_job(moved, engines).files == placed.files and len(server.requests) == asked
    trace = placed.trace
    assert trace["call"]["ended_by"] == "goal_met"
    assert [(row["tool"], row["ok"], row["turn"]) for row in trace["tool_calls"]] == [
        ("lookup_account", True, 0)
    ]
    said = [turn["said"] for turn in trace["turns"] if turn["speaker"] == "agent"]
    assert said[0] == "One moment. Your payment of $98 went through. Is there anything else?"
    heard = server.requests[0].body["messages"][-1]["content"]
    assert "payment" in heard.lower() and heard == trace["listened"][0]["text"]
    brain = trace["agent"]["brain"]
    assert brain["served"]["model"] == MODEL and brain["turns"][0]["finishes"] == ["tool_calls", "stop"]
    assert "first_token_s" not in brain["turns"][0]  # declared: the same trace on every run
    assert engines.memo is not None
    kept = [path.read_bytes() for path in engines.memo.root.rglob("*") if path.is_file()]
    seen = [*placed.files.values(), *kept, str(job.parts(engines)).encode()]
    assert len(kept) > 4 and not any(KEY.encode() in data or server.url.encode() in data for data in seen)


def test_D14_a_measured_reply_is_not_charged_for_failed_attempts(
    job: CallJob, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three seconds of waiting for an endpoint that was down are no slow turn."""
    measured = dataclasses.replace(job, agent=agent("measured", first_wait_s=3.0))
    with serving(status(503), good) as server:
        monkeypatch.setenv("CALL_URL", server.url)
        trace = run_job(measured, engines).trace
    turn = trace["agent"]["brain"]["turns"][0]
    assert turn["lost_s"] > 3 and turn["faults"] == ["the endpoint failed (503)"]
    reply = next(turn for turn in trace["turns"] if turn["speaker"] == "agent")
    assert 0 < turn["first_token_s"] <= turn["first_sentence_s"] <= reply["brain_s"] + 1e-6 < 3


def test_D14_a_call_that_the_endpoint_broke_is_kept_apart_and_placed_again(
    job: CallJob, engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where, field and remedy in the trace, nothing in the memo, and the same job succeeds later."""
    other = dataclasses.replace(job, agent=agent().model_copy(update={"endpointing_ms": 600}))
    assert engines.memo is not None
    before = sorted((engines.memo.root / "call").rglob("*"))
    with serving(calls(("lookup_account", {"account_number": "4471"})), status(503)) as server:
        monkeypatch.setenv("CALL_URL", server.url)
        trace = run_job(other, engines).trace
    assert trace["call"]["ended_by"] == "infrastructure"
    assert trace["call"]["infrastructure_error"] == "the endpoint failed (503) (4 attempts)"
    assert trace["infrastructure"]["where"] == server.url and trace["infrastructure"]["remedy"]
    assert [row["tool"] for row in trace["tool_calls"]] == ["lookup_account"]
    assert sorted((engines.memo.root / "call").rglob("*")) == before
    with serving(good) as server:
        monkeypatch.setenv("CALL_URL", server.url)
        assert run_job(other, engines).trace["call"]["ended_by"] == "goal_met"
