"""The code behind a model's version, and the ways to an endpoint that a user's environment opens."""

from __future__ import annotations

import pytest

from inquesto_dag.agents.brain import make_brain
from inquesto_dag.agents.chat.session import ChatBrain
from inquesto_dag.agents.config import AgentConfig, load_agent
from inquesto_dag.errors import InputError
from inquesto_dag.provenance.code import path_of
from inquesto_dag.provenance.versions import code_of
from tests.agents.conftest import AGENTS


def test_D17_the_code_around_a_model_is_in_its_version() -> None:
    """What it is shown and what is made of its words; how an endpoint is reached decides nothing."""
    of_models = ("chat", "local-chat", "model-caller", "model-judge")
    modules = {module for function in of_models for module, _ in code_of(function).definitions}
    folder = path_of("inquesto_dag.agents.chat.session").parent
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "check", "endpoint", "faults"}
    assert {f"inquesto_dag.agents.chat.{name}" for name in names} <= modules
    assert not {f"inquesto_dag.agents.chat.{name}" for name in ("check", "endpoint", "faults")} & modules


def _config(**transport: object) -> AgentConfig:
    raw = load_agent(AGENTS, "embedded-700").model_dump()
    brain = {
        "kind": "openai",
        "settings": {"model": "a"},
        "transport": {"base_url_env": "A_URL", **transport},
    }
    return AgentConfig.model_validate({**raw, "brain": brain})


@pytest.mark.parametrize(
    ("address", "requests"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
        (" https://gateway.example/api/v1 ", "https://gateway.example/api/v1"),
        ("https://gateway.example/v1/chat/completions", "https://gateway.example/v1"),
    ],
)
def test_an_address_with_or_without_its_version(
    monkeypatch: pytest.MonkeyPatch, address: str, requests: str
) -> None:
    """As servers' manuals write it."""
    monkeypatch.setenv("A_URL", address)
    brain = make_brain(_config())
    assert isinstance(brain, ChatBrain) and brain.endpoint.url == requests and brain.endpoint.key is None


@pytest.mark.parametrize(
    ("environment", "transport", "match"),
    [
        ({}, {}, r"\$A_URL, which should hold the endpoint's address, is not set(.|\n)*export A_URL="),
        ({"A_URL": "127.0.0.1:11434"}, {}, r"\$A_URL is no http or https address"),
        ({"A_URL": "http://h:port/v1"}, {}, r"\$A_URL is no http or https address"),
        ({"A_URL": "http://me:SECRET1@h/v1"}, {}, r"\$A_URL holds more than an address"),
        ({"A_URL": "http://h/v1?key=SECRET1"}, {}, r"\$A_URL holds more than an address"),
        (
            {"A_URL": "http://h/v1"},
            {"api_key_env": "A_KEY"},
            r"\$A_KEY, which should hold .* key, is not set",
        ),
        (
            {"A_URL": "http://h/v1", "A_KEY": "SECRET1\nx"},
            {"api_key_env": "A_KEY"},
            r"\$A_KEY holds characters",
        ),
    ],
)
def test_what_the_environment_lacks_is_said_before_any_call(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], transport: dict[str, str], match: str
) -> None:
    """A user's mistake: exit code 2, the variable's name, never its value."""
    for name in ("A_URL", "A_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=match) as caught:
        make_brain(_config(**transport))
    assert "SECRET1" not in str(caught.value)
    assert caught.value.field.startswith("brain.transport.") and caught.value.exit_code == 2
