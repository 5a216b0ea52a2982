"""A caller that a language model plays (PROTOCOL S1): goal, style and correction from its scenario.

It is given the agent's words and nothing else, writes what it says next and whether it then hangs up, and is
held to a JSON Schema where the endpoint knows that. What the agent hears is rendered like every scripted
line. The model's failures to play its part are found afterwards (`check`); an endpoint's are infrastructure.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any

import numpy as np

from inquesto_dag.agents.chat.completing import complete
from inquesto_dag.agents.chat.endpoint import Endpoint
from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.roles import RoleModel, lasts, role_error
from inquesto_dag.agents.chat.stream import Completion
from inquesto_dag.agents.chat.tolerant_json import Unreadable, read_object
from inquesto_dag.callers.scripted import PATIENCE, Say, Wait
from inquesto_dag.protocol.models import CallerPrompt, Scenario

TEMPERATURE = 0.7  # the seed is the call's, so the same call is asked for again in the same words
MAX_TOKENS = 200
SEEDS = 2**31  # some endpoints take 32 bits
HANG_UPS = ("goal_met", "refused", "handed_over", "gave_up")
GOODBYE = "Thank you, goodbye."
STILL_THERE = "Hello, are you still there?"
_LABEL = re.compile(r"^\W*(?:caller|maria(?: ruiz)?|customer|me)\s*:\s*", re.IGNORECASE)
_OTHER_SIDE = re.compile(
    r"(?:^|\s)(?:agent|assistant|representative|billing(?: agent| line)?)\s*:", re.IGNORECASE
)
_STAGE = re.compile(r"\([^)]*\)|\[[^\]]*\]|\*[^*]*\*")  # (sighs), [pause], *laughs*


@dataclass
class Spoken:
    """One reply as read: what is said, why it hangs up, whether it wrote the agent's part too."""

    say: str
    hang_up: str | None = None
    other_side: bool = False


@dataclass
class ModelCaller:
    """One caller in one call. `seed` is the call's, `sleep(s)` waits between attempts at the endpoint."""

    scenario: Scenario
    prompt: CallerPrompt
    model: RoleModel
    endpoint: Endpoint
    seed: int
    sleep: Callable[[float], None] = time.sleep
    other_side: int = 0  # replies in which it spoke for the agent
    _messages: list[dict[str, str]] = field(default_factory=list)
    _served: set[str] = field(default_factory=set)
    _replies: int = 0
    _silences: int = 0
    _structured: bool = True
    _over: bool = False

    def __post_init__(self) -> None:
        self._patience = int(np.random.default_rng(self.seed).integers(PATIENCE[0], PATIENCE[1] + 1))
        self._messages.append({"role": "system", "content": put_brief(self.scenario, self.prompt)})

    def first(self) -> Say:
        """The opening: the caller speaks first."""
        said = self._next(self.prompt.begin)
        return self._say("opening", said) if said.say else Say("opening", "Hello?")

    def reply(self, said: str) -> Say | Wait:
        """The answer to the agent's words, or Wait; InfrastructureError when the endpoint gives none."""
        if self._over or not said.strip():
            return Wait()
        self._silences = 0
        heard = self._next(said)
        if not heard.say and heard.hang_up is None:
            return Wait()
        return self._say("reply", heard)

    def silence(self) -> Say:
        """After 10 s in which nobody spoke: once whether anybody is there, then goodbye."""
        self._silences += 1
        if self._silences > 1:
            return self._end("goodbye", GOODBYE, "silence")
        heard = self._next(self.prompt.silence)
        return self._say("still_there", heard) if heard.say else Say("still_there", STILL_THERE)

    def report(self) -> dict[str, Any]:
        """For the trace: the model asked for and the one that answered, how it was asked, what it wrote."""
        return {
            "component": self.model.component,
            "model": self.model.model,
            "served": sorted(self._served),
            "seed": self.seed % SEEDS,
            "temperature": TEMPERATURE,
            "replies": self._replies,
            "wrote": [m["content"] for m in self._messages if m["role"] == "assistant"],
        }

    # --- inside ---

    def _next(self, heard: str) -> Spoken:
        self._messages.append({"role": "user", "content": heard})
        try:
            completion = self._ask()
        except Fault as fault:
            raise role_error("caller", self.endpoint, fault) from None
        self._replies += 1
        if completion.model:
            self._served.add(completion.model)
        self._messages.append({"role": "assistant", "content": completion.text})
        read = read_line(completion.text)
        self.other_side += read.other_side
        return read

    def _ask(self) -> Completion:
        body: dict[str, Any] = {
            "model": self.model.model, "messages": list(self._messages), "temperature": TEMPERATURE,
            "seed": self.seed % SEEDS,
        }  # fmt: skip
        if self._structured:
            shape = {"name": "line", "strict": True, "schema": line_schema()}
            held = {**body, "response_format": {"type": "json_schema", "json_schema": shape}}
            try:
                return complete(self.endpoint, held, MAX_TOKENS, sleep=self.sleep)
            except Fault as fault:
                if fault.passing or lasts(fault):
                    raise
            self._structured = False
        return complete(self.endpoint, body, MAX_TOKENS, sleep=self.sleep)

    def _say(self, move: str, spoken: Spoken) -> Say:
        if spoken.hang_up is not None:
            return self._end(move, spoken.say or GOODBYE, spoken.hang_up)
        if self._replies >= self._patience:
            return self._end("goodbye", GOODBYE, "gave_up")
        return Say(move, spoken.say)

    def _end(self, move: str, text: str, ended_by: str) -> Say:
        self._over = True
        return Say(move, text, hang_up=True, ended_by=ended_by)


def put_brief(scenario: Scenario, prompt: CallerPrompt) -> str:
    """What the model is told of its part."""
    corrects = ""
    if scenario.corrects is not None:
        names = scenario.corrects
        corrects = Template(prompt.corrects).substitute(
            detail=names.detail.replace("_", " "), first=names.first, corrected=names.corrected
        )
    return Template(prompt.brief).substitute(
        role=prompt.roles[scenario.role],
        goal=scenario.goal,
        knows="\n".join(f"  {name.replace('_', ' ')}: {value}" for name, value in scenario.knows.items()),
        style=prompt.styles[scenario.style],
        corrects=corrects,
    )


def line_schema() -> dict[str, Any]:
    """The JSON Schema of one reply."""
    return {
        "type": "object",
        "properties": {
            "say": {"type": "string"},
            "hang_up": {"type": "string", "enum": ["no", *HANG_UPS]},
        },
        "required": ["say", "hang_up"],
        "additionalProperties": False,
    }


def read_line(text: str) -> Spoken:
    """What a reply says: its object, or else its words; stage directions and labels are not spoken.

    Where it goes on with the agent's part, it is cut there.
    """
    found = _object(text)
    said = str(found.get("say") or "") if found else ("" if text.lstrip().startswith("{") else text)
    ended = str(found.get("hang_up") or "") if found else ""
    said = _STAGE.sub(" ", _LABEL.sub("", said.strip()))
    other = _OTHER_SIDE.search(said)
    said = " ".join((said[: other.start()] if other else said).split())
    return Spoken(said, ended if ended in HANG_UPS else None, other is not None)


def _object(text: str) -> Mapping[str, Any] | None:
    at = text.find("{")
    while at >= 0:
        try:
            value, _ = read_object(text, at)
        except Unreadable:
            at = text.find("{", at + 1)
            continue
        return value if "say" in value else None
    return None
