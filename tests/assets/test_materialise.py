"""One real stage through both doors: Dagster launches DVC, DVC runs it once, and the checks see the disk."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.files import read_table, write_table
from inquesto_dag.provenance.dvc import locked_digest
from tests.assets.projects import copy_project, set_agents


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of the project without outputs, in a git repository of its own."""
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / ".dvc" / "tmp" / "site"))
    return copy_project(tmp_path)


def materialise(project: Path, instance: Any, *names: str) -> Any:
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    from assets.definitions import build_definitions

    defs = build_definitions(project)
    return dg.materialize(
        [*defs.assets, *defs.asset_checks],
        selection=dg.AssetSelection.assets(*names),
        instance=instance,
        resources=defs.resources,
        raise_on_error=False,
    )


def test_population_runs_once_by_either_door_and_its_checks_watch_the_disk(project: Path) -> None:
    """First run executes, second does not; `dvc repro` finds nothing to do; a tampered table is refused."""
    import dagster as dg

    table = project / "data" / "population" / "population.parquet"
    with dg.DagsterInstance.ephemeral() as instance:
        first = materialise(project, instance, "population")
        assert first.success
        checks = {e.check_name: e.passed for e in first.get_asset_check_evaluations()}
        assert checks == {"population_table": True, "disk_matches_lock": True}
        (event,) = first.asset_materializations_for_node("population")
        assert event.tags is not None
        assert event.tags["dagster/data_version"] == locked_digest(project, "population")
        assert event.metadata["ran_now"].value is True
        assert event.metadata["dagster/row_count"].value == 30
        assert event.metadata["calls_by_line_and_group"].value.startswith("| line |")
        assert event.metadata["population_preview"].value.endswith("24 more rows")
        written = table.stat().st_mtime_ns

        second = materialise(project, instance, "population")
        (again,) = second.asset_materializations_for_node("population")
        assert again.metadata["ran_now"].value is False
        assert again.tags == event.tags
        assert table.stat().st_mtime_ns == written

        by_hand = subprocess.run(
            [sys.executable, "-m", "dvc", "repro", "population"],
            cwd=project, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "didn't change, skipping" in by_hand.stdout

        table.chmod(0o644)
        write_table(table, read_table(table).iloc[1:])
        from assets.checks import expectations_for, outputs_beside_lock
        from assets.population import PROMISES
        from assets.suites import validate_table

        suite = expectations_for(project, "population", None, PROMISES["population"])
        outcome = validate_table("population", read_table(table), suite)
        assert any("row_count" in fault for fault in outcome.failures)
        (differing,) = outputs_beside_lock(project, "population")
        assert differing == "data/population is not what was computed: changed population.parquet"
        third = materialise(project, instance, "population")  # DVC sees the change and restores the output
        assert third.success
        assert outputs_beside_lock(project, "population") == []


def test_a_stage_that_fails_fails_its_asset(project: Path) -> None:
    """A protocol that cannot be loaded: the run fails, nothing half-written stays."""
    import dagster as dg

    (project / "data" / "protocols" / "v0.1" / "account.yaml").write_text("number: [\n")
    with dg.DagsterInstance.ephemeral() as instance:
        assert not materialise(project, instance, "population").success
    assert not list((project / "data").glob(".tmp-*"))
    assert not (project / "data" / "population").exists()


def test_a_broken_table_stops_what_follows_in_the_same_run(project: Path) -> None:
    """A stage that loses a call: its check fails, says which expectation, and the next asset never starts."""
    import dagster as dg

    code = project / "inquesto_dag" / "stages" / "population.py"
    text = code.read_text()
    assert text.count("take_slice(") == 1
    code.write_text(text.replace("take_slice(", "take_fewer("))
    with code.open("a") as stream:
        stream.write("\n\ndef take_fewer(*given):\n    return take_slice(*given)[1:]\n")
    with dg.DagsterInstance.ephemeral() as instance:
        result = materialise(project, instance, "population", "caller_audio")
        assert not result.success
        checks = {e.check_name: e for e in result.get_asset_check_evaluations()}
        assert checks["disk_matches_lock"].passed  # the stage did leave what the lock names
        broken = checks["population_table"]
        assert not broken.passed and broken.blocking
        assert "expect_table_row_count_to_equal" in (broken.description or "")
        assert broken.metadata["not_met"].value == 3
        table = broken.metadata["results"].value.splitlines()
        assert table[0] == "| | expectation | about | asks | seen |".replace("| |", "|  |")
        assert "| NOT MET | table row count to equal | table | value=30 | 29 |" in table[2:5]
        assert all("| met |" in line for line in table[5:]) and len(table) > 10
        assert {e.step_key for e in result.all_events if e.event_type_value == "STEP_START"} >= {"population"}
        assert "caller_audio" not in {
            e.step_key for e in result.all_events if e.event_type_value == "STEP_START"
        }
    assert not (project / "data" / "caller_audio").exists()


def test_check_outputs_reports_every_check_and_restores_nothing(project: Path) -> None:
    """An edited table fails both its checks, and the run; what was edited stays as it is."""
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    from assets.definitions import build_definitions

    table = project / "data" / "population" / "population.parquet"
    with dg.DagsterInstance.ephemeral() as instance:
        assert materialise(project, instance, "population").success
        job = build_definitions(project).resolve_job_def("check_outputs")
        key = dg.AssetKey("population")

        def latest() -> dict[str, tuple[str, dict[str, Any]]]:
            found = {}
            for name in ("population_table", "disk_matches_lock"):
                check_key = dg.AssetCheckKey(key, name)
                record = instance.event_log_storage.get_latest_asset_check_execution_by_key([check_key])[
                    check_key
                ]
                evaluation = record.event.dagster_event.event_specific_data
                found[name] = (record.status.value, evaluation.metadata)
            return found

        assert job.execute_in_process(instance=instance).success
        assert {name: status for name, (status, _) in latest().items()} == dict.fromkeys(
            latest(), "SUCCEEDED"
        )
        table.chmod(0o644)
        write_table(table, read_table(table).iloc[1:])
        edited = table.read_bytes()
        run = job.execute_in_process(instance=instance, raise_on_error=False)
        assert not run.success
        assert {name: status for name, (status, _) in latest().items()} == dict.fromkeys(latest(), "FAILED")
        assert "NOT MET" in latest()["population_table"][1]["results"].value
        assert "2 checks failed: population population_table, population disk_matches_lock" in str(
            run.failure_data_for_node("check_every_output")
        )
    assert table.read_bytes() == edited


def test_a_new_agent_is_a_new_partition(project: Path) -> None:
    """Its file and its line in params.yaml, then definitions loaded anew: a row in every agent's asset."""
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    from assets.definitions import build_definitions
    from inquesto_dag.stages.chain import STAGES

    def rows() -> dict[str, list[str]]:
        defs = build_definitions(project)
        graph = defs.resolve_asset_graph()
        found = {
            key.to_user_string(): list(graph.get(key).partitions_def.get_partition_keys())
            for key in graph.get_all_asset_keys()
            if graph.get(key).is_partitioned
        }
        job = defs.resolve_job_def("score_agent")
        return {**found, "job": list(job.partitions_def.get_partition_keys())}

    before = rows()
    assert set(before) >= {"job", *(name for name, stage in STAGES.items() if stage.per_agent)}
    set_agents(project, [*before["job"], "a-new-one"])
    assert rows() == {name: [*agents, "a-new-one"] for name, agents in before.items()}


def test_score_all_requests_every_record_of_every_agent(project: Path) -> None:
    """One launch: a backfill of all but the validation, which the daemon then takes up."""
    import dagster as dg

    warnings.simplefilter("ignore", dg.PreviewWarning)
    from assets.definitions import build_definitions
    from inquesto_dag.provenance.params import load_params
    from inquesto_dag.stages.chain import CHAIN

    defs = build_definitions(project)
    with dg.DagsterInstance.ephemeral() as instance:
        assert defs.resolve_job_def("score_all").execute_in_process(instance=instance).success
        (backfill,) = instance.get_backfills()
    assert backfill.asset_backfill_data is not None
    target = backfill.asset_backfill_data.target_subset
    found = {
        (part.asset_key.to_user_string(), part.partition_key) for part in target.iterate_asset_partitions()
    }
    graph, agents = defs.resolve_asset_graph(), load_params(project).agents
    assert found == {
        (key.to_user_string(), agent)
        for key in graph.get_all_asset_keys()
        if key.to_user_string() != "validation"
        for agent in (agents if graph.get(key).is_partitioned else (None,))
    }
    assert {name for name, _ in found} >= {stage.name for stage in CHAIN} - {"validation"}
