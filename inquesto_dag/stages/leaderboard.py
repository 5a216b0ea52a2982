"""Stage `leaderboard`: all agents of the parameters side by side, and the page that shows them."""

from __future__ import annotations

from inquesto_dag.files import read_json, write_json
from inquesto_dag.report.leaderboard import write_leaderboard_page
from inquesto_dag.scoring.compare import build_leaderboard
from inquesto_dag.stages.context import StageContext


def run(ctx: StageContext) -> None:
    """Write `leaderboard.json` and `page/`."""
    records = {agent: read_json(ctx.folder("record", agent) / "record.json") for agent in ctx.params.agents}
    results = {agent: ctx.rows("results", "record", agent) for agent in ctx.params.agents}
    score = ctx.params.score
    leaderboard = build_leaderboard(records, results, seed=score.seed, resamples=score.resamples)
    with ctx.output() as folder:
        write_json(folder / "leaderboard.json", leaderboard)
        write_leaderboard_page(folder / "page", leaderboard)
