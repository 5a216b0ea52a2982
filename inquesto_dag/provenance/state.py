"""Where every stage stands: what `dvc.lock` says was computed, against the project as it is on disk.

A stage is *stale* when one of its own inputs changed (as `dvc status` would say), and *follows* another when
only something before it is not current. Dagster is brought level from the same facts (`cli.reconcile`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from inquesto_dag.provenance.digests import Digests, Listing, differences, listing_digest, shown_names
from inquesto_dag.provenance.dvc import DvcStage, Inputs, LockedStage, read_lock, resolve_stages
from inquesto_dag.provenance.inputs import changes, inputs_on_disk, is_produced

Kind = Literal["current", "stale", "follows", "missing", "edited on disk", "never run"]


@dataclass(frozen=True)
class TargetState:
    """The state of one stage, or of its part for an agent, and the reasons for it."""

    stage: str
    agent: str | None
    kind: Kind
    reasons: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()  # targets before it that are not current by themselves

    @property
    def target(self) -> str:
        """Its name in `dvc.yaml`: `STAGE` or `STAGE@AGENT`."""
        return f"{self.stage}@{self.agent}" if self.agent else self.stage


class ProjectState:
    """A project's stages, its lock and its files, read once."""

    def __init__(self, project: Path, digests: Digests | None = None) -> None:
        """InputError when `dvc.yaml`, `params.yaml` or `dvc.lock` cannot be read."""
        self.project = project
        self.digests = digests or Digests(project)
        self.stages = resolve_stages(project)
        self.locked = read_lock(project)
        # Outputs of agents that params.yaml names no more are outputs still.
        self.outputs = {out: stage.name for stage in self.stages.values() for out in stage.outs}
        for name, locked in self.locked.items():
            self.outputs.update({out: self.outputs.get(out, name) for out in locked.outs})

    def left_over(self) -> list[str]:
        """Targets that `dvc.lock` holds and `dvc.yaml`, with the agents of `params.yaml`, does not."""
        return [name for name in self.locked if name not in self.stages]

    def producers(self, dep: str) -> list[str]:
        """The targets whose outputs a dependency is, or holds; those left over are not among them."""
        return [
            name
            for out, name in self.outputs.items()
            if name in self.stages and is_produced(dep, [out])
        ]  # fmt: skip

    def out_faults(self, name: str) -> tuple[list[str], list[str]]:
        """Of a stage in the lock: outputs that are missing, and those whose bytes are others, in words."""
        missing, edited = [], []
        for out, locked in self.locked[name].outs.items():
            listing = self.digests.listing(out)
            if listing is None:
                missing.append(f"{out} is not on disk")
            elif listing_digest(listing) != locked:
                edited.append(f"{out} is not what was computed{self._what_differs(locked, listing)}")
        return missing, edited

    def _what_differs(self, locked: str, listing: Listing) -> str:
        before = self.digests.recall(locked)
        if before is None:
            return ""
        groups = {
            "removed": [name for name in before if name not in listing],
            "added": [name for name in listing if name not in before],
            "changed": [n for n in differences(before, listing) if n in before and n in listing],
        }
        told = [f"{word} {shown_names(sorted(names))}" for word, names in groups.items() if names]
        return f": {'; '.join(told)}"

    def dep_as_locked(self, dep: str) -> str | None:
        """The digest that a produced dependency has when its producers' outputs stand as the lock has them.

        For a folder of several outputs, their listings are put together; None when one is in neither the
        project nor DVC's cache, or has not been computed.
        """
        if dep in self.outputs:
            locked = self.locked.get(self.outputs[dep])
            return locked.outs.get(dep) if locked else None
        whole = dict(self.digests.listing(dep) or {})
        for out, name in self.outputs.items():
            if not out.startswith(f"{dep}/"):
                continue
            prefix = f"{out[len(dep) + 1 :]}/"
            locked = self.locked.get(name)
            found = self.digests.listing(out)
            if locked is None or out not in locked.outs:
                continue
            if found is None and name not in self.stages:
                continue  # an agent that params.yaml names no more, its output removed
            if found is None or listing_digest(found) != locked.outs[out]:
                found = self.digests.recall(locked.outs[out])
            if found is None:
                return None
            whole = {path: digest for path, digest in whole.items() if not path.startswith(prefix)}
            whole.update({prefix + path: digest for path, digest in found.items()})
        return listing_digest(whole)


def project_states(state: ProjectState) -> list[TargetState]:
    """The state of every target, in the order of `dvc.yaml`, which is that of the chain."""
    found: dict[str, TargetState] = {}
    for name, stage in state.stages.items():
        found[name] = _target_state(state, stage, found)
    return list(found.values())


def _target_state(state: ProjectState, stage: DvcStage, before: Mapping[str, TargetState]) -> TargetState:
    base, _, agent = stage.name.partition("@")
    produced = [dep for dep in stage.deps if is_produced(dep, state.outputs)]
    follows = _roots(before[p] for dep in produced for p in state.producers(dep) if p in before)
    locked = state.locked.get(stage.name)
    now = inputs_on_disk(stage, state.digests, but=produced)
    if locked is None:
        lost = tuple(f"{dep} does not exist" for dep, digest in now.deps.items() if digest is None)
        return TargetState(base, agent or None, "never run", lost, follows)
    reasons = [str(change) for change in changes(now, _without(locked.inputs, produced), state.digests)]
    reasons += _changed_before(state, locked, produced)
    reasons += [f"{out} is a new output" for out in stage.outs if out not in locked.outs]
    missing, edited = state.out_faults(stage.name)
    kind: Kind = "current"
    if missing:
        kind = "missing"
    elif edited:
        kind = "edited on disk"
    elif reasons:
        kind = "stale"
    elif follows:
        kind, reasons = "follows", [f"follows {shown_names(follows)}"]
    return TargetState(base, agent or None, kind, (*missing, *edited, *reasons), follows)


def _without(inputs: Inputs, produced: Sequence[str]) -> Inputs:
    deps = {path: digest for path, digest in inputs.deps.items() if path not in produced}
    return replace(inputs, deps=deps)


def _changed_before(state: ProjectState, locked: LockedStage, produced: Iterable[str]) -> list[str]:
    """Dependencies on other stages that have been computed again since, and with another result."""
    found = []
    for dep in produced:
        used, now = locked.inputs.deps.get(dep), state.dep_as_locked(dep)
        if used is None:
            found.append(f"{dep} is a new dependency")
        elif now is not None and now != used:
            found.append(f"{dep} was computed again since, with another result")
    return found


def _roots(states: Iterable[TargetState]) -> tuple[str, ...]:
    """Where the trouble of some targets begins: those not current by themselves, or what those follow."""
    found: dict[str, None] = {}
    for state in states:
        if state.kind == "follows":
            found.update(dict.fromkeys(state.follows))
        elif state.kind != "current":
            found[state.target] = None
    return tuple(found)
