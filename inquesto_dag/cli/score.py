"""`inquesto-dag score`: bring records up to date by DVC, then say how they are cited and where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from inquesto_dag.agents.config import load_agent
from inquesto_dag.cli.broken import judge_again, place_broken_again, tell_broken, tell_unjudged
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.files import read_json
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.digests import differences
from inquesto_dag.provenance.dvc import require_stages
from inquesto_dag.provenance.params import Params, Slice, load_params, set_population
from inquesto_dag.provenance.profile import load_profile
from inquesto_dag.provenance.release import require_frozen
from inquesto_dag.provenance.runs import checkout, nobody_works, one_at_a_time, repro
from inquesto_dag.provenance.state import ProjectState, project_states
from inquesto_dag.scoring.citation import citation, views_line
from inquesto_dag.stages.chain import target

STAGE_FAILED = "error: a stage failed; its message stands above, what was finished is kept"


def score_agents(project: Path, agents: Sequence[str], population: Slice | None) -> int:
    """Score the agents (all of `params.yaml` when none is named); returns the exit code.

    What a user can get wrong is checked before anything runs or is written: parameters, agents' files,
    protocol, profile.
    """
    with one_at_a_time(project):
        return _score(project, agents, population)


def _score(project: Path, agents: Sequence[str], population: Slice | None) -> int:
    params = load_params(project)
    chosen = choose_agents(params, agents)
    for agent in chosen:
        load_agent(project / "data" / "agents", agent)
    profile = load_profile(params.profile)
    # Each stage asks this too, but DVC may restore an output without running its stage.
    require_frozen(project, params.protocol)
    load_protocol(project / "data" / "protocols" / params.protocol)
    if population and set_population(project, population):
        typer.echo(f"params.yaml: population is now {population}")
    # The leaderboard compares all agents, so a run for some of them leaves it as it was.
    everyone = set(chosen) == set(params.agents)
    targets = ["leaderboard"] if everyone else [target("record", agent) for agent in chosen]
    restore_outputs(project)
    code = place_broken_again(project, chosen, profile.caller) or judge_again(project, chosen)
    if code != 0:
        typer.echo(STAGE_FAILED, err=True)
    if code != 0 or bring_up_to_date(project, targets) != 0:
        return 1
    require_current(project, targets)
    print_scores(project, chosen, leaderboard=everyone)
    return 0


def bring_up_to_date(project: Path, targets: Sequence[str]) -> int:
    """Run what of the targets and before them is not current; DVC's exit code.

    Twice when need be: DVC gives back what it computed before under the same inputs, and does not look
    whether its cache still holds those bytes.
    """
    for _ in range(2):
        # Asked first, since DVC takes several times as long to find that nothing changed.
        if not not_current(project, targets):
            break
        code = repro(project, targets)
        if code != 0:
            typer.echo(STAGE_FAILED, err=True)
            return code
        restore_outputs(project)
    return 0


def restore_outputs(project: Path) -> None:
    """Put back from DVC's cache what was edited or removed on disk and need not be computed again.

    Files that differ are removed first: DVC judges by size, time and inode, and would leave one alone whose
    edit kept these. What the cache does not hold whole is left to the `dvc repro` that follows, which
    computes it again; a checkout would remove the rest of it. All of it waits for other runs: what a stage
    of theirs has just put in place is not what the lock says yet.
    """
    restored = []
    with nobody_works(project):
        state = ProjectState(project)
        for found in project_states(state):
            if found.kind not in ("missing", "edited on disk"):
                continue
            outs = state.locked[found.target].outs
            other = {out: _other_files(state, out, digest) for out, digest in outs.items()}
            damaged = [
                path
                for out, digest in outs.items()
                for path in state.digests.drop_damaged(digest, other[out])
            ]
            if damaged:
                typer.echo(f"{found.target}: {len(damaged)} damaged files in DVC's cache are removed")
            whole = all(state.digests.in_cache(digest) for digest in outs.values())
            what = "restoring" if whole else "to compute again"
            typer.echo(f"{what}: {found.target}: {'; '.join(found.reasons)}")
            for out, names in other.items():
                for name in names:
                    (project / out / name).unlink(missing_ok=True)
            restored += [found.target] if whole else []
        state.digests.save()
    if restored:
        checkout(project, restored)


def _other_files(state: ProjectState, out: str, digest: str) -> list[str]:
    """The files of an output that are not what was computed: all of it when it is not there."""
    before = state.digests.recall(digest)
    return [] if before is None else differences(before, state.digests.listing(out) or {})


def require_current(project: Path, targets: Sequence[str]) -> None:
    """CheckFailed unless the targets and everything before them are on disk as they were computed.

    The last word before a number is printed: it must not come from a file that somebody edited.
    """
    faults = not_current(project, targets)
    if faults:
        raise CheckFailed(
            "; ".join(faults),
            where="score",
            remedy="run it again; if that does not help, remove the output's folder and run it once more",
        )


def require_untouched(project: Path, stages: Sequence[str], agent: str) -> None:
    """CheckFailed when an output that a number is to be made from was edited, cut off or removed.

    Stages that have not run are not looked at, nor is a project without DVC: who reads them says that.
    """
    state = ProjectState(project)
    faults = [
        fault
        for name in (target(stage, agent) for stage in stages)
        if name in state.locked and name in state.stages
        for found in state.out_faults(name)
        for fault in found
    ]
    state.digests.save()
    if faults:
        raise CheckFailed(
            "; ".join(faults),
            where=agent,
            remedy="run `inquesto-dag score`, which restores it",
        )


def not_current(project: Path, targets: Sequence[str]) -> list[str]:
    """What of the targets and everything before them is not on disk as it was computed, one phrase each."""
    state = ProjectState(project)
    require_stages(project, state.stages, targets)
    states = {found.target: found for found in project_states(state)}
    state.digests.save()
    waiting, faults = list(targets), []
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if states[name].kind not in ("current", "follows"):
            faults.append(f"{name} is {states[name].kind}: {'; '.join(states[name].reasons)}")
        waiting += [producer for dep in state.stages[name].deps for producer in state.producers(dep)]
    return faults


def choose_agents(params: Params, agents: Sequence[str]) -> list[str]:
    """The agents asked for, in the order of `params.yaml`; InputError for one that it does not name."""
    unknown = [agent for agent in agents if agent not in params.agents]
    if unknown:
        raise InputError(
            f"unknown agent {unknown[0]!r}",
            where="params.yaml",
            field="agents",
            remedy=f"use one of {', '.join(params.agents)}; to add one, write data/agents/NAME.yaml and name "
            "it under `agents` in params.yaml",
        )
    return [agent for agent in params.agents if not agents or agent in agents]


def print_scores(project: Path, agents: Sequence[str], *, leaderboard: bool) -> None:
    """For each agent its citation (PROTOCOL N2), its views, record and page; then where they are compared."""
    for agent in agents:
        folder = project / "data" / "record" / agent
        record = read_json(folder / "record.json")
        typer.echo(f"\n{agent}")
        typer.echo(f"  {citation(record)}")
        typer.echo(f"  {views_line(record)}")
        for line in (tell_broken(project, agent), tell_unjudged(record)):
            if line:
                typer.echo(f"  {line}")
        typer.echo(f"  record {_shown(folder / 'record.json')}")
        typer.echo(f"  page   {_shown(folder / 'page' / 'index.html')}")
    if leaderboard:
        typer.echo(f"\nside by side: {_shown(project / 'data' / 'leaderboard' / 'page' / 'index.html')}")


def _shown(path: Path) -> str:
    """A path as short as it can be opened from here."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
