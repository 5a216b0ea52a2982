"""What a crate alone can show: its own digests, the chain from record to tables, and every number again.

No project, no repository, no models are needed. What they alone can show is said, and does not fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from inquesto_dag.audit.digests import agent_settings, lineage_is_whole, protocol_files
from inquesto_dag.audit.links import Link, differences, holds
from inquesto_dag.audit.recompute import (
    FILES,
    events_again,
    guarded,
    numbers,
    population_plan,
    recorded_context,
    recordings,
    traces,
    verdicts_again,
)
from inquesto_dag.audit.walk import read_record, record_form
from inquesto_dag.errors import InputError
from inquesto_dag.exchange.contents import METADATA, STATEMENT, listing_path
from inquesto_dag.exchange.statement import make_statement, subjects_of
from inquesto_dag.files import sha256_file
from inquesto_dag.provenance.digests import file_md5, listing_digest

REMEDY = "get the crate again, whole, from who made it"
ELSEWHERE = (
    ("parameters", "params.yaml and dvc.lock are the project's"),
    ("models", "their digests stand in the record; `inquesto-dag audit` looks at the files"),
    ("revision", "the commit is in the project's repository"),
)


def verify_crate(folder: Path) -> Iterator[Link]:
    """The links of a crate, as each is checked; InputError when the folder is no crate of a record."""
    described = read_metadata(folder)
    record_file = folder / find_record(described, folder)
    yield from crate_files(folder, described)
    record = read_record(record_file)
    yield guarded("statement", lambda: statement(folder, record, described))
    yield record_form(record)
    yield protocol_files(folder, record)
    yield agent_settings(folder, record)
    yield lineage_is_whole(record)
    for stage, entry in record["lineage"]["stages"].items():
        yield guarded(f"{stage}: output", lambda s=stage, e=entry: output(folder, s, e))
    ctx = recorded_context(folder, record)
    yield guarded("population: plan", lambda: population_plan(ctx))
    has_sound = any((folder / "data" / "calls").rglob("call.flac"))
    kept = FILES if has_sound else {name: column for name, column in FILES.items() if name.endswith(".json")}
    yield guarded("calls: recordings", lambda: recordings(ctx, kept))
    if not has_sound:
        yield Link(
            "calls: sound", "not available here", "exported without it; `export --with-sound` takes it along"
        )
    yield guarded("calls: traces", lambda: traces(ctx))
    yield guarded("events: found again", lambda: events_again(ctx))
    yield guarded("verdicts: judged again", lambda: verdicts_again(ctx, record))
    yield guarded("record: numbers", lambda: numbers(ctx, record))
    for name, why in ELSEWHERE:
        yield Link(name, "not available here", why)


def read_metadata(folder: Path) -> dict[str, dict[str, Any]]:
    """The entities of a crate's metadata by id; InputError for what is no RO-Crate."""
    path = folder / METADATA
    if not path.is_file():
        problem = "is no crate: there is no " + METADATA if folder.exists() else "does not exist"
        raise InputError(problem, where=folder, remedy="name the folder that `inquesto-dag export` wrote")
    try:
        graph = json.loads(path.read_bytes())["@graph"]
        return {str(entity["@id"]): dict(entity) for entity in graph}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is truncated or is no RO-Crate metadata", where=path, remedy=REMEDY) from error


def find_record(described: Mapping[str, Mapping[str, Any]], folder: Path) -> str:
    """The path of the record in the crate: the root's main entity."""
    try:
        found = PurePosixPath(str(described["./"]["mainEntity"]["@id"]))
    except (KeyError, TypeError) as error:
        raise InputError(
            "names no record", where=folder / METADATA, field="mainEntity", remedy=REMEDY
        ) from error
    if not inside(found):
        raise InputError(
            f"names {found}, outside", where=folder / METADATA, field="mainEntity", remedy=REMEDY
        )
    return found.as_posix()


def inside(path: PurePosixPath) -> bool:
    """Whether a path of the metadata stays in the crate."""
    return not path.is_absolute() and ".." not in path.parts


def files_of(described: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The crate's files by path, as the metadata describes them; the metadata itself is not among them."""
    return {
        name: entity
        for name, entity in described.items()
        if "File" in (kind if isinstance(kind := entity.get("@type"), list) else [kind])
    }


def crate_files(folder: Path, described: Mapping[str, Mapping[str, Any]]) -> Iterator[Link]:
    """That every file is there with its digest, and that nothing else lies beside them."""
    listed = files_of(described)
    missing, changed = [], []
    for name, entity in sorted(listed.items()):
        path = folder / name
        if not inside(PurePosixPath(name)) or path.is_symlink():
            changed.append(f"{name} leads out of the crate")
        elif not path.is_file():
            missing.append(f"{name} is not here")
        elif sha256_file(path) != entity.get("sha256"):
            changed.append(f"{name} has not the SHA-256 of the metadata")
    yield holds(
        "crate: files", [*changed, *missing], "changed" if changed else "missing", f"{len(listed)} by SHA-256"
    )
    here = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    other = sorted(here - set(listed) - {METADATA})
    yield holds("crate: nothing else", [f"{name} is not described" for name in other])


def statement(folder: Path, record: Mapping[str, Any], described: Mapping[str, Mapping[str, Any]]) -> Link:
    """That the Statement is the one that follows from the record and the digests of the metadata."""
    path = folder / STATEMENT
    try:
        found = json.loads(path.read_bytes())
        subjects = subjects_of(found)
    except FileNotFoundError:
        return Link("statement", "missing", f"{STATEMENT} is not here")
    except (ValueError, KeyError, TypeError):
        return Link("statement", "changed", f"{STATEMENT} is no in-toto Statement")
    digests = {name: str(e.get("sha256")) for name, e in files_of(described).items() if name != STATEMENT}
    faults = [f"{name} has another digest there" for name in subjects if subjects[name] != digests.get(name)]
    faults += [f"{name} is no subject" for name in digests if name not in subjects]
    expected = make_statement(record, digests)
    for key in ("_type", "predicateType", "predicate"):
        # As a file has it: tuples are lists there.
        faults += differences(json.loads(json.dumps(expected[key])), found.get(key), key)
    return holds("statement", faults, detail=f"{len(subjects)} subjects; unsigned")


def output(folder: Path, stage: str, entry: Mapping[str, Any]) -> Link:
    """That a stage's listing is the lineage's, and its files that are here the listing's."""
    name = f"{stage}: output"
    here, absent, faults = 0, 0, []
    for out, digest in entry["outputs"].items():
        path = folder / listing_path(str(digest))
        try:
            listing = {str(row["relpath"]): str(row["md5"]) for row in json.loads(path.read_bytes())}
        except FileNotFoundError:
            return Link(name, "missing", f"{listing_path(str(digest))} is not here")
        except (ValueError, KeyError, TypeError):
            return Link(name, "changed", f"{listing_path(str(digest))} is no listing")
        if listing_digest(listing) != digest:
            return Link(name, "changed", f"the listing of {out} is not the one that the record names")
        for file, md5 in listing.items():
            found = folder / out / file
            if not found.is_file():
                absent += 1
            elif file_md5(found) != md5:
                faults.append(f"{out}/{file} is not the file that the record was made from")
            else:
                here += 1
        extra = {p.relative_to(folder / out).as_posix() for p in (folder / out).rglob("*") if p.is_file()}
        faults += [f"{out}/{file} is in no listing" for file in sorted(extra - set(listing))]
    return holds(name, faults, detail=f"{here} files as recorded, {absent} not in the crate")
