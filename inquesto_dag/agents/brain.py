"""The brain of a cascade: what was heard and tools go in, spoken sentences come out, as they are ready.

A brain is one program; a session is one call of it. Sentences are yielded in order; a tool is called inside,
through the `ToolBox`, so its record shows what was done before which sentence was said.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from inquesto_dag.agents.config import AgentConfig
from inquesto_dag.agents.program import BILLING, Program
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.errors import InputError
from inquesto_dag.units import Seconds


@dataclass(frozen=True)
class Heard:
    """One utterance as the agent recognised it; `confidence` is the recogniser's, in [0, 1]."""

    text: str
    confidence: float


class BrainSession(Protocol):
    """One call. `ended` becomes true with the reply after which the agent hangs up."""

    @property
    def ended(self) -> bool: ...

    def greet(self) -> Iterator[str]:
        """Sentences said before the caller speaks; none when the agent does not greet."""
        ...

    def reply(self, heard: Heard, tools: ToolBox) -> Iterator[str]:
        """Sentences that answer an utterance; none when nothing was heard (PROTOCOL D12)."""
        ...


@runtime_checkable
class ReportingSession(BrainSession, Protocol):
    """A session that has more to tell, because its answers come from outside of this process."""

    @property
    def lost_s(self) -> Seconds:
        """Wall time in s of the reply under way that infrastructure cost, never the agent's (D14)."""
        ...

    def report(self) -> dict[str, Any]:
        """What the trace keeps of the brain."""
        ...


class Brain(Protocol):
    """A program ready to take calls; `identity` names all of it that decides answers."""

    @property
    def identity(self) -> Mapping[str, Any]: ...

    def start(self, seed: int) -> BrainSession:
        """A fresh session; `seed` decides whatever the brain draws."""
        ...


def _make_scripted(config: AgentConfig, program: Program) -> Brain:
    from inquesto_dag.agents.scripted.policy import ScriptedBrain

    if config.brain.settings or config.brain.transport:
        raise InputError(
            "the scripted brain takes no settings",
            where=config.id,
            field="brain",
            remedy="leave only `kind: scripted`",
        )
    return ScriptedBrain(config.greeting, program)


def _make_openai(config: AgentConfig, program: Program) -> Brain:
    from inquesto_dag.agents.chat.endpoint import find_endpoint
    from inquesto_dag.agents.chat.session import ChatBrain
    from inquesto_dag.agents.chat.settings import read_settings, read_transport

    settings = read_settings(config.id, config.brain.settings)
    endpoint = find_endpoint(config.id, read_transport(config.id, config.brain.transport), os.environ)
    measured = config.timing.mode == "measured"
    return ChatBrain(settings, endpoint, program, config.greeting, measured=measured)


def _make_transformers(config: AgentConfig, program: Program) -> Brain:
    from inquesto_dag.agents.chat.local import LocalBrain, LocalModel
    from inquesto_dag.agents.chat.local_settings import find_folder, read_local
    from inquesto_dag.speech.fetch import models_folder

    settings, place = read_local(config.id, config.brain.settings, config.brain.transport)
    folder = find_folder(config.id, settings, place, models_folder(), os.environ)
    measured = config.timing.mode == "measured"
    return LocalBrain(settings, LocalModel(settings, folder), program, config.greeting, measured=measured)


BRAINS: Mapping[str, Callable[[AgentConfig, Program], Brain]] = {
    "openai": _make_openai,
    "scripted": _make_scripted,
    "transformers": _make_transformers,
}


def make_brain(config: AgentConfig, account_program: Program = BILLING) -> Brain:
    """The brain that an agent's file asks for; InputError names the supported kinds for any other."""
    make = BRAINS.get(config.brain.kind)
    if make is None:
        raise InputError(
            f"brain kind {config.brain.kind!r} is not supported",
            where=config.id,
            field="brain.kind",
            remedy=f"choose one of: {', '.join(sorted(BRAINS))}",
        )
    return make(config, account_program)
