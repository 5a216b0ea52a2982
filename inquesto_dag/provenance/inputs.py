"""What decides a stage: its command, the digests of its dependencies, its parameters. The one source of it.

`dvc.yaml` and `params.yaml` say which these are; `Inputs` holds them as they stand on disk, or as `dvc.lock`
has them. Stage status, the guard of a running stage, Dagster's code versions and a record's lineage are all
read from here, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.provenance.digests import DIR, Digests, differences, shown_names
from inquesto_dag.provenance.dvc import DvcStage, Inputs
from inquesto_dag.provenance.params import load_yaml

ABSENT = object()


@dataclass(frozen=True)
class Change:
    """One difference between what a stage was computed from and what stands there now."""

    kind: Literal["command", "dep", "param"]
    name: str
    what: str  # a sentence's end: "changed", "changed from 700 to 400", "does not exist"

    def __str__(self) -> str:
        return f"{self.name} {self.what}"


def agent_file(agent: str) -> str:
    """The file of an agent, relative to the project: the dependency that an agent's stages alone have."""
    return f"data/agents/{agent}.yaml"


def inputs_on_disk(stage: DvcStage, digests: Digests, *, but: Iterable[str] = ()) -> Inputs:
    """A stage's inputs as they stand on disk, without the dependencies `but`; folders are remembered."""
    left_out = set(but)
    found: dict[str, str | None] = {}
    for dep in stage.deps:
        if dep not in left_out:
            listing = digests.listing(dep)
            found[dep] = None if listing is None else digests.remember(listing)
    return Inputs(stage.command, found, params_on_disk(digests.project, stage.params))


def params_on_disk(project: Path, names: Iterable[str]) -> dict[str, Any]:
    """The named parameters (`a` or `a.b`) of `params.yaml` that it holds."""
    values = load_yaml(project / "params.yaml")
    return {name: value for name in names if (value := _look_up(values, name)) is not ABSENT}


def _look_up(values: Any, name: str) -> Any:
    for part in name.split("."):
        if not isinstance(values, Mapping) or part not in values:
            return ABSENT
        values = values[part]
    return values


def changes(now: Inputs, locked: Inputs, digests: Digests) -> list[Change]:
    """What of a stage's inputs differs from what it was computed from, in a reader's words."""
    found = []
    if now.command != locked.command:
        found.append(Change("command", "the command", f"is now `{now.command}`"))
    for name in sorted(now.deps.keys() | locked.deps.keys()):
        if name not in now.deps:
            found.append(Change("dep", name, "is no dependency any more"))
        elif now.deps[name] is None:
            found.append(Change("dep", name, "does not exist"))
        elif name not in locked.deps:
            found.append(Change("dep", name, "is a new dependency"))
        elif now.deps[name] != locked.deps[name]:
            found.append(Change("dep", name, f"changed{inside(name, locked.deps[name], digests)}"))
    for name in sorted(now.params.keys() | locked.params.keys()):
        if name not in now.params:
            found.append(Change("param", f"parameter {name}", "is gone"))
        elif name not in locked.params:
            found.append(Change("param", f"parameter {name}", "is new"))
        elif now.params[name] != locked.params[name]:
            old, new = _short(locked.params[name]), _short(now.params[name])
            found.append(Change("param", f"parameter {name}", f"changed from {old} to {new}"))
    return found


def inside(path: str, before: str | None, digests: Digests) -> str:
    """` (FILE, FILE)`: the files of a folder that differ from the digest `before`, when that can be told."""
    if before is None or not before.endswith(DIR):
        return ""
    old, new = digests.recall(before), digests.listing(path)
    if old is None or new is None:
        return ""
    return f" ({shown_names(differences(old, new))})"


def shared_version(inputs: Inputs, agent: str | None, produced: Iterable[str]) -> str:
    """A digest of what all agents' parts of a stage share: what `produced` and the agent's file leave.

    This is Dagster's code version. Of a stage on disk and of its entry in `dvc.lock` it is the same exactly
    when DVC finds nothing changed but outputs of other stages and the agent's own file.
    """
    outputs = list(produced)
    deps = {
        path: digest
        for path, digest in inputs.deps.items()
        if not is_produced(path, outputs) and not (agent and path == agent_file(agent))
    }
    command = inputs.command.removesuffix(f" --agent {agent}") if agent else inputs.command
    return sha256_bytes(canonical_json([command, deps, dict(inputs.params)]))[:16]


def is_produced(path: str, outputs: Iterable[str]) -> bool:
    """Whether a path is an output of a stage, or a folder of such."""
    return any(out == path or out.startswith(f"{path}/") for out in outputs)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."
