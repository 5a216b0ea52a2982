"""The stage context: folders that are whole or not there, parameters, plain rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import read_json
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.provenance.params import load_params, set_population
from inquesto_dag.provenance.profile import PROFILES, ROLES, load_profile
from inquesto_dag.stages.context import StageContext, default_workers, plain_rows
from inquesto_dag.stages.report import StageReport
from inquesto_dag.tables import HEARD

PARAMS = """# kept
protocol: v0.1
profile: embedded
population: quick   # this too
agents:
  - one
  - two
"""


def make_context(project: Path, agent: str | None = None) -> StageContext:
    (project / "params.yaml").write_text(PARAMS)
    return StageContext(
        project, "annotations", load_params(project), agent, Memo(project / ".memo"), None, 1,
        StageReport("annotations", agent),
    )  # fmt: skip


def test_an_output_replaces_the_old_one_whole(tmp_path: Path) -> None:
    """What the old folder held and the new one does not is gone; nothing temporary stays."""
    ctx = make_context(tmp_path, "one")
    ctx.target.mkdir(parents=True)
    (ctx.target / "old").write_text("old")
    with ctx.output() as folder:
        assert (ctx.target / "old").exists()  # until the end
        (folder / "new").write_text("new")
    assert ctx.target == tmp_path / "data" / "annotations" / "one"
    assert sorted(path.name for path in ctx.target.parent.iterdir()) == ["one"]
    assert sorted(path.name for path in ctx.target.iterdir()) == ["new"]


def test_an_error_leaves_the_old_output(tmp_path: Path) -> None:
    """A stage that fails changes nothing and leaves nothing half-written."""
    ctx = make_context(tmp_path)
    ctx.target.mkdir(parents=True)
    (ctx.target / "old").write_text("old")
    with pytest.raises(RuntimeError, match="in the middle"), ctx.output() as folder:
        (folder / "new").write_text("new")
        raise RuntimeError("in the middle")
    assert sorted(path.name for path in ctx.target.parent.iterdir()) == ["annotations"]
    assert sorted(path.name for path in ctx.target.iterdir()) == ["old"]


def test_what_a_dead_worker_left_in_an_output_does_not_become_part_of_it(tmp_path: Path) -> None:
    """Killed while it wrote; another worker has written the file."""
    ctx = make_context(tmp_path)
    with ctx.output() as folder:
        (folder / "call").mkdir()
        (folder / "call" / "line.flac").write_text("whole")
        (folder / "call" / ".tmp-7504-d8520d0a-line.flac").write_text("wh")
    assert [path.name for path in ctx.target.rglob("*") if path.is_file()] == ["line.flac"]


def test_a_full_disk_is_said_as_such(tmp_path: Path) -> None:
    """ENOSPC in the middle of an output: an infrastructure error with a remedy, nothing left."""
    ctx = make_context(tmp_path)
    with pytest.raises(InfrastructureError, match="No space left on device"), ctx.output():
        raise OSError(28, os.strerror(28), str(tmp_path / "x"))
    assert list((tmp_path / "data").iterdir()) == []


def test_what_a_killed_run_left_is_swept_and_a_living_one_is_not(tmp_path: Path) -> None:
    """Temporary folders belong to the process in their name."""
    ctx = make_context(tmp_path)
    program = [sys.executable, "-c", "import os; print(os.getpid())"]
    gone = int(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    dead = tmp_path / "data" / f".tmp-{gone}-abc-annotations"
    living = tmp_path / "data" / f".tmp-{os.getpid()}-abc-annotations"
    dead.mkdir(parents=True)
    living.mkdir()
    with ctx.output():
        pass
    assert not dead.exists()
    assert living.exists()


def test_rows_come_back_plain(tmp_path: Path) -> None:
    """Written through the schema, read as Python values with None for an empty cell."""
    ctx = make_context(tmp_path)
    row = {"call_id": "c", "reference_words": 9, "substitutions": 1, "deletions": 0, "insertions": 2}
    with ctx.output() as folder:
        ctx.write(folder, HEARD, [row])
    assert ctx.rows("heard", "annotations") == [row]
    assert ctx.report.rows == {"heard": 1}
    frame = pd.DataFrame({"a": [1, None], "b": ["x", None]}).astype({"a": "Int64", "b": "string"})
    assert plain_rows(frame) == [{"a": 1, "b": "x"}, {"a": None, "b": None}]
    assert type(plain_rows(frame)[0]["a"]) is int
    assert plain_rows(frame.iloc[:0]) == []


def test_a_missing_table_names_itself_and_the_next_step(tmp_path: Path) -> None:
    """Reading before the stage has run is the user's mistake."""
    ctx = make_context(tmp_path)
    with pytest.raises(InputError, match=r"data/events/one/events\.parquet: does not exist\n.*run the stage"):
        ctx.read("events", "events", "one")


def test_a_stage_per_agent_asks_for_the_agent(tmp_path: Path) -> None:
    """No agent given: which stage, and what to pass."""
    with pytest.raises(InputError, match="needs an agent"):
        make_context(tmp_path).required_agent()
    assert make_context(tmp_path, "two").required_agent() == "two"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("quick", "some", r"params\.yaml: population: .*'quick' or 'full'.*'some'"),
        ("protocol: v0.1\n", "", r"protocol: Field required"),
        ("# kept", "extra: 1", r"extra: Extra inputs"),
        ("  - two", "  - one", r"agents: names \['one'\] twice"),
        ("agents:", "agents: [", r"is not valid YAML"),
        ("  - one\n  - two\n", "  []\n", r"agents: .*at least 1"),
    ],
)
def test_wrong_parameters_name_file_and_field(tmp_path: Path, old: str, new: str, message: str) -> None:
    """Each fault: where, and what was expected."""
    (tmp_path / "params.yaml").write_text(PARAMS.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_params(tmp_path)


def test_the_slice_is_set_and_everything_else_is_kept(tmp_path: Path) -> None:
    """One word of the file changes; setting it again changes nothing."""
    (tmp_path / "params.yaml").write_text(PARAMS)
    assert set_population(tmp_path, "full")
    assert (tmp_path / "params.yaml").read_text() == PARAMS.replace("quick ", "full ")
    assert not set_population(tmp_path, "full")


def test_workers_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number is taken, nonsense is refused, nothing means the processors."""
    monkeypatch.setenv("INQUESTO_WORKERS", "3")
    assert default_workers() == 3
    monkeypatch.setenv("INQUESTO_WORKERS", "many")
    with pytest.raises(InputError, match=r"\$INQUESTO_WORKERS: is 'many'"):
        default_workers()
    monkeypatch.delenv("INQUESTO_WORKERS")
    assert default_workers() == len(os.sched_getaffinity(0))


def test_profiles_fill_every_role_and_unknown_ones_are_refused() -> None:
    """Every role of the set-up has a component in every profile (PROTOCOL S1)."""
    for profile in PROFILES.values():
        assert list(profile.roles()) == list(ROLES)
        assert all(profile.roles().values())
    with pytest.raises(InputError, match=r"unknown profile 'x'\n.*embedded, pinned"):
        load_profile("x")


def test_a_report_gives_engine_time_against_what_the_workers_had(tmp_path: Path) -> None:
    """Two workers for 10 s, 17 s of it inside engines: 85 %."""
    report = StageReport("calls", "one", workers=2, wall_s=10.0)
    report.add({"tts": 10.0, "asr": 2.0}, {"tts_computed": 3}, 9.0)
    report.add({"asr": 5.0}, {"tts_computed": 1, "tts_reused": 4}, 9.5)
    written = read_json(report.write(tmp_path))
    assert report.path(tmp_path) == tmp_path / ".reports" / "calls@one.json"
    assert written["engine_share"] == 0.85
    assert written["counts"] == {"tts_computed": 4, "tts_reused": 4}
    assert written["worker_s"] == 18.5
