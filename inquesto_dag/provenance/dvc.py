"""The bridge to DVC, and the only module that knows it: its files, its commands, its digests.

`dvc.yaml` is read directly, with the three things that this project uses of its templates: `foreach` over
a list of `params.yaml`, `${item}`, and `${name}` of a parameter. DVC itself is only ever started as a
command: importing it costs seconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.errors import InputError
from inquesto_dag.provenance.params import load_yaml

HINT = "restore dvc.yaml from version control"


@dataclass(frozen=True)
class DvcStage:
    """One stage of `dvc.yaml` with its templates filled in; paths are relative to the project."""

    name: str
    command: str
    deps: tuple[str, ...]
    params: tuple[str, ...]
    outs: tuple[str, ...]


def resolve_stages(project: Path) -> dict[str, DvcStage]:
    """Every stage of a project's `dvc.yaml` by name (`calls@AGENT` for a `foreach`)."""
    values = load_yaml(project / "params.yaml")
    path = project / "dvc.yaml"
    stages: dict[str, DvcStage] = {}
    for name, body in load_yaml(path)["stages"].items():
        if "foreach" in body:
            for item in _fill(body["foreach"], values, path):
                full = f"{name}@{item}"
                stages[full] = _stage(full, body["do"], {**values, "item": item}, path)
        else:
            stages[name] = _stage(name, body, values, path)
    return stages


def _stage(name: str, body: Mapping[str, Any], values: Mapping[str, Any], path: Path) -> DvcStage:
    def listed(key: str) -> tuple[str, ...]:
        return tuple(str(_fill(text, values, path)) for text in body.get(key, ()))

    return DvcStage(
        name, str(_fill(body["cmd"], values, path)), listed("deps"), listed("params"), listed("outs")
    )


def _fill(text: str, values: Mapping[str, Any], path: Path) -> Any:
    """A template filled in; a text that is one `${name}` alone gives the value itself."""

    def value(name: str) -> Any:
        if name not in values:
            raise InputError(f"${{{name}}} is not a parameter", where=path, remedy=HINT)
        return values[name]

    whole = re.fullmatch(r"\$\{(\w+)\}", text)
    if whole:
        return value(whole[1])
    return re.sub(r"\$\{(\w+)\}", lambda match: str(value(match[1])), text)


def read_lock_stages(project: Path) -> dict[str, dict[str, Any]]:
    """Each stage's entry in `dvc.lock` as it stands there; empty when there is no lock yet."""
    path = project / "dvc.lock"
    if not path.exists():
        return {}
    return dict((load_yaml(path) or {}).get("stages") or {})


def read_lock(project: Path) -> dict[str, dict[str, str]]:
    """Digest by output path, for each stage that `dvc.lock` knows."""
    return {
        name: {out["path"]: out["md5"] for out in body.get("outs", ())}
        for name, body in read_lock_stages(project).items()
    }


def locked_digest(project: Path, name: str) -> str:
    """The digest of a stage's single output in `dvc.lock`; InputError when the stage has not run."""
    outs = read_lock(project).get(name)
    if not outs:
        raise InputError(f"has no stage {name}", where=project / "dvc.lock", remedy=f"run `dvc repro {name}`")
    return next(iter(outs.values()))


def output_digest(path: Path) -> str:
    """The digest that DVC gives a file or folder: MD5 of the bytes, or of a folder's listing plus `.dir`."""
    if path.is_file():
        return _md5(path)
    listing = [
        {"md5": _md5(file), "relpath": file.relative_to(path).as_posix()}
        for file in path.rglob("*")
        if file.is_file()
    ]
    listing.sort(key=lambda entry: entry["relpath"])
    text = json.dumps(listing, sort_keys=True).encode()
    return hashlib.md5(text, usedforsecurity=False).hexdigest() + ".dir"


def differing_outputs(project: Path, name: str) -> list[str]:
    """What of a stage's outputs is not on disk as `dvc.lock` has it: one sentence each, none when all is."""
    outs = read_lock(project).get(name)
    if not outs:
        return [f"{name} is not in dvc.lock"]
    differing = []
    for out, locked in outs.items():
        path = project / out
        found = output_digest(path) if path.exists() else None
        if found != locked:
            differing.append(f"{out} is {found or 'missing'}, dvc.lock says {locked}")
    return differing


def repro_command(targets: Sequence[str], *, single: bool = False) -> list[str]:
    """The command that brings targets up to date; `single` leaves what they depend on alone.

    `--wait-for-lock`: of 13 stages that committed at once without it, 7 failed (measured).
    """
    flags = ["--single-item"] if single else []
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", *flags, *targets]


def dvc_environment() -> dict[str, str]:
    """Variables for a DVC command: `python` in `dvc.yaml` is the interpreter that runs now."""
    folder = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)]),
        "DVC_NO_ANALYTICS": "1",
        "PYTHONUNBUFFERED": "1",
    }


def repro(project: Path, targets: Sequence[str]) -> int:
    """Run `dvc repro` on targets, its output on this terminal; returns its exit code."""
    done = subprocess.run(
        repro_command(targets), cwd=project, env={**os.environ, **dvc_environment()}, check=False
    )
    return done.returncode


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
