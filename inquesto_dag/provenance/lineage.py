"""Where a record comes from: outputs, dependencies and parameters of each stage before it, code, packages.

Everything here is numbers, digests and single words, so that it may stand in a record (PROTOCOL N3). The
revision is the only part that differs between two clones that compute the same.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from inquesto_dag.provenance.dvc import read_lock

# The packages whose versions can change a result; the whole environment stands in constraints.txt.
PACKAGES = (
    "ctranslate2", "espeakng-loader", "faster-whisper", "kokoro-onnx", "numpy", "onnxruntime", "pandas",
    "pyarrow", "scipy", "silero-vad", "soundfile", "soxr", "statsmodels", "torch", "inquesto-dag",
)  # fmt: skip


def build_lineage(project: Path, stages: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    """The lineage of a result of these (stage, agent) pairs, from `dvc.lock`, git and the environment.

    A stage that `dvc.lock` does not hold was not run by DVC and is left out.
    """
    locked = read_lock(project)
    found = {}
    for name, agent in stages:
        stage = locked.get(f"{name}@{agent}" if agent else name)
        if stage is not None:
            found[name] = {
                "outputs": dict(stage.outs),
                "deps": dict(stage.inputs.deps),
                "params": dict(stage.inputs.params),
            }
    return {"stages": found, "packages": package_versions(), "revision": git_revision(project)}


def package_versions() -> dict[str, str]:
    """Versions of the installed packages among PACKAGES; a local part such as `+cpu` is kept."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def git_revision(project: Path) -> dict[str, Any]:
    """The commit, and whether tracked files differ from it; both null where there is no git or no commit.

    `dvc.lock` is left out of the comparison, as the run itself writes it, and `params.yaml`, as its values
    stand in the lineage.
    """
    commit = _git(project, "rev-parse", "--verify", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None}
    but = [f":(exclude){name}" for name in ("dvc.lock", "params.yaml")]
    changed = _git(project, "status", "--porcelain", "--untracked-files=no", "--", ".", *but)
    return {"commit": commit, "dirty": None if changed is None else bool(changed)}


def git_holds(project: Path, commit: str) -> bool:
    """Whether a commit is in the project's repository."""
    return _git(project, "cat-file", "-e", f"{commit}^{{commit}}") is not None


def _git(project: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=project, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
