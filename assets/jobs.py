"""Jobs: prepare what agents share, score one, compare the scored; all of it; validate the events; check."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg

from assets.bridge import AGENT_FILE
from assets.check_outputs import check_outputs_job
from inquesto_dag.stages.chain import CHAIN, STAGES

PREPARE = [stage.name for stage in CHAIN if stage.group == "callers"]
PER_AGENT = [stage.name for stage in CHAIN if stage.per_agent]
JUDGE_ERROR = "judge_error"  # shared, and read by every record


def chain_jobs(project: Path, asset_graph: Callable[[], Any]) -> list[Any]:
    """The jobs of the assets in `asset_graph`, which is called when a job runs.

    DVC skips what is up to date, so `score_agent` takes the shared stages along at little cost.
    """
    return [
        dg.define_asset_job(
            "prepare_callers",
            selection=dg.AssetSelection.assets(*PREPARE),
            description="Population, callers' audio, lines and verifier: what every agent's calls share.",
        ),
        dg.define_asset_job(
            "score_agent",
            selection=dg.AssetSelection.assets(AGENT_FILE, *PREPARE, *PER_AGENT, JUDGE_ERROR),
            description="One agent's record, and everything before it: choose the agent's partition.",
        ),
        dg.define_asset_job(
            "compare_agents",
            selection=dg.AssetSelection.assets("leaderboard"),
            description="The leaderboard of all agents of params.yaml, once each has a record.",
        ),
        dg.define_asset_job(
            "validate",
            selection=dg.AssetSelection.assets(*PREPARE, "validation"),
            description="Probe agents over the population: how often each failure event is found.",
        ),
        check_outputs_job(project),
        score_all_job(asset_graph),
    ]


def score_all_job(asset_graph: Callable[[], Any]) -> dg.JobDefinition:
    """The job that requests a backfill of the assets of `asset_graph` behind the records, for every agent."""

    @dg.op(description="Ask the daemon for a backfill of every agent's record; it goes on after this run.")
    def launch_backfill(context: dg.OpExecutionContext) -> None:
        # What the graph does for "Materialize all"; Dagster offers it to programs only here.
        from dagster._core.execution.backfill import PartitionBackfill
        from dagster._core.utils import make_new_backfill_id

        graph = asset_graph()
        backfill = PartitionBackfill.from_asset_partitions(
            backfill_id=make_new_backfill_id(),
            asset_graph=graph,
            partition_names=None,
            asset_selection=sorted(
                key
                for key in graph.materializable_asset_keys
                if graph.get(key).group_name != STAGES["validation"].group
            ),
            backfill_timestamp=time.time(),
            tags={},
            dynamic_partitions_store=context.instance,
            all_partitions=True,
            title="score_all",
            description=None,
            run_config=None,
        )
        context.instance.add_backfill(backfill)
        context.log.info(f"Backfill {backfill.backfill_id} is requested: follow it under Runs.")
        context.add_output_metadata({"backfill": dg.MetadataValue.url(f"/runs/b/{backfill.backfill_id}")})

    @dg.job(
        description="Every agent of params.yaml: the shared stages once, one run for each agent, then the "
        "leaderboard. Requests a backfill, as Materialize all on the graph does, but leaves validation out.",
    )
    def score_all() -> None:
        launch_backfill()

    return score_all
