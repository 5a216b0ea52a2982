"""kill -9 at random instants during `calls`, each time resumed; tests/bench/kills.py does it twenty times."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.stages.kills import call_entries, kill_until, leftovers, survivors, tree
from tests.stages.short_calls import AGENT, CALLS, ShortCalls, copy_project

pytestmark = pytest.mark.engines

KILLS, WORKERS = 5, 2


def test_calls_killed_again_and_again_give_what_an_undisturbed_run_gives(
    short_calls: ShortCalls, tmp_path: Path
) -> None:
    """Recordings, traces and tables byte for byte; no call is placed twice, nothing half is ever seen."""
    project = copy_project(short_calls.project, tmp_path / "project", without=("call",))
    shutil.rmtree(project / "data" / "calls", ignore_errors=True)
    log = kill_until(project, AGENT, KILLS, calls=CALLS, seed=3, workers=WORKERS)
    assert log.kills == KILLS
    assert log.trees and log.parents
    assert log.rewritten == []
    assert log.half_outputs == []
    assert len(call_entries(project)) == CALLS
    assert tree(project / "data" / "calls" / AGENT) == short_calls.output
    assert leftovers(project / "data") == []
    assert survivors(log.groups) == []
