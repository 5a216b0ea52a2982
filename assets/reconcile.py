"""Bring Dagster level with `dvc.lock`, computing nothing: after `dvc repro` by hand, a merge or a clone.

For every stage target of the lock a materialisation is reported with DVC's digest as data version, and with
the code version and the input versions that the *lock entry* has. Dagster then decides by itself what is
unsynced against the definitions, and decides as DVC does. An entry that Dagster has already is left alone.

How Dagster decides (`CachingStaleStatusResolver`, 1.13): by the code version; by the tag
`input_data_version` of an input without partitions; and, of an input with partitions, by
`input_event_pointer`, the storage id of an event: the partition's version then against its latest.
An input version that the lock names and Dagster never saw is therefore reported first, as an earlier event.
"""

import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)

from assets.agent_file import CODE_VERSION
from assets.bridge import AGENT_FILE, data_of
from assets.run_metadata import run_metadata
from inquesto_dag.provenance.inputs import agent_file, shared_version
from inquesto_dag.provenance.state import ProjectState
from inquesto_dag.stages.chain import CHAIN, STAGES, Stage, target

NOT_IN_LOCK = "not in dvc.lock"
EARLIER = "earlier"
# An event before every materialisation: nothing stood there, so that every partition counts as updated.
BEFORE_ALL = 1

Place = tuple[str, str | None]  # an asset and its partition


@dataclass(frozen=True)
class Wanted:
    """What Dagster should know of a place: data version, code version, version of each input by asset."""

    data_version: str
    code_version: str
    inputs: Mapping[str, str]


def reconcile(project: Path, instance: dg.DagsterInstance) -> list[str]:
    """Report what Dagster does not know yet; one line for each report, none when it was level."""
    state = ProjectState(project)
    wanted = wanted_places(state)
    needed: dict[Place, set[str]] = defaultdict(set)
    for (asset, partition), want in wanted.items():
        for parent, version in want.inputs.items():
            if _partitioned(parent) and _partitioned(asset):
                needed[parent, partition].add(version)
    told: list[str] = []
    places: list[Place] = [(AGENT_FILE, agent) for agent in agents_of(state)]
    places += [(s.name, agent) for s in CHAIN for agent in (agents_of(state) if s.per_agent else [None])]
    for place in places:
        told += _bring_level(state, _History(instance), place, wanted.get(place), needed[place])
    state.digests.save()
    return told


def agents_of(state: ProjectState) -> list[str]:
    """The agents of `params.yaml`, in its order."""
    return list(dict.fromkeys(name.partition("@")[2] for name in state.stages if "@" in name))


def wanted_places(state: ProjectState) -> dict[Place, Wanted]:
    """What the lock says of every target, and the disk of every agent's file, by asset and partition."""
    found: dict[Place, Wanted] = {}
    produced = [out for stage in state.stages.values() for out in stage.outs]
    for agent in agents_of(state):
        digest = state.digests.digest(agent_file(agent))
        if digest is not None:
            found[AGENT_FILE, agent] = Wanted(digest, CODE_VERSION, {})
        else:
            found[AGENT_FILE, agent] = Wanted("missing", CODE_VERSION, {})
    for stage in CHAIN:
        parts: list[str | None] = [*agents_of(state)] if stage.per_agent else [None]
        for part in parts:
            locked = state.locked.get(target(stage.name, part))
            if locked is not None:
                deps = {name: digest or "" for name, digest in locked.inputs.deps.items()}
                found[stage.name, part] = Wanted(
                    next(iter(locked.outs.values())),
                    shared_version(locked.inputs, part, produced),
                    {parent: deps[path] for parent, path in _parents(stage, part).items() if path in deps},
                )
    return found


def _parents(stage: Stage, agent: str | None) -> dict[str, str]:
    """The assets that a stage reads, and the path by which its entry in the lock names each."""
    found = {name: data_of(STAGES[name], agent) for name in stage.reads}
    return {**found, AGENT_FILE: agent_file(agent)} if agent else found


def _partitioned(asset: str) -> bool:
    return asset == AGENT_FILE or STAGES[asset].per_agent


def _bring_level(
    state: ProjectState, history: "_History", place: Place, want: Wanted | None, needed: set[str]
) -> list[str]:
    """Report to one place the earlier versions that others were computed from, then what stands there now."""
    asset, agent = place
    name = target(asset, agent)
    told = []
    known = history.latest(place)
    for version in sorted(needed - ({want.data_version} if want else set())):
        if history.find(place, version) is None:
            history.report(place, {DATA_VERSION_TAG: version, CODE_VERSION_TAG: EARLIER})
            told.append(f"{name}: {version}, an earlier version that others were computed from")
    if want is None:
        if known is not None and known.tags.get(CODE_VERSION_TAG) != NOT_IN_LOCK:
            history.report(place, {DATA_VERSION_TAG: "none", CODE_VERSION_TAG: NOT_IN_LOCK})
            told.append(f"{name}: {NOT_IN_LOCK} (any more)")
        return told
    if not told and known is not None and _is_level(state, history, place, want, known):
        return told
    history.report(place, _tags(state, history, place, want), _metadata(state, place))
    before = known.tags.get(DATA_VERSION_TAG) if known else None
    if before == want.data_version:
        return [*told, f"{name}: {want.data_version}, computed from other inputs than Dagster knew"]
    return [*told, f"{name}: {want.data_version}" + (f" (was {before})" if before else "")]


def _tags(state: ProjectState, history: "_History", place: Place, want: Wanted) -> dict[str, str]:
    asset, agent = place
    tags = {
        DATA_VERSION_TAG: want.data_version,
        DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
        CODE_VERSION_TAG: want.code_version,
    }
    for parent, version in want.inputs.items():
        key = dg.AssetKey(parent)
        tags[get_input_data_version_tag(key)] = version
        if not _partitioned(parent):
            pointer = history.find((parent, None), version)
        elif _partitioned(asset):
            pointer = history.find((parent, agent), version)
        else:
            pointer = history.newest(parent) if _all_in_step(state, parent, version) else BEFORE_ALL
        tags[get_input_event_pointer_tag(key)] = str(pointer) if pointer else "NULL"
    return tags


def _is_level(state: ProjectState, history: "_History", place: Place, want: Wanted, known: "_Event") -> bool:
    """Whether Dagster's latest event of a place says what the lock says."""
    if known.tags.get(DATA_VERSION_TAG) != want.data_version:
        return False
    if known.tags.get(CODE_VERSION_TAG) != want.code_version:
        return False
    asset, agent = place
    for parent, version in want.inputs.items():
        key = dg.AssetKey(parent)
        if not _partitioned(parent):
            if known.tags.get(get_input_data_version_tag(key)) != version:
                return False
            continue
        pointer = known.tags.get(get_input_event_pointer_tag(key), "NULL")
        if not pointer.isdigit():
            return False
        if _partitioned(asset):
            if history.version_at((parent, agent), int(pointer)) != version:
                return False
        elif _all_in_step(state, parent, version) != history.all_latest_at(
            parent, agents_of(state), int(pointer)
        ):
            return False
    return True


def _all_in_step(state: ProjectState, parent: str, version: str) -> bool:
    """Whether a folder of all agents' outputs is, as the lock has them, the one that was read."""
    return state.dep_as_locked(f"data/{parent}") in (None, version)


def _metadata(state: ProjectState, place: Place) -> dict[str, Any]:
    """What a materialisation shows; no figures of an output that is not the lock's."""
    asset, agent = place
    source = {"source": dg.MetadataValue.text("dvc.lock" if asset != AGENT_FILE else "data/agents")}
    if asset == AGENT_FILE or any(state.out_faults(target(asset, agent))):
        return source
    return {**source, **run_metadata(state.project, STAGES[asset], agent, float("inf"))}


@dataclass(frozen=True)
class _Event:
    storage_id: int
    tags: Mapping[str, str]


class _History:
    """Materialisations as Dagster stores them, by place; ids grow with time."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance

    def report(
        self, place: Place, tags: Mapping[str, str], metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Store a materialisation that belongs to no run."""
        self._instance.report_runless_asset_event(
            dg.AssetMaterialization(place[0], partition=place[1], tags=tags, metadata=metadata)
        )

    def latest(self, place: Place, before: int | None = None) -> _Event | None:
        """The latest event of a place, or the latest with a storage id below `before`."""
        return next(iter(self._events(place, before, 1)), None)

    def find(self, place: Place, version: str) -> int | None:
        """The storage id of the latest event with a data version."""
        before: int | None = None
        while True:
            page = self._events(place, before, 100)
            for event in page:
                if event.tags.get(DATA_VERSION_TAG) == version:
                    return event.storage_id
            if len(page) < 100:
                return None
            before = page[-1].storage_id

    def version_at(self, place: Place, pointer: int) -> str | None:
        """The data version of a place as of an event."""
        event = self.latest(place, pointer + 1)
        return event.tags.get(DATA_VERSION_TAG) if event else None

    def newest(self, asset: str) -> int | None:
        """The storage id of the latest event of any partition of an asset."""
        event = self.latest((asset, None))
        return event.storage_id if event else None

    def all_latest_at(self, asset: str, partitions: list[str], pointer: int) -> bool:
        """Whether no partition has had another version since an event."""
        for partition in partitions:
            latest = self.latest((asset, partition))
            now = latest.tags.get(DATA_VERSION_TAG) if latest else None
            if latest and latest.storage_id > pointer and self.version_at((asset, partition), pointer) != now:
                return False
        return True

    def _events(self, place: Place, before: int | None, limit: int) -> list[_Event]:
        records = self._instance.fetch_materializations(
            dg.AssetRecordsFilter(
                asset_key=dg.AssetKey(place[0]),
                asset_partitions=[place[1]] if place[1] else None,
                before_storage_id=before,
            ),
            limit=limit,
        ).records
        return [_Event(record.storage_id, dict(record.event_log_entry.tags or {})) for record in records]


def unsynced(project: Path, instance: dg.DagsterInstance) -> list[str]:
    """Targets that Dagster calls unsynced, against the definitions as the files on disk now make them."""
    from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
    from dagster._core.loader import LoadingContextForTest

    from assets.definitions import build_definitions

    graph = build_definitions(project).resolve_asset_graph()
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    agents = agents_of(ProjectState(project))
    return [
        target(stage.name, agent)
        for stage in CHAIN
        for agent in (agents if stage.per_agent else [None])
        if resolver.get_status(dg.AssetKey(stage.name), agent) == StaleStatus.STALE
    ]


def main() -> None:
    """`python -m assets.reconcile PROJECT`, with `DAGSTER_HOME` set: what `inquesto-dag reconcile` runs."""
    from inquesto_dag.errors import InquestoError

    project = Path(sys.argv[1])
    try:
        with dg.DagsterInstance.get() as instance:
            told = reconcile(project, instance)
            for line in told:
                print(line)
            print(f"Dagster is level with dvc.lock ({len(told) or 'no'} reports); nothing was computed")
            behind = unsynced(project, instance)
            print(f"unsynced in Dagster: {', '.join(behind) or 'nothing'}")
    except InquestoError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
