"""Copies that tests may edit: of the package, and of the small finished project."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from inquesto_dag.provenance import code, versions
from inquesto_dag.provenance.code import PACKAGE, ROOT
from tests.provenance.small_project import EVERY_KIND, SmallProject, link_memo


def copy_package(folder: Path) -> Path:
    shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder that holds a copy of the package, for a process of its own."""
    return copy_package(tmp_path)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_package(tmp_path_factory.mktemp("package"))


@pytest.fixture
def edited(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy whose files digests are taken of and whose record is declared in; as it was for every test."""
    monkeypatch.setattr(code, "ROOT", shared)
    monkeypatch.setattr(versions, "ROOT", shared)
    monkeypatch.setattr(versions, "RECORD", shared / PACKAGE / "provenance" / "versions.json")
    monkeypatch.setattr(versions, "LOADED_NS", 2**63)  # the copy is newer than this process
    monkeypatch.setattr(versions, "_known", {})
    versions._recorded.cache_clear()
    yield shared
    versions._recorded.cache_clear()
    for path in (shared / PACKAGE).rglob("*"):
        original = ROOT / path.relative_to(shared)
        if path.is_file() and path.read_bytes() != original.read_bytes():
            shutil.copyfile(original, path)


@pytest.fixture(scope="module")
def project(finished: SmallProject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallProject]:
    """A copy of the finished project for a module's tests to work on, one after the other.

    Its memo is its own, so that calls can be counted while other workers place theirs; what engines say and
    hear in it is given back.
    """
    base = tmp_path_factory.mktemp("copy")
    shutil.copytree(finished.folder, base / "small", symlinks=True)
    link_memo(finished.memo, base / "memo", EVERY_KIND)
    yield SmallProject(base / "small", base / "memo")
    link_memo(base / "memo", finished.memo)
