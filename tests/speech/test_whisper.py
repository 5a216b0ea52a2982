"""Whisper reads what Kokoro says, always the same, and makes nothing up out of nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.errors import InputError
from inquesto_dag.speech.engines import Engines
from inquesto_dag.speech.interfaces import Recogniser, Recognition
from inquesto_dag.speech.whisper import FULL_WINDOW, Whisper, fitted_window
from inquesto_dag.units import Audio, quantise

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def whisper(engines: Engines) -> Whisper:
    """The base model, window fitted."""
    engine = engines.recogniser().engine  # type: ignore[attr-defined]
    assert isinstance(engine, Whisper) and isinstance(engine, Recogniser)
    return engine


def words(text: str) -> str:
    """Lower-case letters, digits and spaces of a text."""
    return "".join(c for c in text.lower() if c.isalnum() or c == " ")


def test_line_is_read_and_read_the_same_again(whisper: Whisper, said: Callable[..., Audio]) -> None:
    """Words, a confidence that means something, and the same on the second reading."""
    first = whisper.recognise(said())
    assert words(first.text) == "i see two charges of 49 and i only have one plan"
    assert 0.7 < first.confidence < 1.0
    assert whisper.recognise(said()) == first


def test_full_window_reads_the_same_words(models: Path, whisper: Whisper, said: Callable[..., Audio]) -> None:
    """The fitted window saves time and no words; the identity tells the two apart."""
    full = Whisper(models / "whisper-base", window="full")
    text = "My account number is four four seven one."
    for voice in ("af_heart", "bm_george"):
        audio = said(text, voice)
        assert words(full.recognise(audio).text) == words(whisper.recognise(audio).text)
        assert "4471" in full.recognise(audio).text.replace("-", "").replace(" ", "")
    assert full.identity != whisper.identity


@pytest.mark.parametrize("samples", [0, 100, 16_000])
def test_D12_digital_silence_is_no_words(whisper: Whisper, samples: int) -> None:
    """An agent that heard nothing must not be told that it heard something."""
    assert whisper.recognise(np.zeros(samples, np.float32)) == Recognition("", 0.0)


def test_D12_faint_noise_is_no_words(whisper: Whisper) -> None:
    """Nor may the hiss of a line be words."""
    hiss = quantise((np.random.default_rng(3).standard_normal(48_000) * 0.003).astype(np.float32))
    assert whisper.recognise(hiss) == Recognition("", 0.0)


@given(st.integers(0, 40 * 16_000))
def test_fitted_window_holds_the_audio_with_a_second_to_spare(samples: int) -> None:
    """A multiple of 5 s, at least 20 s and at most 30 s, with 1 s free wherever 30 s allow it."""
    frames = fitted_window(samples)
    assert frames % 500 == 0 and 2_000 <= frames <= FULL_WINDOW
    assert frames == FULL_WINDOW or frames >= samples / 160 + 100
    assert frames == 2_000 or frames - 500 < samples / 160 + 101


def test_folder_without_a_tokenizer_is_refused(models: Path, tmp_path: Path) -> None:
    """The library would download one; this engine says what is missing."""
    (tmp_path / "model.bin").write_bytes(b"")
    (tmp_path / "config.json").write_bytes((models / "whisper-base" / "config.json").read_bytes())
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        Whisper(tmp_path)


def test_truncated_model_is_refused(models: Path, tmp_path: Path) -> None:
    """A cut model file is a clear error and no crash."""
    for name in ("config.json", "tokenizer.json", "vocabulary.json"):
        (tmp_path / name).write_bytes((models / "whisper-base" / name).read_bytes())
    (tmp_path / "model.bin").write_bytes((models / "whisper-base" / "model.bin").read_bytes()[:1_000_000])
    with pytest.raises(InputError, match="is not a Whisper model"):
        Whisper(tmp_path).load()
