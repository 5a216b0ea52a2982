"""`inquesto-dag agents`: what can be scored, and what it lacks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from inquesto_dag.agents.config import AgentConfig, list_agents, load_agent
from inquesto_dag.cli.score import require_untouched
from inquesto_dag.provenance.params import load_params

if TYPE_CHECKING:
    from inquesto_dag.agents.chat.check import Finding


def print_agents(project: Path) -> None:
    """One line an agent: id, brain, window, whether `params.yaml` names it, description."""
    named = load_params(project).agents
    folder = project / "data" / "agents"
    for agent_id in list_agents(folder):
        agent = load_agent(folder, agent_id)
        mark = "in params.yaml" if agent_id in named else "not scored"
        typer.echo(
            f"{agent_id:20} {agent.brain.kind:12} {agent.endpointing_ms:5} ms  {mark:15} {agent.description}"
        )


def print_costs(project: Path, names: Sequence[str]) -> None:
    """For each agent (without names: of `params.yaml`) the tokens of its placed calls and their price."""
    from inquesto_dag.agents.cost import total, usage_of
    from inquesto_dag.report.brain import read_trace

    for name in names or load_params(project).agents:
        agent = load_agent(project / "data" / "agents", name)
        require_untouched(project, ("calls",), name)
        folders = sorted((project / "data" / "calls" / name / "recordings").glob("*/"))
        usages = [usage for folder in folders if (usage := usage_of(read_trace(folder))) is not None]
        if not usages:
            what = "no call of it was placed" if not folders else "it has no language model"
            typer.echo(f"{name}: {what}")
            continue
        whole = total(usages)
        money = whole.money(agent.prices)
        tokens = f"tokens in {_known(whole.tokens_in)}, out {_known(whole.tokens_out)}"
        shown = [f"{name}: {len(usages)} calls", tokens]
        if agent.prices is None:
            shown.append("cost unknown (its file holds no prices)")
        elif money is None:
            uncounted = sum(usage.money(agent.prices) is None for usage in usages)
            shown.append(f"cost unknown ({uncounted} calls have uncounted tokens)")
        else:
            shown.append(f"cost {agent.prices.currency} {money:.4f} (prices of {agent.prices.dated})")
        typer.echo(", ".join(shown))


def _known(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def check_agents(project: Path, names: Sequence[str]) -> int:
    """What each agent (all, without names) lacks, with one turn tried; exit code 1 when one is not ready."""
    folder = project / "data" / "agents"
    lacking = []
    agents = [load_agent(folder, name) for name in names or list_agents(folder)]
    for agent in agents:
        typer.echo(f"{agent.id} ({agent.brain.kind})")
        ready = True
        for finding in _check(project, agent):
            mark = {True: "ok", False: "lacks", None: "unknown"}[finding.ok]
            typer.echo(f"  {finding.part:8} {mark:8} {finding.text}")
            if finding.remedy:
                typer.echo(f"    next: {finding.remedy}")
            ready &= finding.ok is not False
        if not ready:
            lacking.append(agent.id)
    typer.echo(f"{len(agents) - len(lacking)} of {len(agents)} agents are ready" + _list(lacking))
    return 1 if lacking else 0


def _check(project: Path, agent: AgentConfig) -> Iterator[Finding]:
    from inquesto_dag.agents.brain import make_brain
    from inquesto_dag.agents.chat.check import Finding, check_chat, check_local
    from inquesto_dag.errors import InquestoError
    from inquesto_dag.protocol.load import load_protocol

    if agent.brain.kind == "openai":
        protocol = load_protocol(project / "data" / "protocols" / load_params(project).protocol)
        yield from check_chat(agent, protocol.account, os.environ)
        return
    if agent.brain.kind == "transformers":
        protocol = load_protocol(project / "data" / "protocols" / load_params(project).protocol)
        yield from check_local(agent, protocol.account)
        return
    try:
        make_brain(agent)
        yield Finding("brain", True, "needs nothing from outside")
    except InquestoError as lack:
        yield Finding("brain", False, lack.problem, lack.remedy)


def _list(lacking: Sequence[str]) -> str:
    return f"; not ready: {', '.join(lacking)}" if lacking else ""
