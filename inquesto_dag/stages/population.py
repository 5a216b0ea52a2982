"""Stage `population`: which calls to place (PROTOCOL P1-P6), all of them or the parameters' slice."""

from __future__ import annotations

from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import POPULATION


def run(ctx: StageContext) -> None:
    """Write `population`, one row a call."""
    rows = take_slice(plan_calls(ctx.protocol), ctx.params.population)
    with ctx.output() as folder:
        ctx.write(folder, POPULATION, rows)
