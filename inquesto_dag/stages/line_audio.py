"""Stage `line_audio`: what each condition's line makes of the utterances, and the babble bed (PROTOCOL P3).

The bed runs under the whole call (D4), so it is kept apart from the speech: a babble line is the clean line,
and the call adds the bed. It is made here once, of talkers who are no caller (D6), at the condition's ratio
to the callers' active speech level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.audio.babble import excerpt, make_bed
from inquesto_dag.audio.files import flac_bytes, read_flac, write_flac
from inquesto_dag.audio.levels import active_speech_level
from inquesto_dag.audio.measure import band_energy_db, snr_db
from inquesto_dag.audio.telephone import carry
from inquesto_dag.errors import InputError
from inquesto_dag.files import sha256_bytes, write_bytes
from inquesto_dag.protocol.models import Condition, Protocol
from inquesto_dag.speech.catalogue import BABBLE_VOICES
from inquesto_dag.stages.babble_talks import TALKS
from inquesto_dag.stages.context import StageContext
from inquesto_dag.tables import LINES
from inquesto_dag.units import SAMPLE_RATE, Audio

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

BED = "bed.flac"
BED_S = 60.0
BED_SEED = 20_260  # one bed for every call; where a call enters it is the call's own draw
LOW_HZ, HIGH_HZ, TOP_HZ = 200.0, 4000.0, SAMPLE_RATE / 2 + 1.0


@dataclass(frozen=True)
class CarryJob:
    """One utterance to carry over every condition's line; `bed_path` is the noise, if a condition has any."""

    utterance_id: str
    path: Path
    sha256: str
    conditions: tuple[Condition, ...]
    bed_path: Path | None
    folder: Path


def run(ctx: StageContext) -> None:
    """Write `lines`, `audio/CONDITION/UTTERANCE.flac` and `bed.flac`."""
    caller_audio = ctx.folder("caller_audio")
    utterances = ctx.rows("utterances", "caller_audio")
    with ctx.output() as folder:
        level = bed_level_dbov(ctx.protocol)
        bed_path = None
        if level is not None:
            bed_path = folder / BED
            talks = ctx.map(speak_talk, list(zip(BABBLE_VOICES, TALKS, strict=True)), "babble talkers")
            write_flac(bed_path, make_bed(talks, BED_S, level, BED_SEED))
        jobs = [
            CarryJob(
                row["utterance_id"], caller_audio / row["path"], row["sha256"], ctx.protocol.conditions,
                bed_path, folder,
            )
            for row in utterances
        ]  # fmt: skip
        rows = [row for carried in ctx.map(carry_utterance, jobs, "line audio") for row in carried]
        ctx.write(folder, LINES, rows)


def bed_level_dbov(protocol: Protocol) -> float | None:
    """The level of the bed that gives the noisy conditions their ratio; None when no condition is noisy."""
    ratios = {condition.snr_db for condition in protocol.conditions if condition.snr_db is not None}
    if len(ratios) > 1:
        raise InputError(
            f"asks for several noise ratios {sorted(ratios)}; there is one bed",
            where="conditions.yaml", field="snr_db", remedy="give every noisy condition the same ratio",
        )  # fmt: skip
    return protocol.caller_level_dbov - ratios.pop() if ratios else None


def speak_talk(talk: tuple[str, str], engines: Engines) -> Audio:
    """One talker of the bed: (n,) of its voice saying its text."""
    voice, text = talk
    language = "en-gb" if voice.startswith("b") else "en-us"
    return engines.tts.speak(text, voice=voice, language=language, speed=1.0)


def carry_utterance(job: CarryJob, engines: Engines) -> list[dict[str, Any]]:
    """Carry and store one utterance over each line; its rows of `tables.LINES`.

    A line without a codec carries the clean speech as it is: what is measured of it is measured once.
    """
    clean = read_flac(job.path)
    carried_by: dict[str | None, _Carried] = {None: _measure(clean, clean)}
    rows = []
    for condition in job.conditions:
        if condition.codec not in carried_by:
            carried_by[condition.codec] = _measure(carry(clean), clean)
        rows.append(_store(job, condition, carried_by[condition.codec]))
    return rows


@dataclass(frozen=True)
class _Carried:
    """An utterance behind a codec: audio and bytes, level in dBov, band changes against clean in dB."""

    audio: Audio
    data: bytes
    sha256: str
    active_level_dbov: float
    low_band_db: float
    high_band_db: float


def _measure(carried: Audio, clean: Audio) -> _Carried:
    data = flac_bytes(carried)
    same = carried is clean
    return _Carried(
        audio=carried,
        data=data,
        sha256=sha256_bytes(data),
        active_level_dbov=active_speech_level(carried).level_dbov,
        low_band_db=0.0 if same else _band_change(carried, clean, 0.0, LOW_HZ),
        high_band_db=0.0 if same else _band_change(carried, clean, HIGH_HZ, TOP_HZ),
    )


def _store(job: CarryJob, condition: Condition, carried: _Carried) -> dict[str, Any]:
    path = Path("audio") / condition.id / f"{job.utterance_id}.flac"
    write_bytes(job.folder / path, carried.data)
    ratio = None
    if condition.snr_db is not None and job.bed_path is not None:
        bed = _read_bed(job.bed_path)
        start = int(job.sha256[:8], 16) % len(bed)  # any place will do; this one is the same on every run
        ratio = snr_db(carried.audio, excerpt(bed, start, len(carried.audio)))
    return {
        "utterance_id": job.utterance_id,
        "condition": condition.id,
        "path": path.as_posix(),
        "sha256": carried.sha256,
        "codec": condition.codec or "none",
        "active_level_dbov": carried.active_level_dbov,
        "snr_db": ratio,
        "low_band_db": carried.low_band_db,
        "high_band_db": carried.high_band_db,
    }


@lru_cache(maxsize=1)
def _read_bed(path: Path) -> Audio:
    """The bed of this run, read once by each process: its folder's name never returns."""
    return read_flac(path)


def _band_change(carried: Audio, clean: Audio, low_hz: float, high_hz: float) -> float:
    return band_energy_db(carried, low_hz, high_hz) - band_energy_db(clean, low_hz, high_hz)
