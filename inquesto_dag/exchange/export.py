"""Write a record's crate: an RO-Crate of the profile Process Run Crate, with a Statement about its files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from inquesto_dag.audit.walk import read_record, record_form
from inquesto_dag.errors import InputError
from inquesto_dag.exchange.contents import ABOUT, METADATA, STATEMENT, Content, gather, record_path
from inquesto_dag.exchange.statement import make_statement
from inquesto_dag.files import TEMPORARY, json_bytes, sha256_bytes, write_bytes
from inquesto_dag.scoring.citation import citation
from inquesto_dag.stages.chain import STAGES

ROCRATE_VERSION = "1.1"  # of the specification that the profile builds on
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
LICENCE = "https://spdx.org/licenses/Apache-2.0"
SHA256 = {"sha256": "https://schema.org/sha256"}  # a later schema.org term than RO-Crate 1.1 knows
FORMATS = {
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".flac": "audio/flac",
    ".md": "text/markdown",
}


def export_record(project: Path, path: Path, out: Path, *, sound: bool = False) -> int:
    """Write the crate of the record at `path` into the new folder `out`; returns how many files it holds.

    The folder appears when it is whole. Raises InputError when `out` exists, the file is no record, or
    something that the crate needs is not in the project.
    """
    if out.exists():
        raise InputError("exists already", where=out, field="--out", remedy="name a new folder, or remove it")
    record = read_record(path)
    form = record_form(record)
    if form.failed:
        raise InputError(form.detail, where=path, remedy="export a record that `inquesto-dag score` wrote")
    contents = list(gather(project, path, record, sound=sound))
    contents.append(Content(ABOUT, about(record, sound).encode(), None, "what this crate holds"))
    statement = make_statement(record, {content.path: sha256_bytes(content.data) for content in contents})
    contents.append(Content(STATEMENT, json_bytes(statement), None, "an unsigned in-toto Statement"))
    ended = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    fresh = out.parent / f"{TEMPORARY}{out.name}"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for content in contents:
            write_bytes(fresh / content.path, content.data)
        describe(record, contents, fresh, ended).metadata.write(fresh)
        fresh.rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return len(contents) + 1


def describe(record: Mapping[str, Any], contents: list[Content], folder: Path, ended: datetime) -> ROCrate:
    """The crate's metadata: every file with digest and size, and an action for every stage."""
    crate = ROCrate(version=ROCRATE_VERSION)
    crate.metadata.extra_terms.update(SHA256)
    crate.name = f"Inquesto record of {record['agent']['id']}"
    crate.description = citation(record)
    crate.license = crate.add(ContextEntity(crate, LICENCE, {"@type": "CreativeWork", "name": "Apache-2.0"}))
    crate.datePublished = ended
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = [crate.add(ContextEntity(crate, PROFILE, profile))]
    files = {content.path: add_file(crate, content, folder) for content in contents}
    software = add_software(crate, record)
    inputs = [
        files[content.path]
        for content in contents
        if content.stage is None and content.path.startswith("data/")
    ]
    outs: dict[str, list[Any]] = {}
    for content in contents:
        if content.stage:
            outs.setdefault(content.stage, []).append(files[content.path])
    for stage, results in outs.items():
        known = STAGES.get(stage)
        read = [file for name in (known.reads if known else ()) for file in outs.get(name, [])]
        action = {
            "@type": "CreateAction",
            "name": f"stage {stage}",
            "description": known.description if known else stage,
            "instrument": [software],
            "object": [*inputs, *read],
            "result": results,
            "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        }
        entity = crate.add(ContextEntity(crate, f"#stage-{stage}", action))
        if stage == "record":
            entity["endTime"] = ended.isoformat()
        crate.root_dataset.append_to("mentions", entity)
    crate.root_dataset["mainEntity"] = files[record_path(record)]
    return crate


def add_file(crate: ROCrate, content: Content, folder: Path) -> Any:
    """One file, with what it is, its size in bytes and its SHA-256."""
    suffix = Path(content.path).suffix
    return crate.add_file(
        folder / content.path,
        content.path,
        properties={
            "name": content.path,
            "description": content.about,
            "encodingFormat": FORMATS.get(suffix)
            or guess_type(content.path)[0]
            or "application/octet-stream",
            "contentSize": str(len(content.data)),
            "sha256": sha256_bytes(content.data),
        },
    )


def add_software(crate: ROCrate, record: Mapping[str, Any]) -> Any:
    """This program, with the models and packages that the record names as its requirements."""
    needs = []
    for role, ran in sorted(record["profile"]["run"].items()):
        model = {
            "@type": "SoftwareApplication",
            "name": f"{ran['name']} ({role})",
            "identifier": str(ran.get("sha256") or ran["name"]),
        }
        needs.append(crate.add(ContextEntity(crate, f"#{role}-{ran['name']}", model)))
    packages = record["lineage"]["packages"]
    for name, version in sorted(packages.items()):
        package = {"@type": "SoftwareApplication", "name": name, "softwareVersion": version}
        if name != "inquesto-dag":
            needs.append(crate.add(ContextEntity(crate, f"#package-{name}", package)))
    program = {
        "@type": "SoftwareApplication",
        "name": "Inquesto DAG",
        "softwareVersion": str(packages.get("inquesto-dag", "unknown")),
        "identifier": str(record["lineage"]["revision"]["commit"]),
        "softwareRequirements": needs,
    }
    return crate.add(ContextEntity(crate, "#inquesto-dag", program))


def about(record: Mapping[str, Any], sound: bool) -> str:
    """The crate's README."""
    held = "The recordings are in it." if sound else "The recordings are not in it; their digests are."
    return (
        f"# Inquesto record of {record['agent']['id']}\n\n{citation(record)}\n\n"
        f"`{record_path(record)}` is the record: numbers and digests only. Beside it lie the tables that\n"
        "it was made from, which hold every word of the simulated calls, the protocol and the agent's file.\n"
        f"{held}\n\n`inquesto-dag verify .` checks what can be checked here. `{METADATA}`\n"
        f"describes every file; `{STATEMENT}` is an in-toto Statement about them. It is not signed, and\n"
        "claims no SLSA level.\n"
    )
