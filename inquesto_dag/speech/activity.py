"""Speech probability along a stretch of audio, frame by frame."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from inquesto_dag.speech.interfaces import VAD_FRAME, VoiceActivityDetector
from inquesto_dag.units import Audio


def speech_probabilities(audio: Audio, vad: VoiceActivityDetector) -> npt.NDArray[np.float64]:
    """Speech probability of each 32 ms frame of (n,) audio, the last padded: (ceil(n / 512),) float64."""
    stream = vad.stream()
    padded = np.pad(np.asarray(audio, np.float32), (0, -len(audio) % VAD_FRAME))
    return np.array([stream.step(frame) for frame in padded.reshape(-1, VAD_FRAME)], np.float64)
