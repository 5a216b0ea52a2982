"""A measured run has its machine to itself: locks of real processes, real load, what is refused and why."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from inquesto_dag.errors import CheckFailed, InfrastructureError, InputError
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.provenance.params import load_params
from inquesto_dag.stages import machine
from inquesto_dag.stages.cluster import CLUSTER_VARIABLE
from inquesto_dag.stages.context import StageContext
from inquesto_dag.stages.machine import BUSY_LIMIT, Claim, claim_machine, lock_path, share_machine
from inquesto_dag.stages.placement import placed
from inquesto_dag.stages.report import StageReport

ROOT = Path(__file__).parents[2]
AGENT = "embedded-700"
HOLD = """
import sys, time
from inquesto_dag.stages import machine
machine.BUSY_LIMIT = 1.0
with getattr(machine, sys.argv[1])("calls@other"):
    print("held", flush=True)
    time.sleep(600)
"""
SPIN = "import time\nwhile True: pass\n"


@pytest.fixture(autouse=True)
def own_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock file of the test's own: other tests run stages at the same time."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else runs on this machine is tolerated."""
    monkeypatch.setattr(machine, "BUSY_LIMIT", 1.0)
    monkeypatch.setattr(machine, "SAMPLE_S", 0.01)


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process that is killed at the end."""
    running = subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield running
    finally:
        with suppress(ProcessLookupError):
            running.kill()
        running.communicate()


@contextmanager
def holder(how: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the machine (`share_machine` or `claim_machine`)."""
    with process("-c", HOLD, how) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "held\n"
        yield running


def context(project: Path, mode: str = "measured", stage: str = "calls") -> StageContext:
    """The context of a stage of a project whose agent has this timing."""
    (project / "data" / "agents").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "params.yaml", project / "params.yaml")
    text = (ROOT / "data" / "agents" / f"{AGENT}.yaml").read_text()
    (project / "data" / "agents" / f"{AGENT}.yaml").write_text(
        text.replace("mode: declared", f"mode: {mode}")
    )
    return StageContext(
        project, stage, load_params(project), AGENT, Memo(project / ".memo"), None, 2,
        StageReport(stage, AGENT, workers=2),
    )  # fmt: skip


def test_stages_share_the_machine(tmp_path: Path) -> None:
    """Any number at once, by several processes."""
    with holder("share_machine"), share_machine("calls@one"), share_machine("calls@two"):
        assert lock_path().parent == tmp_path


def test_a_measured_run_is_refused_beside_another_stage_and_taken_when_that_was_killed(idle: None) -> None:
    """The message names the other process; a killed holder holds nothing."""
    with holder("share_machine") as other:
        with (
            pytest.raises(
                InfrastructureError, match=r"calls@x: times are measured, and other stages"
            ) as told,
            claim_machine("calls@x"),
        ):
            pass
        assert "wait until they have ended" in told.value.remedy
        if re.search(rf"FLOCK\s+ADVISORY\s+READ\s+{other.pid} ", Path("/proc/locks").read_text()):
            assert f"process {other.pid}: {sys.executable}" in told.value.problem
        other.send_signal(signal.SIGKILL)
        other.wait()
        with claim_machine("calls@x"):
            pass


def test_a_stage_waits_for_a_measured_run_and_says_so(idle: None) -> None:
    """Once, with what it waits for; it goes on by itself."""
    with holder("claim_machine") as measured, process("-c", HOLD, "share_machine") as waiting:
        assert waiting.stderr is not None and waiting.stdout is not None
        assert waiting.stderr.readline().startswith("calls@other: waits for a measured run to end (")
        measured.kill()
        assert waiting.stdout.readline() == "held\n"


def test_a_busy_machine_is_refused_with_the_limit_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many busy loops as processors: hardly anything is left to measure on."""
    monkeypatch.setattr(machine, "SAMPLE_S", 1.0)
    with (
        spinning(),
        pytest.raises(InfrastructureError, match=r"other processes use \d") as told,
        claim_machine("x"),
    ):
        pass
    cores = os.cpu_count() or 1
    assert f"(at most {BUSY_LIMIT * cores:.1f} of {cores} processors may be in use)" in told.value.problem
    assert "stop them" in told.value.remedy


def test_a_machine_that_others_kept_busy_during_the_run_refuses_its_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What this process used does not count; what others used does."""
    began = machine._Usage.now()
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        pass
    own = machine._Usage.now().own_s - began.own_s
    assert own > 0.1
    after = machine._Usage.now()
    alone = machine._Usage(began.busy_s + own, began.total_s + 10 * own, began.own_s + own)
    assert alone.share_of_others(began) == pytest.approx(0.0, abs=1e-6)
    assert after.total_s > began.total_s
    with spinning():
        claim = Claim("calls@x", machine._Usage.now())
        time.sleep(1.0)
        assert claim.others_share() > BUSY_LIMIT
        with pytest.raises(CheckFailed, match=r"calls@x: other processes used .* on average while the calls"):
            claim.check()


@contextmanager
def spinning() -> Iterator[None]:
    """A busy loop for each processor."""
    loops = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(os.cpu_count() or 1)]
    try:
        time.sleep(0.3)
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def test_a_measured_run_has_one_worker_and_its_load_in_its_report(tmp_path: Path, idle: None) -> None:
    """Whatever the default is; the claim is checked before the output takes its place."""
    ctx = context(tmp_path)
    with placed(ctx) as alone:
        assert alone.workers == alone.report.workers == 1
        assert alone.executor is None
        with alone.output() as folder:
            (folder / "x").touch()
        with pytest.raises(InfrastructureError, match="other stages run"), claim_machine("another"):
            pass
    assert 0.0 <= ctx.report.notes["others_share"] <= 1.0


def test_the_output_of_a_run_that_was_disturbed_does_not_take_its_place(
    tmp_path: Path, idle: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The earlier output stays."""
    with placed(context(tmp_path)) as alone:
        monkeypatch.setattr(machine, "BUSY_LIMIT", -1.0)  # whatever was used is too much
        with pytest.raises(CheckFailed, match="the latencies are not the agent's"), alone.output() as folder:
            (folder / "x").touch()
    assert not alone.target.exists()


@pytest.mark.parametrize(
    ("asked", "named"),
    [({"workers": 2}, "--workers 2"), ({"cluster": "tcp://host:8786"}, "--cluster tcp://host:8786")],
)
def test_a_measured_run_refuses_company(
    tmp_path: Path, asked: dict[str, int | str], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More workers, a cluster by option or by variable: each with its reason and what to do."""
    with (
        pytest.raises(InputError, match=rf"calls@{AGENT}: {named}: times are measured, and") as told,
        placed(context(tmp_path), **asked),  # type: ignore[arg-type]
    ):
        pass
    assert "out" in told.value.remedy
    monkeypatch.setenv(CLUSTER_VARIABLE, "tcp://host:8786")
    with pytest.raises(InputError, match="a cluster's machines are not"), placed(context(tmp_path)):
        pass


def test_workers_and_a_cluster_cannot_both_be_asked_for(tmp_path: Path) -> None:
    """A cluster has the workers that it has; a default number of workers is no demand."""
    with (
        pytest.raises(InputError, match="asks for workers of this machine and for a cluster"),
        placed(context(tmp_path, "declared"), workers=2, cluster="tcp://host:8786"),
    ):
        pass


@pytest.mark.parametrize(("mode", "stage"), [("declared", "calls"), ("measured", "annotations")])
def test_other_runs_share_the_machine_and_keep_their_workers(
    tmp_path: Path, idle: None, mode: str, stage: str
) -> None:
    """Declared times, and the other stages of a measured agent; a measured run cannot begin beside them."""
    with placed(context(tmp_path, mode, stage)) as shared:
        assert shared.workers == 2
        with share_machine("another"):
            pass
        with pytest.raises(InfrastructureError, match="other stages run"), claim_machine("measured"):
            pass
