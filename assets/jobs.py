"""Jobs: prepare what all agents share, score one agent (a backfill scores all), compare the scored ones."""

from typing import Any

import dagster as dg

from assets.bridge import AGENT_FILE
from inquesto_dag.stages.chain import CHAIN

PREPARE = [stage.name for stage in CHAIN if not stage.per_agent and stage.name != "leaderboard"]
PER_AGENT = [stage.name for stage in CHAIN if stage.per_agent]


def chain_jobs() -> list[Any]:
    """The jobs. DVC skips what is up to date, so `score_agent` takes the shared stages along at no cost."""
    return [
        dg.define_asset_job(
            "prepare_callers",
            selection=dg.AssetSelection.assets(*PREPARE),
            description="Population, callers' audio, lines and verifier: what every agent's calls share.",
        ),
        dg.define_asset_job(
            "score_agent",
            selection=dg.AssetSelection.assets(AGENT_FILE, *PREPARE, *PER_AGENT),
            description="An agent's record, and everything before it. A backfill over all partitions scores "
            "all agents, one run each: runs that batch partitions give them all one data version.",
        ),
        dg.define_asset_job(
            "compare_agents",
            selection=dg.AssetSelection.assets("leaderboard"),
            description="The leaderboard of all agents of params.yaml, once each has a record.",
        ),
    ]
