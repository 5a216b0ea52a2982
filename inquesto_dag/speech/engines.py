"""The engines of a process: loaded once, when first needed, each behind the memo.

A result's key holds the engine's identity, the versions of the code behind both and the digest of what went
in (PROTOCOL D17). Keys need digests of model files and not the models: a run that finds everything in the
memo loads no network. One process uses `threads` threads, so that a pool of processes shares a machine
without crowding.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from inquesto_dag.errors import InputError
from inquesto_dag.files import sha256_bytes
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.provenance.versions import deciding_code, function_of, remember
from inquesto_dag.speech import catalogue
from inquesto_dag.speech.fetch import require
from inquesto_dag.speech.interfaces import (
    Embedding,
    Recogniser,
    Recognition,
    SpeakerEncoder,
    VadStream,
    VoiceActivityDetector,
)
from inquesto_dag.speech.whisper import Whisper, Window
from inquesto_dag.units import Audio, quantise, to_pcm16

E = TypeVar("E")


@dataclass(frozen=True)
class EngineSpec:
    """What engines a process uses: models by role, their folder, the memo's root (None: no memo), threads."""

    models: Path
    memo: Path | None = None
    tts: str = "kokoro-int8"
    asr: str = "whisper-base"
    vad: str = "silero-vad"
    verifier: str = "ge2e"
    threads: int = 1
    asr_window: Window = "fitted"  # see whisper.py

    @classmethod
    def for_roles(
        cls,
        roles: Mapping[str, str],
        models: Path,
        memo: Path | None = None,
        threads: int = 1,
        asr_window: Window = "fitted",
    ) -> EngineSpec:
        """The spec of a profile's roles; roles that no speech engine fills (caller, judge) are left out."""
        known = {field.name for field in fields(cls)} & {"tts", "asr", "vad", "verifier"}
        chosen = {role: name for role, name in roles.items() if role in known}
        return cls(models=models, memo=memo, threads=threads, asr_window=asr_window, **chosen)


class Engines:
    """The engines of a spec. `spent` is seconds inside each role's engine, `counts` results by outcome.

    Keys of `spent`: tts, asr, vad, verifier. Keys of `counts`: `tts_computed`, `tts_reused` and so on for
    each role and for `call` and `annotation`; `memo_damaged` counts entries that were damaged and computed
    again.
    """

    def __init__(self, spec: EngineSpec) -> None:
        from threadpoolctl import threadpool_limits

        # Matrix products in two threads differ in their last bits from those in one, and so would confidences
        # between a worker, whose environment says one, and any other process.
        threadpool_limits(spec.threads, user_api="blas")
        self.spec = spec
        self.memo = Memo(spec.memo) if spec.memo else None
        self.spent: dict[str, float] = defaultdict(float)
        self.counts: Counter[str] = Counter()
        self._made: dict[str, Any] = {}

    def _once(self, key: str, make: Callable[[], E]) -> E:
        if key not in self._made:
            self._made[key] = make()
        made: E = self._made[key]
        return made

    @property
    def tts(self) -> MemoisedSpeech:
        """Synthesis of the spec, memoised."""
        return self._once("tts", lambda: MemoisedSpeech(self, self.spec.tts))

    def recogniser(self, name: str | None = None) -> Recogniser:
        """A recogniser by model name (default: the spec's), memoised."""
        chosen = name or self.spec.asr
        return self._once(f"asr {chosen}", lambda: MemoisedRecogniser(self, chosen))

    @property
    def vad(self) -> VoiceActivityDetector:
        """The spec's voice activity detector; too fast for a memo to pay."""
        return self._once("vad", lambda: TimedVad(self, self.spec.vad))

    @property
    def speaker(self) -> SpeakerEncoder:
        """The spec's speaker encoder, memoised."""
        return self._once("verifier", lambda: MemoisedEncoder(self, self.spec.verifier))

    def identities(self) -> dict[str, dict[str, Any]]:
        """The identity of each role's engine, as it would run now (PROTOCOL D16)."""
        return {
            "tts": self.tts.identity,
            "asr": self.recogniser().identity,
            "vad": self.vad.identity,
            "verifier": self.speaker.identity,
        }

    @contextmanager
    def timed(self, role: str) -> Iterator[None]:
        """Add the time of the block to a role's seconds."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.spent[role] += time.perf_counter() - started

    def through_memo(
        self, role: str, kind: str, parts: Mapping[str, Any], compute: Callable[[], bytes]
    ) -> bytes:
        """The payload of a kind for these parts, from the memo or computed, and counted."""

        def computed() -> bytes:
            self.counts[f"{role}_computed"] += 1
            return compute()

        if self.memo is None:
            return computed()
        computed_before = self.counts[f"{role}_computed"]
        payload = remember(self.memo, kind, parts, computed)
        self.counts[f"{role}_reused"] += self.counts[f"{role}_computed"] == computed_before
        if self.memo.damaged:
            self.counts["memo_damaged"] = len(self.memo.damaged)
        return payload


def make_engine(role: str, name: str, spec: EngineSpec) -> Any:
    """The engine of a catalogued model for a role, its files checked by digest first.

    Raises InputError when the model is unknown, of another role, missing or corrupt.
    """
    (model,) = catalogue.models_named([name])
    if model.role != role:
        raise InputError(
            f"{name} is a model for {model.role}, not for {role}",
            where="profile",
            field=role,
            remedy=f"choose from {', '.join(m.name for m in catalogue.MODELS if m.role == role)}",
        )
    found = require(name, spec.models)
    if role == "tts":
        from inquesto_dag.speech.kokoro import KokoroOnnx, KokoroTorch

        voices = {Path(file).stem: path for file, path in require("kokoro-voices", spec.models).items()}
        if name == "kokoro-int8":
            return KokoroOnnx(found["kokoro-v1.0.int8.onnx"], voices, spec.threads)
        if name == "kokoro-fp32":
            return KokoroTorch(found["kokoro-v1_0.pth"], found["config.json"], voices, spec.threads)
    elif role == "asr":
        return Whisper(next(iter(found.values())).parent, spec.threads, spec.asr_window)
    elif role == "vad":
        from inquesto_dag.speech.silero import Silero

        return Silero(found["silero_vad.onnx"], spec.threads)
    elif name == "ge2e":
        from inquesto_dag.speech.ge2e import Ge2e

        return Ge2e(found["pretrained.pt"], spec.threads)
    elif name == "wespeaker-resnet34-lm":
        from inquesto_dag.speech.wespeaker import WeSpeaker

        return WeSpeaker(found["voxceleb_resnet34_LM.onnx"], spec.threads)
    raise InputError(f"no engine runs {name}", where="profile", field=role)


class _Lazy:
    """A role's engine: files are digested for its identity, the network is loaded when there is work."""

    role: str

    def __init__(self, engines: Engines, name: str) -> None:
        self._engines, self._name = engines, name
        self._made: Any = None
        self._loaded = False
        self._identity: dict[str, Any] | None = None

    @property
    def _unloaded(self) -> Any:
        """The engine, its files checked, its network perhaps not loaded yet."""
        if self._made is None:
            self._made = make_engine(self.role, self._name, self._engines.spec)
        return self._made

    @property
    def engine(self) -> Any:
        """The engine itself, loaded, without the memo."""
        if not self._loaded:
            self._unloaded.load()
            self._loaded = True
        return self._made

    @property
    def identity(self) -> dict[str, Any]:
        """The engine's identity, the catalogue name of its model, and the version of the engine's code."""
        if self._identity is None:
            self._identity = {**self._unloaded.identity, "model_name": self._name}
        return {**self._identity, "code": deciding_code(function_of(self._unloaded))}


class MemoisedSpeech(_Lazy):
    """Synthesis through the memo; audio is stored as FLAC."""

    role = "tts"

    def speak(self, text: str, *, voice: str, language: str, speed: float) -> Audio:
        """Speak a text (see `interfaces.TextToSpeech.speak`)."""
        from inquesto_dag.audio.files import audio_from_flac, flac_bytes

        parts = {
            "engine": self.identity_for(voice),
            "text": text, "voice": voice, "language": language, "speed": float(speed),
        }  # fmt: skip

        def compute() -> bytes:
            engine = self.engine
            with self._engines.timed(self.role):
                audio = engine.speak(text, voice=voice, language=language, speed=speed)
            return flac_bytes(audio)

        payload = self._engines.through_memo(self.role, "synthesis", parts, compute)
        return audio_from_flac(payload, f"synthesis of {text!r}")

    def identity_for(self, voice: str) -> dict[str, Any]:
        """The identity without the other voices, which decide nothing: a new pack changes no line."""
        identity = self.identity
        packs = identity["voices"]
        if voice not in packs:
            known = ", ".join(sorted(packs))
            raise InputError(f"no such voice: {voice}", field="voice", remedy=f"choose from {known}")
        return {**identity, "voices": {voice: packs[voice]}}


class MemoisedRecogniser(_Lazy):
    """Recognition through the memo, keyed by the 16-bit samples."""

    role = "asr"

    def recognise(self, audio: Audio) -> Recognition:
        """Read the words of audio (see `interfaces.Recogniser.recognise`)."""

        def compute() -> bytes:
            engine = self.engine
            with self._engines.timed(self.role):
                read = engine.recognise(quantise(audio))
            return json.dumps({"text": read.text, "confidence": read.confidence}).encode()

        parts = {"engine": self.identity, "audio": audio_digest(audio)}
        payload = self._engines.through_memo(self.role, "recognition", parts, compute)
        return Recognition(**json.loads(payload))


class MemoisedEncoder(_Lazy):
    """Voice vectors through the memo, keyed by the 16-bit samples."""

    role = "verifier"

    def embed(self, audio: Audio) -> Embedding:
        """The unit vector of a voice (see `interfaces.SpeakerEncoder.embed`)."""

        def compute() -> bytes:
            engine = self.engine
            with self._engines.timed(self.role):
                vector = engine.embed(quantise(audio))
            return np.asarray(vector, "<f4").tobytes()

        parts = {"engine": self.identity, "audio": audio_digest(audio)}
        payload = self._engines.through_memo(self.role, "embedding", parts, compute)
        return np.frombuffer(payload, "<f4").astype(np.float32)


class TimedVad(_Lazy):
    """Voice activity detection, timed."""

    role = "vad"

    def stream(self) -> VadStream:
        """A new stream that has heard nothing."""
        return TimedStream(self._engines, self.engine.stream())


class TimedStream:
    """A stream that adds its time to the engines' `spent`."""

    def __init__(self, engines: Engines, stream: VadStream) -> None:
        self._engines, self._stream = engines, stream

    def step(self, frame512: Audio) -> float:
        """Speech probability in [0, 1] of the next 512 samples."""
        started = time.perf_counter()
        probability = self._stream.step(frame512)
        self._engines.spent["vad"] += time.perf_counter() - started
        return probability


def audio_digest(audio: Audio) -> str:
    """Hex SHA-256 of audio as 16-bit little-endian samples."""
    return sha256_bytes(to_pcm16(audio).astype("<i2").tobytes())


def engines_for(spec: EngineSpec) -> Engines:
    """The engines of this process for a spec, made once; a forked child makes its own."""
    return _engines(spec, os.getpid())


@lru_cache(maxsize=8)
def _engines(spec: EngineSpec, process: int) -> Engines:
    return Engines(spec)
