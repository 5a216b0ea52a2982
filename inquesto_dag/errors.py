"""What can go wrong, and how it is said: where, what was expected, what to do next.

A command prints these without a traceback and exits with their `exit_code`:
1 for a check that failed or infrastructure that did, 2 for wrong use or wrong input.
"""

from __future__ import annotations

from pathlib import Path


class InquestoError(Exception):
    """An error that a user can act on: `where` is a file, command or call, `remedy` the next step."""

    exit_code = 1

    def __init__(self, problem: str, *, where: str | Path = "", field: str = "", remedy: str = "") -> None:
        self.problem, self.where, self.field, self.remedy = problem, str(where), field, remedy
        place = ": ".join(part for part in (str(where), field) if part)
        message = f"{place}: {problem}" if place else problem
        super().__init__(f"{message}\n  next: {remedy}" if remedy else message)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword arguments survive the trip from a worker process.
        return (_rebuild, (type(self), self.problem, self.where, self.field, self.remedy))


def _rebuild(kind: type[InquestoError], problem: str, where: str, field: str, remedy: str) -> InquestoError:
    return kind(problem, where=where, field=field, remedy=remedy)


class InputError(InquestoError):
    """Wrong use or wrong input: an unknown agent, a malformed scenario, a truncated recording."""

    exit_code = 2


class CheckFailed(InquestoError):
    """The input was well formed, and what was measured on it does not hold."""


class InfrastructureError(InquestoError):
    """A part that is not the agent's failed (an endpoint, a disk, a worker); never scored (PROTOCOL D14)."""
