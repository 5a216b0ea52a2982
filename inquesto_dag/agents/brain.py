"""The brain of a cascade: what was heard and tools go in, spoken sentences come out, as they are ready.

A brain is one program; a session is one call of it. Sentences are yielded in order; a tool is called inside,
through the `ToolBox`, so its record shows what was done before which sentence was said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from inquesto_dag.agents.config import AgentConfig
from inquesto_dag.agents.program import BILLING, Program
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.errors import InputError


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


BRAINS: Mapping[str, Callable[[AgentConfig, Program], Brain]] = {"scripted": _make_scripted}


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
