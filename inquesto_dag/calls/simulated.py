"""The caller of a call that a language model plays: what decides it, and its lines as sound.

A line is rendered, levelled and carried by the code that makes the bank of a scripted caller, on demand and
through the memo of synthesis: the same words in the same style sound the same in either.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.chat.roles import RoleModel, find_role_endpoint
from inquesto_dag.audio.files import audio_from_flac, flac_bytes
from inquesto_dag.audio.telephone import carry
from inquesto_dag.callers.audio import render
from inquesto_dag.callers.model import MAX_TOKENS, TEMPERATURE, ModelCaller
from inquesto_dag.callers.script import BankLine, style_text
from inquesto_dag.calls.bank import SpokenLine
from inquesto_dag.protocol.models import CallerPrompt, Scenario
from inquesto_dag.provenance.versions import function_version

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines


@dataclass(frozen=True)
class SimulatedCaller:
    """A model, what it is told, and how its lines sound: level in dBov, voice, language, the line's codec."""

    model: RoleModel
    prompt: CallerPrompt
    level_dbov: float
    voice: str
    language: str
    codec: str | None

    def parts(self) -> dict[str, Any]:
        """What decides the caller, for a call's key; where the model is served does not (PROTOCOL D17)."""
        return {
            "model": self.model.model,
            "version": function_version("model-caller"),
            "prompt": self.prompt.model_dump(mode="json"),
            "temperature": TEMPERATURE,
            "max_tokens": MAX_TOKENS,
            "sound": [self.level_dbov, self.voice, self.language, self.codec or "none"],
        }

    def policy(self, scenario: Scenario, seed: int) -> ModelCaller:
        """The caller of one call; InputError when the environment names no endpoint for it."""
        endpoint = find_role_endpoint("caller", os.environ)
        return ModelCaller(scenario, self.prompt, self.model, endpoint, seed)

    def speak(self, scenario: Scenario, move: str, text: str, engines: Engines) -> SpokenLine:
        """A line, clean and as the condition carries it."""
        line = style_text(scenario, _marked(text, scenario))
        name = f"{scenario.id}.{move}.{self.voice}"
        bank = BankLine(name, scenario.id, move, self.voice, self.language, scenario.style, line)
        return speak_line(bank, self.level_dbov, self.codec, engines)


def speak_line(line: BankLine, level_dbov: float, codec: str | None, engines: Engines) -> SpokenLine:
    """A line as the bank would hold it: rendered, at its level in dBov, and over a line with that codec."""
    said = render(line, engines.tts, level_dbov)
    # Through the same file as the bank's lines, so that a sample is the same number.
    clean = audio_from_flac(flac_bytes(said.audio), line.utterance_id)
    carried = audio_from_flac(flac_bytes(carry(clean)), line.utterance_id) if codec == "g711_mu" else clean
    return SpokenLine(line.utterance_id, line.text, clean, carried, said.onset_s, said.offset_s)


def _marked(text: str, scenario: Scenario) -> str:
    """The text with its clause marks; empty clauses are none, and only a hesitant caller has any."""
    clauses = [clause.strip() for clause in text.split("|") if any(c.isalnum() for c in clause)]
    return " | ".join(clauses) if scenario.style == "hesitant" else " ".join(clauses)
