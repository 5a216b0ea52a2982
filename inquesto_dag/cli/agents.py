"""`inquesto-dag agents`: what can be scored."""

from __future__ import annotations

from pathlib import Path

import typer

from inquesto_dag.agents.config import list_agents, load_agent
from inquesto_dag.provenance.params import load_params


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
