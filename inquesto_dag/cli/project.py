"""Which project a command works on, and how it says what went wrong."""

from __future__ import annotations

from pathlib import Path

from inquesto_dag.errors import InputError

MARK = "dvc.yaml"


def find_project(start: Path) -> Path:
    """The nearest folder from `start` upwards that holds `dvc.yaml`; InputError when there is none."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / MARK).is_file():
            return folder
    raise InputError(
        f"no {MARK} here or above",
        where=start,
        remedy="change to the project's folder, or pass --project PATH",
    )


def refuse_data(project: Path, folder: Path) -> None:
    """InputError for a folder to write into that lies under `data/`, which belongs to the stages."""
    if folder.resolve().is_relative_to((project / "data").resolve()):
        raise InputError(
            "lies where stages keep their outputs, which a file beside them would change",
            where=folder,
            remedy="name a folder outside of data/",
        )
