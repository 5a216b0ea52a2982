"""From text to Kokoro's tokens, the same for both Kokoro engines: espeak phonemes, split, numbered.

A token sequence is at most 510 long (the context of 512 less the pad at either end). The phonemes of a text
are fixed by the espeak library, its data and the vocabulary, so their digest and versions are part of an
engine's identity.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import read_json
from inquesto_dag.speech.interfaces import Language, Unsayable
from inquesto_dag.speech.loaded import digest_of, installed_file, versions_of

if TYPE_CHECKING:
    from kokoro_onnx.tokenizer import Tokenizer

LANGUAGES: tuple[str, ...] = get_args(Language)


def espeak_library() -> Path:
    """The espeak library that will be used: `$PHONEMIZER_ESPEAK_LIBRARY` or that of espeakng-loader."""
    import espeakng_loader

    return Path(os.environ.get("PHONEMIZER_ESPEAK_LIBRARY") or espeakng_loader.get_library_path())


class Phonemiser:
    """Espeak phonemes in the vocabulary (phoneme to token) of a Kokoro config.json, loaded when needed."""

    def __init__(self, config: Path | None = None) -> None:
        self._config = config or installed_file("kokoro_onnx", "config.json")

    @property
    def identity(self) -> dict[str, Any]:
        """Versions, digest of the espeak library in use and of the config that holds the vocabulary."""
        return {
            "espeak": digest_of(espeak_library()),
            "config": digest_of(self._config),
            **versions_of("espeakng-loader", "kokoro-onnx", "phonemizer-fork"),
        }

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from kokoro_onnx.tokenizer import Tokenizer
        from phonemizer.backend.espeak.wrapper import EspeakWrapper

        wanted = espeak_library()
        tokenizer = Tokenizer(vocab=read_json(self._config)["vocab"])
        # The tokenizer falls back to whatever espeak the system has, and says so only in its log.
        loaded = Path(str(EspeakWrapper.library()))
        if loaded != wanted:
            raise InfrastructureError(
                f"espeak was loaded from {loaded} instead",
                where=wanted,
                remedy="reinstall espeakng-loader, or name a library in PHONEMIZER_ESPEAK_LIBRARY",
            )
        return tokenizer

    def load(self) -> None:
        """Load espeak now instead of at the first text."""
        _ = self._tokenizer

    def phonemes(self, text: str, language: str) -> str:
        """The phonemes of a text on one line; InputError for an unknown language, Unsayable without words."""
        if language not in LANGUAGES:
            raise InputError(f"no such language: {language}", remedy=f"choose from {', '.join(LANGUAGES)}")
        phonemes = " ".join(self._tokenizer.phonemize(text, language).split())
        if not any(character.isalpha() for character in phonemes):
            raise Unsayable(f"nothing can be said of {text!r}", remedy="give a text with words in it")
        return phonemes

    def token_runs(self, text: str, language: str) -> list[list[int]]:
        """The text as runs of tokens, each short enough for the model, split at punctuation or words."""
        from kokoro_onnx.chunker import split_phonemes
        from kokoro_onnx.config import MAX_PHONEME_LENGTH

        runs = split_phonemes(self.phonemes(text, language), MAX_PHONEME_LENGTH)
        return [tokens for run in runs if (tokens := self._tokenizer.tokenize(run))]
