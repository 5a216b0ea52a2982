"""A brain in this process, on SmolLM2's real weights: it streams, and whatever it does is handled."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.brain import Heard, make_brain
from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.local import LocalModel
from inquesto_dag.agents.chat.local_settings import LocalSettings, find_folder, folder_digest, read_local
from inquesto_dag.agents.chat.stream import Completion, read_chunks
from inquesto_dag.agents.config import AgentConfig, deciding_settings, fingerprint, load_agent
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import Account
from inquesto_dag.speech.catalogue import BY_NAME
from inquesto_dag.speech.fetch import fetch, models_folder
from tests.agents.conftest import AGENTS, verified

NAME = "smollm2-135m-instruct"
AGENT = "smollm2-135m-700"


def agent(**settings: Any) -> AgentConfig:
    raw = load_agent(AGENTS, AGENT).model_dump()
    raw["brain"]["settings"] |= settings
    return AgentConfig.model_validate(raw)


def completion_of(model: LocalModel, **body: Any) -> tuple[Completion, int]:
    """A completion and the number of its chunks with text."""
    completion, pieces = Completion(), 0
    asked = {"model": NAME, "max_tokens": 12, "messages": [{"role": "user", "content": "Name a colour."}]}
    for chunk in read_chunks(model.stream({**asked, **body})):
        pieces += bool(completion.take(chunk))
    return completion, pieces


@pytest.fixture(scope="module")
def model() -> LocalModel:
    """The weights, fetched by digest when they are not here."""
    (path,) = fetch([NAME], models_folder())
    return LocalModel(LocalSettings(model=NAME, tool_format="text"), path.parent)


@pytest.mark.engines
def test_a_real_model_streams_and_says_the_same_again(model: LocalModel) -> None:
    """Text in pieces, tokens counted, the model and its digest named; drawn words follow the seed."""
    first, pieces = completion_of(model)
    assert pieces > 2 and first.text.strip() and first.finish in ("stop", "length")
    assert first.prompt_tokens and first.completion_tokens and first.completion_tokens <= 12
    assert (first.model, first.system_fingerprint) == (NAME, model.settings.digest[:16])
    assert completion_of(model)[0].text == first.text
    drawn = [completion_of(model, temperature=1.5, seed=seed)[0].text for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.engines
def test_what_a_real_model_cannot_do_is_said(model: LocalModel) -> None:
    """A template without tools, a prompt that is too long: whose setting, and what to do."""
    tool = {"type": "function", "function": {"name": "x", "description": "y", "parameters": {}}}
    with pytest.raises(Fault, match="shows it no tools") as untold:
        completion_of(model, tools=[tool])
    assert "tool_format: text" in untold.value.remedy
    with pytest.raises(Fault, match="do not fit into"):
        completion_of(model, max_tokens=9000)


@pytest.mark.engines
def test_a_real_model_answers_a_turn_of_the_billing_program(model: LocalModel, account: Account) -> None:
    """Whatever it writes: words are spoken, calls are executed or refused, and the trace says all of it."""
    brain = make_brain(agent(max_tokens=16, max_tool_calls=1, threads=2))
    tools = ToolBox(AccountState(account), verified, lambda: 0.0, lambda index: 0.0)
    session: Any = brain.start(5)
    said = list(session.reply(Heard("Did my payment go through? My account number is 4471.", 0.9), tools))
    (turn,) = session.report()["turns"]
    assert session.report()["served"]["model"] == NAME
    assert said or turn["empty"] or tools.rows or turn["finishes"][-1] == "length"
    assert all(prompt > 500 for prompt in turn["prompt_tokens"]) and turn["turns_left_out"] == 0
    assert not any("<tool_call>" in sentence for sentence in said)


def test_D17_files_settings_and_libraries_decide_and_places_do_not(tmp_path: Path) -> None:
    """The fingerprint needs no file: digests are declared."""
    same, other = agent(), agent(temperature=0.5)
    assert fingerprint(same) == fingerprint(load_agent(AGENTS, AGENT)) != fingerprint(other)
    brain = deciding_settings(same)["brain"]
    assert brain["kind"] == "transformers" and brain["model_sha256"] == LocalSettings(model=NAME).digest
    assert {"transformers", "torch", "tokenizers"} <= set(brain["code"]["libraries"])
    scripted = json.dumps(deciding_settings(load_agent(AGENTS, "embedded-700")))
    assert BY_NAME[NAME].files[0].sha256 not in scripted and "transformers" not in scripted


def test_a_model_of_ones_own_is_taken_by_its_declared_digest(tmp_path: Path) -> None:
    """Without a digest, without a folder, with another model in it: refused, field by field."""
    (tmp_path / "config.json").write_text("{}")
    digest = folder_digest(tmp_path)
    settings, place = read_local("a", {"model": "mine", "sha256": digest}, {"folder_env": "MINE"})
    assert find_folder("a", settings, place, tmp_path, {"MINE": str(tmp_path)}) == tmp_path
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(InputError, match="holds another model"):
        find_folder("a", settings, place, tmp_path, {"MINE": str(tmp_path)})
    with pytest.raises(InputError, match=r"\$MINE"):
        find_folder("a", settings, place, tmp_path, {})
    for given in ({"model": "mine"}, {"model": "whisper-base"}, {"model": NAME, "extra": {"x": 1}}):
        with pytest.raises(InputError):
            read_local("a", given, {})


def test_the_small_model_is_fetched_for_its_agent_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stage fetches what its agent needs; a scripted agent needs nothing, and check fetches nothing."""
    from inquesto_dag.agents.chat.check import check_local
    from inquesto_dag.protocol.load import load_protocol
    from inquesto_dag.stages import calls

    asked: list[list[str]] = []
    monkeypatch.setattr("inquesto_dag.speech.fetch.fetch", lambda names, folder: asked.append(list(names)))
    calls.fetch_needed(load_agent(AGENTS, "embedded-700"))
    assert asked == []
    calls.fetch_needed(agent())
    assert asked == [[NAME]]
    monkeypatch.setenv("INQUESTO_MODELS", str(tmp_path))
    account = load_protocol(AGENTS.parent / "protocols" / "v0.1").account
    (finding,) = check_local(agent(), account)
    assert finding.ok is False and f"models fetch {NAME}" in finding.remedy and asked == [[NAME]]


@pytest.mark.engines
def test_check_tries_a_turn_and_says_its_times(model: LocalModel, account: Account) -> None:
    """Also of an agent whose calls have declared times: here they are what one wants to see."""
    from inquesto_dag.agents.chat.check import check_local

    assert agent().timing.mode == "declared"
    here, turn = check_local(agent(), account)
    assert here.ok and turn.part == "turn" and re.search(r"first sentence after \d+\.\d\d s", turn.text)
