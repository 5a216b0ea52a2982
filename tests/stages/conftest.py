"""Worker processes import their functions by module name, so the project's folder must be on the path."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.stages.dask_cluster import DaskCluster, dask_cluster
from tests.stages.kills import tree
from tests.stages.short_calls import AGENT, ShortCalls, place_undisturbed


@pytest.fixture(scope="session")
def short_calls(tmp_path_factory: pytest.TempPathFactory) -> ShortCalls:
    """A project with calls of real engines, placed undisturbed: made once, whatever process asks first."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent  # that of the whole session
    project, done = base / "short-calls", base / "short-calls.done"
    with FileLock(base / "short-calls.lock"):
        if not done.exists():
            project.mkdir()
            place_undisturbed(project)
            done.touch()
    return ShortCalls(project, tree(project / "data" / "calls" / AGENT))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """A scheduler and two workers of one thread."""
    with dask_cluster(tmp_path_factory.mktemp("dask"), workers=2) as running:
        yield running
