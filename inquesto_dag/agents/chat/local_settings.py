"""The `brain` section of an agent whose brain is `transformers`: a model in this process, by its digest.

The model is one of the catalogue (`inquesto-dag models list`), fetched when an agent that needs it is scored,
or a folder of its own whose digest the agent's file declares: what decides the answers is in the file, where
the bytes lie is not (PROTOCOL D17).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from inquesto_dag.agents.chat.settings import ChatSettings, Variable, read_section
from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json, sha256_bytes, sha256_file
from inquesto_dag.protocol.models import Frozen, Sha256
from inquesto_dag.speech.catalogue import BY_NAME
from inquesto_dag.speech.fetch import require

_READ = (".gguf", ".safetensors", ".json", ".jinja", ".model", ".txt")  # what a model is loaded from


class LocalSettings(ChatSettings):
    """What decides the answers of a model in this process; `extra` is for endpoints and stays empty."""

    temperature: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    device: Literal["cpu", "cuda"] = "cpu"
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    threads: Annotated[int, Field(ge=1, le=256)] = 1  # last bits depend on it, and so may words
    sha256: Sha256 | None = None  # of the folder, for a model that the catalogue does not hold

    @property
    def digest(self) -> str:
        """What the model's files must be: the catalogue's digests, or the folder's declared one."""
        if self.sha256 is not None:
            return self.sha256
        return _digest({file.name: file.sha256 for file in BY_NAME[self.model].files})


class LocalTransport(Frozen):
    """Where a model's folder lies, for one that the catalogue does not hold."""

    folder_env: Variable | None = None


def read_local(
    agent: str, settings: Mapping[str, Any], transport: Mapping[str, Any]
) -> tuple[LocalSettings, LocalTransport]:
    """Both parts of an agent's brain; InputError names the field."""
    read = read_section(agent, "brain.settings", LocalSettings, settings)
    place = read_section(agent, "brain.transport", LocalTransport, transport)
    catalogued = read.model in BY_NAME and BY_NAME[read.model].role == "llm"
    if read.extra:
        raise InputError("is for endpoints", where=agent, field="brain.settings.extra", remedy="remove it")
    if catalogued and read.sha256 is None:
        return read, place
    if read.sha256 is None or place.folder_env is None:
        models = ", ".join(name for name, model in BY_NAME.items() if model.role == "llm")
        raise InputError(
            f"{read.model!r} is not in the catalogue",
            where=agent,
            field="brain.settings.model",
            remedy=f"use {models}; or name the variable with the model's folder in `transport.folder_env`, "
            "and declare its digest in `settings.sha256`",
        )
    return read, place


def needed_model(settings: LocalSettings) -> str | None:
    """The catalogued model that has to be here; None for one in a folder of its own."""
    return settings.model if settings.sha256 is None else None


def find_folder(
    agent: str, settings: LocalSettings, place: LocalTransport, models: Path, environment: Mapping[str, str]
) -> Path:
    """Where the model lies, its digest checked; InputError says what is missing or another file."""
    if settings.sha256 is None:
        return next(iter(require(settings.model, models).values())).parent
    name = place.folder_env or ""
    folder = Path(environment.get(name, "")).expanduser()
    if not environment.get(name) or not folder.is_dir():
        raise InputError(
            f"${name}, which should hold the model's folder, is not set to one",
            where=agent, field="brain.transport.folder_env", remedy=f"export {name}=/PATH/TO/THE/MODEL",
        )  # fmt: skip
    found = folder_digest(folder)
    if found != settings.sha256:
        raise InputError(
            f"${name} holds another model: its digest is {found}",
            where=agent, field="brain.settings.sha256", remedy="give the declared model, or declare this one",
        )  # fmt: skip
    return folder


def files_of(folder: Path) -> list[Path]:
    """The files of a folder that a model is loaded from, by name."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in _READ)


def folder_digest(folder: Path) -> str:
    """SHA-256 over the names and digests of a model's files."""
    return _digest({path.name: sha256_file(path) for path in files_of(folder)})


def _digest(files: Mapping[str, str]) -> str:
    return sha256_bytes(canonical_json(dict(files)))
