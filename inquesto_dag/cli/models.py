"""`inquesto-dag models`: fetch, list and verify model files."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import typer

from inquesto_dag.errors import InputError
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.profile import load_profile
from inquesto_dag.speech.catalogue import MODELS
from inquesto_dag.speech.fetch import Step, fetch, list_models, models_folder, verify

VOICES = "kokoro-voices"
TOLD_EVERY_S = 2.0


def needed_models(project: Path, names: Sequence[str]) -> list[str]:
    """The names given, or the catalogued models of the project's profile, voices included."""
    if names:
        return list(names)
    from inquesto_dag.cli.project import find_project

    roles = load_profile(load_params(find_project(project)).profile).roles()
    catalogued = {model.name for model in MODELS}
    return [name for name in [*roles.values(), VOICES] if name in catalogued]


def fetch_models(names: Sequence[str], project: Path) -> None:
    """Fetch models and print where they lie."""
    folder = models_folder()
    told = FetchProgress()
    paths = fetch(needed_models(project, names), folder, told)
    typer.echo(f"{len(paths)} model files, verified by digest, in {folder}")


class FetchProgress:
    """Tells a fetch's steps: every note, and each file's progress at most every TOLD_EVERY_S."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str, str], float] = {}

    def __call__(self, step: Step) -> None:
        """Print a step when there is something new in it."""
        key, now = (step.model, step.file, step.source), time.monotonic()
        if step.note:
            self._say(f"{step.model}/{step.file}: {step.source}: {step.note}")
            return
        whole = step.done >= step.total
        if step.source == "models folder" or (not whole and now - self._told.get(key, 0.0) < TOLD_EVERY_S):
            return
        self._told[key] = now
        self._say(
            f"{step.model}/{step.file}: {step.done / 1e6:.1f} of {step.total / 1e6:.1f} MB from {step.source}"
        )

    @staticmethod
    def _say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def print_models() -> None:
    """One line a model: name, role, size, licence, home, state of its files."""
    states: dict[str, set[str]] = {}
    for state in list_models(models_folder()):
        states.setdefault(state.model, set()).add(state.state)
    for model in MODELS:
        state_names = ", ".join(sorted(states[model.name]))
        typer.echo(
            f"{model.name:22} {model.role:9} {model.size / 1e6:7.1f} MB  {model.licence:10} {state_names:8} "
            f"{model.title} ({model.home})"
        )
    typer.echo(f"folder: {models_folder()}")


def verify_models(names: Sequence[str], project: Path) -> int:
    """Compare digests and print one line a file; 1 when one is not whole."""
    states = verify(needed_models(project, names), models_folder())
    if not states:
        raise InputError("has no catalogued model", where="profile", remedy="name the models to verify")
    for state in states:
        typer.echo(f"{state.state:12} {state.model}/{state.file}")
    wrong = [state for state in states if state.state != "whole"]
    if wrong:
        typer.echo(f"{len(wrong)} of {len(states)} files are not whole", err=True)
        typer.echo("  next: run `inquesto-dag models fetch`", err=True)
    return 1 if wrong else 0
