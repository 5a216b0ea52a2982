"""FLAC in and out: 16 kHz, 16 bit, one channel (n,) or two (n, 2), float32 in [-1, 1) in memory.

Reading trusts nothing: rate, sample width, the number of samples that the header promises and the MD5 of
the samples that FLAC keeps in its header are all checked, so a truncated or damaged file between two stages
is an error and never a shorter recording. The same audio always gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np

from inquesto_dag.errors import InputError
from inquesto_dag.files import write_bytes
from inquesto_dag.units import SAMPLE_RATE, Audio, from_pcm16, to_pcm16

REMEDY = "restore it with `dvc checkout` or run the stage that writes it again"
MAGIC = b"fLaC"
MD5_BYTES = slice(26, 42)  # the last 16 bytes of STREAMINFO, after magic (4) and block header (4); RFC 9639
HEADER_BYTES = 42


def flac_bytes(audio: Audio) -> bytes:
    """The FLAC file of audio: (n,) mono or (n, 2) stereo float32 in [-1, 1), 16 kHz, rounded to 16 bit.

    Raises ValueError for another shape, no samples or a sample that is not finite: such audio is a fault of
    the code that made it.
    """
    import soundfile

    samples = np.asarray(audio, np.float32)
    if samples.ndim not in (1, 2) or (samples.ndim == 2 and samples.shape[1] != 2) or not len(samples):
        raise ValueError(f"audio must be (n,) or (n, 2) with n > 0, not {samples.shape}")
    if not np.isfinite(samples).all():
        raise ValueError("audio holds a sample that is not a finite number")
    stream = io.BytesIO()
    soundfile.write(stream, to_pcm16(samples), SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    return stream.getvalue()


def audio_from_flac(data: bytes, where: str | Path) -> Audio:
    """The audio of a FLAC file's bytes: (n,) or (n, 2) float32; `where` names it in errors.

    Raises InputError when the bytes are not FLAC, not 16 kHz 16 bit, truncated or damaged.
    """
    import soundfile

    if data[:4] != MAGIC or len(data) < HEADER_BYTES:
        raise InputError("is not a FLAC file", where=where, remedy=REMEDY)
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as sound:
            rate, width, promised, channels = sound.samplerate, sound.subtype, sound.frames, sound.channels
            if rate != SAMPLE_RATE or width != "PCM_16" or channels not in (1, 2):
                raise InputError(
                    f"is {rate} Hz {width} of {channels} channel(s), not {SAMPLE_RATE} Hz PCM_16 of 1 or 2",
                    where=where,
                    remedy=f"convert it to 16-bit FLAC of {SAMPLE_RATE} Hz",
                )
            pcm = sound.read(dtype="int16")
    except soundfile.LibsndfileError as error:
        problem = f"is a damaged FLAC file ({error.error_string})"
        raise InputError(problem, where=where, remedy=REMEDY) from error
    if len(pcm) != promised:
        raise InputError(
            f"is truncated: {len(pcm)} of {promised} samples are there", where=where, remedy=REMEDY
        )
    stored = data[MD5_BYTES]
    found = hashlib.md5(pcm.astype("<i2").tobytes(), usedforsecurity=False).digest()
    if any(stored) and stored != found:  # all zeros: the encoder that wrote it kept no MD5 (RFC 9639)
        raise InputError("is damaged: its samples have not the MD5 it states", where=where, remedy=REMEDY)
    return from_pcm16(pcm)


def write_flac(path: Path, audio: Audio) -> None:
    """Write audio, (n,) or (n, 2) float32, as 16-bit 16 kHz FLAC; atomic, and the same bytes every time."""
    write_bytes(path, flac_bytes(audio))


def read_flac(path: Path) -> Audio:
    """The audio of a FLAC file: (n,) or (n, 2) float32.

    Raises InputError, naming the file and what to do, when it is missing, truncated or not what it should be.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError("does not exist", where=path, remedy="run the stage that writes it") from error
    return audio_from_flac(data, path)
