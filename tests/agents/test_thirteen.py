"""The paper's thirteen configurations as agent files (PROTOCOL S2), against its published table."""

from __future__ import annotations

import csv

import pytest

from inquesto_dag.agents.brain import make_brain
from inquesto_dag.agents.chat.settings import ChatSettings, read_settings
from inquesto_dag.agents.config import AgentConfig, fingerprint, list_agents, load_agent
from inquesto_dag.errors import InputError
from inquesto_dag.provenance.params import load_params
from tests.agents.conftest import AGENTS, PROJECT

NEEDED = {"temperature", "seed", "max_tokens_name"}  # what an endpoint may force on a model


@pytest.fixture(scope="module")
def thirteen() -> list[AgentConfig]:
    agents = [load_agent(AGENTS, agent) for agent in list_agents(AGENTS)]
    return [agent for agent in agents if agent.brain.kind == "openai"]


def _served(agent: AgentConfig) -> str:
    return "hosted" if "api_key_env" in agent.brain.transport else "local"


def _model(agent: AgentConfig) -> str:
    name = str(agent.brain.settings["model"]).split("/")[-1].lower()
    return name.removesuffix("-instruct")


def test_S2_they_are_those_of_the_published_table(thirteen: list[AgentConfig]) -> None:
    """Model, serving and window of each row, once."""
    with (PROJECT / "inquesto_dag" / "scoring" / "paper" / "table2.csv").open() as table:
        rows = {(r["model"].lower(), r["serving"], int(r["endpointing_ms"])) for r in csv.DictReader(table)}
    found = [(_model(agent), _served(agent), agent.endpointing_ms) for agent in thirteen]
    assert len(found) == 13 and set(found) == rows


def test_S2_they_differ_in_model_and_window_alone(thirteen: list[AgentConfig]) -> None:
    """But for what an endpoint does not take; every fingerprint is another."""
    rest = [a.model_dump(exclude={"id", "description", "endpointing_ms", "brain"}) for a in thirteen]
    assert all(settings == rest[0] for settings in rest)
    chats = [read_settings(agent.id, agent.brain.settings) for agent in thirteen]
    plain = [chat.model_dump(exclude={"model", *NEEDED}) for chat in chats]
    assert all(settings == plain[0] for settings in plain)
    local = [chat for chat, agent in zip(chats, thirteen, strict=True) if _served(agent) == "local"]
    assert {(c.temperature, c.seed, c.max_tokens_name) for c in local} == {(0.0, True, "max_tokens")}
    assert len({fingerprint(agent) for agent in thirteen}) == 13
    assert isinstance(chats[0], ChatSettings)


def test_none_of_them_runs_unless_it_is_named(
    thirteen: list[AgentConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stand ready, cost nothing, and say what they need before a call is placed."""
    named = load_params(PROJECT).agents
    for name in ("INQUESTO_LOCAL_URL", "INQUESTO_GATEWAY_URL", "INQUESTO_GATEWAY_KEY"):
        monkeypatch.delenv(name, raising=False)
    for agent in thirteen:
        assert agent.id not in named
        with pytest.raises(InputError, match=r"\$INQUESTO_(LOCAL|GATEWAY)_URL, which should hold"):
            make_brain(agent)
