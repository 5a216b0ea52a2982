"""Whole calls in text: the protocol's callers talk to a model that makes no mistake, over HTTP, in every
form.

What is tested is everything between a model and the tools: a scenario fails if a word, a call or a result is
lost, doubled or spoken. The same dialogues are held with the embedded policy itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from inquesto_dag.agents.brain import make_brain
from inquesto_dag.agents.config import load_agent
from inquesto_dag.protocol.models import Protocol
from tests.agents import talk as talking
from tests.agents.chat.conftest import brain_on
from tests.agents.chat.server import PerfectModel, Wire, serving, status
from tests.agents.conftest import AGENTS, not_verified, verified

Write = Callable[[str, dict[str, Any]], str]


def _json(name: str, arguments: dict[str, Any], key: str = "arguments") -> str:
    return json.dumps({"name": name, key: arguments})


def _python(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _elements(name: str, arguments: dict[str, Any]) -> str:
    children = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{children}</function>\n</tool_call>"


FORMS: dict[str, Write] = {
    "hermes": lambda n, a: f"<think>I need {n}.</think><tool_call>\n{_json(n, a)}\n</tool_call>",
    "hermes and an invented result": lambda n, a: (
        f"<tool_call>{_json(n, a)}</tool_call>\n<tool_response>{{}}"
    ),
    "llama": lambda n, a: f"<|python_tag|>{_json(n, a, 'parameters')}<|eom_id|>",
    "bare": lambda n, a: _json(n, a, "parameters"),
    "mistral": lambda n, a: f"[TOOL_CALLS] [{_json(n, a)}]",
    "fence": lambda n, a: f"```json\n{_json(n, a)}\n```\nI have done it.",
    "python": _python,
    "elements": _elements,
    "half broken": lambda n, a: "<tool_call>" + str({"name": n, "arguments": a})[:-1],
}


def _compare(protocol: Protocol, play: Any, scenarios: slice, **settings: Any) -> None:
    """Each scenario's dialogue with the model, against that with the policy: same words, calls and goals."""
    policy = make_brain(load_agent(AGENTS, "embedded-700"))
    with serving(play) as server:
        brain = brain_on(server.url, **settings)
        for scenario in protocol.scenarios[scenarios]:
            verify = not_verified if scenario.role == "impostor" else verified
            held = talking.hold_call(protocol, scenario, brain, verify, talking.hears_written)
            expected = talking.hold_call(protocol, scenario, policy, verify, talking.hears_written)
            assert talking.goal_is_met(held, protocol), str(held)
            assert [row["tool"] for row in held.rows] == [row["tool"] for row in expected.rows], str(held)
            assert held.changed == expected.changed
            assert held.lines[: len(expected.lines)] == expected.lines, str(held)


def test_all_30_goals_are_reached_by_native_calls(protocol: Protocol) -> None:
    """The protocol's own field for calls."""
    assert len(protocol.scenarios) == 30
    _compare(protocol, PerfectModel(), slice(None))


@pytest.mark.parametrize("tool_format", ["native", "text"])
@pytest.mark.parametrize("form", FORMS)
def test_goals_are_reached_whatever_form_calls_are_written_in(
    protocol: Protocol, form: str, tool_format: str
) -> None:
    """Every fourth scenario: each family of requests, each kind of caller."""
    every = slice(None, None, 4) if tool_format == "native" else slice(1, None, 9)
    _compare(protocol, PerfectModel(FORMS[form]), every, tool_format=tool_format)


def test_failures_that_pass_change_no_call(protocol: Protocol) -> None:
    """Every second request fails."""
    model = PerfectModel()
    requests = 0

    def fails_every_other_time(wire: Wire, body: dict[str, Any]) -> None:
        nonlocal requests
        requests += 1
        (status(503) if requests % 2 else model)(wire, body)

    _compare(protocol, fails_every_other_time, slice(None, None, 8))
    assert requests > 40
