"""What of a project goes into a crate: the files behind a record, laid out as in the project.

A crate is a small project without code: the checks of an audit that need no more than tables and protocol run
in it as they are. The listing of every output (DVC's, whose MD5 stands in the record's lineage) comes along,
so each file is bound to the record even where its neighbours, the sound, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.provenance.digests import Digests, listing_bytes
from inquesto_dag.stages.chain import STAGES

LISTINGS = "listings"
METADATA = "ro-crate-metadata.json"
STATEMENT = "statement.json"
ABOUT = "README.md"
SOUND = (".flac",)
PAGES = ("page/",)  # drawn from the rest, and it links the sound
CARRIED = (
    "population",
    "calls",
    "annotations",
    "events",
    "verdicts",
    "judge_error",
)  # stages whose files come along


@dataclass(frozen=True)
class Content:
    """One file of a crate: its path there, its bytes, the stage that wrote it (None: an input)."""

    path: str
    data: bytes
    stage: str | None
    about: str


def record_path(record: Mapping[str, Any]) -> str:
    """Where a crate holds its record."""
    return f"data/record/{record['agent']['id']}/record.json"


def listing_path(digest: str) -> str:
    """Where a crate holds the listing behind a folder's digest."""
    return f"{LISTINGS}/{digest.removesuffix('.dir')}.json"


def gather(project: Path, path: Path, record: Mapping[str, Any], *, sound: bool) -> Iterator[Content]:
    """Every file of the crate of a record that lies at `path`, inputs first, then stage by stage.

    Raises InputError for a file or listing that is not in the project, CheckFailed for one that is not what
    the record's lineage names.
    """
    agent, version = str(record["agent"]["id"]), str(record["protocol"]["version"])
    folder = project / "data" / "protocols" / version
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        yield _read(project, file.relative_to(project).as_posix(), None, f"protocol {version}")
    yield _read(project, f"data/agents/{agent}.yaml", None, f"the agent {agent}")
    digests = Digests(project, keep=False)
    for stage, entry in record["lineage"]["stages"].items():
        for out, digest in entry["outputs"].items():
            yield from _output(project, digests, stage, out, str(digest), sound=sound)
    results = path.parent / "results.parquet"
    yield Content(record_path(record), path.read_bytes(), "record", "the record")
    if not results.is_file():
        raise InputError("does not exist", where=results, remedy=f"run `inquesto-dag score --agent {agent}`")
    name = f"data/record/{agent}/results.parquet"
    yield Content(name, results.read_bytes(), "record", "one result a call")


def _output(
    project: Path, digests: Digests, stage: str, out: str, digest: str, *, sound: bool
) -> Iterator[Content]:
    listing = digests.recall(digest) or digests.listing(out)
    if listing is None or digests.remember(listing) != digest:
        raise InputError(
            "is not here as the record's lineage names it",
            where=project / out,
            remedy="bring it back with `dvc pull` or `inquesto-dag score`, then export again",
        )
    about = STAGES[stage].description if stage in STAGES else stage
    yield Content(listing_path(digest), listing_bytes(listing), stage, f"names and MD5 of the files of {out}")
    if stage not in CARRIED:
        return
    for name, md5 in sorted(listing.items()):
        if (name.endswith(SOUND) and not sound) or name.startswith(PAGES):
            continue
        content = _read(project, f"{out}/{name}", stage, about)
        if digests.digest(content.path) != md5:
            raise CheckFailed(
                "is not the file that the record was made from",
                where=project / content.path,
                remedy="`inquesto-dag audit` says what changed; `inquesto-dag score` restores it",
            )
        yield content


def _read(project: Path, path: str, stage: str | None, about: str) -> Content:
    try:
        return Content(path, (project / path).read_bytes(), stage, about)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})",
            where=project / path,
            remedy="restore it with `dvc checkout`",
        ) from error
