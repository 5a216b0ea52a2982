"""Loads a protocol version from its folder, and refuses what does not hold together.

A folder holds the files of `PARTS`; `lines.yaml` is what any caller says, `scenarios/*.yaml` each hold the
`lines` of a family and its `scenarios`. A scenario's line overrides the family's, and that the general one.
Whatever is wrong is an InputError that names the file, the field, what was expected and the next step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json, read_yaml, sha256_bytes, sha256_file
from inquesto_dag.protocol.checks import check_protocol
from inquesto_dag.protocol.models import (
    Account,
    CallerPrompt,
    Condition,
    EventType,
    Fact,
    Frozen,
    JudgePrompt,
    Protocol,
    Question,
    Scenario,
    Severity,
    Tools,
    Voice,
)

T = TypeVar("T")


class _Head(Frozen):
    """What `protocol.yaml` holds."""

    version: str
    source: str


class _Callers(Frozen):
    """What `callers.yaml` holds."""

    caller_level_dbov: float
    enrolled_voice: str
    enrolment_texts: tuple[str, ...]


class _Scoring(Frozen):
    """What `scoring.yaml` holds."""

    fail_severity: Severity


class _Family(Frozen):
    """What a file under `scenarios/` holds, before its lines are put into its scenarios."""

    lines: dict[str, str]
    scenarios: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Part:
    """A part of a version: the files or folders that it is read from, and its fields of `Protocol`."""

    files: tuple[str, ...]
    fields: tuple[str, ...]


# A stage names the parts that it reads (`stages/chain.py`), and depends on their files alone.
PARTS: Mapping[str, Part] = {
    "head": Part(("protocol.yaml",), ("version", "source")),
    "account": Part(("account.yaml",), ("account",)),
    "callers": Part(("callers.yaml",), ("caller_level_dbov", "enrolled_voice", "enrolment_texts")),
    "conditions": Part(("conditions.yaml",), ("conditions",)),
    "voices": Part(("voices.yaml",), ("voices",)),
    "scenarios": Part(("lines.yaml", "scenarios"), ("scenarios",)),
    "tools": Part(("tools.yaml",), ("tools",)),
    "events": Part(("events.yaml",), ("events",)),
    "questions": Part(("questions.yaml",), ("questions",)),
    "facts": Part(("facts.yaml",), ("facts",)),
    "caller_prompt": Part(("caller_prompt.yaml",), ("caller_prompt",)),
    "judge_prompt": Part(("judge_prompt.yaml",), ("judge_prompt",)),
    "scoring": Part(("scoring.yaml",), ("fail_severity",)),
}


def load_protocol(folder: Path) -> Protocol:
    """The protocol version in a folder, checked in itself (PROTOCOL P1, P2, P5, D7, D8, D9, D18).

    Raises InputError with file, field and remedy for a missing or malformed file, an unknown field, a
    duplicate id, a name that nothing defines, or counts that are not the protocol's.
    """
    if not folder.is_dir():
        raise InputError(
            "is not a folder",
            where=folder,
            remedy="name a version that exists under data/protocols, such as v0.1",
        )
    scenarios, origins = _read_scenarios(folder)
    protocol = Protocol(
        **dict(_read(folder / "protocol.yaml", _Head)),
        **dict(_read(folder / "callers.yaml", _Callers)),
        **dict(_read(folder / "scoring.yaml", _Scoring)),
        account=_read(folder / "account.yaml", Account),
        scenarios=scenarios,
        conditions=_read(folder / "conditions.yaml", tuple[Condition, ...]),
        voices=_read(folder / "voices.yaml", tuple[Voice, ...]),
        tools=_read(folder / "tools.yaml", Tools),
        events=_read(folder / "events.yaml", tuple[EventType, ...]),
        questions=_read(folder / "questions.yaml", tuple[Question, ...]),
        facts=_read(folder / "facts.yaml", tuple[Fact, ...]),
        caller_prompt=_read(folder / "caller_prompt.yaml", CallerPrompt),
        judge_prompt=_read(folder / "judge_prompt.yaml", JudgePrompt),
    )
    check_protocol(protocol, folder, origins)
    return protocol


def keep_parts(protocol: Protocol, parts: Collection[str]) -> Protocol:
    """The protocol with these parts alone: reading a field of another one raises AttributeError.

    So a stage cannot read what it does not name, and what it names is all that its output depends on.
    """
    return Protocol.model_construct(
        **{field: getattr(protocol, field) for part in parts for field in PARTS[part].fields}
    )


def file_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a version by its path in the folder; InputError when there is none."""
    files = sorted(path for path in folder.rglob("*.yaml") if path.is_file())
    if not files:
        raise InputError("holds no protocol files", where=folder, remedy="name a version's folder")
    return {path.relative_to(folder).as_posix(): sha256_file(path) for path in files}


def protocol_digest(folder: Path) -> str:
    """SHA-256 over the names and digests of every file of a version (PROTOCOL N4): any change changes it."""
    return sha256_bytes(canonical_json(file_digests(folder)))


def _read_scenarios(folder: Path) -> tuple[tuple[Scenario, ...], dict[str, Path]]:
    """All scenarios with their full lines, and the file that each id comes from."""
    general = _read(folder / "lines.yaml", dict[str, str])
    paths = sorted((folder / "scenarios").glob("*.yaml"))
    if not paths:
        raise InputError(
            "holds no scenario file", where=folder / "scenarios", remedy="add one file per family"
        )
    scenarios: list[Scenario] = []
    origins: dict[str, Path] = {}
    for path in paths:
        family = _read(path, _Family)
        for number, raw in enumerate(family.scenarios):
            own = raw.get("lines", {})
            if not isinstance(own, dict):
                raise InputError("must map moves to lines", where=path, field=f"scenarios.{number}.lines")
            lines = {**general, **family.lines, **own}
            name = f"scenarios.{raw.get('id', number)}"
            scenario = _validate({**raw, "lines": lines}, Scenario, path, name)
            if scenario.id in origins:
                raise InputError(
                    f"the id {scenario.id} is also used in {origins[scenario.id].name}",
                    where=path,
                    field=f"{name}.id",
                    remedy="give every scenario its own id",
                )
            origins[scenario.id] = path
            scenarios.append(scenario)
    return tuple(scenarios), origins


def _read(path: Path, kind: type[T]) -> T:
    """A YAML file as a typed value."""
    raw = read_yaml(path, missing="restore the file; a protocol version needs all of them")
    return _validate(raw, kind, path)


def _validate(raw: Any, kind: type[T], path: Path, prefix: str = "") -> T:
    try:
        return TypeAdapter(kind).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(part for part in (prefix, *(str(part) for part in first["loc"])) if part)
        raise InputError(
            first["msg"],
            where=path,
            field=field,
            remedy="correct this field; the models in inquesto_dag/protocol/models.py say what it may hold",
        ) from error
