"""Time and level units; the only place where seconds become samples and back.

Audio in memory is a one-dimensional float32 array in [-1, 1) at 16 kHz unless a name says otherwise.
Levels are in dBov: 0 dBov is the power of a full-scale square wave, so a full-scale sine is -3.01 dBov
(ITU-T G.100.1).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Seconds = float
Samples = int
Audio = npt.NDArray[np.float32]

SAMPLE_RATE = 16_000  # Hz, of every track and of every stored utterance
PCM_SCALE = 32_768.0  # one unit of float audio in 16-bit steps


def to_samples(time: Seconds, rate: int = SAMPLE_RATE) -> Samples:
    """The sample nearest to a time in s."""
    return round(time * rate)


def to_seconds(samples: Samples, rate: int = SAMPLE_RATE) -> Seconds:
    """The time in s of a sample's start."""
    return samples / rate


def to_pcm16(audio: Audio) -> npt.NDArray[np.int16]:
    """16-bit steps of float audio, rounded half to even and clipped at full scale."""
    return np.clip(np.rint(np.asarray(audio, np.float64) * PCM_SCALE), -32_768, 32_767).astype(np.int16)


def from_pcm16(pcm: npt.NDArray[np.int16]) -> Audio:
    """Float audio of 16-bit steps; exact, so `to_pcm16(from_pcm16(x)) == x`."""
    return (pcm.astype(np.float32) / np.float32(PCM_SCALE)).astype(np.float32)


def quantise(audio: Audio) -> Audio:
    """Audio as a 16-bit file would give it back: what is stored and what is used are then the same."""
    return from_pcm16(to_pcm16(audio))
