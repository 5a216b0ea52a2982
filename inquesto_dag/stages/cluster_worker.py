"""What a cluster's worker must see and be to give this project's results, checked by the worker itself.

The same code, packages and models, one thread, and the same folders: a memo entry that another version of
anything wrote under this project's key would be taken for this project's own.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import TEMPORARY, canonical_json, replacing, sha256_bytes, sha256_file
from inquesto_dag.provenance.lineage import PACKAGES

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import EngineSpec

MARK = "-cluster"
# Dask's nanny sets these; a library that splits a sum over threads rounds it differently.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# What client, scheduler and workers must agree on to understand each other.
CARRIERS = ("dask", "distributed", "cloudpickle")
# This module is the first of the package that a worker imports, so what it imports later is no older.
IMPORTED_AT = time.time()


@dataclass(frozen=True)
class Expected:
    """What a worker must see and be: file sizes by path, marks by path, the code's digest, versions.

    `token` is this run's: a worker that was checked once for it is not checked again.
    """

    token: str
    marks: Mapping[str, str]  # by what is marked: path of a file that holds `token`
    models: str
    model_sizes: Mapping[str, int]
    code: str
    python: str
    packages: Mapping[str, str]


@contextmanager
def expect_workers(project: Path, spec: EngineSpec) -> Iterator[Expected]:
    """What this run expects of a worker; its marks in the shared folders are removed at the end."""
    token = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex}"
    name = f"{TEMPORARY}{os.getpid()}-{uuid.uuid4().hex[:8]}{MARK}"
    folders = {"the project": project.resolve() / "data"}
    if spec.memo is not None:
        folders["the memo"] = spec.memo.resolve()
    marks = {what: folder / name for what, folder in folders.items()}
    try:
        for mark in marks.values():
            _sweep_marks(mark.parent)
            with replacing(mark) as temporary:
                temporary.write_text(token, encoding="utf-8")
        yield Expected(
            token=token,
            marks={what: str(mark) for what, mark in marks.items()},
            models=str(spec.models),
            model_sizes=_sizes(spec.models),
            code=code_digest(),
            python=python_version(),
            packages=_packages(),
        )
    finally:
        for mark in marks.values():
            mark.unlink(missing_ok=True)


def find_faults(expected: Expected, dask_worker: Any = None) -> list[str]:
    """Why this worker would not give the results of the process that asks; run by the worker itself."""
    worker = dask_worker or _this_worker()
    faults = []
    threads = worker.state.nthreads
    if threads != 1:
        faults.append(f"has {threads} threads; start it with `dask worker ... --nthreads 1`")
    unset = [name for name in ONE_THREAD if os.environ.get(name) != "1"]
    if unset:
        faults.append(f"lets libraries use more threads; set {'=1 '.join(unset)}=1, or let its nanny do so")
    for what, path in expected.marks.items():
        if _read(path) != expected.token:
            faults.append(f"does not see the folder of {what} ({Path(path).parent}); share it there")
        elif not os.access(Path(path).parent, os.W_OK):
            faults.append(f"cannot write to the folder of {what} ({Path(path).parent})")
    if _sizes(Path(expected.models)) != expected.model_sizes:
        faults.append(f"does not have the same models in {expected.models}; share them under this path")
    if python_version() != expected.python:
        faults.append(f"runs Python {python_version()}, not {expected.python}")
    mine = _packages()
    faults += [
        f"has {name} {mine.get(name) or '(none)'}, not {version}"
        for name, version in expected.packages.items()
        if mine.get(name) != version
    ]
    if code_digest() != expected.code:
        faults.append(f"imports other code from {_package()}; start it in this project's environment")
    elif _newest_source() > IMPORTED_AT:
        faults.append("was started before the code was last changed; start it again")
    return faults


def run_when_fit(expected: Expected, function: Callable[..., Any], *arguments: Any) -> Any:
    """`function(*arguments)` on a worker that was checked, sharing its machine as a stage does."""
    from inquesto_dag.stages.machine import share_machine

    faults = _faults_once(expected)
    if faults:
        raise unfit("a worker that joined later", faults)
    with share_machine("a cluster's worker"):
        return function(*arguments)


def unfit(where: str, faults: list[str]) -> InfrastructureError:
    """The error that refuses workers, with what is wrong of each."""
    more = f"\n  and {len(faults) - 8} more" if len(faults) > 8 else ""
    return InfrastructureError(
        "not every worker would give this project's results:\n  " + "\n  ".join(faults[:8]) + more,
        where=where,
        remedy="correct that and run the same command again, or leave the cluster out",
    )


def _this_worker() -> Any:
    from distributed import get_worker

    return get_worker()


_fit_for: set[str] = set()  # tokens of runs that found this process fit


def _faults_once(expected: Expected) -> list[str]:
    if expected.token in _fit_for:
        return []
    faults = find_faults(expected)
    if not faults:
        _fit_for.add(expected.token)
    return faults


def _package() -> Path:
    return Path(__file__).parents[1]


def code_digest() -> str:
    """One digest for the package's modules as they stand where this process imports them from."""
    found = {path.relative_to(_package()).as_posix(): sha256_file(path) for path in _modules()}
    return sha256_bytes(canonical_json(found))


def _newest_source() -> float:
    return max(path.stat().st_mtime for path in _modules())


def _modules() -> list[Path]:
    return sorted(_package().rglob("*.py"))


def _packages() -> dict[str, str]:
    """Versions of what can change a result, and of what carries it."""
    return _versions(PACKAGES + CARRIERS)


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in packages:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def python_version() -> str:
    """`3.11`: pickled functions travel between equal minor versions."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def carrier_versions() -> dict[str, str]:
    """Versions of what client and scheduler must agree on."""
    return {"Python": python_version(), **_versions(CARRIERS)}


def _sizes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(TEMPORARY)
    }


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return None


def _sweep_marks(folder: Path) -> None:
    """Remove the marks of this machine's runs that were killed."""
    for path in folder.glob(f"{TEMPORARY}*{MARK}"):
        host, _, pid = (_read(str(path)) or "").rpartition("-")[0].rpartition("-")
        if host == socket.gethostname() and pid.isdigit() and not Path(f"/proc/{pid}").exists():
            path.unlink(missing_ok=True)
