"""The catalogue names every file by digest, once, and knows what it does not know."""

from __future__ import annotations

import re

import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.speech.catalogue import (
    AGENT_VOICE,
    BABBLE_VOICES,
    BY_NAME,
    CALLER_VOICES,
    EMBEDDED,
    MODELS,
    PINNED,
    Hub,
    Web,
    models_named,
)


def test_every_file_has_a_digest_a_size_and_a_source() -> None:
    """A file without a digest could not be accepted, one without a source not be fetched."""
    for model in MODELS:
        assert model.licence and model.home and model.files
        assert len({file.name for file in model.files}) == len(model.files)
        for file in model.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256), file.name
            assert file.size > 0 and file.sources, file.name


def test_no_two_files_share_a_digest() -> None:
    """A digest copied to the wrong row would let one file pass for another."""
    digests = [file.sha256 for model in MODELS for file in model.files]
    assert len(set(digests)) == len(digests)


def test_embedded_models_all_come_without_a_hub() -> None:
    """The embedded profile must be fetchable where no hub or other host is reached (DESIGN, Profiles)."""
    for model in models_named(EMBEDDED):
        for file in model.files:
            assert any(not isinstance(source, Hub | Web) for source in file.sources), file.name


def test_profiles_name_catalogued_models() -> None:
    """Both profiles fill every speech role."""
    for profile in (EMBEDDED, PINNED):
        assert {BY_NAME[name].role for name in profile} == {"tts", "asr", "vad", "verifier"}


def test_P4_voices_are_apart_and_have_packs() -> None:
    """Callers, the agent and the babble are different people, and each voice has a pack."""
    voices = (*CALLER_VOICES, AGENT_VOICE, *BABBLE_VOICES)
    packs = {file.name for file in BY_NAME["kokoro-voices"].files}
    assert len(set(voices)) == 13 and len(BABBLE_VOICES) >= 6
    assert {f"{voice}.bin" for voice in voices} == packs


def test_unknown_model_is_refused_with_the_known_ones() -> None:
    """A misspelt model is a user's mistake."""
    with pytest.raises(InputError, match="no such model: wisper") as caught:
        models_named(["ge2e", "wisper"])
    assert "whisper-base" in caught.value.remedy
