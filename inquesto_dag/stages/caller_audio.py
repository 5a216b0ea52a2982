"""Stage `caller_audio`: every line that a scripted caller can say, spoken in each voice that says it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.audio.files import flac_bytes
from inquesto_dag.callers.audio import render
from inquesto_dag.callers.script import BankLine, lines_of
from inquesto_dag.files import sha256_bytes, write_bytes
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import UTTERANCES
from inquesto_dag.units import to_seconds

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines


@dataclass(frozen=True)
class SpeakJob:
    """Lines of one voice that share a text, the level to speak them at (dBov), the stage's folder."""

    lines: tuple[BankLine, ...]
    level_dbov: float
    folder: Path


def run(ctx: StageContext) -> None:
    """Write `utterances` and `audio/UTTERANCE.flac`."""
    lines = lines_of(ctx.protocol, ctx.rows("population", "population"))
    with ctx.output() as folder:
        jobs = [
            SpeakJob(tuple(group), ctx.protocol.caller_level_dbov, folder) for group in group_lines(lines)
        ]
        spoken = [row for rows in ctx.map(speak_lines, jobs, "caller audio") for row in rows]
        by_id = {row["utterance_id"]: row for row in spoken}
        ctx.write(folder, UTTERANCES, [by_id[line.utterance_id] for line in lines])


def group_lines(lines: Iterable[BankLine]) -> list[list[BankLine]]:
    """Lines that say the same in the same voice, together: two workers then never speak the same text twice.

    Long texts first, so that no worker is left with one at the end.
    """
    groups: dict[tuple[str, str], list[BankLine]] = defaultdict(list)
    for line in lines:
        groups[line.voice, line.text].append(line)
    return sorted(groups.values(), key=lambda group: -len(group[0].text))


def speak_lines(job: SpeakJob, engines: Engines) -> list[dict[str, Any]]:
    """Speak and store lines; their rows of `tables.UTTERANCES`."""
    rows = []
    for line in job.lines:
        said = render(line, engines.tts, job.level_dbov)
        path = Path("audio") / f"{line.utterance_id}.flac"
        data = flac_bytes(said.audio)
        write_bytes(job.folder / path, data)
        rows.append(
            {
                "utterance_id": line.utterance_id,
                "scenario_id": line.scenario_id,
                "move": line.move,
                "voice": line.voice,
                "style": line.style,
                "text": line.text,
                "path": path.as_posix(),
                "sha256": sha256_bytes(data),
                "duration_s": to_seconds(len(said.audio)),
                "onset_s": said.onset_s,
                "offset_s": said.offset_s,
                "pauses_s": json.dumps([[round(start, 4), round(end, 4)] for start, end in said.pauses_s]),
                "active_level_dbov": said.active_level_dbov,
                "activity": said.activity,
            }
        )
    return rows
