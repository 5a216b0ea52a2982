"""A WeSpeaker encoder as an ONNX graph: `feats` (1, frames, 80) to an embedding (1, d).

Features are Kaldi filter banks as WeSpeaker trains on them: 80 mels, 25 ms Hamming window every 10 ms, no
dither, audio in 16-bit steps, the mean over the utterance taken off each mel.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from inquesto_dag.errors import InputError
from inquesto_dag.speech.interfaces import Embedding
from inquesto_dag.speech.loaded import digest_of, open_session, single_name, versions_of
from inquesto_dag.units import PCM_SCALE, SAMPLE_RATE, Audio

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

MELS = 80
SHORTEST = 400  # samples: one window of 25 ms


def filter_banks(audio: Audio) -> npt.NDArray[np.float32]:
    """Mean-normalised log mel features (frames, 80) of (n,) audio at 16 kHz, n >= 400."""
    import kaldi_native_fbank as knf

    options = knf.FbankOptions()
    options.frame_opts.samp_freq = SAMPLE_RATE
    options.frame_opts.dither = 0.0
    options.frame_opts.window_type = "hamming"
    options.frame_opts.snip_edges = True
    options.mel_opts.num_bins = MELS
    options.energy_floor = 0.0
    bank = knf.OnlineFbank(options)
    bank.accept_waveform(SAMPLE_RATE, (np.asarray(audio, np.float32) * np.float32(PCM_SCALE)).tolist())
    bank.input_finished()
    frames = np.stack([bank.get_frame(i) for i in range(bank.num_frames_ready)])
    return np.asarray(frames - frames.mean(axis=0, keepdims=True), np.float32)


class WeSpeaker:
    """A WeSpeaker graph with one input and one output."""

    def __init__(self, model: Path, threads: int = 1) -> None:
        self._model, self._threads = model, threads

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digest of the graph, versions and feature settings."""
        return {
            "name": "wespeaker",
            "model": digest_of(self._model),
            "mels": MELS,
            "window": "hamming",
            **versions_of("onnxruntime", "kaldi-native-fbank"),
        }

    @cached_property
    def _graph(self) -> tuple[InferenceSession, str, str]:
        """The session, the name of its input and that of its output."""
        session = open_session(self._model, self._threads)
        return (
            session,
            single_name(session.get_inputs(), "inputs", self._model),
            single_name(session.get_outputs(), "outputs", self._model),
        )

    def load(self) -> None:
        """Load the graph now instead of at the first voice."""
        _ = self._graph

    def embed(self, audio: Audio) -> Embedding:
        """The unit vector (d,) float32 of a voice in (n,) audio; InputError when there is no sound in it."""
        if len(audio) < SHORTEST or not np.any(audio):
            raise InputError("there is no sound to take a voice from", where="wespeaker")
        session, given, taken = self._graph
        raw = session.run([taken], {given: filter_banks(audio)[None]})[0]
        vector = np.asarray(raw, np.float64).ravel()
        return np.asarray(vector / np.linalg.norm(vector), np.float32)
