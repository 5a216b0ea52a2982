"""Silero in streams: speech is speech, silence is not, and streams do not hear each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.speech.engines import Engines
from inquesto_dag.speech.interfaces import VAD_FRAME, VoiceActivityDetector
from inquesto_dag.speech.silero import Silero
from inquesto_dag.units import Audio

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def silero(engines: Engines) -> Silero:
    """The detector itself."""
    engine = engines.vad.engine  # type: ignore[attr-defined]
    assert isinstance(engine, Silero) and isinstance(engine, VoiceActivityDetector)
    return engine


def frames(audio: Audio) -> Audio:
    """Audio in whole frames (frames, 512)."""
    return audio[: len(audio) // VAD_FRAME * VAD_FRAME].reshape(-1, VAD_FRAME)


def test_stream_agrees_with_the_wheels_own_wrapper(silero: Silero, said: Callable[..., Audio]) -> None:
    """Frame by frame the same probabilities as the package computes."""
    import torch
    from silero_vad.utils_vad import OnnxWrapper

    theirs = OnnxWrapper(str(silero._model), force_onnx_cpu=True)
    stream = silero.stream()
    for frame in frames(said()):
        expected = theirs(torch.from_numpy(frame.copy()), 16_000).item()
        assert stream.step(frame) == pytest.approx(expected, abs=1e-6)


def test_speech_is_found_between_silences(silero: Silero, said: Callable[..., Audio]) -> None:
    """Silence, a line, silence: only the line is speech, and a second after it nothing is."""
    silence = np.zeros(16_000, np.float32)
    audio = np.concatenate([silence, said(), silence, silence])
    stream = silero.stream()
    speech = np.array([stream.step(frame) for frame in frames(audio)]) >= 0.5
    start, end = 16_000 // VAD_FRAME, (16_000 + len(said())) // VAD_FRAME
    assert speech[start:end].mean() > 0.8
    assert not speech[:start].any() and not speech[end + 16_000 // VAD_FRAME :].any()


def test_streams_are_independent(silero: Silero, said: Callable[..., Audio]) -> None:
    """Two streams in turns give what each gives alone."""
    audio = frames(said())[:40]
    alone = silero.stream()
    expected = [alone.step(frame) for frame in audio]
    one, other = silero.stream(), silero.stream()
    seen = []
    for frame in audio:
        seen.append(one.step(frame))
        other.step(np.zeros(VAD_FRAME, np.float32))
    assert seen == expected


def test_frame_of_another_length_is_refused(silero: Silero) -> None:
    """A short last frame must be padded by who has it, not guessed at."""
    with pytest.raises(InputError, match=r"shape \(500,\), expected \(512,\)"):
        silero.stream().step(np.zeros(500, np.float32))
