"""Engines of a process: one load, results through the memo, keys that hold what decides them."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inquesto_dag.errors import InputError
from inquesto_dag.speech.engines import Engines, EngineSpec, audio_digest, engines_for
from inquesto_dag.units import Audio

pytestmark = pytest.mark.engines

TEXT = "Yes, please."


def spoken(engines: Engines, voice: str = "af_heart", speed: float = 1.0) -> Audio:
    """A short line by these engines."""
    return engines.tts.speak(TEXT, voice=voice, language="en-us", speed=speed)


def test_D17_results_are_reused_and_equal(models: Path, tmp_path: Path) -> None:
    """A second process with the same memo computes nothing and gets the same."""
    first, second = (Engines(EngineSpec(models, tmp_path)) for _ in range(2))
    audio = spoken(first)
    results = [(e.recogniser().recognise(audio), e.speaker.embed(audio)) for e in (first, second)]
    assert np.array_equal(spoken(second), audio)
    assert results[0][0] == results[1][0] and np.array_equal(results[0][1], results[1][1])
    assert dict(first.counts) == {
        "tts_computed": 1, "tts_reused": 0, "asr_computed": 1, "asr_reused": 0,
        "verifier_computed": 1, "verifier_reused": 0,
    }  # fmt: skip
    assert dict(second.counts) == {"tts_reused": 1, "asr_reused": 1, "verifier_reused": 1}
    assert set(first.spent) == {"tts", "asr", "verifier"} and not second.spent


def test_threads_of_the_environment_change_no_bit(
    models: Path, said: Callable[..., Audio], tmp_path: Path
) -> None:
    """A process that was started with two BLAS threads hears exactly what a worker with one hears."""
    np.save(tmp_path / "said.npy", said())
    program = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from inquesto_dag.speech.engines import Engines, EngineSpec\n"
        "engines = Engines(EngineSpec(Path(sys.argv[1])))\n"
        "audio = np.load(sys.argv[2])\n"
        "print(engines.recogniser().recognise(audio), engines.speaker.embed(audio).tobytes().hex())"
    )
    heard = {
        subprocess.run(
            [sys.executable, "-c", program, str(models), str(tmp_path / "said.npy")],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True, text=True, check=True,
        ).stdout
        for threads in ("1", "2")
    }  # fmt: skip
    assert len(heard) == 1 and "text=" in heard.pop()


def test_D17_voice_and_speed_are_in_the_key(models: Path, tmp_path: Path) -> None:
    """Another voice or speed is another line."""
    engines = Engines(EngineSpec(models, tmp_path))
    lines = [spoken(engines), spoken(engines, "am_michael"), spoken(engines, speed=1.2)]
    assert engines.counts["tts_computed"] == 3
    assert len({audio_digest(line) for line in lines}) == 3


def test_D17_recogniser_is_in_the_key(models: Path, tmp_path: Path, said: Callable[..., Audio]) -> None:
    """A window of another length is another recogniser, though the words may agree."""
    fitted = Engines(EngineSpec(models, tmp_path))
    full = Engines(EngineSpec(models, tmp_path, asr_window="full"))
    fitted.recogniser().recognise(said())
    full.recogniser().recognise(said())
    assert full.counts["asr_computed"] == 1 and full.counts["asr_reused"] == 0


def test_reuse_loads_no_network(models: Path, tmp_path: Path) -> None:
    """A run that finds everything in the memo imports no runtime: keys need digests only."""
    spoken(Engines(EngineSpec(models, tmp_path)))
    code = (
        "import json, sys; from pathlib import Path\n"
        "from inquesto_dag.speech.engines import Engines, EngineSpec\n"
        f"e = Engines(EngineSpec(Path({str(models)!r}), Path({str(tmp_path)!r})))\n"
        f"e.tts.speak({TEXT!r}, voice='af_heart', language='en-us', speed=1.0)\n"
        "e.identities()\n"
        "heavy = ['torch', 'onnxruntime', 'faster_whisper', 'ctranslate2', 'kokoro_onnx', 'transformers']\n"
        "print(json.dumps([dict(e.counts), [m for m in heavy if m in sys.modules]]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [{"tts_reused": 1}, []]


def test_damaged_model_stops_the_engine(models: Path, tmp_path: Path) -> None:
    """A flipped byte in a model is named before anything is computed with it."""
    (tmp_path / "ge2e").mkdir()
    data = bytearray((models / "ge2e" / "pretrained.pt").read_bytes())
    data[1_000_000] ^= 1
    (tmp_path / "ge2e" / "pretrained.pt").write_bytes(data)
    with pytest.raises(InputError, match=r"pretrained\.pt: model file is corrupt \(wrong digest\)"):
        Engines(EngineSpec(tmp_path)).speaker.embed(np.ones(16_000, np.float32) * 0.1)


def test_model_of_another_role_is_refused(models: Path) -> None:
    """A recogniser cannot speak."""
    with pytest.raises(InputError, match="whisper-base is a model for asr, not for tts") as caught:
        spoken(Engines(EngineSpec(models, tts="whisper-base")))
    assert "kokoro-int8" in caught.value.remedy


def test_D16_identities_name_what_would_run(engines: Engines) -> None:
    """Every role names its model and the digests of its files, as plain JSON."""
    from inquesto_dag.speech.catalogue import BY_NAME

    identities = engines.identities()
    assert {role: identity["model_name"] for role, identity in identities.items()} == {
        "tts": "kokoro-int8", "asr": "whisper-base", "vad": "silero-vad", "verifier": "ge2e",
    }  # fmt: skip
    text = json.dumps(identities)
    for name in ("kokoro-int8", "whisper-base", "silero-vad", "ge2e"):
        assert all(file.sha256 in text for file in BY_NAME[name].files), name


def test_spec_travels_and_engines_are_made_once(models: Path) -> None:
    """A spec is picklable and equal by value; a process has one set of engines for it."""
    roles = {"tts": "kokoro-int8", "asr": "whisper-tiny", "verifier": "ge2e", "judge": "rules"}
    spec = EngineSpec.for_roles(roles, models)
    copy = pickle.loads(pickle.dumps(spec))
    assert copy == spec and copy.asr == "whisper-tiny"
    assert engines_for(spec) is engines_for(copy)
    assert engines_for(spec) is not engines_for(EngineSpec(models))


def test_vad_time_is_counted(engines: Engines, said: Callable[..., Audio]) -> None:
    """Frames add to the seconds spent in the detector."""
    stream = engines.vad.stream()
    before = engines.spent["vad"]
    stream.step(said()[:512])
    assert engines.spent["vad"] > before
