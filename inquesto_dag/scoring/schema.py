"""What may stand in a record: a JSON Schema for each version of its form (PROTOCOL N3).

A record names its version in `schema`. The schemas lie in `schemas/record-VERSION.json` and none is ever
changed so that a record which it allowed is refused: a new form is a new version, and the old ones stay, so
that older records stay readable. Every object in them is closed and every text is a digest, a word of a
closed vocabulary, or the name that a project gave to an agent, a model or a file of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from inquesto_dag.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

VERSION = 2  # of the records that are written now


def schema_versions() -> list[int]:
    """The versions that can be read, oldest first."""
    names = (path.name for path in resources.files(__package__).joinpath("schemas").iterdir())
    return sorted(int(name.removeprefix("record-").removesuffix(".json")) for name in names)


@cache
def record_validator(version: int) -> Validator:
    """The validator of a version's records; InputError for a version that is not known here."""
    from jsonschema import Draft202012Validator

    if version not in schema_versions():
        raise InputError(
            f"is {version}, and this release reads {', '.join(map(str, schema_versions()))}",
            where="record",
            field="schema",
            remedy="read it with the release that wrote it, or a later one",
        )
    path = resources.files(__package__).joinpath("schemas", f"record-{version}.json")
    return Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))


def require_record(record: Any) -> None:
    """Raise unless a value is a record of the version that it names.

    CheckFailed names the first place that is not as the schema has it; InputError is raised for what names no
    version, or one that is not known here.
    """
    from jsonschema.exceptions import best_match

    version = record.get("schema") if isinstance(record, Mapping) else None
    if type(version) is not int:
        raise InputError(
            "names no version", where="record", field="schema", remedy="give a record.json that a run wrote"
        )
    fault = best_match(record_validator(version).iter_errors(record))
    if fault is not None:
        raise CheckFailed(
            f"{fault.message[:200]} (record schema {version}; PROTOCOL N3: numbers, digests, single words)",
            where=fault.json_path.replace("$", "record", 1),
            remedy="leave texts, transcripts and audio in the stages' tables",
        )
