"""Calls that infrastructure broke or no judge judged: told, and taken up by the next score (D13, D14).

To DVC a stage whose inputs did not change is done, whatever its rows say; so the stage is run by force. What
its calls left in the memo is used again: with declared timing only the broken ones are placed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from inquesto_dag.files import read_json
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.profile import SCRIPTED_CALLER, load_profile
from inquesto_dag.provenance.runs import repro
from inquesto_dag.provenance.state import ProjectState, project_states
from inquesto_dag.stages.chain import target
from inquesto_dag.tables import CALLER_FAULT

MODEL_VARIABLE = "INQUESTO_CALLER_MODEL"


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


def calls_of_another_caller(project: Path, agent: str, caller: str) -> int:
    """How many calls of an agent another model called than the environment names now (PROTOCOL D17).

    The model's name at its endpoint is the environment's, so no file that DVC looks at has changed.
    """
    if caller == SCRIPTED_CALLER:
        return 0
    from inquesto_dag.agents.chat.roles import find_model

    asked = find_model("caller", caller, os.environ).model
    traces = (project / "data" / "calls" / agent / "recordings").glob("*/trace.json")
    return sum(read_json(path).get("caller", {}).get("model", asked) != asked for path in traces)


def place_broken_again(project: Path, agents: Sequence[str], caller: str = SCRIPTED_CALLER) -> int:
    """Run the calls of agents again that are up to date but for broken ones, or ones that another model
    called than the environment names now; the last run's exit code. `caller` is the profile's.
    """
    again: dict[str, str] = {}
    for agent in agents:
        if total := broken_calls(project, agent).total():
            again[agent] = f"{counted(total)} that infrastructure broke"
        elif others := calls_of_another_caller(project, agent, caller):
            again[agent] = f"{counted(others)} of another caller than ${MODEL_VARIABLE} names"
    if not again:
        return 0
    state = ProjectState(project)
    current = {found.target for found in project_states(state) if found.kind == "current"}
    state.digests.save()
    for agent, why in again.items():
        if target("calls", agent) in current:  # any other is run anyway
            typer.echo(f"{agent}: {why}: placing again")
            code = repro(project, [target("calls", agent)], single=True, force=True)
            if code:
                return code
    return 0


def judge_again(project: Path, agents: Sequence[str]) -> int:
    """Run the verdicts of agents again that are up to date and lack answers (PROTOCOL D13), or that another
    model gave than the environment names now; the last run's exit code. Rules leave nothing open.
    """
    from inquesto_dag.agents.chat.roles import is_model

    params = load_params(project)
    name = load_profile(params.profile).judge
    tables = {agent: project / "data" / "verdicts" / agent / "verdicts.parquet" for agent in agents}
    if not is_model(name) or not any(path.exists() for path in tables.values()):
        return 0
    from inquesto_dag.files import read_table
    from inquesto_dag.judging.interfaces import judge_line
    from inquesto_dag.protocol.load import load_protocol
    from inquesto_dag.stages.verdicts import make_judge

    judge = judge_line(make_judge(name, load_protocol(project / "data" / "protocols" / params.protocol)))
    state = ProjectState(project)
    current = {found.target for found in project_states(state) if found.kind == "current"}
    state.digests.save()
    for agent, path in tables.items():
        if target("verdicts", agent) not in current:
            continue
        table = read_table(path)
        unjudged = table.loc[table["answer"].isna(), "call_id"].nunique()
        others = table.loc[table["judge"] != judge, "call_id"].nunique()
        if unjudged or others:
            why = "without a judgement" if unjudged else "that another model judged"
            typer.echo(f"{agent}: {counted(unjudged or others)} {why}: asking again")
            code = repro(project, [target("verdicts", agent)], single=True, force=True)
            if code:
                return code
    return 0


def tell_unjudged(record: Mapping[str, Any]) -> str | None:
    """One line on the calls of a record that its judge could not be made to judge; None without any."""
    unjudged = record["status"]["unjudged"]
    if not unjudged:
        return None
    return f"{counted(unjudged)} not scored, without a judgement; the same command asks again"


def tell_broken(project: Path, agent: str) -> str | None:
    """One line on an agent's broken calls, with the most frequent failure; None without any."""
    broken = broken_calls(project, agent)
    if not broken:
        return None
    faults = Counter({problem: n for problem, n in broken.items() if problem.startswith(CALLER_FAULT)})
    told = []
    for problems, what in ((broken - faults, "broken by infrastructure"), (faults, "by the caller's fault")):
        if problems:
            problem, _ = problems.most_common(1)[0]
            told.append(f"{counted(problems.total())} not scored, {what} ({problem})")
    return f"{'; '.join(told)}; the same command places them again"


def counted(calls: int) -> str:
    """`1 call`, `2 calls`."""
    return f"{calls} call{'' if calls == 1 else 's'}"
