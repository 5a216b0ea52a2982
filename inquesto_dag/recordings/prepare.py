"""A recording as the annotator takes it: each track alone, without offset, leak and noise, at a usual level.

The annotator was built for near-end tracks of a simulation and is called as it is. What it takes for granted
is brought about here, each step only on a track that needs it, in this order: offset (and rumble) out, leak
of the other side out, steady noise out, level to -26 dBov. A track that needs nothing is passed on untouched,
sample for sample, so a recording of this project measures as it does in its own chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inquesto_dag.audio.levels import active_speech_level, frame_levels, rms_dbov
from inquesto_dag.errors import InputError
from inquesto_dag.recordings.crosstalk import STRONGEST, Leak, find_leak, own_frames
from inquesto_dag.recordings.noise import FRAME, is_noisy, keep, noise_floor, runs, stands_out
from inquesto_dag.recordings.read import Recording
from inquesto_dag.units import SAMPLE_RATE, Audio

OFFSET_DBOV = -65.0  # below it the annotator takes no frame for speech, whatever it holds
RUMBLE = 60.0  # Hz
SILENT_DBOV = -80.0  # no 10 ms frame above it: nobody speaks on this track
TARGET_DBOV = -26.0  # ITU-T P.56 active level, as the chain's own tracks have it
USUAL = (-36.0, -12.0)  # dBov: levels at which the annotator's own floor of -65 dBov cuts nothing off
LOUDEST_GAIN = 50.0  # dB
CLIP_RUN = 3  # samples at one and the same extreme in a row: a peak of unclipped speech has one or two
CLIPPED_SHARE = 1e-4  # of the samples


@dataclass(frozen=True)
class TrackNotes:
    """What was found on one track and done about it; levels in dBov, shares in [0, 1]."""

    peak: float
    active_level_dbov: float | None
    noise_dbov: float
    offset: float
    clipped_share: float
    leak: Leak | None
    gain_db: float
    silent: bool
    done: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Prepared:
    """Both tracks as they are measured, (n,) float32, and the notes of each."""

    caller: Audio
    agent: Audio
    notes: dict[str, TrackNotes]

    def stereo(self) -> Audio:
        """(n, 2): left the caller, right the agent."""
        return np.stack([self.caller, self.agent], axis=1)


def prepare(recording: Recording) -> Prepared:
    """Both tracks ready for the annotator; InputError when no track or only one sound is there."""
    tracks = {"caller": recording.caller, "agent": recording.agent}
    if all(_is_silent(track) for track in tracks.values()):
        raise InputError(
            "is silent on both sides",
            where=_named(recording),
            remedy="check which channels were recorded, and that the file is the call",
        )
    offsets = {name: float(np.mean(track, dtype=np.float64)) for name, track in tracks.items()}
    level = {name: _without_offset(track, offsets[name]) for name, track in tracks.items()}
    leaks = {
        "caller": find_leak(level["caller"], level["agent"]),
        "agent": find_leak(level["agent"], level["caller"]),
    }
    _require_two_sounds(recording, level)
    out: dict[str, Audio] = {}
    notes: dict[str, TrackNotes] = {}
    for name, other in (("caller", "agent"), ("agent", "caller")):
        out[name], notes[name] = _prepare_track(
            tracks[name], level[name], level[other], offsets[name], leaks[name], other
        )
    return Prepared(out["caller"], out["agent"], notes)


def _prepare_track(
    given: Audio, level: Audio, other: Audio, offset: float, leak: Leak | None, other_name: str
) -> tuple[Audio, TrackNotes]:
    done: list[str] = []
    warnings: list[str] = []
    track = level
    if level is not given:
        done.append(f"offset of {offset:+.4f} of full scale and rumble below {RUMBLE:.0f} Hz taken out")
    silent = _is_silent(track)
    if leak is not None and not silent:
        track = keep(track, own_frames(track, other, leak))
        done.append(f"leak of the {other_name} at {leak.level_db:.0f} dB taken out")
        if leak.level_db > STRONGEST:
            warnings.append(
                f"the {other_name} leaks in at {leak.level_db:.0f} dB; above {STRONGEST:.0f} dB speech and "
                "leak cannot be told apart, and its turns are not to be trusted"
            )
    levels = frame_levels(level, FRAME)
    floor, _ = noise_floor(levels)
    if not silent and is_noisy(levels):
        track = keep(track, stands_out(level))
        done.append(f"steady noise at {floor:.0f} dBov gated")
        ratio = float(np.percentile(levels, 95.0)) - floor
        if ratio < 12.0:
            warnings.append(f"speech stands only {max(ratio, 0.0):.0f} dB out of the noise; edges are coarse")
    clipped = clipped_share(given)
    if clipped > CLIPPED_SHARE:
        warnings.append(f"{100 * clipped:.2f} % of the samples are clipped; times hold, words may not")
    active = active_speech_level(track).level_dbov if np.any(track) else None
    gain = 0.0
    if not silent and active is not None and active > SILENT_DBOV and not USUAL[0] <= active <= USUAL[1]:
        gain = min(TARGET_DBOV - active, LOUDEST_GAIN)
        track = np.clip(track * np.float32(10.0 ** (gain / 20.0)), -1.0, 1.0).astype(np.float32)
        done.append(f"level brought from {active:.0f} to {active + gain:.0f} dBov")
    if silent:
        track = np.zeros_like(track)
        warnings.append("is silent")
    elif not np.any(track):
        warnings.append("holds nothing that stands out of its noise and of the other side's leak")
    return track, TrackNotes(
        peak=round(float(np.max(np.abs(given), initial=0.0)), 4),
        active_level_dbov=None if active is None else round(active, 1),
        noise_dbov=round(floor, 1),
        offset=round(offset, 5),
        clipped_share=round(clipped, 6),
        leak=leak,
        gain_db=round(gain, 1),
        silent=silent,
        done=tuple(done),
        warnings=tuple(warnings),
    )


def _is_silent(track: Audio) -> bool:
    centred = np.asarray(track - np.float32(np.mean(track, dtype=np.float64)), np.float32)
    return float(np.max(frame_levels(centred, FRAME), initial=-120.0)) < SILENT_DBOV


def _without_offset(track: Audio, offset: float) -> Audio:
    """The track itself where its offset matters to nothing, else high-passed without delay."""
    if rms_dbov(np.array([offset], np.float32)) < OFFSET_DBOV:
        return track
    from scipy.signal import butter, sosfiltfilt

    sections = butter(2, RUMBLE, btype="highpass", fs=SAMPLE_RATE, output="sos")
    centred = np.asarray(track, np.float64) - offset
    return np.asarray(sosfiltfilt(sections, centred), np.float32)


def _require_two_sounds(recording: Recording, level: dict[str, Audio]) -> None:
    """Two tracks that hold one sound at one level are a mono recording in a stereo file; a leak is softer."""
    a, b = level["caller"], level["agent"]
    if abs(rms_dbov(a) - rms_dbov(b)) > -STRONGEST:
        return
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    if scale and abs(float(np.dot(a.astype(np.float64), b.astype(np.float64)))) / scale > 0.95:
        raise InputError(
            "holds the same sound on both tracks: a mono recording in a stereo file",
            where=_named(recording),
            remedy="record caller and agent on a track each; one mixed track does not tell who speaks",
        )


def clipped_share(track: Audio) -> float:
    """The share of samples in runs of `CLIP_RUN` or more at the track's own extremes."""
    extreme = float(np.max(np.abs(track), initial=0.0))
    if extreme == 0.0:
        return 0.0
    flat = np.abs(track) >= 0.998 * extreme
    return sum(end - start for start, end in runs(flat) if end - start >= CLIP_RUN) / len(track)


def _named(recording: Recording) -> str:
    return " and ".join(source.path for source in recording.sources)
