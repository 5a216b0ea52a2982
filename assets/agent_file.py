"""Asset `agent_file`: an agent's settings, the one input that differs from partition to partition.

A code version covers all partitions of an asset, so what one agent's file says cannot stand there: an edit
would mark every agent unsynced where DVC marks one. It is an asset of its own, whose data version is the
file's digest; `reconcile` reports it when it changed.
"""

from pathlib import Path
from typing import Any

import dagster as dg

from assets.bridge import AGENT_FILE, OWNERS, agent_partitions
from inquesto_dag.agents.config import load_agent
from inquesto_dag.provenance.digests import Digests
from inquesto_dag.provenance.inputs import agent_file

CODE_VERSION = "1"  # it only points at a file


def agent_file_asset(project: Path) -> dg.AssetsDefinition:
    """The asset: it reads the agent's file, refuses one that is not an agent, and reports its digest."""

    @dg.asset(
        name=AGENT_FILE,
        partitions_def=agent_partitions(project),
        group_name="agents",
        description="An agent's settings under data/agents/: window, voice, recogniser, brain, timing.",
        kinds={"yaml"},
        owners=OWNERS,
        code_version=CODE_VERSION,
    )
    def materialise(context: dg.AssetExecutionContext) -> dg.MaterializeResult[Any]:
        agent = context.partition_key
        config = load_agent(project / "data" / "agents", agent)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(str(Digests(project).digest(agent_file(agent)))),
            metadata={
                "file": dg.MetadataValue.path(str(project / agent_file(agent))),
                "description": config.description,
                "endpointing_ms": config.endpointing_ms,
            },
        )

    return materialise
