"""Everything that a scripted caller can say, in its style: words, speed and pauses (PROTOCOL P2, D7).

Times are in s. A hesitant caller speaks slower, breaks off at the clause marks of its lines for 0.5 to 1.0 s,
and fills some of the breaks; a fast caller speaks faster; a correcting caller's lines hold the wrong detail
and its correction. Marked sentences are spoken one by one in every style, so that a sentence which occurs in
several lines is synthesised once. What is drawn is drawn from the words alone, so every voice says the same
words with the same pauses, and groups differ in nothing but the voice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.protocol.models import CALLER_MOVES, Protocol, Scenario, Style
from inquesto_dag.units import Seconds

SPEED: Mapping[Style, float] = {"neutral": 1.0, "fast": 1.2, "hesitant": 0.88, "correcting": 1.0}
SENTENCE_GAP_S: Mapping[Style, Seconds] = {"neutral": 0.25, "fast": 0.15, "correcting": 0.25}
PAUSE_S: tuple[Seconds, Seconds] = (0.5, 1.0)  # DESIGN: between the endpointing windows on purpose
FILLERS = ("um", "uh")
FILLED = 1 / 2  # chance that a hesitant caller's pause carries a filler; the last one of a line always does


@dataclass(frozen=True)
class StyledLine:
    """One line as a style says it: what is spoken in one go, the pauses in s between, the TTS speed."""

    clauses: tuple[str, ...]
    pauses_s: tuple[Seconds, ...]
    speed: float

    @property
    def text(self) -> str:
        """The words, without pause marks."""
        return " ".join(self.clauses)


@dataclass(frozen=True)
class BankLine:
    """One utterance to synthesise: `SCENARIO.MOVE.VOICE`, who says what and how."""

    utterance_id: str
    scenario_id: str
    move: str
    voice: str
    language: str
    style: Style
    line: StyledLine

    @property
    def text(self) -> str:
        """The words, without pause marks; what `ScriptedCaller` gives as `Say.text` for the same move."""
        return self.line.text


def style_line(scenario: Scenario, move: str) -> StyledLine:
    """What a scenario's caller says for a move, in the scenario's style (PROTOCOL P2)."""
    return style_text(scenario, scenario.lines[move])


def style_text(scenario: Scenario, text: str) -> StyledLine:
    """A text with `|` at its clause boundaries, in a scenario's style."""
    clauses = [clause.strip() for clause in text.split("|")]
    speed = SPEED[scenario.style]
    if scenario.style != "hesitant":
        sentences = _whole_sentences(clauses)
        return StyledLine(sentences, (SENTENCE_GAP_S[scenario.style],) * (len(sentences) - 1), speed)
    if len(clauses) == 1:
        return StyledLine(tuple(clauses), (), speed)
    pauses, fillers = [], []
    for pair in pairwise(clauses):  # of each break alone: where two lines end alike, they are spoken alike
        draw = np.random.default_rng(int(sha256_bytes(canonical_json(pair))[:16], 16))
        # Rounded to 10 ms, the grid of level frames, so that what is drawn can be measured exactly.
        pauses.append(round(float(draw.uniform(*PAUSE_S)), 2))
        fillers.append((FILLERS[draw.integers(len(FILLERS))], draw.random() < FILLED, draw.random() < 0.5))
    for number, (filler, filled, after) in enumerate(fillers):
        if filled or number == len(fillers) - 1:
            _fill(clauses, number, filler, after=after)
    return StyledLine(tuple(clauses), tuple(pauses), speed)


def lines_of(protocol: Protocol, rows: Iterable[Mapping[str, Any]]) -> list[BankLine]:
    """Every line that the callers of these population rows can say, each once, in the rows' order."""
    scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
    languages = {voice.voice: voice.language for voice in protocol.voices}
    callers = dict.fromkeys((row["scenario_id"], row["voice"]) for row in rows)
    return [
        BankLine(
            utterance_id=f"{scenario_id}.{move}.{voice}",
            scenario_id=scenario_id,
            move=move,
            voice=voice,
            language=languages[voice],
            style=scenarios[scenario_id].style,
            line=style_line(scenarios[scenario_id], move),
        )
        for scenario_id, voice in callers
        for move in CALLER_MOVES
    ]


def _whole_sentences(clauses: list[str]) -> tuple[str, ...]:
    """Clauses joined wherever a mark lies inside a sentence: only a hesitant caller breaks off there."""
    sentences: list[str] = []
    for clause in clauses:
        if sentences and sentences[-1][-1] not in ".?!":
            sentences[-1] += f" {clause}"
        else:
            sentences.append(clause)
    return tuple(sentences)


def _fill(clauses: list[str], number: int, filler: str, *, after: bool) -> None:
    """Put a filler beside the break that follows clause `number`: before it in mid-sentence, or after it."""
    clause = clauses[number]
    if after and clause[-1] not in ".?!":
        clauses[number] = f"{clause.rstrip(',')}, {filler},"
        return
    following = clauses[number + 1]
    first = following.split()[0].strip(",.?!'")
    if clause[-1] in ".?!" and first != "I":
        following = following[0].lower() + following[1:]
    starts_sentence = clause[-1] in ".?!"
    clauses[number + 1] = f"{filler.capitalize() if starts_sentence else filler}, {following}"
