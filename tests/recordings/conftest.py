"""The short call of `material`, spoken once and kept between sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.speech.catalogue import EMBEDDED
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import list_models, models_folder
from inquesto_dag.units import Audio
from tests.recordings.material import Call, mix

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def kept_engines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engines:
    """The embedded engines over a memo that outlives the session."""
    absent = {s.model for s in list_models(models_folder()) if s.state != "whole"} & set(EMBEDDED)
    if absent:
        pytest.fail(f"run `inquesto-dag models fetch` first; absent: {', '.join(sorted(absent))}")
    cache = getattr(request.config, "cache", None)
    memo = Path(cache.mkdir("inquesto-memo")) if cache is not None else tmp_path_factory.mktemp("memo")
    return Engines(EngineSpec(models_folder(), memo=memo))


@pytest.fixture(scope="session")
def call(kept_engines: Engines) -> Call:
    """The script of `material` as two clean tracks."""

    def speak(text: str, voice: str) -> Audio:
        language = "en-us" if voice.startswith("a") else "en-gb"
        return kept_engines.tts.speak(text, voice=voice, language=language, speed=1.0)

    return mix(speak)


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    """Protocol v0.1."""
    return load_protocol(ROOT / "data" / "protocols" / "v0.1")
