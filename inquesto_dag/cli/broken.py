"""Calls that infrastructure broke: said with the score, and placed again by the next one (PROTOCOL D14).

To DVC a stage whose inputs did not change is done, whatever its rows say; so the stage is run by force. What
its calls left in the memo is used again: with declared timing only the broken ones are placed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import typer

from inquesto_dag.provenance.dvc import repro
from inquesto_dag.provenance.state import ProjectState, project_states
from inquesto_dag.stages.chain import target


def broken_calls(project: Path, agent: str) -> Counter[str]:
    """How many calls of an agent each failure broke; empty without any, and before calls were placed.

    By Arrow alone: to load pandas takes longer than all that `score` does when nothing changed. A table that
    cannot be read is none that a stage left whole, so its stage is run anyway.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = project / "data" / "calls" / agent / "calls.parquet"
    try:
        problems = pq.read_table(path, columns=["infrastructure_error"]).column(0)
    except (pa.ArrowException, OSError):
        return Counter()
    return Counter(str(problem) for problem in problems.drop_null().to_pylist())


def place_broken_again(project: Path, agents: Sequence[str]) -> int:
    """Run the calls of agents again that are up to date but for broken ones; the last run's exit code."""
    broken = {agent: total for agent in agents if (total := broken_calls(project, agent).total())}
    if not broken:
        return 0
    state = ProjectState(project)
    current = {found.target for found in project_states(state) if found.kind == "current"}
    state.digests.save()
    for agent, total in broken.items():
        if target("calls", agent) in current:  # any other is run anyway
            typer.echo(f"{agent}: {counted(total)} that infrastructure broke: placing again")
            code = repro(project, [target("calls", agent)], single=True, force=True)
            if code:
                return code
    return 0


def tell_broken(project: Path, agent: str) -> str | None:
    """One line on an agent's broken calls, with the most frequent failure; None without any."""
    broken = broken_calls(project, agent)
    if not broken:
        return None
    problem, _ = broken.most_common(1)[0]
    return (
        f"{counted(broken.total())} not scored, broken by infrastructure ({problem}); "
        "the same command places them again"
    )


def counted(calls: int) -> str:
    """`1 call`, `2 calls`."""
    return f"{calls} call{'' if calls == 1 else 's'}"
