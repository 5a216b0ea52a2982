"""Agents' files: what is read, what is refused, what identifies an agent, how long its parts take."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.agents.config import (
    COMPONENTS,
    AgentConfig,
    declared_time,
    fingerprint,
    list_agents,
    load_agent,
)
from inquesto_dag.agents.program import Program
from inquesto_dag.errors import InputError
from tests.agents.conftest import AGENTS

EMBEDDED = ("embedded-1100", "embedded-400", "embedded-700")


def test_S2_A4_three_agents_ship_and_differ_in_the_window_alone() -> None:
    """One program, brain, voice and timing; 400, 700 and 1100 ms."""
    assert set(EMBEDDED) <= set(list_agents(AGENTS))
    configs = [load_agent(AGENTS, agent) for agent in EMBEDDED]
    assert [config.endpointing_ms for config in configs] == [1100, 400, 700]
    rest = [c.model_dump(exclude={"id", "description", "endpointing_ms"}) for c in configs]
    assert rest[0] == rest[1] == rest[2]
    assert all(config.timing.mode == "declared" for config in configs)


def test_unknown_agent_names_the_known_ones() -> None:
    """A mistyped agent is a user's mistake: exit code 2 and the names there are."""
    with pytest.raises(InputError, match=r"unknown agent 'embeded-700'(.|\n)*embedded-700") as caught:
        load_agent(AGENTS, "embeded-700")
    assert caught.value.exit_code == 2


Edit = Callable[[dict[str, object]], object]


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (lambda raw: raw.update(endpointing_ms=0), "endpointing_ms"),
        (lambda raw: raw.update(colour="red"), "colour"),
        (lambda raw: raw.pop("voice"), "voice: Field required"),
        (lambda raw: raw.update(kind="wire"), "kind"),
        (lambda raw: raw["timing"]["brain"].update(sigma=-1), r"timing\.brain\.sigma"),
        (lambda raw: raw.update(id="other"), "not the file's name"),
    ],
)
def test_malformed_file_names_file_and_field(tmp_path: Path, edit: Edit, match: str) -> None:
    """File, field and remedy are said."""
    raw = yaml.safe_load((AGENTS / "embedded-700.yaml").read_text())
    edit(raw)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"id": "mine", **raw} | _id(raw)))
    with pytest.raises(InputError, match=match) as caught:
        load_agent(tmp_path, "mine")
    assert "mine.yaml" in caught.value.where and caught.value.remedy


def _id(raw: dict[str, object]) -> dict[str, object]:
    return {"id": "mine" if raw["id"] == "embedded-700" else raw["id"]}


def test_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    """Broken YAML and an empty file are input errors too."""
    (tmp_path / "mine.yaml").write_text("id: [unclosed")
    with pytest.raises(InputError, match="not valid YAML"):
        load_agent(tmp_path, "mine")
    (tmp_path / "mine.yaml").write_text("")
    with pytest.raises(InputError, match=r"mine\.yaml"):
        load_agent(tmp_path, "mine")


def _changed(config: AgentConfig, **changes: object) -> AgentConfig:
    return AgentConfig.model_validate({**config.model_dump(), **changes})


def chat_brain(**settings: object) -> dict[str, object]:
    return {"kind": "openai", "settings": {"model": "a", **settings}, "transport": {"base_url_env": "A_URL"}}


def test_D17_fingerprint_holds_what_decides_results(tmp_path: Path) -> None:
    """Window, voice, latency model and brain change it; name, description and transport do not."""
    config = load_agent(AGENTS, "embedded-700")
    base = fingerprint(config)
    same = [
        _changed(config, id="other"),
        _changed(config, description="other"),
        _changed(config, brain={"kind": "scripted", "transport": {"timeout_s": 3.5}}),
    ]
    assert {fingerprint(c) for c in same} == {base}
    timing = config.timing.model_dump()
    other = [
        _changed(config, endpointing_ms=701),
        _changed(config, interruptible=True),
        _changed(config, greeting="Hello."),
        _changed(config, recogniser="whisper-tiny"),
        _changed(config, voice={**config.voice.model_dump(), "speed": 1.1}),
        _changed(config, timing={**timing, "brain": {"median_s": 0.3, "sigma": 0.25}}),
        _changed(config, timing={**timing, "mode": "measured"}),
        _changed(config, brain=chat_brain()),
        _changed(config, brain=chat_brain(temperature=0.1)),
        _changed(config, brain=chat_brain(model="b")),
        _changed(config, brain=chat_brain(seed=False)),
        _changed(config, brain=chat_brain(tool_format="text")),
        _changed(config, brain=chat_brain(context_tokens=4096)),
        _changed(config, brain=chat_brain(extra={"reasoning_effort": "low"})),
        _changed(config, brain={"kind": "scripted", "settings": {"temperature": 0}}),
    ]
    assert len({base, *(fingerprint(c) for c in other)}) == len(other) + 1


def test_D17_transport_of_a_language_model_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another host, key, time-out or number of attempts is the same agent; what it is told is not."""
    config = load_agent(AGENTS, "embedded-700")
    base = _changed(config, brain=chat_brain())
    moved = {"base_url_env": "B_URL", "api_key_env": "B_KEY", "read_s": 5, "attempts": 9, "ask_usage": False}
    defaults = {"temperature": 0.0, "seed": True, "tool_format": "native", "extra": {}}
    same = [chat_brain() | {"transport": moved}, chat_brain(**defaults)]
    assert {fingerprint(_changed(config, brain=brain)) for brain in same} == {fingerprint(base)}
    before = fingerprint(base)
    for name, value in (
        ("inquesto_dag.agents.chat.session.function_version", lambda function: f"other {function}"),
        ("inquesto_dag.agents.chat.prompt._PROGRAM", "You are another agent."),
        ("inquesto_dag.agents.config.BILLING", Program(account_digits=5)),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(name, value)
            assert fingerprint(base) != before


@pytest.mark.parametrize(
    ("settings", "transport", "match"),
    [
        ({}, {"base_url_env": "A"}, r"brain\.settings\.model: is missing(.|\n)*v1/models"),
        ({"model": "a"}, {}, r"brain\.transport\.base_url_env: is missing"),
        (
            {"model": "a", "temperatur": 0},
            {"base_url_env": "A"},
            r"settings\.temperatur: is unknown(.|\n)*temperature",
        ),
        (
            {"model": "a", "temperature": 3},
            {"base_url_env": "A"},
            r"settings\.temperature: .*less than or equal to 2",
        ),
        ({"model": "a", "tool_format": "xml"}, {"base_url_env": "A"}, r"tool_format: .*'native' or 'text'"),
        ({"model": "a", "extra": {"stream": False}}, {"base_url_env": "A"}, r"settings\.extra: .*stream"),
        (
            {"model": "a"},
            {"base_url_env": "A", "attempts": 0},
            r"transport\.attempts: .*greater than or equal to 1",
        ),
        (
            {"model": "a"},
            {"base_url_env": "A", "api_key": "sk-SECRET1"},
            r"transport\.api_key: .*never stored",
        ),
        (
            {"model": "a"},
            {"base_url_env": "A", "api_key_env": "sk-SECRET1"},
            r"api_key_env: (.|\n)*not the key",
        ),
        (
            {"model": "a"},
            {"base_url": "http://u:SECRET1@h/v1"},
            r"transport\.base_url: .*never stored(.|\n)*base_url_env",
        ),
    ],
)
def test_a_language_models_section_names_its_field_and_shows_no_key(
    tmp_path: Path, settings: dict[str, object], transport: dict[str, object], match: str
) -> None:
    """File, field and remedy; a value that may be a key is not repeated."""
    raw = yaml.safe_load((AGENTS / "embedded-700.yaml").read_text())
    raw |= {"id": "mine", "brain": {"kind": "openai", "settings": settings, "transport": transport}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(raw))
    with pytest.raises(InputError, match=match) as caught:
        load_agent(tmp_path, "mine")
    assert "mine.yaml" in caught.value.where and caught.value.remedy
    assert "SECRET1" not in str(caught.value)


def test_D17_fingerprint_names_the_policy_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version of the scripted policy, or another program, is another agent."""
    config = load_agent(AGENTS, "embedded-700")
    before = fingerprint(config)
    with monkeypatch.context() as patch:
        patch.setattr("inquesto_dag.agents.config.function_version", lambda function: f"other {function}")
        assert fingerprint(config) != before
    monkeypatch.setattr("inquesto_dag.agents.config.BILLING", Program(attempts=2))
    assert fingerprint(config) != before


def test_declared_times_are_paired_across_agents(tmp_path: Path) -> None:
    """A draw depends on component, seed and turn, not on the agent's name or window."""
    first, second = (load_agent(AGENTS, agent) for agent in ("embedded-400", "embedded-1100"))
    for component in COMPONENTS:
        draws = [declared_time(first, component, 7, turn) for turn in range(20)]
        assert draws == [declared_time(second, component, 7, turn) for turn in range(20)]
        assert len(set(draws)) == 20
        assert draws[0] != declared_time(first, component, 8, 0)
    shutil.copy(AGENTS / "embedded-400.yaml", tmp_path / "x.yaml")
    text = (tmp_path / "x.yaml").read_text().replace("embedded-400", "x")
    (tmp_path / "x.yaml").write_text(text)
    assert declared_time(load_agent(tmp_path, "x"), "brain", 7, 3) == declared_time(first, "brain", 7, 3)


def test_declared_times_have_the_declared_median_and_spread() -> None:
    """2,000 draws: median within 3 %, sigma of the logarithm within 5 %."""
    config = load_agent(AGENTS, "embedded-700")
    draws = np.array([declared_time(config, "recognition", 1, turn) for turn in range(2000)])
    assert float(np.median(draws)) == pytest.approx(config.timing.recognition.median_s, rel=0.03)
    assert float(np.log(draws).std()) == pytest.approx(config.timing.recognition.sigma, rel=0.05)


@settings(deadline=None)  # a busy machine is no fault of the code
@given(seed=st.integers(0, 2**53), turn=st.integers(0, 10_000))
def test_declared_times_are_positive_and_repeatable(seed: int, turn: int) -> None:
    """Any seed that a population row can hold."""
    config = load_agent(AGENTS, "embedded-700")
    took = declared_time(config, "synthesis", seed, turn)
    assert 0 < took < 10 and took == declared_time(config, "synthesis", seed, turn)
