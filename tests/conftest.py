"""The small finished project, once a session; tests take copies of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inquesto_dag.provenance.memo import default_memo
from tests.provenance.small_project import ROOT, SmallProject, copy_inputs, link_memo

sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session")
def finished(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[SmallProject]:
    """The project, scored once. What the engines said and heard is taken from earlier sessions, and kept.

    Calls, annotations and verdicts are not taken over: the tests count how many are computed.
    """
    folder = tmp_path_factory.mktemp("small")
    memo = tmp_path_factory.mktemp("memo")
    link_memo(default_memo(ROOT).root, memo)
    cache = getattr(request.config, "cache", None)
    kept = Path(cache.mkdir("inquesto-memo")) if cache is not None else None
    if kept is not None:
        link_memo(kept, memo)
    project = copy_inputs(folder, memo)
    project.cli("score")
    yield project
    if kept is not None:
        link_memo(memo, kept)
