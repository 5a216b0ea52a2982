"""Fingerprints of files and folders: what stood there, by content, so that a change can be named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from inquesto_dag.errors import InputError
from inquesto_dag.files import TEMPORARY, canonical_json, sha256_bytes, sha256_file

IGNORED = ("__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache")


def fingerprint_paths(paths: Iterable[Path]) -> dict[Path, str]:
    """Hex SHA-256 of every file at or below the paths; InputError names a path that does not exist.

    Byte code and other writers' temporary files are left out, as in `.dvcignore`.
    """
    found: dict[Path, str] = {}
    for path in paths:
        if path.is_file():
            found[path] = sha256_file(path)
        elif path.is_dir():
            for file in sorted(path.rglob("*")):
                if file.is_file() and not _ignored(file.relative_to(path)):
                    found[file] = sha256_file(file)
        else:
            raise InputError("does not exist", where=path, remedy="run the stage that writes it")
    return found


def changed_paths(before: Mapping[Path, str], after: Mapping[Path, str]) -> list[Path]:
    """The files that were changed, added or removed, sorted."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def digest_paths(root: Path, paths: Iterable[Path]) -> str:
    """One hex SHA-256 for the content of several paths below `root`, whatever `root` is called."""
    found = fingerprint_paths(paths)
    return sha256_bytes(canonical_json({path.relative_to(root).as_posix(): d for path, d in found.items()}))


def _ignored(relative: Path) -> bool:
    return any(part in IGNORED or part.startswith(TEMPORARY) for part in relative.parts)
