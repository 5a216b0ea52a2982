"""Silero VAD as an ONNX graph, in streams of 512-sample frames (32 ms at 16 kHz).

The network sees each frame behind the last 64 samples of the one before, and carries a state (2, 1, 128).
Streams share the graph and nothing else.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inquesto_dag.errors import InputError
from inquesto_dag.speech.interfaces import VAD_FRAME
from inquesto_dag.speech.loaded import digest_of, open_session, versions_of
from inquesto_dag.units import SAMPLE_RATE, Audio

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

CONTEXT = 64  # samples


class SileroStream:
    """One stream; `step` takes the next frame."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session
        self._input = np.zeros((1, CONTEXT + VAD_FRAME), np.float32)
        self._state = np.zeros((2, 1, 128), np.float32)
        self._rate = np.array(SAMPLE_RATE, np.int64)

    def step(self, frame512: Audio) -> float:
        """Speech probability in [0, 1] of the next 512 samples; InputError for another number of them."""
        if frame512.shape != (VAD_FRAME,):
            raise InputError(
                f"a VAD frame of shape {frame512.shape}, expected ({VAD_FRAME},)", where="silero"
            )
        self._input[0, :CONTEXT] = self._input[0, -CONTEXT:]
        self._input[0, CONTEXT:] = frame512
        feed = {"input": self._input, "state": self._state, "sr": self._rate}
        probability, self._state = self._session.run(None, feed)
        return float(np.asarray(probability).item())


class Silero:
    """The voice activity detector of the `silero-vad` wheel."""

    def __init__(self, model: Path, threads: int = 1) -> None:
        self._model, self._threads = model, threads

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digest of the graph, versions, frame and context in samples."""
        return {
            "name": "silero-vad",
            "model": digest_of(self._model),
            "frame": VAD_FRAME,
            "context": CONTEXT,
            **versions_of("onnxruntime"),
        }

    @cached_property
    def _session(self) -> InferenceSession:
        session = open_session(self._model, self._threads)
        names = {value.name for value in session.get_inputs()}
        if names != {"input", "state", "sr"}:
            raise InputError(f"has inputs {sorted(names)}, expected input, state, sr", where=self._model)
        return session

    def load(self) -> None:
        """Load the graph now instead of at the first stream."""
        _ = self._session

    def stream(self) -> SileroStream:
        """A new stream that has heard nothing."""
        return SileroStream(self._session)
