"""An audit: read a record, walk its links to a depth, say how each came out (DESIGN, Lineage of a record)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from inquesto_dag.audit.links import Link
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.scoring.schema import require_record

Depth = Literal["digests", "recompute", "deep"]
NEEDED = ("schema", "protocol", "population", "agent", "profile", "timing", "score", "views", "lineage")


def audit(
    project: Path, path: Path, depth: Depth = "recompute", *, sample: int | None = None, seed: int = 0
) -> Iterator[Link]:
    """The links of a record file in a project, as each is checked.

    `digests` compares, `recompute` also computes events, verdicts and numbers from the tables, `deep` also
    annotates recordings and places calls again (`sample` of them, drawn by `seed`). InputError when the file
    is no record.
    """
    from inquesto_dag.audit.digests import digest_links
    from inquesto_dag.audit.recompute import recomputed_links

    record = read_record(path)
    yield record_form(record)
    yield from digest_links(project, path, record)
    if depth != "digests":
        yield from recomputed_links(project, record)
    if depth == "deep":
        from inquesto_dag.audit.deep import deep_links

        yield from deep_links(project, record, sample, seed)


def read_record(path: Path) -> dict[str, Any]:
    """A record file; InputError says what is wrong with a file that is none."""
    remedy = "name a record.json that `inquesto-dag score` wrote, whole"
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError("does not exist", where=path, remedy=remedy) from error
    except (OSError, ValueError) as error:
        raise InputError(f"is truncated or is not JSON ({error})", where=path, remedy=remedy) from error
    if not isinstance(record, dict) or any(name not in record for name in NEEDED):
        lost = [name for name in NEEDED if not isinstance(record, dict) or name not in record]
        raise InputError(f"is not a whole record: no {', '.join(lost)}", where=path, remedy=remedy)
    return record


def record_form(record: Mapping[str, Any]) -> Link:
    """That the record is what its schema allows (PROTOCOL N3); InputError for a version not known here."""
    name = "record: form"
    try:
        require_record(record)
    except CheckFailed as fault:
        return Link(name, "changed", str(fault).splitlines()[0])
    return Link(name, "ok", f"schema {record['schema']}, agent {record['agent']['id']}")
