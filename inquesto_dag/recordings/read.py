"""Any recording of a call as two sample-aligned tracks of 16 kHz, whatever file it comes in.

One stereo file (left caller, right agent) or two mono files, in any container that libsndfile reads: WAV with
PCM, float, A-law or mu-law, FLAC, OGG. Resampling is soxr's linear-phase VHQ, which delays nothing. A file is
never read shorter than it says it is: what a WAV header, a FLAC header or the last page of an OGG stream
promises is held against what is there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inquesto_dag.errors import InputError
from inquesto_dag.files import sha256_file
from inquesto_dag.units import SAMPLE_RATE, Audio, Seconds

LOWEST_RATE = 8_000  # Hz: a telephone
LONGEST: Seconds = 3_600.0
SHORTEST: Seconds = 0.5
UNEVEN: Seconds = 0.1  # two files whose lengths differ by more are told so
STREAMED = 0x7FFF_0000  # RIFF sizes from here on are placeholders of recorders that could not seek back
OGG_END = 0x04  # the flag of a stream's last page (RFC 3533)
FORMATS = "WAV, FLAC or OGG"


@dataclass(frozen=True)
class Source:
    """One file as it was given: rate in Hz, duration in s."""

    path: str
    sha256: str
    format: str
    rate: int
    channels: int
    duration_s: Seconds


@dataclass(frozen=True)
class Recording:
    """Two tracks (n,) float32 at 16 kHz, where they came from, and what a reader must know of the reading."""

    caller: Audio
    agent: Audio
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    @property
    def duration_s(self) -> Seconds:
        """Length of both tracks in s."""
        return len(self.caller) / SAMPLE_RATE


def read_recording(call: Path, agent: Path | None = None, *, swap: bool = False) -> Recording:
    """One stereo file, or the caller's mono file and the agent's; `swap` exchanges the two sides.

    Raises InputError, naming the file and the next step, for a file that is missing, empty, truncated, no
    audio, mono where two tracks are needed (or the reverse), slower than 8 kHz, shorter than 0.5 s or longer
    than an hour.
    """
    notes: tuple[str, ...] = ()
    if agent is None:
        source, samples, whole = _read(call)
        if source.channels != 2:
            what = "has one track" if source.channels == 1 else f"has {source.channels} tracks"
            raise InputError(
                f"{what}; caller and agent need a track each",
                where=call,
                remedy="give a stereo file (left caller, right agent), or two files: CALLER.wav AGENT.wav"
                if source.channels == 1
                else "cut it down to the two tracks of the call, left caller, right agent",
            )
        sides = [_resampled(samples[:, side], source.rate) for side in (0, 1)]
        sources: tuple[Source, ...] = (source,)
        notes = whole
    else:
        read = [_read(path) for path in (call, agent)]
        for source, _, _ in read:
            if source.channels != 1:
                raise InputError(
                    f"has {source.channels} tracks; of two files each holds one side of the call",
                    where=source.path,
                    remedy="give one stereo file alone, or two mono files",
                )
        if read[0][0].sha256 == read[1][0].sha256:
            raise InputError(
                "is given twice", where=call, remedy="give the caller's file and then the agent's"
            )
        sides = [_resampled(samples[:, 0], source.rate) for source, samples, _ in read]
        sources = tuple(source for source, _, _ in read)
        notes = tuple(note for _, _, more in read for note in more)
        apart = abs(len(sides[0]) - len(sides[1])) / SAMPLE_RATE
        if apart > UNEVEN:
            notes += (
                f"the files differ in length by {apart:.2f} s; they are taken to begin at the same instant",
            )
    length = max(len(side) for side in sides)
    padded = [np.pad(side, (0, length - len(side))) for side in sides]
    if swap:
        padded.reverse()
        notes += ("the two sides were exchanged, as asked",)
    return Recording(padded[0], padded[1], sources, notes)


def _read(path: Path) -> tuple[Source, npt.NDArray[np.float32], tuple[str, ...]]:
    """A file's description, its samples (n, channels) float32, and notes."""
    import soundfile

    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(problem, where=path, remedy=f"give a {FORMATS} file")
    if path.stat().st_size == 0:
        raise InputError("is empty: 0 bytes", where=path, remedy="record or copy it again")
    notes = _check_container(path)
    try:
        with soundfile.SoundFile(path) as sound:
            rate, channels, promised = sound.samplerate, sound.channels, sound.frames
            name = f"{sound.format} {sound.subtype}"
            _check_form(path, rate, promised)
            samples = sound.read(dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise InputError(
            f"cannot be read as audio ({error.error_string.strip().rstrip('.')})",
            where=path,
            remedy=f"give a {FORMATS} file; one that was cut off or damaged has to be copied again",
        ) from error
    if len(samples) < promised:
        raise _truncated(path, f"{len(samples) / rate:.2f} s of {promised / rate:.2f} s are there")
    if not np.isfinite(samples).all():
        raise InputError(
            "holds samples that are not finite numbers", where=path, remedy="export it as 16-bit PCM"
        )
    source = Source(str(path), sha256_file(path), name, rate, channels, len(samples) / rate)
    return source, samples, notes


def _check_form(path: Path, rate: int, frames: int) -> None:
    if rate < LOWEST_RATE:
        raise InputError(
            f"has {rate} samples a second, less than a telephone's {LOWEST_RATE}",
            where=path,
            remedy="give a recording of at least 8 kHz",
        )
    length = frames / rate
    if length < SHORTEST:
        raise InputError(f"holds {length:.2f} s of sound, too little for a call", where=path,
                         remedy="give the whole recording of a call")  # fmt: skip
    if length > LONGEST:
        raise InputError(
            f"is {length / 60:.0f} minutes long; a call of at most {LONGEST / 60:.0f} is measured at a time",
            where=path,
            remedy="cut it into calls",
        )


def _check_container(path: Path) -> tuple[str, ...]:
    """What libsndfile reads without a word: a WAV or OGG that ends before it says it does."""
    with path.open("rb") as stream:
        head = stream.read(12)
        if head[:4] == b"RIFF" and head[8:] == b"WAVE":
            return _check_wav(path, stream)
    return _check_ogg(path) if head[:4] == b"OggS" else ()


def _check_wav(path: Path, stream: Any) -> tuple[str, ...]:
    size = path.stat().st_size
    position = 12
    while position + 8 <= size:
        stream.seek(position)
        kind, length = struct.unpack("<4sI", stream.read(8))
        if kind != b"data":
            position += 8 + length + (length & 1)
            continue
        there = size - position - 8
        if length == 0 and there > 0:
            raise _truncated(path, "its header says that no sound follows, so the recorder never closed it")
        if length >= STREAMED:
            return ("the header states no length (a streamed WAV): whether its end is missing is unknown",)
        if length > there:
            raise _truncated(path, f"{there} of {length} bytes of sound are there")
        return ()
    raise _truncated(path, "no sound follows its header")


def _check_ogg(path: Path) -> tuple[str, ...]:
    """The last page must be whole and carry the flag that ends a stream."""
    data = path.read_bytes()
    last = data.rfind(b"OggS")
    page = data[last : last + 27]
    if len(page) == 27:
        table = data[last + 27 : last + 27 + page[26]]
        if page[5] & OGG_END and len(table) == page[26] and last + 27 + page[26] + sum(table) <= len(data):
            return ()
    raise _truncated(path, "its last page does not end the stream")


def _truncated(path: Path, how: str) -> InputError:
    return InputError(f"is truncated: {how}", where=path, remedy="copy or record it again, whole")


def _resampled(samples: npt.NDArray[np.float32], rate: int) -> Audio:
    if rate == SAMPLE_RATE:
        return np.ascontiguousarray(samples, np.float32)
    import soxr

    changed: Audio = np.asarray(soxr.resample(samples, rate, SAMPLE_RATE, quality="VHQ"), np.float32)
    return changed
