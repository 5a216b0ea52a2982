"""`inquesto-dag ui`: Dagster on this project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HOME = ".dagster"


def serve(project: Path, port: int) -> int:
    """Run `dagster dev` on the project's definitions until it is stopped; returns its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "dagster", "dev", "-m", "assets.definitions", "-p", str(port)],
        cwd=project,
        env={**os.environ, "DAGSTER_HOME": str(dagster_home(project)), "PYTHONPATH": str(project)},
        check=False,
    )
    return done.returncode


def dagster_home(project: Path) -> Path:
    """The project's Dagster folder, with the project's `dagster.yaml`; its database is disposable."""
    home = project / HOME
    home.mkdir(exist_ok=True)
    shutil.copyfile(project / "dagster.yaml", home / "dagster.yaml")
    return home
