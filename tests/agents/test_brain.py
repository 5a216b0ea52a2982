"""Which brains can be made, and what identifies the scripted one."""

from __future__ import annotations

import pytest

from inquesto_dag.agents.brain import Heard, make_brain
from inquesto_dag.agents.config import AgentConfig, load_agent
from inquesto_dag.agents.program import Program
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.errors import InputError
from inquesto_dag.provenance.code import path_of
from inquesto_dag.provenance.versions import code_of, function_version
from tests.agents.conftest import AGENTS


def _config(**brain: object) -> AgentConfig:
    raw = load_agent(AGENTS, "embedded-700").model_dump()
    return AgentConfig.model_validate({**raw, "brain": brain or raw["brain"]})


def test_D17_all_of_the_policys_code_is_in_its_version() -> None:
    """Understanding, phrases, tasks: an edit to any of them is another policy until it is declared."""
    modules = {module for module, _ in code_of("policy").definitions}
    folder = path_of("inquesto_dag.agents.scripted.policy").parent
    names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {f"inquesto_dag.agents.scripted.{name}" for name in names} <= modules


@pytest.mark.parametrize("kind", ["oracle", "ollama"])
def test_unsupported_brains_are_refused_with_what_is_supported(kind: str) -> None:
    """No stand-in answers in their place."""
    with pytest.raises(InputError, match=rf"brain kind '{kind}' is not supported(.|\n)*scripted") as caught:
        make_brain(_config(kind=kind))
    assert caught.value.field == "brain.kind" and caught.value.exit_code == 2


def test_settings_that_would_decide_nothing_are_refused() -> None:
    """A setting that the scripted brain does not have must not look like one that it has."""
    with pytest.raises(InputError, match="takes no settings"):
        make_brain(_config(kind="scripted", settings={"temperature": 0}))


def test_identity_names_all_that_decides_answers() -> None:
    """Version, greeting and program limits."""
    config = load_agent(AGENTS, "embedded-700")
    identity = make_brain(config).identity
    assert identity["version"] == function_version("policy")
    assert identity != make_brain(config, Program(attempts=2)).identity
    greeting = config.model_copy(update={"greeting": "Hello."})
    assert identity != make_brain(greeting).identity


def test_greeting_is_said_only_by_an_agent_that_has_one() -> None:
    """The embedded agents let the caller speak first."""
    config = load_agent(AGENTS, "embedded-700")
    assert list(make_brain(config).start(1).greet()) == []
    greeting = config.model_copy(update={"greeting": "Hello, billing team."})
    assert list(make_brain(greeting).start(1).greet()) == ["Hello, billing team."]


def test_sessions_share_nothing(toolbox: object) -> None:
    """Two calls of one brain know nothing of each other, and the seed changes no answer."""
    assert callable(toolbox)
    brain = make_brain(load_agent(AGENTS, "embedded-700"))
    tools: ToolBox = toolbox()
    first, second = brain.start(1), brain.start(2)
    request = Heard("I want to cancel my subscription.", 0.9)
    assert list(first.reply(request, tools)) == list(second.reply(request, tools))
    number = Heard("4471", 0.9)
    assert list(first.reply(number, tools)) == list(second.reply(number, tools))
    assert [row["tool"] for row in tools.rows] == ["lookup_account", "verify_voice"] * 2
