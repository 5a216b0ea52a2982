"""A content-addressed store of results, so that nothing is computed twice (DESIGN, Identity and memo).

Layout: `ROOT/KIND/aa/KEY`, where KEY is the SHA-256 of the canonical JSON of everything that decides the
result and `aa` its first two digits. A file is the hex SHA-256 of the payload, a newline, the payload: what
is read is verified, and a damaged entry is removed, reported and computed again. Writers use a temporary
name and a rename, so parallel writers and a kill at any instant leave whole entries only; the root may lie
on a shared file system.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inquesto_dag.files import canonical_json, sha256_bytes, write_bytes

log = logging.getLogger(__name__)

MEMO_VARIABLE = "INQUESTO_MEMO"


def result_key(kind: str, version: int, parts: Mapping[str, Any]) -> str:
    """SHA-256 of everything that decides a result (PROTOCOL D17): its kind, function version and inputs."""
    return sha256_bytes(canonical_json({"kind": kind, "version": version, "parts": dict(parts)}))


@dataclass
class Memo:
    """The store at `root`; counts what it gave back (`hits`), computed (`misses`) and found damaged."""

    root: Path
    hits: int = 0
    misses: int = 0
    damaged: list[Path] = field(default_factory=list)

    def path(self, kind: str, key: str) -> Path:
        """Where an entry lies, whether or not it exists."""
        return self.root / kind / key[:2] / key

    def get(self, kind: str, key: str) -> bytes | None:
        """The payload of an entry, or None when there is none or it is damaged."""
        path = self.path(kind, key)
        try:
            head, _, payload = path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return None
        if head.decode("ascii", "replace") == sha256_bytes(payload):
            return payload
        log.warning("memo entry %s is damaged; it is removed and computed again", path)
        self.damaged.append(path)
        path.unlink(missing_ok=True)
        return None

    def put(self, kind: str, key: str, payload: bytes) -> None:
        """Store a payload atomically; an entry that exists is replaced by the same bytes."""
        write_bytes(self.path(kind, key), sha256_bytes(payload).encode() + b"\n" + payload)

    def compute(
        self, kind: str, version: int, parts: Mapping[str, Any], function: Callable[[], bytes]
    ) -> bytes:
        """The stored payload for these parts, or what `function` returns, stored first."""
        key = result_key(kind, version, parts)
        payload = self.get(kind, key)
        if payload is not None:
            self.hits += 1
            return payload
        self.misses += 1
        payload = function()
        self.put(kind, key, payload)
        return payload


def default_memo(project: Path) -> Memo:
    """The project's memo: `$INQUESTO_MEMO`, or `.memo` in the project."""
    return Memo(Path(os.environ.get(MEMO_VARIABLE) or project / ".memo"))
