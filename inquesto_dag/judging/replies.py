"""What a language model's reply to the rubric says, in whatever form it comes (PROTOCOL D13).

Asked for is one object with an object for each question. Read as well: `{"goal_reached": "yes"}` and
booleans, a list of objects that name their question, all of that under a key of its own, with words, fences
or thought around it, and the faults that `tolerant_json` forgives. An answer that is neither yes nor no is
none, and so is one that the text breaks off in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inquesto_dag.agents.chat.tolerant_json import Unreadable, read_object

LONGEST_REASON = 600  # characters that are kept
_ANSWER = re.compile(r"^\W*(yes|no|true|false)\b", re.IGNORECASE)
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|$)", re.DOTALL | re.IGNORECASE)
_NAME_KEYS = ("question", "name", "id", "question_id", "key")
_ANSWER_KEYS = ("answer", "verdict", "value", "response")
_REASON_KEYS = ("reason", "explanation", "reasoning", "rationale", "why")


@dataclass(frozen=True)
class Answered:
    """One question's answer; `turns` are the numbers that the judge gave, whether or not they exist."""

    answer: bool
    reason: str
    turns: tuple[int, ...] = ()


def reply_schema(questions: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of a reply: every question with reason, answer and turns, and nothing else."""
    one = {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "answer": {"type": "string", "enum": ["yes", "no"]},
            "turns": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["reason", "answer", "turns"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {question: one for question in questions},
        "required": list(questions),
        "additionalProperties": False,
    }


def read_answers(text: str, questions: Sequence[str]) -> dict[str, Answered]:
    """The answers of a reply by question; a question that it answers twice has the last one."""
    found: dict[str, Answered] = {}
    for value in _objects(_THOUGHT.sub(" ", text)):
        found |= dict(_answers(value, frozenset(questions)))
    return found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a text, outermost first; what cannot be read is entered, for whole ones inside it."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = read_object(text, at)
        except Unreadable:
            at = text.find("{", at + 1)
            continue
        yield value
        at = text.find("{", end)


def _answers(value: object, questions: frozenset[str]) -> Iterator[tuple[str, Answered]]:
    if isinstance(value, list):
        for member in value:
            yield from _answers(member, questions)
    if not isinstance(value, Mapping):
        return
    named = next((value[key] for key in _NAME_KEYS if value.get(key) in questions), None)
    if named is not None:
        if (read := _one(value)) is not None:
            yield str(named), read
        return
    for key, inner in value.items():
        if key in questions:
            if (read := _one(inner)) is not None:
                yield key, read
        elif isinstance(inner, list | Mapping):
            yield from _answers(inner, questions)


def _one(value: object) -> Answered | None:
    if isinstance(value, bool):
        return Answered(value, "")
    if isinstance(value, str):
        match = _ANSWER.match(value)
        rest = value[match.end() :].strip(" .,:;-\u2013\u2014") if match else ""
        return Answered(match[1].lower() in ("yes", "true"), rest[:LONGEST_REASON]) if match else None
    if not isinstance(value, Mapping):
        return None
    given = next((value[key] for key in _ANSWER_KEYS if key in value), None)
    read = _one(given) if isinstance(given, bool | str) else None
    if read is None:
        return None
    reason = next((str(value[key]) for key in _REASON_KEYS if value.get(key)), read.reason)
    turns = value.get("turns")
    numbers = [n for n in turns if type(n) is int] if isinstance(turns, list) else []
    return Answered(read.answer, " ".join(reason.split())[:LONGEST_REASON], tuple(dict.fromkeys(numbers)))
