"""A tiny project of real DVC stages with shell commands: shared, for each agent, of all agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from inquesto_dag.provenance.dvc import dvc_environment

DVC_YAML = """
stages:
  base:
    cmd: mkdir -p data/base && cat code/*.txt in.txt > data/base/all.txt && cp in.txt data/base/in.txt
    deps:
      - code
      - in.txt
    params:
      - level
    outs:
      - data/base
  part:
    foreach: ${agents}
    do:
      cmd: >-
        mkdir -p data/part/${item} &&
        cat data/base/in.txt data/agents/${item}.yaml > data/part/${item}/x.txt
      deps:
        - data/agents/${item}.yaml
        - data/base
      outs:
        - data/part/${item}
  whole:
    cmd: mkdir -p data/whole && cat data/part/*/x.txt > data/whole/x.txt
    deps:
      - data/part
    params:
      - agents
    outs:
      - data/whole
"""
PARAMS = "level: 1\nagents:\n  - one\n  - two\n"
FILES = {
    "dvc.yaml": DVC_YAML,
    "params.yaml": PARAMS,
    "in.txt": "in\n",
    "code/a.txt": "a\n",
    "code/b.txt": "b\n",
    "code/__pycache__/a.pyc": "byte code\n",
    "data/agents/one.yaml": "window: 400\n",
    "data/agents/two.yaml": "window: 700\n",
    ".dvcignore": "# as the project's own\n__pycache__\n.tmp-*\n",
    ".gitignore": "/data/base\n/data/part\n/data/whole\n",
    ".dvc/config": "[core]\n    analytics = false\n    autostage = false\n    check_update = false\n",
    ".dvc/.gitignore": "/tmp\n/cache\n/site\n",
}


def write_tiny(folder: Path) -> Path:
    """The project's files, in a git repository; nothing has run."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "--quiet", "."], cwd=folder, check=True)
    return folder


def dvc(folder: Path, *arguments: str) -> str:
    """What a DVC command prints in the project."""
    site = str(folder / ".dvc" / "tmp" / "site")
    environment = {**os.environ, **dvc_environment(), "DVC_SITE_CACHE_DIR": site}
    return subprocess.run(
        [sys.executable, "-m", "dvc", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def changed_by_dvc(folder: Path) -> set[str]:
    """The stages that `dvc status` calls changed."""
    return set(json.loads(dvc(folder, "status", "--json")))
