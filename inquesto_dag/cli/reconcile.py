"""`inquesto-dag reconcile`: Dagster brought level with `dvc.lock` in a process of its own, as for `ui`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from inquesto_dag.cli.ui import dagster_home


def reconcile_project(project: Path) -> int:
    """Report to the project's Dagster what it does not know of `dvc.lock`; returns the exit code."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "assets.reconcile", str(project)],
        cwd=project,
        env={**os.environ, "DAGSTER_HOME": str(dagster_home(project)), "PYTHONPATH": str(project)},
        check=False,
    )
    return done.returncode
