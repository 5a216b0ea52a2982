"""Stage `verifier`: enrol the callers' voices, score every opening, set the threshold (PROTOCOL I1, I2, D11).

A voice is enrolled on the protocol's enrolment texts as each condition's line carries them. Verification is
computed in every call, so the threshold must hold in every call: it lies between the lowest score of any
caller against their own enrolment and the highest of an impostor against the holder's, under all conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inquesto_dag.audio.babble import excerpt
from inquesto_dag.audio.files import read_flac
from inquesto_dag.audio.levels import normalise
from inquesto_dag.audio.telephone import carry
from inquesto_dag.files import canonical_json, sha256_bytes, write_bytes, write_json
from inquesto_dag.protocol.models import Condition, Voice
from inquesto_dag.speech.catalogue import models_named
from inquesto_dag.speech.verification import MINIMUM_SPEECH, calibrate, enrol, similarity, speech_seconds
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import VERIFIER
from inquesto_dag.units import Audio, quantise
from inquesto_dag.verification.errors import ALIKE, Score, summarise
from inquesto_dag.verification.page import draw_page

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

OPENING = "opening"
WHISPERED = frozenset({"af_nicole"})  # a voice that whispers sounds like nobody who is on the telephone


@dataclass(frozen=True)
class EnrolJob:
    """One voice to enrol: its texts, the level to say them at (dBov), the lines to carry them over."""

    voice: Voice
    texts: tuple[str, ...]
    level_dbov: float
    conditions: tuple[Condition, ...]
    bed_path: Path


@dataclass(frozen=True)
class ScoreJob:
    """One opening as one line carries it, against one enrolment; `role` is the caller's."""

    utterance_id: str
    condition: Condition
    path: Path
    bed_path: Path
    voice: str
    enrolled_voice: str
    role: str
    enrolment: tuple[float, ...]


def run(ctx: StageContext) -> None:
    """Write `verifier`, `verifier.json`, the report; CheckFailed when holders and impostors overlap."""
    protocol = ctx.protocol
    bed_path = ctx.folder("line_audio") / "bed.flac"
    enrol_jobs = [
        EnrolJob(voice, protocol.enrolment_texts, protocol.caller_level_dbov, protocol.conditions, bed_path)
        for voice in protocol.voices
    ]
    enrolled = ctx.map(enrol_voice, enrol_jobs, "enrolment")
    enrolments = {job.voice.voice: values for job, values in zip(enrol_jobs, enrolled, strict=True)}
    jobs = score_jobs(ctx, enrolments, bed_path)
    rows = ctx.map(score_opening, jobs, "verifier")
    calibration = calibrate(*calibration_scores(jobs, rows))
    alike_jobs = plan_alike(ctx, enrolments, bed_path)
    alike = [row for found in ctx.map(score_alike, alike_jobs, "known limit") for row in found]
    with ctx.output() as folder:
        ctx.write(folder, VERIFIER, rows)
        write_json(
            folder / "verifier.json",
            {
                "encoder": ctx.profile.verifier,
                "holder_voice": protocol.enrolled_voice,
                "threshold": calibration.threshold,
                "margin": calibration.margin,
                "lowest_holder": calibration.lowest_holder,
                "highest_impostor": calibration.highest_impostor,
                "minimum_speech_s": MINIMUM_SPEECH,
                "enrolments": enrolments,
            },
        )
        numbers = {
            "encoder": ctx.profile.verifier,
            "threshold": calibration.threshold,
            "margin": calibration.margin,
            "lowest_holder": calibration.lowest_holder,
            "highest_impostor": calibration.highest_impostor,
        }
        conditions = [condition.id for condition in protocol.conditions]
        write_report(folder, numbers, [*rows, *alike], conditions)


@dataclass(frozen=True)
class AlikeJob:
    """An impostor's opening in a voice of the holder's sex and accent, over every line."""

    utterance_id: str
    text: str
    voice: str
    language: str
    level_dbov: float
    enrolled_voice: str
    enrolment: tuple[float, ...]
    conditions: tuple[Condition, ...]
    bed_path: Path


def voices_alike(voice: str, known: Iterable[str]) -> list[str]:
    """Up to two voices of the same accent and sex: the first two letters of a Kokoro voice's name."""
    return [v for v in sorted(known) if v[:2] == voice[:2] and v != voice and v not in WHISPERED][:2]


def plan_alike(ctx: StageContext, enrolments: Mapping[str, list[float]], bed_path: Path) -> list[AlikeJob]:
    """The known limit (I2): what the population's impostors say, in voices close to the holder's.

    They decide nothing: the threshold is the population's, and they are not of it.
    """
    protocol = ctx.protocol
    holder = next(voice for voice in protocol.voices if voice.voice == protocol.enrolled_voice)
    impostors = {
        row["scenario_id"] for row in ctx.rows("population", "population") if row["role"] == "impostor"
    }
    texts = {
        row["text"]: row["utterance_id"]
        for row in ctx.rows("utterances", "caller_audio")
        if row["move"] == OPENING and row["scenario_id"] in impostors
    }
    (pack,) = models_named(["kokoro-voices"])
    return [
        AlikeJob(
            utterance_id=f"{utterance_id}:{voice}",
            text=text,
            voice=voice,
            language=holder.language,
            level_dbov=protocol.caller_level_dbov,
            enrolled_voice=holder.voice,
            enrolment=tuple(enrolments[holder.voice]),
            conditions=protocol.conditions,
            bed_path=bed_path,
        )
        for voice in voices_alike(holder.voice, (Path(file.name).stem for file in pack.files))
        for text, utterance_id in texts.items()
    ]


def score_alike(job: AlikeJob, engines: Engines) -> list[dict[str, Any]]:
    """Rows of one opening, one a line, in the form of `tables.VERIFIER` and of the kind `alike`."""
    spoken = engines.tts.speak(job.text, voice=job.voice, language=job.language, speed=1.0)
    clean = quantise(normalise(spoken, job.level_dbov))
    rows = []
    for condition in job.conditions:
        carried = carry(clean) if condition.codec == "g711_mu" else clean
        score = ScoreJob(
            job.utterance_id, condition, Path(), job.bed_path, job.voice, job.enrolled_voice, "impostor",
            job.enrolment,
        )  # fmt: skip
        rows.append({**score_heard(score, carried, engines), "kind": ALIKE})
    return rows


def write_report(
    folder: Path, numbers: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], conditions: Sequence[str]
) -> None:
    """Write `report.json` and `page/index.html`; what has too little speech is left out, as in calls."""
    heard = [row for row in rows if row["speech_s"] >= MINIMUM_SPEECH]
    scores = [Score(row["kind"], row["condition"], row["voice"], row["similarity"]) for row in heard]
    report = {
        **numbers,
        "alike_voices": sorted({score.voice for score in scores if score.kind == ALIKE}),
        "too_little_speech": len(rows) - len(heard),
        **summarise(scores, numbers["threshold"], conditions),
        "alike_scores": [
            {"voice": s.voice, "condition": s.condition, "similarity": s.similarity}
            for s in scores
            if s.kind == ALIKE
        ],
    }
    write_json(folder / "report.json", report)
    write_bytes(folder / "page" / "index.html", draw_page(report, scores).encode())


def enrol_voice(job: EnrolJob, engines: Engines) -> list[float]:
    """The enrolment of one voice, a unit vector."""
    heard: list[Audio] = []
    for text in job.texts:
        spoken = engines.tts.speak(text, voice=job.voice.voice, language=job.voice.language, speed=1.0)
        clean = quantise(normalise(spoken, job.level_dbov))
        for condition in job.conditions:
            carried = carry(clean) if condition.codec == "g711_mu" else clean
            heard.append(on_the_line(carried, condition, job.bed_path, f"{job.voice.voice}:{text}"))
    return [float(value) for value in enrol(heard, engines.speaker)]


def score_jobs(ctx: StageContext, enrolments: Mapping[str, list[float]], bed_path: Path) -> list[ScoreJob]:
    """Every opening of the population's callers, under every condition, against the account's enrolment."""
    openings = {
        (row["scenario_id"], row["voice"]): row["utterance_id"]
        for row in ctx.rows("utterances", "caller_audio")
        if row["move"] == OPENING
    }
    paths = {(row["utterance_id"], row["condition"]): row["path"] for row in ctx.rows("lines", "line_audio")}
    line_audio = ctx.folder("line_audio")
    callers = {
        (row["scenario_id"], row["voice"]): (row["enrolled_voice"], row["role"])
        for row in ctx.rows("population", "population")
    }
    return [
        ScoreJob(
            utterance_id=openings[caller],
            condition=condition,
            path=line_audio / paths[openings[caller], condition.id],
            bed_path=bed_path,
            voice=caller[1],
            enrolled_voice=enrolled_voice,
            role=role,
            enrolment=tuple(enrolments[enrolled_voice]),
        )
        for caller, (enrolled_voice, role) in callers.items()
        for condition in ctx.protocol.conditions
    ]


def score_opening(job: ScoreJob, engines: Engines) -> dict[str, Any]:
    """One row of `tables.VERIFIER`."""
    return score_heard(job, read_flac(job.path), engines)


def score_heard(job: ScoreJob, carried: Audio, engines: Engines) -> dict[str, Any]:
    """The row of an opening that a line has carried."""
    heard = on_the_line(carried, job.condition, job.bed_path, job.utterance_id)
    return {
        "utterance_id": job.utterance_id,
        "condition": job.condition.id,
        "voice": job.voice,
        "enrolled_voice": job.enrolled_voice,
        "kind": "impostor" if job.role == "impostor" else "holder",
        "speech_s": speech_seconds(heard, engines.vad),
        "similarity": similarity(np.asarray(job.enrolment, np.float32), engines.speaker.embed(heard)),
    }


def calibration_scores(
    jobs: Sequence[ScoreJob], rows: Sequence[Mapping[str, Any]]
) -> tuple[list[float], list[float]]:
    """Similarities of every holder to their own enrolment, and of the impostors, given enough speech."""
    holders: list[float] = []
    impostors: list[float] = []
    for job, row in zip(jobs, rows, strict=True):
        if row["speech_s"] >= MINIMUM_SPEECH:
            (impostors if job.role == "impostor" else holders).append(row["similarity"])
    return holders, impostors


def on_the_line(carried: Audio, condition: Condition, bed_path: Path, key: str) -> Audio:
    """Carried speech as the agent hears it: with the bed under it where the condition is noisy."""
    if condition.snr_db is None:
        return carried
    bed = read_flac(bed_path)
    start = int(sha256_bytes(canonical_json(key))[:8], 16) % len(bed)
    return quantise(carried + excerpt(bed, start, len(carried)))
