"""The pinned profile is the protocol's set-up, and its judge is nobody's relative (PROTOCOL S1, T14, I1)."""

from __future__ import annotations

import re
from pathlib import Path

from inquesto_dag.agents.config import deciding_settings, list_agents, load_agent
from inquesto_dag.files import canonical_json
from inquesto_dag.provenance.profile import PROFILES, SCRIPTED_CALLER

AGENTS = Path(__file__).parents[2] / "data" / "agents"
PINNED = PROFILES["pinned"]


def family(component: str) -> str:
    """The family of a model: the letters that its name begins with."""
    found = re.match(r"[a-z]+", component.lower())
    assert found is not None
    return found[0]


def test_S1_T14_I1_the_pinned_parts_are_those_of_the_protocol() -> None:
    """Whatever else runs in one of these roles makes the score a variant (D15)."""
    assert PINNED.roles() == {
        "caller": "qwen2.5-7b-instruct",
        "tts": "kokoro-fp32",
        "asr": "whisper-base",
        "vad": "silero-vad",
        "verifier": "wespeaker-resnet34-lm",
        "judge": "gemma-2-9b-instruct",
    }


def test_T14_the_judge_shares_no_family_with_a_caller_or_an_agent() -> None:
    """Neither the pinned caller, nor the scripted one, nor anything that decides what an agent says."""
    judge = family(PINNED.judge)
    assert judge not in {family(PINNED.caller), family(SCRIPTED_CALLER)}
    agents = list_agents(AGENTS)
    assert agents
    for agent in agents:
        settings = canonical_json(deciding_settings(load_agent(AGENTS, agent))).decode().lower()
        assert judge not in settings, agent
    embedded = PROFILES["embedded"]
    assert family(embedded.judge) != family(embedded.caller)
