"""Frozen protocol versions (PROTOCOL N4): a release digest, and the refusal to score with anything else.

A release is `data/protocols/VERSION.release.json`, beside the version's folder and outside of its digest. No
stage reads it and no stage depends on it, so releasing a version runs nothing again; what runs stages asks
`require_frozen` first. This module stands here and not in `protocol`, on whose every file all stages depend.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.files import TEMPORARY, canonical_json, read_json, sha256_bytes, write_bytes, write_json
from inquesto_dag.protocol.load import file_digests, load_protocol
from inquesto_dag.protocol.models import Frozen, Sha256
from inquesto_dag.provenance.params import load_yaml

VERSION = re.compile(r"v\d+(\.\d+)+")
HEAD = "protocol.yaml"
VERSION_LINE = re.compile(r"(?m)^(version:[ \t]*)\S+")


class Release(Frozen):
    """What a released version held: each file's digest by its path in the folder, and that of the whole."""

    version: Annotated[str, Field(pattern=rf"^{VERSION.pattern}$")]
    sha256: Sha256  # of the canonical JSON of `files`; a record's `protocol.sha256`
    files: dict[str, Sha256]


def protocols_folder(project: Path) -> Path:
    """Where a project's protocol versions and their releases lie."""
    return project / "data" / "protocols"


def version_folder(project: Path, version: str) -> Path:
    """The folder of a version that is there; InputError for any other name, such as a path."""
    folder = protocols_folder(project) / version
    if folder.parent != protocols_folder(project) or not (folder / HEAD).is_file():
        there = sorted(path.parent.name for path in protocols_folder(project).glob(f"[!.]*/{HEAD}"))
        raise InputError(
            "is no version of the protocol", where=folder, remedy=f"use one of {', '.join(there) or 'none'}"
        )
    return folder


def release_path(project: Path, version: str) -> Path:
    """The release of a version, whether or not there is one."""
    return protocols_folder(project) / f"{version}.release.json"


def read_release(project: Path, version: str) -> Release | None:
    """The release of a version, None when it was not released.

    CheckFailed when the file is not one that `release_version` can have written for that version.
    """
    path = release_path(project, version)
    if not path.exists():
        return None
    try:
        release = Release.model_validate(read_json(path))
    except (ValidationError, InputError) as error:
        raise _forged(path, f"is not a release ({str(error).splitlines()[0]})") from error
    if release.version != version:
        raise _forged(path, f"is the release of {release.version}")
    if release.sha256 != sha256_bytes(canonical_json(release.files)):
        raise _forged(path, "has a digest that is not that of its files")
    return release


def release_version(project: Path, version: str) -> bool:
    """Release a version; False when it is released already and stands as it was.

    InputError when the version does not hold together, CheckFailed when it was released and changed since:
    a release is never written twice.
    """
    folder = protocols_folder(project) / version
    load_protocol(folder)
    require_frozen(project, version)
    if read_release(project, version) is not None:
        return False
    if not VERSION.fullmatch(version):
        raise _bad_name(version)
    files = file_digests(folder)
    release = Release(version=version, sha256=sha256_bytes(canonical_json(files)), files=files)
    write_json(release_path(project, version), release.model_dump())
    return True


def require_frozen(project: Path, version: str) -> None:
    """Raise unless a version may be scored with: it has its folder's name, and is as it was released.

    CheckFailed names every file of a released version that was changed, added or removed, and the way out.
    A version that was not released may change; InputError when it calls itself by another's name.
    """
    folder = protocols_folder(project) / version
    release = read_release(project, version)
    if release is not None:
        found = file_digests(folder) if folder.is_dir() else {}
        faults = [
            f"{name} was {_fate(name, release.files, found)}"
            for name in sorted(found.keys() | release.files.keys())
            if found.get(name) != release.files.get(name)
        ]
        if faults:
            raise CheckFailed(
                f"is released and is not what was released: {', '.join(faults)}",
                where=folder,
                remedy=f"restore it (`git restore -- {_shown(folder, project)}`); a change is a new version "
                f"(PROTOCOL N4): `inquesto-dag protocol new {_next(version)} --from {version}` copies the "
                "folder as it is now, then restore this one",
            )
    elif (folder / HEAD).is_file():
        head = load_yaml(folder / HEAD)
        named = head.get("version") if isinstance(head, dict) else None
        if named != version:
            raise InputError(
                f"is {named!r}, not the folder's name: a score would be cited as that version's",
                where=folder / HEAD,
                field="version",
                remedy=f"set `version: {version}`",
            )


def new_version(project: Path, version: str, source: str) -> Path:
    """Copy version `source` to `version`, and set its `version`; every other byte is kept.

    Returns the new folder, which appears whole or not at all. InputError when it exists, was released, is no
    version's name (`v1.2`), or the copy does not hold together.
    """
    folder = protocols_folder(project) / version
    if not VERSION.fullmatch(version):
        raise _bad_name(version)
    if folder.exists() or release_path(project, version).exists():
        raise InputError(
            "exists already", where=folder, remedy=f"choose another name, such as {_next(version)}"
        )
    origin = version_folder(project, source)
    fresh = folder.with_name(f"{TEMPORARY}{uuid.uuid4().hex[:8]}-{version}")
    try:
        shutil.copytree(origin, fresh, ignore=shutil.ignore_patterns(f"{TEMPORARY}*"))
        text, count = VERSION_LINE.subn(rf"\g<1>{version}", (fresh / HEAD).read_text(encoding="utf-8"))
        if count != 1:
            raise InputError("holds no single line `version: NAME`", where=origin / HEAD, field="version")
        write_bytes(fresh / HEAD, text.encode())
        load_protocol(fresh)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def _fate(name: str, before: Collection[str], now: Collection[str]) -> str:
    return "removed" if name not in now else "changed" if name in before else "added"


def _next(version: str) -> str:
    head, _, last = version.rpartition(".")
    return f"{head}.{int(last) + 1}" if last.isdigit() else f"{version}.1"


def _shown(folder: Path, project: Path) -> str:
    return folder.relative_to(project).as_posix()


def _bad_name(version: str) -> InputError:
    return InputError(f"{version!r} is no version's name", where="protocol", remedy="call it like v0.2")


def _forged(path: Path, problem: str) -> CheckFailed:
    return CheckFailed(problem, where=path, remedy="restore it from version control; it is written once")
