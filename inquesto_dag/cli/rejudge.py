"""`inquesto-dag rejudge`: another judge reads the same calls; nothing else is computed again (A5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from inquesto_dag.agents.chat.roles import OTHER, is_model, slug
from inquesto_dag.cli.judges import compare_judges, shown_rate
from inquesto_dag.cli.score import choose_agents
from inquesto_dag.files import make_folder, write_table
from inquesto_dag.provenance.memo import Memo, default_memo
from inquesto_dag.provenance.params import load_params
from inquesto_dag.scoring.rate import Rate
from inquesto_dag.scoring.results import all_events, result_rows
from inquesto_dag.scoring.views import scored
from inquesto_dag.stages.context import StageContext, default_workers, plain_rows
from inquesto_dag.stages.report import StageReport
from inquesto_dag.stages.verdicts import Rubric, judge_all, judged_calls, make_judge
from inquesto_dag.tables import VERDICTS

FOLDER = "rejudged"  # beside data/, since no stage writes it: a record keeps its own judge
SHOWN_DIFFERENCES = 5


def rejudge(project: Path, agents: Sequence[str], judge: str) -> None:
    """Judge the agents' calls (all of `params.yaml` without names), and print where the two judges differ.

    Writes `rejudged/JUDGE/AGENT/verdicts.parquet`. InputError for an unknown judge or agent and for calls
    that were not placed, InfrastructureError for an endpoint that cannot be asked; what was judged by then is
    in the memo.
    """
    params = load_params(project)
    for agent in choose_agents(params, agents):
        ctx = StageContext(
            project, "verdicts", params, agent, default_memo(project), None, default_workers(),
            StageReport("rejudge", agent),
        )  # fmt: skip
        rows = _judge(ctx, judge)
        path = project / FOLDER / slug(judge.removeprefix(OTHER)) / agent / f"{VERDICTS.name}.parquet"
        make_folder(path.parent)
        frame = VERDICTS.conform(rows)
        write_table(path, frame)
        typer.echo(f"{agent}: {len({row['call_id'] for row in rows})} calls judged by {judge}, {path}")
        if unjudged := {row["call_id"] for row in rows if row["answer"] is None}:
            typer.echo(f"  {len(unjudged)} of them unjudged; the same command asks about them again")
        if (ctx.folder("verdicts", agent) / f"{VERDICTS.name}.parquet").is_file():
            compare_judges(project, agent, str(path), SHOWN_DIFFERENCES)
            if ctx.folder("events", agent).is_dir():
                first, second = (
                    _rate(ctx, verdicts)
                    for verdicts in (ctx.rows("verdicts", "verdicts", agent), plain_rows(frame))
                )
                typer.echo(
                    f"score  A {shown_rate(first)}, n = {first.n}  B {shown_rate(second)}, n = {second.n}"
                )


def _judge(ctx: StageContext, judge: str) -> list[Mapping[str, Any]]:
    rubric = Rubric(make_judge(judge, ctx.protocol), ctx.protocol)
    calls, memo = judged_calls(ctx), Memo(ctx.memo.root)
    if is_model(judge):
        return judge_all(rubric, calls, memo)
    return [row for call in calls for row in rubric.verdicts(call, memo)]


def _rate(ctx: StageContext, verdicts: Sequence[Mapping[str, Any]]) -> Rate:
    """The score that these verdicts give with everything else as it stands (PROTOCOL R2)."""
    agent = ctx.required_agent()
    population, calls = ctx.rows("population", "population"), ctx.rows("calls", "calls", agent)
    tool_calls = ctx.rows("tool_calls", "calls", agent)
    events = all_events(ctx.protocol, population, ctx.rows("events", "events", agent), verdicts, tool_calls)
    counted = scored(result_rows(ctx.protocol, population, calls, tool_calls, events, verdicts))
    return Rate(sum(bool(row["passed"]) for row in counted), len(counted))
