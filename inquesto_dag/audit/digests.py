"""The links that digests alone can show: record, protocol, agent, stages, models, packages, revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inquesto_dag.agents.config import load_agent
from inquesto_dag.audit.links import Link, differences, holds
from inquesto_dag.errors import InputError, InquestoError
from inquesto_dag.protocol.load import protocol_digest
from inquesto_dag.provenance.digests import Digests, file_md5
from inquesto_dag.provenance.dvc import LockedStage, read_lock, resolve_stages
from inquesto_dag.provenance.inputs import inside, params_on_disk
from inquesto_dag.provenance.lineage import git_holds, package_versions
from inquesto_dag.provenance.release import read_release
from inquesto_dag.speech.engines import EngineSpec
from inquesto_dag.speech.fetch import models_folder, verify
from inquesto_dag.stages.chain import STAGES, target
from inquesto_dag.stages.record import before, describe_agent, engine_digests

ENGINE_ROLES = ("tts", "asr", "vad", "verifier")
VOICES = "kokoro-voices"
CORRUPT = ("wrong size", "wrong digest")


def digest_links(project: Path, path: Path, record: Mapping[str, Any]) -> Iterator[Link]:
    """Every link of a record, read from `path`, that needs no computing."""
    locked = read_lock(project)
    digests = Digests(project, keep=False)
    agent = str(record["agent"]["id"])
    yield record_file(path, agent, locked, digests)
    yield protocol_files(project, record)
    yield release(project, record)
    yield agent_settings(project, record)
    yield lineage_is_whole(record)
    for name, entry in sorted(record["lineage"]["stages"].items(), key=lambda item: _place(item[0])):
        yield from stage_links(name, entry, agent, locked, digests, record)
    yield parameters(project, record)
    yield models(record)
    yield packages(record)
    yield revision(project, record)


def _place(stage: str) -> int:
    """A stage's place in the chain; unknown ones come last."""
    return list(STAGES).index(stage) if stage in STAGES else len(STAGES)


def record_file(path: Path, agent: str, locked: Mapping[str, LockedStage], digests: Digests) -> Link:
    """That the file is, byte for byte, the one that `dvc.lock` names."""
    name = "record: file"
    stage = locked.get(target("record", agent))
    if stage is None:
        return Link(name, "not available here", f"dvc.lock has no record@{agent}")
    ((out, digest),) = stage.outs.items()
    listing = digests.recall(digest)
    if listing is None:
        on_disk = digests.listing(out)
        if on_disk is None or digests.digest(out) != digest:
            return Link(
                name, "not available here", f"neither {out} nor DVC's cache holds what dvc.lock names"
            )
        listing = on_disk
    if file_md5(path) != listing.get("record.json"):
        return Link(name, "changed", f"{path} is not the record.json that dvc.lock names for {agent}")
    return Link(name, "ok", f"md5 {listing['record.json']}, as in dvc.lock")


def protocol_files(project: Path, record: Mapping[str, Any]) -> Link:
    """That the version's files are those that the record names (PROTOCOL N4)."""
    name, version = "protocol: files", str(record["protocol"]["version"])
    folder = project / "data" / "protocols" / version
    if not folder.is_dir():
        return Link(name, "missing", f"there is no {folder}")
    found = protocol_digest(folder)
    if found != record["protocol"]["sha256"]:
        return Link(name, "changed", f"files of {version} are not those that were scored with")
    return Link(name, "ok", f"{version}, sha256 {found[:16]}")


def release(project: Path, record: Mapping[str, Any]) -> Link:
    """That the record was scored with the version as it was released (PROTOCOL N4)."""
    name, version = "protocol: release", str(record["protocol"]["version"])
    try:
        released = read_release(project, version)
    except InquestoError as error:
        return Link(name, "changed", str(error).splitlines()[0])
    if released is None:
        return Link(name, "note", f"{version} is not released: its files may still change")
    if released.sha256 != record["protocol"]["sha256"]:
        return Link(name, "changed", f"scored with other files than those of the release of {version}")
    return Link(name, "ok", f"{version} as released")


def agent_settings(project: Path, record: Mapping[str, Any]) -> Link:
    """That the agent's file still says what decided the record."""
    name, agent = "agent: settings", str(record["agent"]["id"])
    path = project / "data" / "agents" / f"{agent}.yaml"
    if not path.exists():
        return Link(name, "missing", f"there is no {path}")
    try:
        found = describe_agent(load_agent(path.parent, agent))
    except InquestoError as error:
        return Link(name, "changed", str(error).splitlines()[0])
    return holds(name, differences(record["agent"], found), detail=f"fingerprint {found['fingerprint'][:16]}")


def lineage_is_whole(record: Mapping[str, Any]) -> Link:
    """That the lineage is one chain of this agent: each stage read what the one before it left."""
    name, agent = "lineage: chain", str(record["agent"]["id"])
    stages = record["lineage"]["stages"]
    faults = [f"{stage.name} is not in the lineage" for stage in before() if stage.name not in stages]
    if faults:
        return holds(name, faults, "missing")
    outputs = {out: digest for entry in stages.values() for out, digest in entry["outputs"].items()}
    for stage, entry in stages.items():
        if stage not in STAGES:
            faults.append(f"{stage} is no stage of this version")
            continue
        wanted = f"data/{stage}/{agent}" if STAGES[stage].per_agent else f"data/{stage}"
        if list(entry["outputs"]) != [wanted]:
            faults.append(f"{stage} wrote {', '.join(entry['outputs'])}, not {wanted}")
        for read in STAGES[stage].reads:
            of = f"data/{read}/{agent}" if STAGES[read].per_agent else f"data/{read}"
            if entry["deps"].get(of) != outputs.get(of):
                faults.append(f"{stage} read another {of} than the one that {read} left")
    return holds(name, faults, detail=f"{len(stages)} stages, each reads what the one before it left")


def stage_links(
    stage: str,
    entry: Mapping[str, Any],
    agent: str,
    locked: Mapping[str, LockedStage],
    digests: Digests,
    record: Mapping[str, Any],
) -> Iterator[Link]:
    """A stage's output against lock and bytes, and its dependencies against lock and files."""
    per_agent = stage in STAGES and STAGES[stage].per_agent
    lock = locked.get(target(stage, agent if per_agent else None))
    yield _output(stage, entry, lock, digests)
    yield _dependencies(stage, entry, lock, digests, record)


def _output(stage: str, entry: Mapping[str, Any], lock: LockedStage | None, digests: Digests) -> Link:
    name = f"{stage}: output"
    for out, recorded in entry["outputs"].items():
        if lock is not None and lock.outs.get(out) != recorded:
            return Link(name, "changed", f"dvc.lock has another {out} ({lock.outs.get(out)}) than the record")
        found = digests.digest(out)
        if found is None:
            return Link(name, "missing", f"{out} is not here; `dvc pull` brings it where a remote has it")
        if found != recorded:
            return Link(name, "changed", f"{out} is not what was recorded{inside(out, recorded, digests)}")
    if lock is None:
        return Link(name, "not available here", "dvc.lock has no such stage; the bytes are those recorded")
    return Link(name, "ok", ", ".join(f"{out} {digest}" for out, digest in entry["outputs"].items()))


def _dependencies(
    stage: str,
    entry: Mapping[str, Any],
    lock: LockedStage | None,
    digests: Digests,
    record: Mapping[str, Any],
) -> Link:
    name, deps = f"{stage}: dependencies", entry["deps"]
    outputs = {out for other in record["lineage"]["stages"].values() for out in other["outputs"]}
    if lock is not None and dict(lock.inputs.deps) != dict(deps):
        return holds(name, [f"dvc.lock: {fault}" for fault in differences(deps, dict(lock.inputs.deps))])
    faults, gone = [], []
    for dep, recorded in deps.items():
        if dep in outputs:
            continue  # a link of its own
        found = digests.digest(dep)
        if found is None:
            gone.append(f"{dep} is not here")
        elif found != recorded:
            faults.append(f"{dep} is not what was recorded{inside(dep, recorded, digests)}")
    if gone and not faults:
        return holds(name, gone, "missing")
    return holds(name, [*faults, *gone], detail=f"{len(deps)} files and folders")


def parameters(project: Path, record: Mapping[str, Any]) -> Link:
    """That `params.yaml` holds the values that each stage ran with, and `dvc.lock` too."""
    locked, agent = read_lock(project), str(record["agent"]["id"])
    faults = []
    for stage, entry in record["lineage"]["stages"].items():
        now = params_on_disk(project, entry["params"])
        for fault in differences(entry["params"], now):
            faults.append(f"{stage}: params.yaml: {fault}")
        per_agent = stage in STAGES and STAGES[stage].per_agent
        lock = locked.get(target(stage, agent if per_agent else None))
        if lock is not None:
            faults += [
                f"{stage}: dvc.lock: {fault}"
                for fault in differences(entry["params"], dict(lock.inputs.params))
            ]
    wanted = {name for stage in resolve_stages(project).values() for name in stage.params}
    return holds("parameters", faults, detail=f"{', '.join(sorted(wanted))} as recorded")


def models(record: Mapping[str, Any]) -> Link:
    """That the engines here, by the digests of their files and their settings, are those that ran (D16)."""
    name = "models"
    recorded = {role: ran for role, ran in record["profile"]["run"].items() if role in ENGINE_ROLES}
    spec = EngineSpec.for_roles({role: ran["name"] for role, ran in recorded.items()}, models_folder())
    try:
        states = verify([*(ran["name"] for ran in recorded.values()), VOICES], spec.models)
        corrupt = [f"{s.path} is not the file of the catalogue" for s in states if s.state in CORRUPT]
        missing = [f"{state.path} is not here" for state in states if state.state == "missing"]
        if corrupt or missing:
            return holds(name, [*corrupt, *missing], "changed" if corrupt else "not available here")
        found = engine_digests(spec)
    except InputError as error:
        return Link(name, "not available here", str(error).splitlines()[0])
    return holds(name, differences(recorded, found), detail=f"{len(found)} engines: files and settings")


def packages(record: Mapping[str, Any]) -> Link:
    """Versions of packages; others may give the same numbers, so a difference is said and does not fail."""
    faults = differences(record["lineage"]["packages"], package_versions())
    count = len(record["lineage"]["packages"])
    return holds("packages", faults, "note", detail=f"{count} versions as recorded")


def revision(project: Path, record: Mapping[str, Any]) -> Link:
    """The commit that the record was made at, and whether tracked files differed from it."""
    name, recorded = "revision", record["lineage"]["revision"]
    commit = recorded["commit"]
    if commit is None:
        return Link(name, "missing", "the record was made outside version control")
    if recorded["dirty"]:
        return Link(name, "dirty", f"made from a dirty tree: files differed from {commit[:12]}")
    if not git_holds(project, commit):
        return Link(name, "not available here", f"{commit[:12]} is not in this repository")
    return Link(name, "ok", f"{commit[:12]}, clean")
