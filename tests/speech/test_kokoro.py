"""Kokoro: the int8 graph as it is shipped, and the torch engine on a small random network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.speech.engines import Engines
from inquesto_dag.speech.interfaces import TextToSpeech
from inquesto_dag.speech.kokoro import KokoroOnnx, KokoroTorch
from inquesto_dag.speech.loaded import installed_file
from inquesto_dag.units import Audio, quantise

pytestmark = pytest.mark.engines

SHORT = "Yes, that is right."


@pytest.fixture(scope="module")
def onnx(engines: Engines) -> KokoroOnnx:
    """The int8 engine itself."""
    engine = engines.tts.engine  # type: ignore[attr-defined]
    assert isinstance(engine, KokoroOnnx) and isinstance(engine, TextToSpeech)
    return engine


def test_line_is_trimmed_quantised_and_of_sane_length(said: Callable[..., Audio]) -> None:
    """16 kHz, on the 16-bit grid, edges at zero, no silence around it (PROTOCOL D3)."""
    from inquesto_dag.audio.levels import speech_bounds

    audio = said()
    onset, offset = speech_bounds(audio)
    assert audio.dtype == np.float32 and audio.ndim == 1 and 2.0 < len(audio) / 16_000 < 7.0
    assert np.array_equal(audio, quantise(audio))
    assert onset <= 0.04 and len(audio) / 16_000 - offset <= 0.04


def test_same_line_gives_the_same_bytes_whatever_was_said_before(onnx: KokoroOnnx) -> None:
    """Nothing carries over from one line to the next."""

    def speak(text: str) -> Audio:
        return onnx.speak(text, voice="bf_emma", language="en-gb", speed=1.0)

    first = speak(SHORT)
    speak("Something else.")
    assert np.array_equal(first, speak(SHORT))


def test_raw_audio_is_that_of_the_kokoro_onnx_package(onnx: KokoroOnnx, models: Path, tmp_path: Path) -> None:
    """Our tokens, style row and feed agree with the package's own pipeline, sample by sample."""
    from kokoro_onnx import Kokoro

    pack = np.fromfile(models / "kokoro-voices" / "am_michael.bin", np.float32).reshape(-1, 1, 256)
    np.savez(tmp_path / "voices.npz", am_michael=pack)
    theirs, rate = Kokoro.from_session(onnx._graph[0], str(tmp_path / "voices.npz")).create(
        SHORT, "am_michael", speed=1.1, lang="en-us", trim=False
    )
    (tokens,) = onnx._phonemiser.token_runs(SHORT, "en-us")
    ours = onnx.synthesise(tokens, pack[len(tokens) - 1], 1.1)
    assert rate == 24_000 and np.array_equal(ours, theirs)


def test_speed_and_voice_change_the_line(onnx: KokoroOnnx) -> None:
    """A faster line is shorter by about its speed; another voice is another sound."""

    def say(voice: str, speed: float) -> Audio:
        return onnx.speak(SHORT, voice=voice, language="en-us", speed=speed)

    slow, fast = say("af_heart", 0.88), say("af_heart", 1.3)
    assert 0.55 < len(fast) / len(slow) < 0.85
    assert not np.array_equal(slow, say("am_michael", 0.88))


def test_languages_pronounce_differently(onnx: KokoroOnnx) -> None:
    """A British line has British phonemes."""
    assert onnx._phonemiser.phonemes("My car.", "en-gb") != onnx._phonemiser.phonemes("My car.", "en-us")


def test_long_text_is_split_and_wholly_spoken(onnx: KokoroOnnx) -> None:
    """A text beyond the model's context becomes runs that it can take, and loses no token."""
    sentence = "The invoice that you asked me about was sent on the third of August, with two lines on it. "
    runs = onnx._phonemiser.token_runs(sentence * 9, "en-us")
    single = onnx._phonemiser.token_runs(sentence, "en-us")
    assert len(runs) > 1 and max(map(len, runs)) <= 510
    assert abs(sum(map(len, runs)) - 9 * len(single[0])) <= 9  # a space may go at each join


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"voice": "af_nobody"}, "no such voice: af_nobody"),
        ({"language": "fr"}, "no such language: fr"),
        ({"speed": 3.0}, "speed 3.0 is outside"),
        ({"text": " ... "}, "nothing can be said"),
    ],
)
def test_wrong_request_is_refused(engines: Engines, change: dict[str, object], problem: str) -> None:
    """Unknown voice, language or speed, and a text without words, are a user's mistakes."""
    usual = {"text": SHORT, "voice": "af_heart", "language": "en-us", "speed": 1.0}
    wish: dict[str, object] = {**usual, **change}
    with pytest.raises(InputError, match=problem):
        engines.tts.speak(wish.pop("text"), **wish)  # type: ignore[arg-type]


def test_file_that_is_no_graph_or_pack_is_refused(models: Path, tmp_path: Path) -> None:
    """A damaged file is named."""
    (tmp_path / "bad.onnx").write_bytes(b"not a graph")
    (tmp_path / "af_bad.bin").write_bytes(b"\0" * 1000)
    with pytest.raises(InputError, match="not a readable ONNX model"):
        KokoroOnnx(tmp_path / "bad.onnx", {}).load()
    engine = KokoroOnnx(models / "kokoro-int8" / "kokoro-v1.0.int8.onnx", {"af_bad": tmp_path / "af_bad.bin"})
    with pytest.raises(InputError, match=r"af_bad\.bin.*not a Kokoro voice pack"):
        engine.speak(SHORT, voice="af_bad", language="en-us", speed=1.0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A random Kokoro with few layers: checkpoint, config, voice pack."""
    import torch
    from kokoro.model import KModel

    folder = tmp_path_factory.mktemp("kokoro")
    config = json.loads(installed_file("kokoro_onnx", "config.json").read_text())
    config |= {"n_layer": 1, "max_dur": 4}  # the decoder fixes the other widths
    config["plbert"] |= {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 32}
    config["plbert"] |= {"num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(config))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        torch.save({}, folder / "empty.pth")
        network = KModel(repo_id="hexgrad/Kokoro-82M", config=config, model=str(folder / "empty.pth"))
        parts = ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")
        torch.save({part: getattr(network, part).state_dict() for part in parts}, folder / "model.pth")
        torch.randn(510, 1, 256).numpy().tofile(folder / "af_small.bin")
    return folder / "model.pth", folder / "config.json", folder / "af_small.bin"


def test_torch_engine_speaks_the_same_every_time(small: tuple[Path, Path, Path]) -> None:
    """Its noise source is seeded by the line, in whatever state torch's own generator is."""
    import torch

    model, config, pack = small
    engine = KokoroTorch(model, config, {"af_small": pack})
    assert isinstance(engine, TextToSpeech)
    torch.manual_seed(1)
    first = engine.speak(SHORT, voice="af_small", language="en-us", speed=1.0)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    again = engine.speak(SHORT, voice="af_small", language="en-us", speed=1.0)
    assert len(first) > 1_600 and np.any(first) and np.array_equal(first, again)
    assert torch.equal(before, torch.get_rng_state())


def test_torch_engine_has_the_tokens_of_the_onnx_engine(
    small: tuple[Path, Path, Path], onnx: KokoroOnnx
) -> None:
    """Both engines speak from the same phonemes."""
    model, config, pack = small
    engine = KokoroTorch(model, config, {"af_small": pack})
    assert engine._phonemiser.token_runs(SHORT, "en-us") == onnx._phonemiser.token_runs(SHORT, "en-us")


def test_torch_engine_refuses_another_checkpoint(small: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """A checkpoint that does not fit its config is named."""
    import torch

    _, config, pack = small
    torch.save({"nobody": {}}, tmp_path / "other.pth")
    with pytest.raises(InputError, match=r"other\.pth.*not a Kokoro checkpoint"):
        KokoroTorch(tmp_path / "other.pth", config, {"af_small": pack}).load()


def test_D17_identity_changes_with_every_file(small: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Model, config and voice each decide the result, so each is in the identity."""
    model, config, pack = small
    base = KokoroTorch(model, config, {"v": pack}).identity
    for position, source in enumerate(small):
        changed = list(small)
        changed[position] = tmp_path / source.name
        changed[position].write_bytes(source.read_bytes() + b" ")
        assert KokoroTorch(changed[0], changed[1], {"v": changed[2]}).identity != base
