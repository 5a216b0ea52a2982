"""Real models, once a session; a machine without them is told how to get them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inquesto_dag.speech.catalogue import EMBEDDED
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import list_models, models_folder
from inquesto_dag.units import Audio

LINE = "I see two charges of forty nine dollars, and I only have one plan."


@pytest.fixture(scope="session")
def models() -> Path:
    """The models folder with the embedded profile's models in it."""
    absent = {s.model for s in list_models(models_folder()) if s.state != "whole"} & set(EMBEDDED)
    if absent:
        pytest.fail(f"run `inquesto-dag models fetch` first; absent: {', '.join(sorted(absent))}")
    return models_folder()


@pytest.fixture(scope="session")
def engines(models: Path) -> Engines:
    """The embedded engines without a memo."""
    return Engines(EngineSpec(models))


@pytest.fixture(scope="session")
def said(engines: Engines) -> Callable[..., Audio]:
    """Kokoro's reading of a line, each spoken once a session."""
    spoken: dict[tuple[str, str], Audio] = {}

    def say(text: str = LINE, voice: str = "af_heart") -> Audio:
        if (text, voice) not in spoken:
            language = "en-us" if voice.startswith("a") else "en-gb"
            spoken[text, voice] = engines.tts.speak(text, voice=voice, language=language, speed=1.0)
        return spoken[text, voice]

    return say
