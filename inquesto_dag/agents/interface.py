"""The seam between a call and what answers it: something that hears line frames and puts audio on its track.

The built-in cascade is one kind (`inquesto_dag.agents.cascade`). A peer over a wire in real time and a
finished recording fit the same seam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.audio.tracks import Placement
from inquesto_dag.units import Audio, Samples, Seconds

FRAME: Samples = 512  # the step of the virtual clock: 32 ms, one Silero frame


@dataclass
class Utterance:
    """One thing that the agent says: its words, its audio sentence by sentence, and how it came about.

    `sentences` and `placements` go together. Times are in s on the virtual clock; components are None for a
    greeting, which answers nobody.
    """

    sentences: list[str]
    placements: list[Placement]
    greeting: bool
    heard_from: Seconds | None = None
    heard_to: Seconds | None = None
    heard: str | None = None
    endpoint_s: Seconds | None = None
    recognition_s: Seconds | None = None
    brain_s: Seconds | None = None
    synthesis_s: Seconds | None = None
    interrupted: bool = False

    @property
    def text(self) -> str:
        """All of its words."""
        return " ".join(self.sentences)


@dataclass(frozen=True)
class Listened:
    """A stretch of the line that the endpointer cut, and what the recogniser made of it."""

    start_s: Seconds
    end_s: Seconds
    endpoint_s: Seconds
    text: str
    confidence: float


class CallAgent(Protocol):
    """What a call needs of an agent. Sample numbers count from the connection."""

    utterances: list[Utterance]
    listened: list[Listened]

    def connect(self) -> None:
        """The line stands; a greeting may be placed."""

    def hear(self, frame: Audio, start: Samples) -> None:
        """One line frame of `FRAME` samples; audio may be placed at or after its end."""

    def hung_up_at(self) -> Samples | None:
        """The sample at which the agent ends the call, once it has decided to."""

    def trace(self) -> dict[str, Any]:
        """What the trace keeps of the agent beside utterances and tool calls."""


class TracedAgent(CallAgent, Protocol):
    """An agent whose tool calls become rows: `tool_turns` names, for each of them, the reply that made it."""

    tools: ToolBox
    tool_turns: list[int]
