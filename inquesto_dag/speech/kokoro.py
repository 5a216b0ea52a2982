"""Kokoro-82M, two engines on one front: int8 ONNX (embedded profile) and torch (pinned profile).

Both speak from the same phonemes and voice packs, at 24 kHz; a line is brought to 16 kHz, cut to its speech
and put on the 16-bit grid. A voice pack is float32 (510, 1, 256): row n - 1 is the style for n tokens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import trim_to_speech
from inquesto_dag.errors import InputError
from inquesto_dag.files import read_json, sha256_bytes
from inquesto_dag.speech.loaded import digest_of, open_session, versions_of
from inquesto_dag.speech.phonemes import Phonemiser
from inquesto_dag.units import SAMPLE_RATE, Audio, quantise, to_samples

if TYPE_CHECKING:
    from kokoro.model import KModel
    from onnxruntime import InferenceSession

KOKORO_RATE = 24_000  # Hz
STYLE = 256  # numbers in a style vector
RUN_PAUSE = 0.2  # s between the runs of a text that is too long for one
SPEEDS = (0.5, 2.0)


class _Kokoro(ABC):
    """What both engines share: voices, phonemes, and the way from the model's audio to a line."""

    name: str

    def __init__(self, model: Path, voices: Mapping[str, Path], phonemiser: Phonemiser) -> None:
        self._model, self._voices, self._phonemiser = model, dict(voices), phonemiser
        self._packs: dict[str, npt.NDArray[np.float32]] = {}

    @property
    def identity(self) -> dict[str, Any]:
        """Name, digests of model and voice packs, phonemiser, versions and settings."""
        return {
            "name": self.name,
            "model": digest_of(self._model),
            "voices": {name: digest_of(path) for name, path in sorted(self._voices.items())},
            "phonemiser": self._phonemiser.identity,
            "run_pause_s": RUN_PAUSE,
            "rate": SAMPLE_RATE,
            **versions_of("soxr", *self.packages),
        }

    packages: tuple[str, ...]

    @abstractmethod
    def load(self) -> None:
        """Load now what the first line would load."""

    @abstractmethod
    def synthesise(
        self, tokens: list[int], style: npt.NDArray[np.float32], speed: float
    ) -> npt.NDArray[np.float32]:
        """Audio (n,) at 24 kHz of tokens in a style (1, 256)."""

    def speak(self, text: str, *, voice: str, language: str, speed: float) -> Audio:
        """Speak a text (see `interfaces.TextToSpeech.speak`): (n,) float32, 16 kHz, 16-bit grid."""
        import soxr

        if not SPEEDS[0] <= speed <= SPEEDS[1]:
            raise InputError(f"speed {speed} is outside {SPEEDS[0]} to {SPEEDS[1]}", field="speed")
        pack = self._pack(voice)
        pieces: list[npt.NDArray[np.float32]] = []
        for tokens in self._phonemiser.token_runs(text, language):
            audio = self.synthesise(tokens, pack[min(len(tokens), len(pack)) - 1], speed)
            spoken = np.asarray(soxr.resample(audio, KOKORO_RATE, SAMPLE_RATE, quality="VHQ"), np.float32)
            if pieces:
                pieces.append(np.zeros(to_samples(RUN_PAUSE), np.float32))
            pieces.append(trim_to_speech(spoken))
        return quantise(np.concatenate(pieces))

    def _pack(self, voice: str) -> npt.NDArray[np.float32]:
        if voice not in self._voices:
            known = ", ".join(sorted(self._voices))
            raise InputError(f"no such voice: {voice}", field="voice", remedy=f"choose from {known}")
        if voice not in self._packs:
            path = self._voices[voice]
            numbers = np.fromfile(path, np.float32)
            if not numbers.size or numbers.size % STYLE or not np.isfinite(numbers).all():
                raise InputError(
                    "is not a Kokoro voice pack", where=path, remedy="run `inquesto-dag models fetch`"
                )
            self._packs[voice] = numbers.reshape(-1, 1, STYLE)
        return self._packs[voice]


class KokoroOnnx(_Kokoro):
    """Kokoro as an ONNX graph. The int8 graph holds no random node: the same bytes on every run."""

    name = "kokoro-onnx"
    packages = ("onnxruntime",)

    def __init__(self, model: Path, voices: Mapping[str, Path], threads: int = 1) -> None:
        super().__init__(model, voices, Phonemiser())
        self._threads = threads

    @cached_property
    def _graph(self) -> tuple[InferenceSession, str]:
        """The session and the name of its token input, which differs between exports."""
        session = open_session(self._model, self._threads)
        inputs = {value.name: value.type for value in session.get_inputs()}
        tokens = "input_ids" if "input_ids" in inputs else "tokens"
        missing = {tokens, "style", "speed"} - set(inputs)
        if missing:
            raise InputError(f"has no input {', '.join(sorted(missing))}", where=self._model)
        # An export with whole-number speed would silently speak at another speed than asked.
        if inputs["speed"] != "tensor(float)":
            raise InputError(f"takes speed as {inputs['speed']}, expected tensor(float)", where=self._model)
        return session, tokens

    def load(self) -> None:
        """Load graph and phonemiser now instead of at the first line."""
        self._phonemiser.load()
        _ = self._graph

    def synthesise(
        self, tokens: list[int], style: npt.NDArray[np.float32], speed: float
    ) -> npt.NDArray[np.float32]:
        """Audio (n,) at 24 kHz of tokens in a style (1, 256)."""
        padded = np.array([[0, *tokens, 0]], np.int64)
        session, name = self._graph
        feed = {name: padded, "style": style, "speed": np.array([speed], np.float32)}
        return np.asarray(session.run(None, feed)[0], np.float32).ravel()


class KokoroTorch(_Kokoro):
    """Kokoro as the `kokoro` package's torch `KModel`, from a checkpoint and its config.json.

    Its noise source draws from torch's generator, which is therefore seeded from the tokens and style of
    each run, apart from the generator that other code uses.
    """

    name = "kokoro-torch"
    packages = ("torch", "kokoro", "transformers")

    def __init__(self, model: Path, config: Path, voices: Mapping[str, Path], threads: int = 1) -> None:
        super().__init__(model, voices, Phonemiser(config))
        self._config, self._threads = config, threads

    @cached_property
    def _network(self) -> KModel:
        import torch
        from kokoro.model import KModel

        torch.set_num_threads(self._threads)
        settings = read_json(self._config)
        try:
            network = KModel(repo_id="hexgrad/Kokoro-82M", config=settings, model=str(self._model))
        except Exception as error:  # torch.load and load_state_dict raise many kinds
            raise InputError(
                f"is not a Kokoro checkpoint for its config ({(str(error) or repr(error)).splitlines()[0]})",
                where=self._model,
                remedy="run `inquesto-dag models fetch kokoro-fp32`",
            ) from error
        return network.eval()

    def load(self) -> None:
        """Load network and phonemiser now instead of at the first line."""
        self._phonemiser.load()
        _ = self._network

    @property
    def identity(self) -> dict[str, Any]:
        """As of `_Kokoro`, with the digest of the config."""
        return {**super().identity, "config": digest_of(self._config)}

    def synthesise(
        self, tokens: list[int], style: npt.NDArray[np.float32], speed: float
    ) -> npt.NDArray[np.float32]:
        """Audio (n,) at 24 kHz of tokens in a style (1, 256)."""
        import torch

        network = self._network
        seed = int(sha256_bytes(np.array(tokens, np.int64).tobytes() + style.tobytes())[:8], 16)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            audio, _ = network.forward_with_tokens(
                torch.tensor([[0, *tokens, 0]]), torch.from_numpy(style.copy()), speed
            )
        return np.asarray(audio.detach().numpy(), np.float32).ravel()
