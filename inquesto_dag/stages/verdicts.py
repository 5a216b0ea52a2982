"""Stage `verdicts`: the judge's answers to the rubric, for every call (PROTOCOL T14, D8, D13)."""

from __future__ import annotations

from inquesto_dag.errors import InputError
from inquesto_dag.judging.interfaces import Judge, JudgedCall, verdict_rows
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.models import Account, Protocol
from inquesto_dag.stages.context import StageContext, rows_by_call
from inquesto_dag.tables import VERDICTS


def run(ctx: StageContext) -> None:
    """Write `verdicts`; a call that infrastructure broke is not judged (PROTOCOL D14)."""
    agent = ctx.required_agent()
    judge = make_judge(ctx.profile.judge, ctx.protocol)
    planned = {row["call_id"]: row for row in ctx.rows("population", "population")}
    turns = rows_by_call(ctx.rows("turns", "calls", agent))
    tool_calls = rows_by_call(ctx.rows("tool_calls", "calls", agent))
    verdicts = [
        verdict
        for call in ctx.rows("calls", "calls", agent)
        if not call["infrastructure_error"]
        for verdict in verdict_rows(
            judge,
            JudgedCall(
                population=planned[call["call_id"]],
                turns=turns.get(call["call_id"], []),
                tool_calls=tool_calls.get(call["call_id"], []),
                account_before=ctx.protocol.account,
                account_after=Account.model_validate_json(call["account_after"]),
            ),
        )
    ]
    with ctx.output() as folder:
        ctx.write(folder, VERDICTS, verdicts)


def make_judge(name: str, protocol: Protocol) -> Judge:
    """The judge of a profile; InputError for one that this version cannot run."""
    if name == "rules":
        return RuleJudge(protocol)
    raise InputError(
        f"no judge {name!r} can be run yet",
        where="params.yaml",
        field="profile",
        remedy="use the embedded profile, whose judge is `rules`",
    )
