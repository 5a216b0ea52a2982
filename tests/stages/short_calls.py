"""A small project whose stage `calls` is real: the engines speak, hear and verify in every call.

All calls are of the shortest scenario over a clean line and differ in their seeds, so each is a call of its
own with recordings of its own, while the sentences in them are the same and are spoken once. It is made once
for all tests and worker processes of a session; each test works on a copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.callers.script import lines_of
from inquesto_dag.files import sha256_file, write_json, write_table
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.population import call_seed, plan_calls
from inquesto_dag.provenance.memo import MEMO_VARIABLE
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import models_folder
from inquesto_dag.speech.verification import enrol
from inquesto_dag.stages.caller_audio import SpeakJob, speak_lines
from inquesto_dag.stages.report import StageReport
from inquesto_dag.stages.run import run_stage
from inquesto_dag.tables import LINES, POPULATION, UTTERANCES

ROOT = Path(__file__).parents[2]
AGENT = "embedded-700"
SCENARIO, CONDITION, GROUP = "confirm_payment-neutral", "clean", "us_female"
MOVES = ("opening", "account_number", "goal_again", "nothing_else")  # what its caller comes to say
MEMO = ".memo"


def make_project(project: Path, calls: int) -> None:
    """Inputs, code (a link), population, caller and line audio, and verifier for so many calls."""
    for name in ("data/protocols", "data/agents"):
        shutil.copytree(ROOT / name, project / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, project / name)
    (project / "inquesto_dag").symlink_to(ROOT / "inquesto_dag")
    protocol = load_protocol(project / "data" / "protocols" / "v0.1")
    planned = next(
        row for row in plan_calls(protocol)
        if (row["scenario_id"], row["condition"], row["group"]) == (SCENARIO, CONDITION, GROUP)
    )  # fmt: skip
    rows = [
        {**planned, "call_id": call_id, "seed": call_seed(protocol.version, call_id)}
        for call_id in (f"{planned['call_id']}.{number:02d}" for number in range(calls))
    ]
    data = project / "data"
    write_table(data / "population" / "population.parquet", POPULATION.conform(rows))

    engines = Engines(EngineSpec(models_folder(), memo=project / MEMO))
    lines = tuple(line for line in lines_of(protocol, [planned]) if line.move in MOVES)
    said = speak_lines(SpeakJob(lines, protocol.caller_level_dbov, data / "caller_audio"), engines)
    write_table(data / "caller_audio" / "utterances.parquet", UTTERANCES.conform(said))
    carried = list(_clean_lines(said, data))
    write_table(data / "line_audio" / "lines.parquet", LINES.conform(carried))
    again = next(row for row in said if row["move"] == "goal_again")
    from inquesto_dag.audio.files import read_flac

    enrolment = enrol([read_flac(data / "caller_audio" / again["path"])], engines.speaker)
    write_json(
        data / "verifier" / "verifier.json",
        {"enrolments": {planned["enrolled_voice"]: enrolment.tolist()}, "threshold": 0.7},
    )


def _clean_lines(said: list[dict[str, Any]], data: Path) -> Iterator[dict[str, Any]]:
    """A clean line carries an utterance untouched (PROTOCOL P3)."""
    for row in said:
        target = data / "line_audio" / row["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data / "caller_audio" / row["path"], target)
        yield {
            "utterance_id": row["utterance_id"], "condition": CONDITION, "path": row["path"],
            "sha256": sha256_file(target), "codec": "none", "snr_db": None,
            "active_level_dbov": row["active_level_dbov"],
            "low_band_db": 0.0, "high_band_db": 0.0,
        }  # fmt: skip


def copy_project(source: Path, target: Path, *, without: tuple[str, ...] = ()) -> Path:
    """A copy to work on; `without` names memo kinds that it shall not have."""
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".tmp-*", ".reports"))
    for kind in without:
        shutil.rmtree(target / MEMO / kind, ignore_errors=True)
    return target


CALLS = 14  # in the suite: more than the kills of test_kills let finish


@dataclass(frozen=True)
class ShortCalls:
    """A project whose calls have been placed by one worker, undisturbed, and what that left."""

    project: Path
    output: Mapping[str, bytes]


def place_undisturbed(project: Path, calls: int = CALLS) -> None:
    """Make the project, and place its calls by one worker; its memo is then warm."""
    make_project(project, calls)
    run_calls(project, workers=1)


def run_calls(project: Path, *, workers: int | None = None, cluster: str | None = None) -> StageReport:
    """The stage `calls` in this process, with the project's own memo."""
    before = os.environ.get(MEMO_VARIABLE)
    os.environ[MEMO_VARIABLE] = str(project / MEMO)
    try:
        return run_stage(project, "calls", AGENT, workers=workers, cluster=cluster)
    finally:
        if before is None:
            del os.environ[MEMO_VARIABLE]
        else:
            os.environ[MEMO_VARIABLE] = before


def command(stage: str, agent: str, *options: str) -> tuple[str, ...]:
    """`inquesto-dag stage STAGE --agent AGENT OPTIONS` as a command of this interpreter."""
    return (sys.executable, "-m", "inquesto_dag", "stage", stage, "--agent", agent, *options)


def environment(project: Path) -> dict[str, str]:
    """The variables of a command on a project: this code, the project's memo, a machine lock of its own."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        MEMO_VARIABLE: str(project / MEMO),
        "TMPDIR": str(project.parent),
    }


def run_command(project: Path, arguments: tuple[str, ...]) -> None:
    """Run a command on a project; AssertionError with what it said when it fails."""
    done = subprocess.run(
        arguments, cwd=project, env=environment(project), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
