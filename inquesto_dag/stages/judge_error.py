"""Stage `judge_error`: how often the profile's judge is right, on transcripts that were held out (A5, T14).

The known error of a judge stands in every record that it judged. It is measured where that costs nothing but
seconds: of a judge that is a set of rules. Of a model it is not known until somebody asks it
(`inquesto-dag judges check`), and then the table has no row.
"""

from __future__ import annotations

from typing import Any

from inquesto_dag.judging.interfaces import judge_line
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import JUDGE_ERRORS
from inquesto_dag.validation.sensitivity import WHOLE, overall, read, tally
from inquesto_dag.validation.transcripts import plant
from inquesto_dag.validation.wordings import HELD_OUT, load_wordings

RULES = "rules"


def run(ctx: StageContext) -> None:
    """Write `judge_errors`."""
    rows = error_rows(ctx) if ctx.profile.judge == RULES else []
    with ctx.output() as folder:
        ctx.write(folder, JUDGE_ERRORS, rows)


def error_rows(ctx: StageContext) -> list[dict[str, Any]]:
    """Rows of `tables.JUDGE_ERRORS`: each judged event, the goal, and whole transcripts."""
    judge = RuleJudge(ctx.protocol)
    readings = read(ctx.protocol, judge, plant(ctx.protocol, load_wordings(HELD_OUT)))
    found = {event.event: (event.sensitivity, event.specificity) for event in tally(ctx.protocol, readings)}
    return [
        {
            "event": event,
            "planted": sensitivity.n,
            "found": sensitivity.passes,
            "clean": specificity.n,
            "silent": specificity.passes,
            "judge": judge_line(judge),
        }
        for event, (sensitivity, specificity) in {**found, WHOLE: overall(readings)}.items()
    ]
