"""The project as Dagster sees it: `dagster dev -m assets.definitions`, or `inquesto-dag ui`."""

import os
from importlib import import_module
from pathlib import Path

import dagster as dg

from assets.agent_file import agent_file_asset
from assets.bridge import PIPES, stage_asset
from assets.checks import stage_checks
from assets.jobs import chain_jobs
from assets.sensor import lock_sensor
from inquesto_dag.provenance.digests import Digests
from inquesto_dag.stages.chain import CHAIN

PROJECT_VARIABLE = "INQUESTO_PROJECT"


def build_definitions(project: Path) -> dg.Definitions:
    """A project's assets (one for each stage, and the agents' files), checks, jobs and sensor."""
    digests = Digests(project)
    assets = [agent_file_asset(project), *(stage_asset(project, stage, digests) for stage in CHAIN)]
    digests.save()
    checks = [
        check
        for stage in CHAIN
        for check in stage_checks(project, stage, import_module(f"assets.{stage.name}").PROMISES)
    ]
    loaded = dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=chain_jobs(project, lambda: loaded.resolve_asset_graph()),
        sensors=[lock_sensor(project)],
        resources={PIPES: dg.PipesSubprocessClient()},
        # A stage uses all processors in processes of its own, so the steps of a run follow each other in one
        # process: an agent's 5 assets have 14 checks, and each step's process took seconds to import.
        executor=dg.in_process_executor,
    )
    return loaded


defs = build_definitions(Path(os.environ.get(PROJECT_VARIABLE) or Path(__file__).parents[1]))
