"""The bridge to DVC: its two files, read, and its commands. Its digests stand in `provenance.digests`.

`dvc.yaml` is read directly, with the three things that this project uses of its templates: `foreach` over
a list of `params.yaml`, `${item}`, and `${name}` of a parameter. DVC itself is only ever started as a
command: importing it costs seconds.
"""

from __future__ import annotations

import fcntl
import os
import re
import sys
import time
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import parse_yaml
from inquesto_dag.provenance.params import load_yaml

REPOSITORY_LOCK = ".dvc/tmp/lock"
WRITE_LIMIT_S = 300.0  # DVC holds it while it digests and stores outputs, too
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
    if not isinstance(values, dict):
        raise InputError(
            "holds no parameters", where=project / "params.yaml",
            remedy="restore it from version control; the README's section on parameters lists them",
        )  # fmt: skip
    path = project / "dvc.yaml"
    stages: dict[str, DvcStage] = {}
    try:
        for name, body in load_yaml(path)["stages"].items():
            if "foreach" in body:
                for item in _fill(body["foreach"], values, path):
                    full = f"{name}@{item}"
                    stages[full] = _stage(full, body["do"], {**values, "item": item}, path)
            else:
                stages[name] = _stage(name, body, values, path)
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError("does not hold whole stages", where=path, remedy=HINT) from error
    return stages


def require_stages(project: Path, stages: Container[str], names: Iterable[str]) -> None:
    """InputError when `dvc.yaml`, whose stages these are, has lost one of the names."""
    for name in names:
        if name not in stages:
            raise InputError(f"has no stage {name}", where=project / "dvc.yaml", remedy=HINT)


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


@dataclass(frozen=True)
class Inputs:
    """All that decides a stage's output: command, digest of each dependency (None: missing), parameters."""

    command: str
    deps: Mapping[str, str | None]
    params: Mapping[str, Any]


@dataclass(frozen=True)
class LockedStage:
    """A stage as `dvc.lock` has it: what it was computed from, and the digest of each output."""

    inputs: Inputs
    outs: Mapping[str, str]


def read_lock(project: Path) -> dict[str, LockedStage]:
    """Each stage of `dvc.lock`; empty when there is no lock yet.

    InputError when the file has merge conflicts or is damaged: a number must not come from half a lock.
    """
    path = project / "dvc.lock"
    try:
        with nobody_writes(project):
            text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise _damaged(path, "is not text") from error
    if re.search(r"(?m)^(<{7}|>{7}) ", text):
        raise InputError(
            "has merge conflicts",
            where=path,
            remedy="take either side whole (`git checkout --ours dvc.lock` or `--theirs`), then run "
            "`inquesto-dag score`: what either side has computed is in DVC's cache and is not computed again",
        )
    try:
        return {name: _locked(entry) for name, entry in parse_yaml(text)["stages"].items()}
    except ValueError as error:
        raise _damaged(path, f"is not valid YAML ({error})") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise _damaged(path, "is not a whole lock file") from error


@contextmanager
def nobody_writes(project: Path) -> Iterator[None]:
    """Keep DVC from writing `dvc.lock` in this block: it writes in place, and half a lock names no outputs.

    DVC writes while it holds its repository lock, an flock. It is shared here for an instant, for which DVC
    waits, as it does for another DVC. InfrastructureError when DVC keeps it for longer than WRITE_LIMIT_S.
    """
    path = project / REPOSITORY_LOCK
    if not path.parents[1].is_dir():  # not a DVC repository: there is no other writer
        yield
        return
    try:
        path.parent.mkdir(exist_ok=True)
        stream = path.open("a+b")  # made as DVC makes it, so that one which starts now finds it
    except OSError:  # a project that may not be written to
        yield
        return
    with stream:
        until = time.monotonic() + WRITE_LIMIT_S
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise InfrastructureError(
                        f"another DVC has held it for {WRITE_LIMIT_S:.0f} s", where=path,
                        remedy="wait until it has finished, or end it, and run this again",
                    ) from None  # fmt: skip
                time.sleep(0.02)
        yield  # closing the stream gives the lock back


def _locked(entry: Mapping[str, Any]) -> LockedStage:
    params: dict[str, Any] = {}
    for values in entry.get("params", {}).values():
        params.update(values)
    deps = {str(dep["path"]): str(dep["md5"]) for dep in entry.get("deps", ())}
    outs = {str(out["path"]): str(out["md5"]) for out in entry["outs"]}
    return LockedStage(Inputs(str(entry["cmd"]), deps, params), outs)


def _damaged(path: Path, problem: str) -> InputError:
    return InputError(
        problem,
        where=path,
        remedy="restore it (`git checkout dvc.lock`), or remove it and run `inquesto-dag score`: outputs "
        "come back from DVC's cache",
    )


def locked_digest(project: Path, name: str) -> str:
    """The digest of a stage's single output in `dvc.lock`; InputError when the stage has not run."""
    locked = read_lock(project).get(name)
    if locked is None or not locked.outs:
        raise InputError(f"has no stage {name}", where=project / "dvc.lock", remedy=f"run `dvc repro {name}`")
    return next(iter(locked.outs.values()))


def repro_command(targets: Sequence[str], *, single: bool = False, force: bool = False) -> list[str]:
    """The command that brings targets up to date; `single` leaves what they depend on alone, `force` runs
    them although nothing changed.

    `--wait-for-lock`: of 13 stages that committed at once without it, 7 failed (measured).
    """
    flags = [*(["--single-item"] if single else []), *(["--force"] if force else [])]
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", *flags, *targets]


def checkout_command(targets: Sequence[str]) -> list[str]:
    """The command that puts targets' outputs back as `dvc.lock` has them, from DVC's cache."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "checkout", "--quiet", "--force", *targets]


def dvc_environment() -> dict[str, str]:
    """Variables for a DVC command: `python` in `dvc.yaml` is the interpreter that runs now."""
    folder = str(Path(sys.executable).parent)
    return {
        "PATH": os.pathsep.join([folder, os.environ.get("PATH", os.defpath)]),
        "DVC_NO_ANALYTICS": "1",
        "PYTHONUNBUFFERED": "1",
    }
