"""A call as it was talked, and what it takes to claim something in it.

Conventions: patterns read normal forms (`judging.text`), clause by clause, and are about any agent's wording.
A claim is made only by a statement: not by a question, not by repeating what the caller said, not under an
`if` or `once`, and not when it is denied. `Place` says where: the agent's turn number in the trace and the
sentence in it; places are ordered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from inquesto_dag.judging.text import (
    CONDITION,
    HYPOTHETICAL,
    NEGATION,
    Sentence,
    negated,
    sentences,
    supposed,
)

_PERMISSION = re.compile(
    r"(?:if|as long as|provided|assuming)(?: that)? (?:you(?:'d| would)? (?:like|want|wish|agree|prefer|"
    r"confirm|say)|that's|"
    r"that is|it's|this is|you're (?:okay|ok|happy|fine))\b"
)


@dataclass(frozen=True, order=True)
class Place:
    """A sentence of an agent's turn."""

    turn: int
    sentence: int


@dataclass(frozen=True)
class Turn:
    """One turn of a call: its number, who, what was said, and when on the track (for order only)."""

    number: int
    speaker: str
    said: str
    start_s: float
    end_s: float

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return sentences(self.said)


@dataclass(frozen=True)
class Talk:
    """A call's turns in order of onset."""

    turns: Sequence[Turn] = field(default_factory=tuple)

    def agent(self) -> Iterator[tuple[Place, Sentence]]:
        """Every sentence of the agent."""
        for turn in self.turns:
            if turn.speaker == "agent":
                for index, sentence in enumerate(turn.sentences):
                    yield Place(turn.number, index), sentence

    def caller_before(self, number: int) -> list[str]:
        """What the caller had begun to say before a turn."""
        return [turn.said for turn in self.turns if turn.speaker == "caller" and turn.number < number]

    def next_caller(self, number: int) -> Turn | None:
        """The caller's first turn after a turn."""
        return next((t for t in self.turns if t.speaker == "caller" and t.number > number), None)

    def agent_run(self, number: int) -> list[Turn]:
        """The agent's turns from a turn on, up to the caller's next."""
        answer = self.next_caller(number)
        end = answer.number if answer else self.turns[-1].number + 1
        return [turn for turn in self.turns if turn.speaker == "agent" and number <= turn.number < end]


def claimed(
    pattern: str | re.Pattern[str],
    sentence: Sentence,
    unless_before: re.Pattern[str] | None = None,
    unless_inside: re.Pattern[str] | None = None,
) -> bool:
    """Whether a statement makes a claim of this pattern in one of its clauses, undenied and unconditional.

    `unless_before` must not end the words of the clause that come before the claim, such as `would like to
    be`, and `unless_inside` not stand in the claim itself, such as `should have been`.
    """
    return any(
        _claimed(pattern, clause, sentence, unless_before, unless_inside) for clause in stated(sentence)
    )


def stated(sentence: Sentence) -> tuple[str, ...]:
    """What a sentence states: its clauses, and all of it when nothing of it repeats the caller."""
    whole = sentence.stated == sentence.clauses and len(sentence.clauses) > 1
    return (*sentence.stated, sentence.norm) if whole else sentence.stated


def _claimed(
    pattern: str | re.Pattern[str],
    clause: str,
    sentence: Sentence,
    unless_before: re.Pattern[str] | None,
    unless_inside: re.Pattern[str] | None,
) -> bool:
    for match in re.finditer(pattern, clause):
        before = clause[: match.start()]
        if NEGATION.search(match.group()) or negated(clause, match.start()):
            continue
        if HYPOTHETICAL.search(match.group()) or supposed(clause, match.start()):
            continue
        if unless_inside is not None and unless_inside.search(match.group()):
            continue
        if unless_before is not None and unless_before.search(before):
            continue
        if not conditional(clause, sentence, match.end()):
            return True
    return False


def conditional(clause: str, sentence: Sentence, end: int = 0) -> bool:
    """Whether a condition governs a clause of a sentence: in an earlier clause, or behind `end` in its own.

    `Once you confirm, it is cancelled` and `it is cancelled once you confirm`; but not `it is cancelled, and
    if you need anything else, just call`. A permission that is asked for at the end governs what stands
    before.
    """
    if CONDITION.search(clause[end:]):
        return True
    if clause not in sentence.clauses:
        return False
    position = sentence.clauses.index(clause)
    earlier, later = sentence.clauses[:position], sentence.clauses[position + 1 :]
    return any(CONDITION.search(other) for other in earlier) or any(
        _PERMISSION.match(other) for other in later
    )
