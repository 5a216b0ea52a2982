"""The record's schema: real records pass; nothing that anybody said, is or owns can enter (PROTOCOL N3)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.agents.config import load_agent
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.protocol.models import ConditionId, Group, Severity
from inquesto_dag.provenance.lineage import PACKAGES, build_lineage
from inquesto_dag.provenance.profile import PROFILES, ROLES
from inquesto_dag.scoring.record import build_record
from inquesto_dag.scoring.schema import VERSION, record_validator, require_record, schema_versions
from inquesto_dag.stages.chain import CHAIN
from inquesto_dag.stages.record import before, describe_agent
from tests.scoring.sample import event_row, protocol
from tests.scoring.test_results import World

ROOT = Path(__file__).parents[2]


def write_lock(project: Path) -> None:
    """A `dvc.lock` of this project's own `dvc.yaml`, with digests as DVC writes them."""
    from inquesto_dag.provenance.dvc import resolve_stages

    values = {"protocol": "v0.1", "profile": "embedded", "population": "quick"}
    stages = {
        name: {
            "cmd": stage.command,
            "deps": [{"path": dep, "md5": "0" * 32 + ".dir"} for dep in stage.deps],
            "params": {"params.yaml": {key: values[key] for key in stage.params if key in values}},
            "outs": [{"path": out, "md5": "f" * 32} for out in stage.outs],
        }
        for name, stage in resolve_stages(ROOT).items()
    }
    (project / "dvc.lock").write_text(json.dumps({"schema": "2.0", "stages": stages}))


@cache
def real_record(folder: Path) -> dict[str, Any]:
    """A record as the stage `record` builds one, of 306 calls with failures in them, with its lineage."""
    write_lock(folder)
    world = World("full")
    world.events = [event_row(plan["call_id"], "slow_turn") for plan in world.population[::5]]
    events, results = world.joined()
    heard = {"reference_words": 9, "substitutions": 1, "deletions": 0, "insertions": 2}
    embedded = PROFILES["embedded"].roles()
    return build_record(
        protocol=protocol(),
        protocol_digest="a" * 64,
        agent=describe_agent(load_agent(ROOT / "data" / "agents", "embedded-700")),
        pinned=PROFILES["pinned"].roles(),
        profile_specified=embedded,
        profile_run={role: {"name": name, "sha256": "c" * 64} for role, name in embedded.items()},
        population=world.population,
        population_size=306,
        results=results,
        events=events,
        transcripts=[],
        heard=[{"call_id": plan["call_id"], **heard} for plan in world.population],
        timing="declared",
        lineage=build_lineage(folder, [(s.name, "embedded-700" if s.per_agent else None) for s in before()]),
    )


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return real_record(tmp_path_factory.mktemp("lock"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a record that is no object."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))
    else:
        yield path


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every object in a record."""
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from objects(inner, (*path, key))


def at(record: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        record = record[part]
    return record


def private_texts() -> list[str]:
    """What calls are made of: every line, goal and detail, every text of the account, addresses and paths."""
    loaded = protocol()
    lines = {line for scenario in loaded.scenarios for line in scenario.lines.values()}
    details = {text for s in loaded.scenarios for text in (s.goal, s.id, *s.knows.values())}
    account = {str(leaf) for path in places(loaded.account.model_dump(mode="json")) for leaf in [
        at(loaded.account.model_dump(mode="json"), path)] if isinstance(leaf, str)}  # fmt: skip
    # An account's single lower-case words (`active`) tell nothing of it.
    telling = {text for text in lines | details | account if not text.isalpha() or not text.islower()}
    names = {"Maria", "Ruiz", "Maria Ruiz", "Thank you.", "maria\n", "", " "}
    where = {
        "/home/maria/inquesto", "/tmp/x", "C:\\Users\\maria", "~/inquesto", "../maria",
        "data/../../home/maria",
        "file:///home/maria", "https://example.com/x", "maria@example.com", "10.0.0.7:8080", "//host/share",
        str(ROOT), str(Path.home()), "inquesto_dag/../x.py", "data/people/maria",
    }  # fmt: skip
    return sorted(telling | names | where)


TEXTS = private_texts()
NAMED = ("agent", "profile", "departures")  # here stand names that a project gives: an agent's, a model's


def names_something(path: tuple[Any, ...]) -> bool:
    """Whether a free name may stand at a place: lower case, digits and dashes, without blanks."""
    return path[0] in NAMED and path[-1] not in ("sha256", "fingerprint", "fingerprint_but_window")


def looks_like_a_name(text: str) -> bool:
    """A scenario's id or the account's number in digits could be a name that somebody gives an agent."""
    return bool(text) and all(c.isdigit() or c.islower() or c in "._-" for c in text)


def test_N3_a_real_record_passes(record: dict[str, Any]) -> None:
    """With all of its lineage, and again after a trip through JSON."""
    assert set(record["lineage"]["stages"]) == {stage.name for stage in before()}
    assert record["lineage"]["packages"]
    assert record["schema"] == VERSION
    require_record(json.loads(json.dumps(record)))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_N3_no_private_text_can_stand_anywhere(record: dict[str, Any], data: st.DataObject) -> None:
    """Any text of a call, of the account, or of the machine, at any place of a record, is refused."""
    path = data.draw(st.sampled_from(sorted(places(record), key=str)))
    text = data.draw(st.sampled_from(TEXTS) | st.text(min_size=1, max_size=40).filter(lambda t: " " in t))
    if names_something(path) and looks_like_a_name(text):
        return
    if at(record, path) == text:
        return
    changed = copy.deepcopy(record)
    at(changed, path[:-1])[path[-1]] = text
    assert not record_validator(VERSION).is_valid(changed), (path, text)


def test_N3_every_kind_of_place_refuses_every_private_text(record: dict[str, Any]) -> None:
    """Each subschema that a text can reach, against all of them, not a sample."""
    validator = record_validator(VERSION)
    kinds = validator.schema["$defs"]
    free = {"agent", "component", "part"}
    for name, kind in kinds.items():
        check = validator.evolve(schema={**kind, "$defs": kinds})
        passed = [text for text in TEXTS if check.is_valid(text)]
        assert all(name in free and looks_like_a_name(text) for text in passed), (name, passed)


def test_N3_no_object_takes_a_field_that_is_not_named(record: dict[str, Any]) -> None:
    """Neither a sentence nor a plain word can be a key, wherever the object stands."""
    validator = record_validator(VERSION)
    everywhere = list(objects(record))
    assert len(everywhere) > 80
    fields = [("transcript", "x"), ("maria", 1), ("m.ruiz@example.com", {}), ("/home/maria", None)]
    changed = copy.deepcopy(record)
    for place, path in enumerate(everywhere):
        key, value = fields[place % len(fields)]
        at(changed, path)[key] = value
        assert not validator.is_valid(changed), (path, key)
        del at(changed, path)[key]
    assert validator.is_valid(changed)


def test_a_fault_is_named_with_its_place(record: dict[str, Any]) -> None:
    """Where it stands and what was expected."""
    changed = copy.deepcopy(record)
    changed["views"]["identity"]["impostors_served"] = "two"
    with pytest.raises(CheckFailed, match=r"record\.views\.identity\.impostors_served: 'two' is not of type"):
        require_record(changed)
    del changed["views"]
    with pytest.raises(CheckFailed, match="'views' is a required property"):
        require_record(changed)


@pytest.mark.parametrize("value", [{}, [], {"schema": "1"}, {"schema": True}, {"schema": 99}, None])
def test_a_record_of_no_known_version_is_refused(value: Any) -> None:
    """A later version is not read as this one."""
    with pytest.raises(
        InputError, match=r"record: schema: (names no version|is 99, and this release reads 1, 2)"
    ):
        require_record(value)


def test_every_version_has_a_schema_that_is_one() -> None:
    """The one that is written now is the last, and each is valid JSON Schema with every object closed."""
    versions = schema_versions()
    assert versions == list(range(1, VERSION + 1))
    for version in versions:
        validator = record_validator(version)
        type(validator).check_schema(validator.schema)
        assert validator.schema["properties"]["schema"] == {"const": version}
        assert list(open_objects(validator.schema)) == []


def open_objects(schema: Any, place: str = "$") -> Iterator[str]:
    """Subschemas of objects that would let an unnamed key in."""
    if isinstance(schema, list):
        for index, inner in enumerate(schema):
            yield from open_objects(inner, f"{place}[{index}]")
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False or "propertyNames" in schema
        if not closed:
            yield place
    for key, inner in schema.items():
        yield from open_objects(inner, f"{place}.{key}")


def test_vocabularies_are_those_of_the_code() -> None:
    """What the schema closes is what the protocol and the chain name; a new word is a new version."""
    kinds = record_validator(VERSION).schema["$defs"]
    assert tuple(kinds["condition"]["enum"]) == get_args(ConditionId)
    assert tuple(kinds["group"]["enum"]) == get_args(Group)
    assert tuple(kinds["severity"]["enum"]) == get_args(Severity)
    assert tuple(kinds["role"]["enum"]) == ROLES
    assert sorted(kinds["package"]["enum"]) == sorted(PACKAGES)
    properties = record_validator(VERSION).schema["properties"]
    events = properties["failures"]["properties"]["by_type"]["propertyNames"]["enum"]
    assert events == [event.name for event in protocol().events]
    stages = properties["lineage"]["properties"]["stages"]["propertyNames"]["enum"]
    assert stages == [stage.name for stage in CHAIN if stage in before()]
