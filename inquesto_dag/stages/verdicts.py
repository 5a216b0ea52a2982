"""Stage `verdicts`: the judge's answers to the rubric, for every call (PROTOCOL T14, D8, D13)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from inquesto_dag.agents.chat.roles import OTHER, SERVED_AS, find_model, is_model
from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json
from inquesto_dag.judging.interfaces import Judge, JudgedCall, verdict_rows
from inquesto_dag.judging.model import ModelJudge
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.models import Account, Protocol
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.provenance.versions import remember
from inquesto_dag.stages.context import StageContext, rows_by_call
from inquesto_dag.stages.progress import progress
from inquesto_dag.tables import VERDICTS

VERDICT_KIND = "verdict"
AT_ONCE_VARIABLE = "INQUESTO_JUDGE_AT_ONCE"


def run(ctx: StageContext) -> None:
    """Write `verdicts`."""
    verdicts = judge_calls(ctx, judged_calls(ctx))
    with ctx.output() as folder:
        ctx.write(folder, VERDICTS, verdicts)


def judge_calls(ctx: StageContext, calls: Sequence[JudgedCall]) -> list[Mapping[str, Any]]:
    """Rows of `tables.VERDICTS` of the profile's judge, through the memo; the report counts them."""
    rubric, memo = Rubric(make_judge(ctx.profile.judge, ctx.protocol), ctx.protocol), Memo(ctx.memo.root)
    verdicts = judge_all(rubric, calls, memo) if is_model(ctx.profile.judge) else [
        verdict for call in calls for verdict in rubric.verdicts(call, memo)
    ]  # fmt: skip
    counts = {"verdict_computed": memo.misses, "verdict_reused": memo.hits}
    if unjudged := len({row["call_id"] for row in verdicts if row["answer"] is None}):
        counts["unjudged"] = unjudged
    ctx.report.add({}, counts | ({"memo_damaged": len(memo.damaged)} if memo.damaged else {}), 0.0)
    return verdicts


def judged_calls(ctx: StageContext) -> list[JudgedCall]:
    """What the judge is given of every call; one that infrastructure broke is not judged (PROTOCOL D14)."""
    agent = ctx.required_agent()
    planned = {row["call_id"]: row for row in ctx.rows("population", "population")}
    turns = rows_by_call(ctx.rows("turns", "calls", agent))
    tool_calls = rows_by_call(ctx.rows("tool_calls", "calls", agent))
    return [
        JudgedCall(
            population=planned[call["call_id"]],
            turns=turns.get(call["call_id"], []),
            tool_calls=tool_calls.get(call["call_id"], []),
            account_before=ctx.protocol.account,
            account_after=Account.model_validate_json(call["account_after"]),
        )
        for call in ctx.rows("calls", "calls", agent)
        if not call["infrastructure_error"]
    ]


class Rubric:
    """A judge and what of a protocol it reads: the questions, the facts, the scenario of each call."""

    def __init__(self, judge: Judge, protocol: Protocol) -> None:
        self.judge = judge
        self._scenarios = {scenario.id: scenario.model_dump(mode="json") for scenario in protocol.scenarios}
        self._asked = {
            "judge": dict(judge.identity),
            "questions": [question.model_dump(mode="json") for question in protocol.questions],
            "facts": [fact.model_dump(mode="json") for fact in protocol.facts],
        }

    def parts(self, call: JudgedCall) -> dict[str, Any]:
        """Everything that decides the verdicts on a call, for their key (PROTOCOL D17)."""
        return {
            **self._asked,
            "scenario": self._scenarios[str(call.population["scenario_id"])],
            "row": dict(call.population),
            "turns": [dict(turn) for turn in call.turns],
            "tool_calls": [dict(row) for row in call.tool_calls],
            "account_before": call.account_before.model_dump(mode="json"),
            "account_after": call.account_after.model_dump(mode="json"),
        }

    def verdicts(self, call: JudgedCall, memo: Memo) -> list[Mapping[str, Any]]:
        """Rows of `tables.VERDICTS` for a call, from the memo or judged now; an unjudged call is not kept."""
        parts = self.parts(call)
        unjudged: list[bytes] = []

        def compute() -> bytes:
            payload = judge_call(self.judge, call)
            if any(row["answer"] is None for row in json.loads(payload)):
                unjudged.append(payload)
                raise _Unjudged
            return payload

        try:
            payload = remember(memo, VERDICT_KIND, parts, compute)
        except _Unjudged:
            payload = unjudged[0]
        return list(json.loads(payload))


class _Unjudged(Exception):
    """Leaves the memo without storing: the judge is asked again next time (PROTOCOL D13)."""


def judge_all(rubric: Rubric, calls: Sequence[JudgedCall], memo: Memo) -> list[Mapping[str, Any]]:
    """The verdicts on all calls, in their order, by a judge that is waited for: several calls at a time.

    Adds what the memo gave and what was judged to `memo`. A failure of all calls ends it; what was judged by
    then is kept.
    """
    memos = [Memo(memo.root) for _ in calls]  # each counts for itself, so threads share nothing
    try:
        with ThreadPoolExecutor(calls_at_once()) as pool, progress("verdicts", len(calls)) as advance:
            waiting = [
                pool.submit(rubric.verdicts, call, own) for call, own in zip(calls, memos, strict=True)
            ]
            try:
                found: list[Mapping[str, Any]] = []
                for judged in waiting:
                    found += judged.result()
                    advance()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        for own in memos:
            memo.hits, memo.misses = memo.hits + own.hits, memo.misses + own.misses
            memo.damaged += own.damaged
    return found


def calls_at_once() -> int:
    """`$INQUESTO_JUDGE_AT_ONCE`, or 8: requests that an endpoint is given at a time; they decide nothing."""
    value = os.environ.get(AT_ONCE_VARIABLE) or "8"
    if not value.isdigit() or not 1 <= int(value) <= 256:
        raise InputError(
            f"is {value!r}", where=f"${AT_ONCE_VARIABLE}", remedy="set it to a whole number from 1 to 256"
        )
    return int(value)


def judge_call(judge: Judge, call: JudgedCall) -> bytes:
    """The verdicts of a judge on a call as canonical JSON, whatever the memo holds."""
    return canonical_json(verdict_rows(judge, call))


def make_judge(name: str, protocol: Protocol) -> Judge:
    """The judge of that name: `rules`, a profile's model, or `openai:MODEL`; InputError for any other."""
    if name == "rules":
        return RuleJudge(protocol)
    if not is_model(name):
        raise InputError(
            f"there is no judge {name!r}",
            where="judge",
            remedy=f"use `rules`, {', '.join(SERVED_AS)}, or {OTHER}MODEL, a model as its endpoint names it",
        )
    return ModelJudge(protocol, find_model("judge", name, os.environ))
