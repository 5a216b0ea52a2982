"""The GE2E speaker encoder (Wan et al. 2018) on the weights that Resemblyzer released.

Three LSTM layers of 256 over 40 mels; the last hidden state goes through a linear layer and a rectifier to
256 numbers of unit length. An utterance is heard in windows of 1.6 s, 1.3 a second, and its vector is the
normalised mean over windows. Before that its level is raised to -30 dB full scale when it is lower, and
stretches of silence longer than 0.2 s are cut out, since the encoder was trained on speech without them.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import frame_levels, rms_dbov
from inquesto_dag.errors import InputError
from inquesto_dag.speech.interfaces import Embedding
from inquesto_dag.speech.loaded import digest_of, versions_of
from inquesto_dag.speech.mel import HOP, MELS, mel_power
from inquesto_dag.units import SAMPLE_RATE, Audio, to_samples

if TYPE_CHECKING:
    from torch.nn import LSTM, Linear

HIDDEN = 256
LAYERS = 3
PARTIAL = 160  # frames of 10 ms in a window
WINDOWS_PER_S = 1.3
COVERAGE = 0.75  # a last window with less of it filled is left out
LEVEL_DBFS = -30.0
SILENCE_BELOW_PEAK_DB = 40.0
LONGEST_SILENCE = 0.2  # s


def without_silence(audio: Audio) -> Audio:
    """Audio without the frames of 10 ms that lie in silence longer than 0.2 s, 40 dB below the loudest."""
    levels = frame_levels(audio)
    loud = levels >= levels.max() - SILENCE_BELOW_PEAK_DB
    reach = round(LONGEST_SILENCE / 2 / 0.01)
    kept = np.convolve(loud, np.ones(2 * reach + 1), mode="same") > 0.5
    return np.asarray(audio)[np.repeat(kept, to_samples(0.01))[: len(audio)]]


def partial_starts(samples: int) -> list[int]:
    """First frames of the windows that cover an utterance of so many samples; at least one."""
    frames = int(np.ceil((samples + 1) / HOP))
    step = round(SAMPLE_RATE / WINDOWS_PER_S / HOP)
    starts = list(range(0, max(1, frames - PARTIAL + step + 1), step))
    if len(starts) > 1 and (samples - starts[-1] * HOP) / (PARTIAL * HOP) < COVERAGE:
        starts.pop()
    return starts


class Ge2e:
    """The encoder from a checkpoint with `model_state` (Resemblyzer's `pretrained.pt`)."""

    def __init__(self, weights: Path, threads: int = 1) -> None:
        self._weights, self._threads = weights, threads

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digest of the weights, versions and settings."""
        return {
            "name": "ge2e",
            "model": digest_of(self._weights),
            "partial_frames": PARTIAL,
            "windows_per_s": WINDOWS_PER_S,
            "coverage": COVERAGE,
            "level_dbfs": LEVEL_DBFS,
            "silence_below_peak_db": SILENCE_BELOW_PEAK_DB,
            "longest_silence_s": LONGEST_SILENCE,
            **versions_of("torch", "numpy"),
        }

    @cached_property
    def _layers(self) -> tuple[LSTM, Linear]:
        import torch

        torch.set_num_threads(self._threads)
        lstm = torch.nn.LSTM(MELS, HIDDEN, LAYERS, batch_first=True).eval()
        linear = torch.nn.Linear(HIDDEN, HIDDEN).eval()
        try:
            state = torch.load(self._weights, map_location="cpu", weights_only=True)["model_state"]
            for prefix, module in (("lstm.", lstm), ("linear.", linear)):
                own = {name.removeprefix(prefix): v for name, v in state.items() if name.startswith(prefix)}
                module.load_state_dict(own)
        except Exception as error:  # torch.load and load_state_dict raise many kinds
            raise InputError(
                f"is not a GE2E checkpoint ({str(error).splitlines()[0]})",
                where=self._weights,
                remedy="run `inquesto-dag models fetch ge2e`",
            ) from error
        return lstm, linear

    def load(self) -> None:
        """Load the weights now instead of at the first voice."""
        _ = self._layers

    def embed(self, audio: Audio) -> Embedding:
        """The unit vector (256,) float32 of a voice in (n,) audio; InputError when there is no sound."""
        if not np.any(audio):
            raise InputError("there is no sound to take a voice from", where="ge2e")
        speech = without_silence(audio)
        gain_db = max(0.0, LEVEL_DBFS - rms_dbov(speech))
        speech = np.asarray(speech * np.float32(10.0 ** (gain_db / 20.0)), np.float32)
        starts = partial_starts(len(speech))
        needed = (starts[-1] + PARTIAL) * HOP
        mels = mel_power(np.pad(speech, (0, max(0, needed - len(speech)))))
        windows = self.embed_windows(np.stack([mels[start : start + PARTIAL] for start in starts]))
        centroid = windows.mean(axis=0, dtype=np.float64)
        return np.asarray(centroid / np.linalg.norm(centroid), np.float32)

    def embed_windows(self, mels: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Unit vectors (windows, 256) of mel windows (windows, frames, 40)."""
        import torch

        lstm, linear = self._layers
        with torch.inference_mode():
            _, (hidden, _) = lstm(torch.from_numpy(mels))
            raw = torch.relu(linear(hidden[-1]))
            return np.asarray((raw / raw.norm(dim=1, keepdim=True)).numpy(), np.float32)
