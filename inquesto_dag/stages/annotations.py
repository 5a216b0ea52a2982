"""Stage `annotations`: speech, turns and transcripts of every recording, word error of what was heard.

Detection reads the recording alone (PROTOCOL D2). The word error compares the trace's `said` and `heard`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.annotation.annotate import annotate
from inquesto_dag.annotation.words import word_errors
from inquesto_dag.audio.files import read_flac
from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json, sha256_file
from inquesto_dag.speech.interfaces import Recogniser, VoiceActivityDetector
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import HEARD, SEGMENTS, TRANSCRIPTS

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

ANNOTATION_KIND = "annotation"


@dataclass(frozen=True)
class Recorded:
    """A recording to annotate, and the recogniser that reads it (of the profile, never the agent's)."""

    call_id: str
    path: Path
    sha256: str
    recogniser: str


def run(ctx: StageContext) -> None:
    """Write `segments`, `transcripts` and `heard`."""
    agent = ctx.required_agent()
    calls = [call for call in ctx.rows("calls", "calls", agent) if not call["infrastructure_error"]]
    recordings = ctx.folder("calls", agent) / "recordings"
    items = [
        Recorded(c["call_id"], recordings / c["call_id"] / "call.flac", c["call_sha256"], ctx.profile.asr)
        for c in calls
    ]
    with ctx.output() as folder:
        found = ctx.map(annotate_recording, items, f"annotations {agent}")
        for kind, table in (("segments", SEGMENTS), ("transcripts", TRANSCRIPTS)):
            rows = [
                {"call_id": item.call_id, **row}
                for item, notes in zip(items, found, strict=True)
                for row in notes[kind]
            ]
            ctx.write(folder, table, rows)
        ctx.write(folder, HEARD, heard_rows(calls, ctx.rows("turns", "calls", agent)))


def annotate_recording(item: Recorded, engines: Engines) -> dict[str, Any]:
    """Segments and transcripts of one recording, or what the memo holds for these bytes.

    InputError when the file is not the one that the `calls` table names.
    """
    if not item.path.exists() or sha256_file(item.path) != item.sha256:
        raise InputError(
            "is missing or is not the recording that calls.parquet names",
            where=item.path,
            remedy="restore it with `dvc checkout`, or run the stage calls again",
        )
    recogniser = engines.recogniser(item.recogniser)
    parts = {"recording": item.sha256, "vad": engines.vad.identity, "asr": recogniser.identity}

    def compute() -> bytes:
        return read_recording(item.path, engines.vad, recogniser)

    return dict(json.loads(engines.through_memo("annotation", ANNOTATION_KIND, parts, compute)))


def read_recording(path: Path, vad: VoiceActivityDetector, recogniser: Recogniser) -> bytes:
    """Segments and transcripts of a recording as canonical JSON, whatever the memo holds."""
    notes = annotate(read_flac(path), vad, recogniser)
    return canonical_json({"segments": notes.segments, "transcripts": notes.transcripts})


def heard_rows(
    calls: Sequence[Mapping[str, Any]], turns: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Rows of `tables.HEARD`: what each call's caller said against what its agent heard."""
    of_call: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for turn in turns:
        if turn["speaker"] == "caller":
            of_call[turn["call_id"]].append(turn)
    rows = []
    for call in calls:
        said = of_call[call["call_id"]]
        errors = word_errors([t["said"] for t in said], [t["heard"] or "" for t in said])
        rows.append(
            {
                "call_id": call["call_id"],
                "reference_words": errors.reference_words,
                "substitutions": errors.substitutions,
                "deletions": errors.deletions,
                "insertions": errors.insertions,
            }
        )
    return rows
