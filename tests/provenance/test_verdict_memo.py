"""The stage `verdicts` through the memo, on a project of its own: reuse, damage, how both are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.files import read_json, read_table, write_table
from inquesto_dag.judging.interfaces import Judge, JudgedCall, Verdict, verdict_rows
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.provenance.code import PACKAGE, ROOT
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.stages.verdicts import Rubric, judge_call
from inquesto_dag.tables import CALLS, POPULATION, TOOL_CALLS, TURNS, Table
from tests.judging.calls import call_of
from tests.provenance.tracing import functions_run, uncovered
from tests.scoring.sample import protocol

AGENT = "embedded-700"


def write(project: Path, folder: str, table: Table, rows: list[dict[str, Any]]) -> None:
    path = project / "data" / folder
    path.mkdir(parents=True, exist_ok=True)
    write_table(path / f"{table.name}.parquet", table.conform(rows))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The quick slice, each call with two turns and no tool call, as if the stages before had run."""
    for name in (PACKAGE, "data/protocols"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    plan = take_slice(plan_calls(protocol()), "quick")
    before = protocol().account.model_dump_json()
    write(tmp_path, "population", POPULATION, plan)
    calls, turns = [], []
    for row in plan:
        call_id = row["call_id"]
        calls.append(
            {
                "call_id": call_id, "agent": AGENT, "duration_s": 20.0, "caller_turns": 1, "agent_turns": 1,
                "ended_by": "goal_met", "infrastructure_error": None, "timing": "declared", "snr_db": None,
                "account_after": before, "call_sha256": "0" * 64, "line_sha256": "0" * 64,
                "trace_sha256": "0" * 64,
            }
        )  # fmt: skip
        said_by = (("caller", "Hello."), ("agent", "Your plan is cancelled."))
        for number, (speaker, said) in enumerate(said_by):
            turns.append(
                {
                    "call_id": call_id, "turn": number, "speaker": speaker, "move": "reply", "said": said,
                    "heard": None, "start_s": 5.0 * number, "end_s": 5.0 * number + 4, "endpoint_s": None,
                    "recognition_s": None, "brain_s": None, "synthesis_s": None,
                }
            )  # fmt: skip
    write(tmp_path, f"calls/{AGENT}", CALLS, calls)
    write(tmp_path, f"calls/{AGENT}", TURNS, turns)
    write(tmp_path, f"calls/{AGENT}", TOOL_CALLS, [])
    return tmp_path


def run_stage(project: Path) -> tuple[str, str, dict[str, int]]:
    """The last line, standard error and the report's counts of the stage, run as DVC runs it."""
    done = subprocess.run(
        [sys.executable, "-m", "inquesto_dag", "stage", "verdicts", "--agent", AGENT],
        cwd=project, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "INQUESTO_MEMO": str(project / "memo")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = read_json(project / ".reports" / f"verdicts@{AGENT}.json")
    return done.stdout.splitlines()[-1], done.stderr, report["counts"]


def test_verdicts_are_judged_once_and_damage_is_told(project: Path) -> None:
    """Computed, then reused; a flipped byte is judged again, in the report and in the stage's last line."""
    table = project / "data" / "verdicts" / AGENT / "verdicts.parquet"
    line, _, counts = run_stage(project)
    assert counts == {"verdict_computed": 30, "verdict_reused": 0} and "damaged" not in line
    first = table.read_bytes()
    assert len(read_table(table)) == sum(
        len(RuleJudge(protocol()).judge(call_of(row["scenario_id"])))
        for row in take_slice(plan_calls(protocol()), "quick")
    )
    _, _, counts = run_stage(project)
    assert counts == {"verdict_computed": 0, "verdict_reused": 30} and table.read_bytes() == first
    for number, path in enumerate(p for p in sorted((project / "memo").rglob("*")) if p.is_file()):
        if number in (3, 17):
            content = bytearray(path.read_bytes())
            content[-3] ^= 1
            path.write_bytes(content)
    line, said, counts = run_stage(project)
    assert counts == {"verdict_computed": 2, "verdict_reused": 28, "memo_damaged": 2}
    assert line.endswith(", 2 damaged memo entries computed again")
    assert said.count("is damaged; it is removed and computed again") == 2
    assert table.read_bytes() == first


class Silent:
    """A judge that cannot be made to answer one question (PROTOCOL D13)."""

    identity = {"name": "silent", "version": "1"}  # noqa: RUF012  # the interface's shape

    def judge(self, call: JudgedCall) -> list[Verdict]:
        return [Verdict("goal_reached", None, "no answer", attempts=3)]


def test_D13_an_unjudged_call_is_asked_about_again(tmp_path: Path) -> None:
    """What a judge could not answer is not kept; what it answered is."""
    memo, call = Memo(tmp_path), call_of("cancel_sub-legit", "C: Hello.")
    silent: Judge = Silent()
    for asked in (1, 2):
        rows = Rubric(silent, protocol()).verdicts(call, memo)
        assert [row["answer"] for row in rows] == [None]
        assert (memo.hits, memo.misses) == (0, asked)
    judge = RuleJudge(protocol())
    for _ in range(2):
        assert Rubric(judge, protocol()).verdicts(call, memo) == verdict_rows(judge, call)
    assert (memo.hits, memo.misses) == (1, 3)


def test_D17_all_code_that_runs_in_a_verdict_is_in_its_version() -> None:
    """On calls of every family, so that every rule is read."""
    judge = RuleJudge(protocol())
    calls = [
        call_of(scenario.id, "C: Cancel it.", "A: Your plan is cancelled. I can't help you.", done=done)
        for scenario in protocol().scenarios
        for done in {False, scenario.required_action is not None}
    ]
    with functions_run() as run:
        for call in calls:
            judge_call(judge, call)
    assert len(run) > 40 and uncovered(run, "verdict", "rules") == set()
    assert uncovered(run, "verdict") != set()
