"""`params.yaml` as typed, frozen data; the one home of the agents' list and of the population's slice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from inquesto_dag.errors import InputError
from inquesto_dag.files import read_yaml, write_bytes
from inquesto_dag.protocol.models import Frozen

Slice = Literal["quick", "full"]


class ScoreParams(Frozen):
    """Resamples and seed of the bootstrap, by scenario, of differences between agents (PROTOCOL D19)."""

    resamples: int = Field(default=2000, ge=100)
    seed: int = Field(default=20260, ge=0)


class Params(Frozen):
    """The parameters of a project: protocol version, profile, slice, agents and scoring settings."""

    protocol: str
    profile: str
    population: Slice
    agents: tuple[str, ...] = Field(min_length=1)
    score: ScoreParams = ScoreParams()


def load_params(project: Path) -> Params:
    """Read `params.yaml` of a project; InputError names the file, the field and what was expected."""
    path = project / "params.yaml"
    try:
        params = Params.model_validate(load_yaml(path))
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(
            f"{first['msg']} (got {first.get('input')!r})",
            where=path,
            field=".".join(str(part) for part in first["loc"]),
            remedy="correct the field; the README's section on parameters lists what each may be",
        ) from error
    doubles = sorted({agent for agent in params.agents if params.agents.count(agent) > 1})
    if doubles:
        raise InputError(f"names {doubles} twice", where=path, field="agents", remedy="name each agent once")
    return params


def load_yaml(path: Path) -> Any:
    """The content of one of a project's YAML files; InputError as for `read_yaml`."""
    return read_yaml(path, missing="run the command in the project's folder, or pass --project")


def set_population(project: Path, population: Slice) -> bool:
    """Set the slice in `params.yaml`, leaving every other byte as it is; whether it changed."""
    if load_params(project).population == population:
        return False
    path = project / "params.yaml"
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(r"(?m)^(population:[ \t]*)[\w\"']+", rf"\g<1>{population}", text)
    if count != 1:
        raise InputError(
            "holds no single line `population: SLICE` to set", where=path, field="population",
            remedy=f"write `population: {population}` on a line of its own",
        )  # fmt: skip
    write_bytes(path, changed.encode())
    return True
