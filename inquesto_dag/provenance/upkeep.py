"""Looking after a memo store: what it holds, whether it is whole, and what may go.

Every function may run while others use the store. An entry that goes is computed again by whoever needs it;
an entry that is being written has a temporary name, and only one that nobody finishes any more is removed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import TEMPORARY
from inquesto_dag.provenance.memo import payload_of

DAY_S = 86_400.0
WRITING_S = 3_600.0  # an entry is written in seconds; a temporary file older than this has no writer
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """One entry's file: `size` in bytes, `used` the time of its last use (s since 1970, to a day)."""

    kind: str
    path: Path
    size: int
    used: float


@dataclass(frozen=True)
class KindStats:
    """What a store holds of one kind; times of last use in s since 1970."""

    kind: str
    entries: int
    size: int
    oldest: float
    newest: float


@dataclass(frozen=True)
class Pruned:
    """What a pruning removed, or would have."""

    removed: tuple[Entry, ...]
    kept: int
    kept_size: int
    leftovers: int  # temporary files of writers that are gone

    @property
    def size(self) -> int:
        """Bytes of what was removed."""
        return sum(entry.size for entry in self.removed)


def kinds_of(root: Path) -> list[str]:
    """The kinds that a store holds."""
    return sorted(path.name for path in _listed(root) if path.is_dir() and not path.name.startswith("."))


def entries_of(root: Path, kinds: Sequence[str] = ()) -> Iterator[Entry]:
    """Every entry of some kinds of a store (of all when none is named); files that are none are passed over.

    InputError for a kind that the store does not hold.
    """
    held = kinds_of(root)
    for kind in kinds:
        if kind not in held:
            known = ", ".join(held) or "none"
            raise InputError(f"holds no kind {kind!r}", where=root, remedy=f"choose from: {known}")
    for kind in kinds or held:
        for path in _files(root / kind):
            if _KEY.fullmatch(path.name):
                with suppress(FileNotFoundError):  # pruned by another meanwhile
                    state = path.stat()
                    yield Entry(kind, path, state.st_size, state.st_mtime)


def stats_of(root: Path) -> list[KindStats]:
    """What a store holds, by kind."""
    found: dict[str, list[Entry]] = {}
    for entry in entries_of(root):
        found.setdefault(entry.kind, []).append(entry)
    return [
        KindStats(
            kind, len(entries), sum(e.size for e in entries),
            min(e.used for e in entries), max(e.used for e in entries),
        )
        for kind, entries in found.items()
    ]  # fmt: skip


def remove_damaged(entries: Sequence[Entry], advance: Callable[[], None]) -> list[Entry]:
    """Read every byte of the entries, remove those that are damaged, and return them."""
    damaged = []
    for entry in entries:
        try:
            whole = payload_of(entry.path.read_bytes()) is not None
        except FileNotFoundError:  # gone meanwhile
            whole = True
        except OSError:
            whole = False
        if not whole:
            damaged.append(entry)
            _remove(entry.path)
        advance()
    return damaged


def prune(
    root: Path,
    kinds: Sequence[str] = (),
    *,
    older_than_days: float | None = None,
    keep_bytes: int | None = None,
    dry_run: bool = False,
    now: float | None = None,
) -> Pruned:
    """Remove the entries of some kinds (all when none is named) that were not used for so many days, and of
    the rest those used longest ago until `keep_bytes` are left; and what dead writers left behind.

    With neither limit only the latter goes. `dry_run` removes nothing.
    """
    now = time.time() if now is None else now
    entries = sorted(entries_of(root, kinds), key=lambda entry: (entry.used, entry.path))
    left = sum(entry.size for entry in entries)
    removed: list[Entry] = []
    for entry in entries:
        old = older_than_days is not None and now - entry.used > older_than_days * DAY_S
        if not old and (keep_bytes is None or left <= keep_bytes):
            break  # the rest were used later
        removed.append(entry)
        left -= entry.size
    leftovers = [path for kind in kinds or kinds_of(root) for path in _leftovers(root / kind, now)]
    if not dry_run:
        for path in [*(entry.path for entry in removed), *leftovers]:
            _remove(path)
    return Pruned(tuple(removed), len(entries) - len(removed), left, len(leftovers))


def parse_size(text: str) -> int:
    """Bytes of `500MB`, `2 GB`, `1.5G` or a plain number; powers of 1000. InputError for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", text, re.IGNORECASE)
    if match is None:
        raise InputError(f"is {text!r}", field="--keep-bytes", remedy="give a size such as 500MB or 2GB")
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


def _leftovers(folder: Path, now: float) -> Iterator[Path]:
    """Temporary files that have not changed for WRITING_S: by age, for a writer may be another machine's."""
    for path in _files(folder):
        if path.name.startswith(TEMPORARY):
            with suppress(FileNotFoundError):
                if now - path.stat().st_mtime > WRITING_S:
                    yield path


def _files(folder: Path) -> Iterator[Path]:
    for part in sorted(_listed(folder)):
        if part.is_dir():
            yield from sorted(_listed(part))


def _listed(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            return [Path(entry.path) for entry in found]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InfrastructureError(
            f"could not be listed: {error.strerror}", where=folder, remedy="make the memo readable"
        ) from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"could not be removed: {error.strerror}", where=path, remedy="make the memo writable"
        ) from error
