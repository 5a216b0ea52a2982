"""Speaker encoders: GE2E on its real weights, WeSpeaker's loading and features on a small stand-in graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.errors import InputError
from inquesto_dag.speech.engines import Engines
from inquesto_dag.speech.ge2e import Ge2e, partial_starts, without_silence
from inquesto_dag.speech.interfaces import SpeakerEncoder
from inquesto_dag.speech.mel import HOP, filter_bank, hz_to_mel, mel_power, mel_to_hz
from inquesto_dag.speech.wespeaker import WeSpeaker, filter_banks
from inquesto_dag.units import Audio

pytestmark = pytest.mark.engines

SECOND = "The trains were late this morning, so I walked along the river."


@pytest.fixture(scope="module")
def ge2e(engines: Engines) -> Ge2e:
    """The encoder itself."""
    engine = engines.speaker.engine  # type: ignore[attr-defined]
    assert isinstance(engine, Ge2e) and isinstance(engine, SpeakerEncoder)
    return engine


def test_I1_one_voice_is_nearer_to_itself_than_to_others(ge2e: Ge2e, said: Callable[..., Audio]) -> None:
    """Different sentences of one voice lie nearer than the same sentence of two voices."""
    here, there = ge2e.embed(said()), ge2e.embed(said(SECOND))
    others = [ge2e.embed(said(voice=voice)) for voice in ("am_michael", "bf_emma", "bm_george")]
    assert here.shape == (256,) and here.dtype == np.float32
    assert np.linalg.norm(here) == pytest.approx(1.0, abs=1e-6) and (here >= 0).all()
    assert here @ there > 0.8 > max(here @ other for other in others)


def test_quieter_and_paused_speech_is_the_same_voice(ge2e: Ge2e, said: Callable[..., Audio]) -> None:
    """Neither the level of a line nor a hesitant caller's pauses are part of a voice."""
    audio = said()
    middle = len(audio) // 2
    paused = np.concatenate([audio[:middle], np.zeros(32_000, np.float32), audio[middle:]])
    embedded = ge2e.embed(audio)
    quiet, quieter = (ge2e.embed(audio * np.float32(gain)) for gain in (0.2, 0.05))
    assert quiet @ quieter > 0.9999  # both are raised to the same level
    assert embedded @ quiet > 0.9
    assert embedded @ ge2e.embed(paused) > 0.95


def test_silence_has_no_voice(ge2e: Ge2e) -> None:
    """No vector is made up for digital silence, or for nothing."""
    for samples in (0, 32_000):
        with pytest.raises(InputError, match="no sound"):
            ge2e.embed(np.zeros(samples, np.float32))


def test_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    """A damaged checkpoint is named."""
    (tmp_path / "bad.pt").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match=r"bad\.pt.*not a GE2E checkpoint"):
        Ge2e(tmp_path / "bad.pt").load()


@given(st.floats(0, 8_000))
def test_mel_scale_turns_back(hz: float) -> None:
    """There and back on the Slaney scale is where one was."""
    assert float(mel_to_hz(hz_to_mel(hz))) == pytest.approx(hz, abs=1e-6)


def test_mel_scale_has_slaneys_fixed_points() -> None:
    """15 mels at 1 kHz; 27 more at 6.4 kHz."""
    assert hz_to_mel([0, 1_000, 6_400]) == pytest.approx([0.0, 15.0, 42.0])


def test_filter_bank_agrees_with_another_implementation() -> None:
    """Transformers' own bank, built with its Slaney options, has the same triangles."""
    from transformers.audio_utils import mel_filter_bank

    theirs = mel_filter_bank(201, 40, 0.0, 8_000.0, 16_000, norm="slaney", mel_scale="slaney")
    np.testing.assert_allclose(filter_bank(), theirs.T, atol=1e-9)


def test_mel_power_agrees_with_another_implementation(said: Callable[..., Audio]) -> None:
    """Framing, window and power are those of a centred, zero-padded short-time transform by torch."""
    import torch

    audio = said()
    window = torch.hann_window(400, periodic=True, dtype=torch.float64)
    spectrum = torch.stft(
        torch.from_numpy(audio.astype(np.float64)), 400, 160, window=window, center=True,
        pad_mode="constant", return_complex=True,
    )  # fmt: skip
    expected = (spectrum.abs() ** 2).numpy().T @ filter_bank().T
    np.testing.assert_allclose(mel_power(audio), expected, rtol=1e-4, atol=1e-9)


@given(st.integers(0, 400_000))
def test_windows_cover_an_utterance(samples: int) -> None:
    """Windows start at 0, step evenly, and leave at most a quarter window and one step uncovered."""
    starts = partial_starts(samples)
    step = 77
    assert starts == list(range(0, step * len(starts), step))
    assert (starts[-1] + 160 + step) * HOP > samples - 40 * HOP
    assert len(starts) == 1 or samples - starts[-1] * HOP >= 0.75 * 160 * HOP


def test_only_long_silence_is_cut() -> None:
    """A gap of 0.15 s stays, one of 1 s shrinks to 0.2 s."""
    tone = (0.1 * np.sin(np.arange(8_000) * 0.3)).astype(np.float32)

    def joined(gap: int) -> Audio:
        return np.concatenate([tone, np.zeros(gap, np.float32), tone])

    assert len(without_silence(joined(2_400))) == 2 * 8_000 + 2_400
    assert len(without_silence(joined(16_000))) == 2 * 8_000 + 3_200


def field(number: int, payload: bytes | int) -> bytes:
    """One protobuf field: a varint for an int, else length-delimited."""

    def varint(value: int) -> bytes:
        low, rest = value & 0x7F, value >> 7
        return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])

    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def stand_in(path: Path, weights: np.ndarray, inputs: tuple[str, ...] = ("feats",)) -> None:
    """Write a graph `embs = mean over frames of |feats| @ weights`, in ONNX's protobuf."""

    def tensor_type(name: str, last: int) -> bytes:
        dims = [field(1, field(2, b"N")), field(1, field(2, b"T")), field(1, field(1, last))]
        kind = field(1, field(1, 1) + field(2, b"".join(dims if name != "embs" else (dims[0], dims[2]))))
        return field(1, name.encode()) + field(2, kind)

    def node(kind: str, given: list[str], made: str, attributes: bytes = b"") -> bytes:
        names = b"".join(field(1, name.encode()) for name in given)
        return field(1, names + field(2, made.encode()) + field(4, kind.encode()) + attributes)

    axes = field(5, field(1, b"axes") + field(8, 1) + field(20, 7))
    keep = field(5, field(1, b"keepdims") + field(3, 0) + field(20, 2))
    tensor = b"".join(field(1, size) for size in weights.shape) + field(2, 1) + field(8, b"W")
    tensor += field(9, weights.astype("<f4").tobytes())
    graph = node("Abs", ["feats"], "size") + node("ReduceMean", ["size"], "mean", axes + keep)
    graph += node("MatMul", ["mean", "W"], "embs") + field(2, b"g") + field(5, tensor)
    graph += b"".join(field(11, tensor_type(name, 80)) for name in inputs)
    graph += field(12, tensor_type("embs", weights.shape[1]))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)))


def test_wespeaker_runs_its_graph_on_its_features(tmp_path: Path, said: Callable[..., Audio]) -> None:
    """What comes out is the graph on Kaldi features, at unit length."""
    weights = np.random.default_rng(2).standard_normal((80, 256)).astype(np.float32)
    stand_in(tmp_path / "w.onnx", weights)
    encoder = WeSpeaker(tmp_path / "w.onnx")
    assert isinstance(encoder, SpeakerEncoder)
    expected = np.abs(filter_banks(said())).mean(axis=0) @ weights
    vector = encoder.embed(said())
    assert vector.dtype == np.float32 and np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_wespeaker_features_are_mean_free_and_do_not_know_the_level(said: Callable[..., Audio]) -> None:
    """A 25 ms window every 10 ms, 80 mels, mean zero; a gain falls out in the logarithm."""
    audio = said()
    features = filter_banks(audio)
    assert features.shape == ((len(audio) - 400) // 160 + 1, 80)
    np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-4)
    # Digital zero has no logarithm to shift, so the comparison is on frames with sound.
    loud = features.mean(axis=1) > 0
    steps = [np.diff(f[loud], axis=0) for f in (features, filter_banks(audio * np.float32(0.5)))]
    np.testing.assert_allclose(steps[0], steps[1], atol=0.05)


def test_wespeaker_refuses_silence_and_other_graphs(tmp_path: Path) -> None:
    """Silence has no voice; a graph with two inputs is not WeSpeaker's."""
    weights = np.ones((80, 4), np.float32)
    stand_in(tmp_path / "one.onnx", weights)
    stand_in(tmp_path / "two.onnx", weights, ("feats", "lengths"))
    with pytest.raises(InputError, match="no sound"):
        WeSpeaker(tmp_path / "one.onnx").embed(np.zeros(16_000, np.float32))
    with pytest.raises(InputError, match=r"has 2 inputs \(feats, lengths\)"):
        WeSpeaker(tmp_path / "two.onnx").load()
