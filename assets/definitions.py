"""The project as Dagster sees it: `dagster dev -m assets.definitions`, or `inquesto-dag ui`."""

import os
from importlib import import_module
from pathlib import Path

import dagster as dg

from assets.bridge import PIPES, stage_asset
from assets.checks import stage_checks
from assets.jobs import chain_jobs
from inquesto_dag.stages.chain import CHAIN

PROJECT_VARIABLE = "INQUESTO_PROJECT"


def build_definitions(project: Path) -> dg.Definitions:
    """Assets, checks and jobs of the chain in a project folder, one asset for each stage of `dvc.yaml`."""
    assets = [stage_asset(project, stage) for stage in CHAIN]
    checks = [
        check
        for stage in CHAIN
        for check in stage_checks(project, stage, import_module(f"assets.{stage.name}").PROMISES)
    ]
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=chain_jobs(),
        resources={PIPES: dg.PipesSubprocessClient()},
        # A stage uses all processors by itself; forkserver halves the overhead of a step (measured).
        executor=dg.multiprocess_executor.configured(
            {"max_concurrent": 1, "start_method": {"forkserver": {}}}
        ),
    )


defs = build_definitions(Path(os.environ.get(PROJECT_VARIABLE) or Path(__file__).parents[1]))
