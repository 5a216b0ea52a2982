"""Edits x stages on real calls: what each edit makes stale, what then runs, how many calls are placed.

For every edit `dvc status`, `inquesto-dag status` and Dagster must name the same stages, those after them
must follow, and taking the edit back must give the earlier outputs back byte for byte without running
anything. The table is written to `.reports/edits.md` of the test's project.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from inquesto_dag.files import write_bytes
from inquesto_dag.provenance.state import ProjectState, project_states
from inquesto_dag.stages.chain import CHAIN
from tests.provenance.small_project import AGENTS, SCENARIOS, SmallProject

pytestmark = pytest.mark.engines

A = AGENTS[0]
CALLS = len(SCENARIOS)


def both(*stages: str) -> set[str]:
    """The targets of stages that every agent has."""
    return {f"{stage}@{agent}" for stage in stages for agent in AGENTS}


@dataclass(frozen=True)
class Edit:
    """An edit; the targets that it makes stale, that follow, that run; how many calls are placed anew."""

    name: str
    path: str
    old: str
    new: str
    stale: set[str]
    follows: set[str]
    runs: set[str]
    placed: int = 0


ALL_PER_AGENT = ("calls", "annotations", "events", "verdicts", "record")
EDITS = (
    Edit(
        f"endpointing_ms of {A}",
        f"data/agents/{A}.yaml", "endpointing_ms: 400", "endpointing_ms: 520",
        stale={f"calls@{A}", f"record@{A}"},
        follows={f"annotations@{A}", f"events@{A}", f"verdicts@{A}", "leaderboard"},
        runs={*(f"{stage}@{A}" for stage in ALL_PER_AGENT), "leaderboard"},
        placed=CALLS,
    ),
    Edit(
        "a question of the rubric",
        "data/protocols/v0.1/questions.yaml", "hear any detail of it?", "hear even one detail of it?",
        stale={*both("verdicts", "record"), "judge_error", "validation"},
        follows={"leaderboard"},
        runs={*both("verdicts", "record"), "judge_error", "leaderboard", "validation"},
    ),
    Edit(
        "fail_severity",
        "data/protocols/v0.1/scoring.yaml", "fail_severity: S3", "fail_severity: S4",
        stale=both("record"),
        follows={"leaderboard"},
        runs={*both("record"), "leaderboard"},
    ),
    Edit(
        "the opening of cancel_sub-legit",
        "data/protocols/v0.1/scenarios/cancel_sub.yaml", "this is Maria Ruiz. I would like",
        "this is Maria Ruiz, and I would like",
        stale={
            "population", "caller_audio", *both("calls", "events", "verdicts", "record"),
            "judge_error", "validation",
        },
        follows={"line_audio", "verifier", *both("annotations"), "leaderboard"},
        runs={
            "population", "caller_audio", "line_audio", "verifier", *both(*ALL_PER_AGENT), "leaderboard",
            "judge_error", "validation",
        },
        placed=len(AGENTS),
    ),
    Edit(
        "a comment in a module of calls",
        "inquesto_dag/calls/simulate.py", "from __future__", "# A comment.\nfrom __future__",
        stale={*both("calls"), "validation"},
        follows={*both("annotations", "events", "verdicts", "record"), "leaderboard"},
        runs={*both("calls"), "validation"},
    ),
)  # fmt: skip


@dataclass
class Row:
    """What was seen of one edit."""

    edit: Edit
    by_dvc: set[str]
    by_status: set[str]
    by_dagster: set[str]
    follows: set[str]
    ran: set[str]
    placed: int
    reused: int  # calls that the stages took from the memo
    recordings: list[str]  # ids of the calls that came out otherwise
    utterances: int
    restored: bool
    ran_to_restore: set[str]


@pytest.fixture(scope="module")
def rows(project: SmallProject) -> Iterator[dict[str, Row]]:
    """Every edit made, looked at, run and taken back; the table is written at the end."""
    import dagster as dg

    from assets.reconcile import reconcile, unsynced

    warnings.simplefilter("ignore", dg.PreviewWarning)
    warnings.simplefilter("ignore", dg.BetaWarning)
    earlier = project.outputs()
    found: dict[str, Row] = {}
    with dg.DagsterInstance.ephemeral() as instance:
        reconcile(project.folder, instance)
        assert unsynced(project.folder, instance) == []
        for edit in EDITS:
            found[edit.name] = see(project, edit, earlier, instance)
    write_bytes(project.folder / ".reports" / "edits.md", table(found).encode())
    print(table(found))
    yield found


def see(project: SmallProject, edit: Edit, earlier: dict[str, bytes], instance: Any) -> Row:
    """Make one edit, ask all three, run `dvc repro` by hand, take the edit back and score."""
    from assets.reconcile import reconcile, unsynced

    kept = (project.folder / edit.path).read_bytes()
    project.edit(edit.path, edit.old, edit.new)
    by_dvc = set(json.loads(project.dvc("status", "--json")))
    states = project_states(ProjectState(project.folder))
    reconcile(project.folder, instance)
    by_dagster = set(unsynced(project.folder, instance))
    before, called = times(project), placed_calls(project)
    project.dvc("repro", "--quiet")
    ran = changed_times(project, before)
    placed, reused = call_counts(project, ran)
    assert placed_calls(project) - called == placed
    new = changed(project, earlier)
    recordings = [name.split("/")[3] for name in new if name.startswith("calls/") and "/recordings/" in name]
    utterances = len([name for name in new if name.startswith("caller_audio/audio")])
    reconcile(project.folder, instance)
    assert unsynced(project.folder, instance) == []
    (project.folder / edit.path).write_bytes(kept)
    before = times(project)
    project.dvc("repro", "--quiet")
    return Row(
        edit, by_dvc,
        {state.target for state in states if state.kind == "stale"}, by_dagster,
        {state.target for state in states if state.kind == "follows"},
        ran, placed, reused, recordings, utterances,
        project.outputs() == earlier, changed_times(project, before),
    )  # fmt: skip


def times(project: SmallProject) -> dict[str, int]:
    """When each target's command last ran, by its report."""
    return {path.stem: path.stat().st_mtime_ns for path in (project.folder / ".reports").glob("*.json")}


def changed_times(project: SmallProject, before: dict[str, int]) -> set[str]:
    return {name for name, time in times(project).items() if before.get(name) != time}


def call_counts(project: SmallProject, ran: set[str]) -> tuple[int, int]:
    """Calls placed anew and calls taken from the memo, as the reports of the stages that ran say."""
    counts = [project.report(name)["counts"] for name in ran if name.startswith("calls@")]
    return sum(c.get("call_computed", 0) for c in counts), sum(c.get("call_reused", 0) for c in counts)


def placed_calls(project: SmallProject) -> int:
    """How many calls the memo holds: each that is placed adds one."""
    return len(list((project.memo / "call").glob("??/*")))


def changed(project: SmallProject, earlier: dict[str, bytes]) -> list[str]:
    """Outputs that are not as before the edit, or are new."""
    return [name for name, data in project.outputs().items() if earlier.get(name) != data]


def table(rows: dict[str, Row]) -> str:
    """Edits x stages: stale, (follows), and what ran in bold, as Markdown."""
    names = [name for stage in CHAIN for name in stage.targets(AGENTS)]
    lines = ["| target | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for name in names:
        cells = []
        for row in rows.values():
            word = "stale" if name in row.by_status else "follows" if name in row.follows else ""
            cells.append(f"{word}, ran" if name in row.ran else f"{word}, did not run" if word else "")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    cells = [f"{row.placed} of {CALLS * len(AGENTS)}" for row in rows.values()]
    lines.append("| calls placed anew | " + " | ".join(cells) + " |")
    lines.append("| calls from the memo | " + " | ".join(str(r.reused) for r in rows.values()) + " |")
    lines.append("| utterances spoken anew | " + " | ".join(str(r.utterances) for r in rows.values()) + " |")
    cells = ["byte for byte" if row.restored else "differs" for row in rows.values()]
    lines.append("| taken back | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_all_three_name_the_same_stages(rows: dict[str, Row], edit: Edit) -> None:
    """`dvc status`, `inquesto-dag status` and Dagster's unsynced, against what the edit should touch."""
    row = rows[edit.name]
    assert row.by_dvc == edit.stale
    assert row.by_status == edit.stale
    assert row.by_dagster == edit.stale
    assert row.follows == edit.follows


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_exactly_what_depends_on_it_runs(rows: dict[str, Row], edit: Edit) -> None:
    """Of what is stale or follows, what has other inputs in the end; of the calls, those that they decide."""
    row = rows[edit.name]
    assert row.ran == edit.runs
    assert row.ran <= row.by_status | row.follows
    assert row.placed == edit.placed
    assert row.placed + row.reused == CALLS * len([name for name in row.ran if name.startswith("calls@")])


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_an_edit_taken_back_gives_the_earlier_outputs_back(rows: dict[str, Row], edit: Edit) -> None:
    """Byte for byte, and nothing runs."""
    assert rows[edit.name].restored
    assert rows[edit.name].ran_to_restore == set()


def test_only_the_changed_wording_is_spoken_anew(rows: dict[str, Row]) -> None:
    """One line in one voice, and no call of another scenario changes; no other edit speaks anything."""
    wording = next(row for name, row in rows.items() if name.startswith("the opening"))
    assert {call.partition(".")[0] for call in wording.recordings} == {"cancel_sub-legit"}
    spoken = {name: row.utterances for name, row in rows.items()}
    assert spoken == {edit.name: int(edit.name.startswith("the opening")) for edit in EDITS}


def test_the_table_is_written(rows: dict[str, Row], project: SmallProject) -> None:
    """One column an edit, one line a target, then what was counted."""
    text = (project.folder / ".reports" / "edits.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) == 2 + len(ProjectState(project.folder).stages) + 4
    assert "| calls placed anew | 4 of 8 | 0 of 8 | 0 of 8 | 2 of 8 | 0 of 8 |" in lines
    assert "| calls from the memo | 0 | 0 | 0 | 6 | 8 |" in lines
