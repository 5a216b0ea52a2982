"""The links that only the engines show: recordings annotated again, calls of declared timing placed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inquesto_dag.audit.links import Link, holds, row_differences
from inquesto_dag.audit.recompute import FILES, recorded_context
from inquesto_dag.calls.job import CallJob
from inquesto_dag.errors import InquestoError
from inquesto_dag.files import sha256_bytes
from inquesto_dag.provenance.profile import load_profile
from inquesto_dag.stages.annotations import Recorded, annotate_recording
from inquesto_dag.stages.calls import call_files, plan_jobs
from inquesto_dag.stages.context import StageContext, plain_rows
from inquesto_dag.stages.run import make_engine_spec
from inquesto_dag.tables import SEGMENTS, TRANSCRIPTS

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines


def deep_links(project: Path, record: Mapping[str, Any], sample: int | None, seed: int) -> Iterator[Link]:
    """Annotate and place again all calls, or `sample` of them drawn by `seed`; without memo."""
    ctx = recorded_context(project, record)
    ctx = replace(ctx, engine_spec=make_engine_spec(load_profile(ctx.params.profile), None))
    checks = {"annotations: annotated again": annotated_again, "calls: placed again": placed_again}
    for name, check in checks.items():
        try:
            yield check(ctx, name, sample, seed)
        except InquestoError as error:
            yield Link(name, "changed", str(error).splitlines()[0])


def drawn(call_ids: Sequence[str], sample: int | None, seed: int) -> list[str]:
    """The calls to look at, in their order."""
    if sample is None or sample >= len(call_ids):
        return list(call_ids)
    chosen = np.random.default_rng(seed).choice(len(call_ids), size=sample, replace=False)
    return [call_ids[index] for index in sorted(chosen)]


def annotated_again(ctx: StageContext, name: str, sample: int | None, seed: int) -> Link:
    """That annotating the recordings gives the stored segments and transcripts (PROTOCOL T12)."""
    calls = {
        str(call["call_id"]): call
        for call in ctx.rows("calls", "calls", ctx.agent)
        if not call["infrastructure_error"]
    }
    chosen = drawn(list(calls), sample, seed)
    folder = ctx.folder("calls", ctx.agent) / "recordings"
    items = [
        Recorded(call_id, folder / call_id / "call.flac", calls[call_id]["call_sha256"], ctx.profile.asr)
        for call_id in chosen
    ]
    found = ctx.map(annotate_recording, items, "annotations")
    faults = []
    for kind, table in (("segments", SEGMENTS), ("transcripts", TRANSCRIPTS)):
        rows = [
            {"call_id": item.call_id, **row}
            for item, notes in zip(items, found, strict=True)
            for row in notes[kind]
        ]
        stored = [row for row in ctx.rows(kind, "annotations", ctx.agent) if row["call_id"] in set(chosen)]
        again = plain_rows(table.conform(rows))
        faults += [f"{kind}: {fault}" for fault in row_differences(stored, again, table.key)]
    return holds(name, faults, detail=f"{len(chosen)} of {len(calls)} recordings")


def placed_again(ctx: StageContext, name: str, sample: int | None, seed: int) -> Link:
    """That placing the calls gives the same files (DESIGN: declared runs are the same on every machine)."""
    stored = {str(call["call_id"]): call for call in ctx.rows("calls", "calls", ctx.agent)}
    if {call["timing"] for call in stored.values()} != {"declared"}:
        return Link(name, "not available here", "timing was measured, which no second run repeats")
    chosen = set(drawn(list(stored), sample, seed))
    jobs = [job for job in plan_jobs(ctx) if job.call_id in chosen]
    faults = []
    for job, digests in zip(jobs, ctx.map(place_for_digests, jobs, "calls"), strict=True):
        faults += [
            f"{job.call_id}/{file} comes out as another file"
            for file, column in FILES.items()
            if digests[file] != stored[job.call_id][column]
        ]
    return holds(name, faults, detail=f"{len(jobs)} of {len(stored)} calls, file by file")


def place_for_digests(job: CallJob, engines: Engines) -> dict[str, str]:
    """Place one call; the SHA-256 of each of its files."""
    return {name: sha256_bytes(data) for name, data in call_files(job, engines).files.items()}
