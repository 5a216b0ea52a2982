"""DVC gives up at once on a path that another run holds; the bridge waits for it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from inquesto_dag.provenance.waiting import BUSY, WAITING, run_patiently

DVC = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item"]
STAGES = """stages:
  shared:
    cmd: echo 1 > shared
    outs: [shared]
  reader:
    cmd: touch reading; while [ ! -e leave ]; do sleep 0.1; done; cat shared > read
    deps: [shared]
    outs: [read]
"""


def test_a_stage_that_another_run_reads_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DVC alone fails with the words that are looked for; waiting, the same command ends well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / ".site"))
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet"], check=True)
    Path("dvc.yaml").write_text(STAGES)
    subprocess.run([*DVC, "shared"], check=True, capture_output=True)
    reader = subprocess.Popen([*DVC, "reader"], stdout=subprocess.DEVNULL)
    while not Path("reading").exists():
        assert reader.poll() is None
        time.sleep(0.1)

    alone = subprocess.run([*DVC, "shared"], capture_output=True, text=True, check=False)
    assert alone.returncode != 0 and BUSY in alone.stderr

    told: list[str] = []
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        Path("leave").touch()
        assert reader.wait(timeout=60) == 0

    assert run_patiently([*DVC, "shared"], tell=told.append, sleep=pause) == 0
    assert len(pauses) == 1
    assert told == [WAITING]


def test_what_fails_for_another_reason_fails_at_once() -> None:
    """Its errors are passed on, and its exit code."""
    told: list[str] = []
    program = "import sys; print('no such stage', file=sys.stderr); sys.exit(3)"
    assert (
        run_patiently(
            [sys.executable, "-c", program], tell=told.append, sleep=lambda _: pytest.fail("waited")
        )
        == 3
    )
    assert told == ["no such stage\n"]
