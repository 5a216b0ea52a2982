"""What a judge is given and what it answers (PROTOCOL T14, D8, D13, D16).

A judge reads the words that were said, the tool calls, and the account before and after: the same state that
the agent's tools read and changed. It answers each question of its call's role with yes, no, or nothing when
it could not be made to answer; nothing leaves the call unjudged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from inquesto_dag.events.rows import Row
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.protocol.models import Account


@dataclass(frozen=True)
class JudgedCall:
    """One call: its rows of POPULATION, TURNS and TOOL_CALLS, and the account before and after it."""

    population: Row
    turns: Sequence[Row]
    tool_calls: Sequence[Row]
    account_before: Account
    account_after: Account

    @property
    def call_id(self) -> str:
        """The call."""
        return str(self.population["call_id"])


@dataclass(frozen=True)
class Verdict:
    """An answer to one question. `turns` are numbers of the trace's turns, `fields` paths of the account."""

    question: str
    answer: bool | None
    reason: str
    turns: tuple[int, ...] = ()
    fields: tuple[str, ...] = ()
    raw: str = ""
    attempts: int = 1


class Judge(Protocol):
    """Something that answers the rubric for a call. `identity` names it, with version and digests."""

    @property
    def identity(self) -> Mapping[str, Any]: ...

    def judge(self, call: JudgedCall) -> list[Verdict]: ...


def judge_line(judge: Judge) -> str:
    """`NAME@VERSION:DIGEST` of a judge, the digest being that of the whole identity (PROTOCOL D16)."""
    identity = judge.identity
    return f"{identity['name']}@{identity['version']}:{sha256_bytes(canonical_json(dict(identity)))}"


def verdict_rows(judge: Judge, call: JudgedCall) -> list[dict[str, Any]]:
    """The verdicts of a judge about a call as rows of `tables.VERDICTS`."""
    name = judge_line(judge)
    return [
        {
            "call_id": call.call_id,
            "question": verdict.question,
            "answer": verdict.answer,
            "reason": verdict.reason,
            "evidence": json.dumps({"turns": list(verdict.turns), "fields": list(verdict.fields)}),
            "judge": name,
            "raw": verdict.raw,
            "attempts": verdict.attempts,
        }
        for verdict in judge.judge(call)
    ]
