"""Whisper in CTranslate2, set so that the same audio always gives the same words.

Temperature 0 alone (the usual list of fallbacks samples), one beam, English, no conditioning on earlier
text, no timestamps. A window that Whisper itself takes for silence gives no words.

Whisper pads what it hears to 30 s, so a word costs as much as a paragraph. With the `fitted` window it is
padded only to the next 5 s that leave at least 1 s free, and to no less than 20 s; with the `full` window
to 30 s. Both are named in the identity. Shorter windows double digits: of 16 lines with digits, clean and in
babble, windows of 10 and 15 s read "44471" for "four four seven one" in 3, of 20 s and 30 s in none, at 0.56,
0.71, 0.96 and 2.08 s of processor time a line.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from inquesto_dag.errors import InputError
from inquesto_dag.speech.interfaces import Recognition
from inquesto_dag.speech.loaded import digest_of, versions_of
from inquesto_dag.units import SAMPLE_RATE, Audio

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

SETTINGS: dict[str, Any] = {
    "language": "en",
    "task": "transcribe",
    "beam_size": 1,
    "temperature": 0.0,
    "condition_on_previous_text": False,
    "without_timestamps": True,
    "vad_filter": False,
    "no_speech_threshold": 0.6,
    "log_prob_threshold": -1.0,
}
COMPUTE_TYPE = "int8"
# What the library loads of a model's folder; what else lies there (a download under way) decides nothing.
LOADED = re.compile(r"model\.bin|config\.json|tokenizer\.json|preprocessor_config\.json|vocabulary\..+")
FRAMES_PER_S = 100
FULL_WINDOW = 30 * FRAMES_PER_S  # frames
WINDOW_STEP, WINDOW_LEAST, WINDOW_FREE = 5 * FRAMES_PER_S, 20 * FRAMES_PER_S, FRAMES_PER_S  # frames
Window = Literal["fitted", "full"]
SHORTEST = 400  # samples: one window of Whisper's spectrogram, 25 ms


def fitted_window(samples: int) -> int:
    """Frames of 10 ms that a fitted window has for so many samples: a multiple of 500 in [2000, 3000]."""
    frames = math.ceil(samples * FRAMES_PER_S / SAMPLE_RATE) + WINDOW_FREE
    return min(FULL_WINDOW, max(WINDOW_LEAST, math.ceil(frames / WINDOW_STEP) * WINDOW_STEP))


class Whisper:
    """A Whisper model in a folder: model.bin, config.json, tokenizer.json and its vocabulary."""

    def __init__(self, folder: Path, threads: int = 1, window: Window = "fitted") -> None:
        self._files = {path.name: path for path in sorted(folder.iterdir()) if LOADED.fullmatch(path.name)}
        for name in ("model.bin", "config.json", "tokenizer.json"):
            if name not in self._files:
                # Without a tokenizer the library would go and download one.
                raise InputError(
                    f"has no {name}", where=folder, remedy=f"run `inquesto-dag models fetch {folder.name}`"
                )
        self._folder, self._threads, self._window = folder, threads, window
        self._frames = FULL_WINDOW

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digests of the files that are loaded, versions and settings."""
        return {
            "name": "whisper",
            "files": {name: digest_of(path) for name, path in self._files.items()},
            "compute_type": COMPUTE_TYPE,
            "settings": SETTINGS,
            "window": self._window,
            "window_frames": [WINDOW_STEP, WINDOW_LEAST, WINDOW_FREE],
            **versions_of("faster-whisper", "ctranslate2"),
        }

    @cached_property
    def _model(self) -> WhisperModel:
        from faster_whisper import WhisperModel

        try:
            model = WhisperModel(
                str(self._folder),
                device="cpu",
                compute_type=COMPUTE_TYPE,
                cpu_threads=self._threads,
                num_workers=1,
            )
        except (RuntimeError, ValueError) as error:
            raise InputError(
                f"is not a Whisper model ({error})",
                where=self._folder,
                remedy=f"run `inquesto-dag models fetch {self._folder.name}`",
            ) from error

        encode = model.encode
        # The library pads every segment to 30 s just before it encodes it; what is padding is cut off here.
        model.encode = lambda features: encode(features[..., : self._frames])
        return model

    def load(self) -> None:
        """Load the model now instead of at the first recognition."""
        _ = self._model

    def recognise(self, audio: Audio) -> Recognition:
        """Read the words of (n,) float32 audio at 16 kHz; no words and confidence 0 when there are none."""
        if len(audio) < SHORTEST or not np.any(audio):
            return Recognition("", 0.0)  # Whisper makes words up when it is given digital silence
        self._frames = fitted_window(len(audio)) if self._window == "fitted" else FULL_WINDOW
        segments, _ = self._model.transcribe(np.ascontiguousarray(audio, np.float32), **SETTINGS)
        words: list[str] = []
        tokens, log_probability = 0, 0.0
        for segment in segments:
            if segment.text.strip():
                words.append(segment.text.strip())
                tokens += len(segment.tokens)
                log_probability += segment.avg_logprob * len(segment.tokens)
        if not words:
            return Recognition("", 0.0)
        return Recognition(" ".join(words), min(1.0, math.exp(log_probability / max(tokens, 1))))
