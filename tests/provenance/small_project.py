"""A small finished project: this repository's files, cut to four calls and two agents, on real engines.

What is cut, and why it is honest: the slice `quick` keeps the four scenarios of SCENARIOS (a line in the copy
of `protocol/population.py`), one of the probes is placed, and the bootstrap has 200 resamples. All else is
the repository's own code, data and commands, in processes of their own. With a cold memo the first run
speaks some hundred lines; the calls are among those of `make score`, whose memo makes it warm.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.files import TEMPORARY, read_json, write_bytes
from inquesto_dag.provenance.dvc import dvc_environment

ROOT = Path(__file__).parents[2]
AGENTS = ("embedded-400", "embedded-700")
SCENARIOS = (
    "cancel_sub-neutral", "cancel_sub-legit", "cancel_sub-impostor", "change_email-correcting",
)  # fmt: skip
COPIED = (
    "inquesto_dag/", "assets/", "data/", ".dvc/", ".dvcignore", ".gitignore", "dvc.yaml", "params.yaml",
    "dagster.yaml",
)  # fmt: skip
ENGINE_KINDS = ("synthesis", "recognition", "embedding")
EVERY_KIND = (*ENGINE_KINDS, "call", "annotation", "probe", "verdict")
PER_AGENT = ("calls", "annotations", "events", "verdicts", "record")


@dataclass
class SmallProject:
    """The project's folder, the environment of its commands, and what their reports say."""

    folder: Path
    memo: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables of its commands: its own code, memo, DVC state and Dagster."""
        return {
            **os.environ,
            **dvc_environment(),
            "PYTHONPATH": str(self.folder),
            "DVC_SITE_CACHE_DIR": str(self.folder / ".dvc" / "tmp" / "site"),
            "INQUESTO_MEMO": str(self.memo),
        }

    def run(self, *command: str, code: int | None = 0) -> str:
        """What a Python command (`-m dvc status`) prints; its exit code is checked."""
        done = subprocess.run(
            [sys.executable, *command], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def cli(self, *arguments: str, code: int | None = 0) -> str:
        """What `inquesto-dag ARGUMENTS` prints."""
        return self.run("-m", "inquesto_dag", *arguments, code=code)

    def dvc(self, *arguments: str, code: int | None = 0) -> str:
        """What `dvc ARGUMENTS` prints."""
        return self.run("-m", "dvc", *arguments, code=code)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert old in text, f"{path} does not hold {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def report(self, target: str) -> dict[str, Any]:
        """The report of a target's last run."""
        found: dict[str, Any] = read_json(self.folder / ".reports" / f"{target}.json")
        return found

    def outputs(self) -> dict[str, bytes]:
        """Every byte of every output, by path."""
        data = self.folder / "data"
        return {
            path.relative_to(data).as_posix(): path.read_bytes()
            for path in sorted(data.rglob("*"))
            if path.is_file() and path.relative_to(data).parts[0] not in ("protocols", "agents")
        }


def copy_inputs(folder: Path, memo: Path, scenarios: Sequence[str] = SCENARIOS) -> SmallProject:
    """The project without outputs, cut to a call a scenario, in a git repository of its own."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    for name in tracked:
        if name.startswith(COPIED) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    project = SmallProject(folder, memo)
    project.edit(
        "inquesto_dag/protocol/population.py",
        'if row["call_id"] in chosen]',
        f'if row["call_id"] in chosen and row["scenario_id"] in {tuple(scenarios)}]',
    )
    project.edit("inquesto_dag/validation/probes/plan.py", "for probe in PROBES:", "for probe in PROBES[:1]:")
    project.edit("params.yaml", "  - embedded-1100\n", "")
    project.edit("params.yaml", "resamples: 2000", "resamples: 200")
    for command in (("init", "--quiet", "."), ("add", "."), ("commit", "--quiet", "-m", "inputs")):
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *command], cwd=folder, check=True
        )
    return project


def link_memo(source: Path, target: Path, kinds: Sequence[str] = ENGINE_KINDS) -> None:
    """Take over what engines have said, heard and embedded, by hard link where the file system can."""
    for kind in kinds:
        for path in (source / kind).glob("??/*"):
            place = target / path.relative_to(source)
            if place.exists() or path.name.startswith(TEMPORARY):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, place)
            except FileExistsError:
                continue  # another worker was first
            except OSError:
                write_bytes(place, path.read_bytes())
