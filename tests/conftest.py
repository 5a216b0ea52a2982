"""The small finished project, once a session, of which tests take copies; the count of clauses at the end."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from inquesto_dag.clauses.bindings import count, find_bindings, hold
from inquesto_dag.clauses.load import load_clauses
from inquesto_dag.provenance.memo import default_memo
from tests.provenance.small_project import ROOT, SmallProject, copy_inputs, link_memo

sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session")
def finished(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[SmallProject]:
    """The project, scored once for all workers of a session.

    What the engines said and heard is taken from earlier sessions, and kept; calls, annotations and verdicts
    are not taken over, as tests count how many are computed.
    """
    workers = os.environ.get("PYTEST_XDIST_WORKER") is not None
    base = tmp_path_factory.getbasetemp().parent if workers else tmp_path_factory.getbasetemp()
    memo, done = base / "small-memo", base / "small-done"
    cache = getattr(request.config, "cache", None)
    kept = Path(cache.mkdir("inquesto-memo")) if cache is not None else None
    with FileLock(base / "small.lock"):
        if not done.exists():
            folder = Path(tempfile.mkdtemp(dir=base, prefix="small"))
            link_memo(default_memo(ROOT).root, memo)
            if kept is not None:
                link_memo(kept, memo)
            project = copy_inputs(folder, memo)
            project.cli("score")
            project.cli("validate", "events")
            done.write_text(str(folder))
    project = SmallProject(Path(done.read_text()), memo)
    yield project
    if kept is not None:
        link_memo(memo, kept)


@pytest.fixture(scope="session")
def eventful(finished: SmallProject, tmp_path_factory: pytest.TempPathFactory) -> SmallProject:
    """The project with a median latency that counts as slow from 0.2 s, so that every call has an event."""
    folder = tmp_path_factory.mktemp("eventful") / "p"
    shutil.copytree(finished.folder, folder, symlinks=True)
    project = SmallProject(folder, finished.memo)
    project.edit("data/protocols/v0.1/events.yaml", "threshold: 1.5", "threshold: 0.2")
    project.cli("score")
    return project


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Written also with -q and with workers, so that nobody takes a green suite for a finished protocol."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    if any("test_clauses.py" in report.nodeid for report in reports):
        terminalreporter.write_line(count(hold(load_clauses(), find_bindings(Path(__file__).parent))))
