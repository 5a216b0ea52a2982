"""Dagster level with `dvc.lock`: from nothing, after runs by hand, after runs of its own, out of step."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.provenance.dvc import read_lock
from tests.provenance.small_project import AGENTS, SmallProject

pytestmark = pytest.mark.engines

A, B = AGENTS
TARGETS = 7 + 5 * len(AGENTS)


@pytest.fixture
def instance() -> Iterator[Any]:
    """An empty Dagster."""
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    warnings.simplefilter("ignore", dg.BetaWarning)
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


@pytest.fixture
def lock(project: SmallProject) -> Iterator[Path]:
    """The project's `dvc.lock`, put back afterwards."""
    path = project.folder / "dvc.lock"
    kept = path.read_bytes()
    yield path
    path.write_bytes(kept)


def level(project: SmallProject, instance: Any) -> tuple[list[str], list[str]]:
    """What was reported, and what Dagster then calls unsynced."""
    from assets.reconcile import reconcile, unsynced

    return reconcile(project.folder, instance), unsynced(project.folder, instance)


def version(instance: Any, asset: str, partition: str | None) -> str:
    """The data version that Dagster holds."""
    import dagster as dg
    from dagster._core.definitions.data_version import extract_data_version_from_entry

    record = instance.get_latest_data_version_record(dg.AssetKey(asset), False, partition)
    found = extract_data_version_from_entry(record.event_log_entry)
    assert found is not None
    return found.value


def test_an_empty_dagster_learns_everything_once(project: SmallProject, instance: Any) -> None:
    """Every target's version is its DVC digest, nothing is unsynced, and a second time there is no report."""
    told, unsynced = level(project, instance)
    assert len(told) == TARGETS + len(AGENTS)
    assert unsynced == []
    for name, locked in read_lock(project.folder).items():
        stage, _, agent = name.partition("@")
        assert version(instance, stage, agent or None) == next(iter(locked.outs.values()))
    assert level(project, instance) == ([], [])


def test_a_run_of_dagster_needs_no_report(project: SmallProject, instance: Any) -> None:
    """What Dagster writes of a run of its own, and what is computed from the lock, say the same."""
    import dagster as dg

    from assets.definitions import build_definitions

    level(project, instance)
    defs = build_definitions(project.folder)
    result = dg.materialize(
        [*(defs.assets or ()), *(defs.asset_checks or ())],
        selection=dg.AssetSelection.assets("agent_file", "events", "record"),
        partition_key=A, instance=instance, resources=defs.resources, raise_on_error=False,
    )  # fmt: skip
    assert result.success
    assert level(project, instance) == ([], [])


def test_the_edit_of_one_agents_file_unsyncs_that_agent(project: SmallProject, instance: Any) -> None:
    """Also before anything ran; the other agent, of the same code version, stays synced."""
    path = project.folder / "data" / "agents" / f"{B}.yaml"
    kept = path.read_bytes()
    level(project, instance)
    path.write_bytes(kept + b"# a comment\n")
    try:
        told, unsynced = level(project, instance)
        assert [line.partition(":")[0] for line in told] == [f"agent_file@{B}"]
        assert unsynced == [f"calls@{B}", f"record@{B}"]
        assert set(json.loads(project.dvc("status", "--json"))) == set(unsynced)
    finally:
        path.write_bytes(kept)
    assert len(level(project, instance)[0]) == 1
    assert level(project, instance) == ([], [])


def test_a_stage_computed_from_an_earlier_output_is_unsynced(
    project: SmallProject, lock: Path, instance: Any
) -> None:
    """The lock of a half-finished `dvc repro`: the events were computed again and the record was not."""
    text = lock.read_text()
    digest = read_lock(project.folder)[f"events@{A}"].outs[f"data/events/{A}"]
    head, record, rest = text.partition(f"  record@{A}:\n")
    lock.write_text(head + record + rest.replace(digest, "0" * 32 + ".dir", 1))
    told, unsynced = level(project, instance)
    assert any(line.startswith(f"events@{A}: {'0' * 32}.dir, an earlier version") for line in told)
    assert unsynced == [f"record@{A}"]
    assert set(json.loads(project.dvc("status", "--json"))) == {f"record@{A}"}
    assert version(instance, "events", A) == digest
    assert level(project, instance) == ([], [f"record@{A}"])
    lock.write_text(text)
    assert level(project, instance)[1] == []


def test_a_leaderboard_of_earlier_records_is_unsynced(
    project: SmallProject, lock: Path, instance: Any
) -> None:
    """Its one input is the folder of all records: judged as their entries in the lock make it."""
    text = lock.read_text()
    digest = read_lock(project.folder)["leaderboard"].inputs.deps["data/record"]
    assert digest is not None
    lock.write_text(text.replace(digest, "0" * 32 + ".dir"))
    assert level(project, instance)[1] == ["leaderboard"]
    assert set(json.loads(project.dvc("status", "--json"))) == {"leaderboard"}
    assert level(project, instance) == ([], ["leaderboard"])
    lock.write_text(text)
    told, unsynced = level(project, instance)
    assert ([line.partition(":")[0] for line in told], unsynced) == (["leaderboard"], [])


def test_what_the_lock_holds_no_more_is_unsynced(project: SmallProject, lock: Path, instance: Any) -> None:
    """An earlier lock was checked out: Dagster must not call current what DVC would run."""
    text = lock.read_text()
    level(project, instance)
    start = text.index("  leaderboard:\n")
    end = text.find("\n  ", start + len("  leaderboard:\n"))
    while end != -1 and text[end + 3] == " ":
        end = text.find("\n  ", end + 3)
    lock.write_text(text[:start] + (text[end + 1 :] if end != -1 else ""))
    assert "leaderboard" not in read_lock(project.folder)
    told, unsynced = level(project, instance)
    assert told == ["leaderboard: not in dvc.lock (any more)"]
    assert unsynced == ["leaderboard"]
    lock.write_text(text)
    assert level(project, instance)[1] == []


def test_a_conflict_is_refused_and_the_sensor_says_so(
    project: SmallProject, lock: Path, instance: Any
) -> None:
    """Nothing is reported from half a lock; the sensor goes on and tells the reason."""
    import dagster as dg

    from assets.reconcile import reconcile
    from assets.sensor import lock_sensor

    sensor = lock_sensor(project.folder)
    with dg.build_sensor_context(instance=instance) as context:
        assert sensor(context).skip_message == f"{TARGETS + len(AGENTS)} reported"
        assert sensor(context).skip_message == "level with dvc.lock"
        module = project.folder / "inquesto_dag" / "calls" / "simulate.py"
        kept = module.read_bytes()
        module.write_bytes(kept + b"# a comment\n")
        assert (
            "decides calls, validation changed on disk: reload the definitions"
            in sensor(context).skip_message
        )
        module.write_bytes(kept)
        lock.write_text("<<<<<<< HEAD\n=======\n>>>>>>> other\n")
        assert "merge conflicts" in sensor(context).skip_message
        with pytest.raises(InputError, match="merge conflicts"):
            reconcile(project.folder, instance)


def test_the_command_on_a_database_that_was_deleted(project: SmallProject) -> None:
    """`inquesto-dag reconcile`: what it did, and what is unsynced; Dagster's database is disposable."""
    first = project.cli("reconcile")
    assert f"Dagster is level with dvc.lock ({TARGETS + len(AGENTS)} reports)" in first
    assert "unsynced in Dagster: nothing" in first
    shutil.rmtree(project.folder / ".dagster")
    again = project.cli("reconcile")
    assert again == first
    assert "Dagster is level with dvc.lock (no reports)" in project.cli("reconcile")
