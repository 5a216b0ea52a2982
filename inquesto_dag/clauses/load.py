"""The clauses, read from `clauses.yaml`."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import resources
from typing import Annotated, Self

import yaml
from pydantic import Field, model_validator

from inquesto_dag.protocol.models import Frozen

Text = Annotated[str, Field(min_length=1)]


class Clause(Frozen):
    """One clause: what must be true here, and what of it is not there yet.

    `not_built` says that no part of it exists, `lacks` what is missing beside what tests hold.
    """

    id: Annotated[str, Field(pattern=r"^[A-Z]\d+$")]
    demands: Text
    not_built: Text | None = None
    lacks: Text | None = None

    @model_validator(mode="after")
    def _one_state(self) -> Self:
        if self.not_built and self.lacks:
            raise ValueError(f"{self.id} is not built, so it lacks all: give one of the two")
        return self


class Clauses(Frozen):
    """All clauses of a protocol version, in the protocol's order."""

    version: str
    source: str
    clauses: tuple[Clause, ...]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        twice = [name for name, count in Counter(clause.id for clause in self.clauses).items() if count > 1]
        if twice:
            raise ValueError(f"clauses are given twice: {', '.join(twice)}")
        return self


@cache
def load_clauses() -> Clauses:
    """The clauses that this project is held to."""
    text = resources.files(__package__).joinpath("clauses.yaml").read_text(encoding="utf-8")
    return Clauses.model_validate(yaml.safe_load(text))
