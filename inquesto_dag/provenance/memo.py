"""A content-addressed store of results, so that nothing is computed twice (DESIGN, Identity and memo).

Layout: `ROOT/KIND/aa/KEY`, where KEY is the SHA-256 of the canonical JSON of everything that decides the
result and `aa` its first two digits. A file is the hex SHA-256 of the payload, a newline, the payload: what
is read is verified, and a damaged entry is removed, reported and computed again. Writers use a temporary
name and a rename, so parallel writers and a kill at any instant leave whole entries only; the root may lie
on a shared file system. An entry's modification time is the day of its last use (`upkeep.prune`).
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import canonical_json, sha256_bytes, write_bytes

log = logging.getLogger(__name__)

MEMO_VARIABLE = "INQUESTO_MEMO"
TOUCHED_EVERY_S = 86_400.0  # a use is noted once a day: a read that writes nothing stays cheap


def result_key(kind: str, code: Any, parts: Mapping[str, Any]) -> str:
    """SHA-256 of everything that decides a result (PROTOCOL D17): its kind, the code behind it, inputs."""
    return sha256_bytes(canonical_json({"kind": kind, "code": code, "parts": dict(parts)}))


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
        """The payload of an entry, or None when there is none or it is damaged.

        InfrastructureError when it is there and may not be read.
        """
        path = self.path(kind, key)
        try:
            with path.open("rb") as stream:
                content = stream.read()
                used = os.fstat(stream.fileno()).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ESTALE:  # another machine removed it while it was opened here
                return None
            if error.errno != errno.EIO:
                raise InfrastructureError(
                    f"could not be read: {error.strerror}", where=path,
                    remedy=f"make the memo readable, or set {MEMO_VARIABLE} to a folder of your own",
                ) from error  # fmt: skip
            content, used = b"", 0.0
        payload = payload_of(content)
        if payload is None:
            log.warning("memo entry %s is damaged; it is removed and computed again", path)
            self.damaged.append(path)
            with suppress(OSError):  # where it cannot be removed, it is replaced or found again
                path.unlink()
            return None
        if time.time() - used > TOUCHED_EVERY_S:
            with suppress(OSError):  # removed meanwhile, or a store that may only be read
                os.utime(path)
        return payload

    def put(self, kind: str, key: str, payload: bytes) -> None:
        """Store a payload atomically; an entry that exists is replaced by the same bytes.

        InfrastructureError when the store cannot be written.
        """
        path = self.path(kind, key)
        try:
            write_bytes(path, content_of(payload))
        except (OSError, InfrastructureError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            raise InfrastructureError(
                f"could not be written: {getattr(cause, 'strerror', None) or error}", where=path,
                remedy=f"free space, make the memo writable, or set {MEMO_VARIABLE} to a folder that is, "
                "then run the same command again",
            ) from error  # fmt: skip

    def compute(self, kind: str, code: Any, parts: Mapping[str, Any], function: Callable[[], bytes]) -> bytes:
        """The stored payload for these parts, or what `function` returns, stored first.

        `code` is what of the code decides the result (`versions.deciding_code`).
        """
        key = result_key(kind, code, parts)
        payload = self.get(kind, key)
        if payload is not None:
            self.hits += 1
            return payload
        self.misses += 1
        payload = function()
        self.put(kind, key, payload)
        return payload


def content_of(payload: bytes) -> bytes:
    """What an entry's file holds for a payload."""
    return sha256_bytes(payload).encode() + b"\n" + payload


def payload_of(content: bytes) -> bytes | None:
    """The payload of an entry's file; None when it is damaged."""
    head, _, payload = content.partition(b"\n")
    return payload if head.decode("ascii", "replace") == sha256_bytes(payload) else None


def default_memo(project: Path) -> Memo:
    """The project's memo: `$INQUESTO_MEMO`, or `.memo` in the project."""
    return Memo(Path(os.environ.get(MEMO_VARIABLE) or project / ".memo"))
