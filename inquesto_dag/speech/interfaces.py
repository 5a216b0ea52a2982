"""What the rest of the house may ask of a speech engine; every engine sits behind one of these.

Conventions: audio is one-dimensional float32 in [-1, 1) at 16 kHz (`units.Audio`). `identity` is plain JSON
data: the engine's name, the digests of the files that were loaded, package versions and settings; it goes
into memo keys and records, so whatever changes a result changes it (PROTOCOL D16, D17).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from inquesto_dag.errors import InputError
from inquesto_dag.units import Audio

Language = Literal["en-us", "en-gb"]
Embedding = npt.NDArray[np.float32]  # (d,), unit length

VAD_FRAME = 512  # samples, 32 ms: the frame that Silero was trained on at 16 kHz


@dataclass(frozen=True)
class Recognition:
    """What a recogniser read: `text` is empty when it read nothing, and `confidence` is then 0.

    `confidence` is exp of the mean log probability per token, in [0, 1].
    """

    text: str
    confidence: float


class Unsayable(InputError):
    """A text of which no word can be spoken, such as one in a script that the voice does not know."""


@runtime_checkable
class TextToSpeech(Protocol):
    """Synthesis of one line."""

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digests of loaded files, versions and settings."""
        ...

    def speak(self, text: str, *, voice: str, language: str, speed: float) -> Audio:
        """Speak a text: (n,) float32 at 16 kHz, cut to its speech, on the 16-bit grid.

        `voice` is a voice pack such as `af_heart`, `language` `en-us` or `en-gb`, `speed` 0.5 to 2.
        InputError when a voice, language or speed is unknown, Unsayable when the text has nothing to say.
        """
        ...


@runtime_checkable
class Recogniser(Protocol):
    """Recognition of one stretch of audio."""

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digests of loaded files, versions and settings."""
        ...

    def recognise(self, audio: Audio) -> Recognition:
        """Read the words of (n,) float32 audio at 16 kHz; the same audio always gives the same words."""
        ...


class VadStream(Protocol):
    """One stream through a voice activity detector; it remembers what it heard."""

    def step(self, frame512: Audio) -> float:
        """Speech probability in [0, 1] of the next 512 samples (32 ms)."""
        ...


@runtime_checkable
class VoiceActivityDetector(Protocol):
    """A maker of streams, which are independent of each other."""

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digests of loaded files, versions and settings."""
        ...

    def stream(self) -> VadStream:
        """A new stream that has heard nothing."""
        ...


@runtime_checkable
class SpeakerEncoder(Protocol):
    """A voice as a vector; the cosine of two vectors is their dot product."""

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digests of loaded files, versions and settings."""
        ...

    def embed(self, audio: Audio) -> Embedding:
        """The unit vector (d,) float32 of a voice in (n,) audio; InputError when there is no sound in it."""
        ...
