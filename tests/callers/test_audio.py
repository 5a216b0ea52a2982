"""A line as audio: pauses where the style puts them, one active level, nothing clipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inquesto_dag.audio.levels import active_speech_level, frame_levels, speech_bounds
from inquesto_dag.callers.audio import render
from inquesto_dag.callers.script import BankLine, StyledLine, lines_of
from inquesto_dag.errors import CheckFailed
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.units import Audio, quantise

PROTOCOL = load_protocol(Path(__file__).parents[2] / "data" / "protocols" / "v0.1")


class Tones:
    """An instrument instead of a voice: a tone of 0.1 s a word, with quiet margins of known length."""

    identity: dict[str, Any] = {"name": "tones"}  # noqa: RUF012  # the interface's shape
    lead, tail = 480, 640

    def __init__(self, gain: float = 0.2) -> None:
        self.gain = gain
        self.spoken: list[tuple[str, str, str, float]] = []

    def speak(self, text: str, *, voice: str, language: str, speed: float) -> Audio:
        self.spoken.append((text, voice, language, speed))
        time = np.arange(1600 * len(text.split())) / 16_000
        tone = self.gain * np.sin(2 * np.pi * 440 * time) * (1 + 0.3 * np.sin(2 * np.pi * 4 * time)) / 1.3
        return quantise(np.concatenate([np.zeros(self.lead), tone, np.zeros(self.tail)]).astype(np.float32))


def line_of(clauses: tuple[str, ...], pauses: tuple[float, ...]) -> BankLine:
    return BankLine("x.opening.af_heart", "x", "opening", "af_heart", "en-us", "hesitant",
                    StyledLine(clauses, pauses, 0.88))  # fmt: skip


def test_a_pause_is_what_lies_between_the_speech() -> None:
    """The drawn 0.5 and 0.83 s are measured between level-based speech, margins of the buffers included."""
    tts = Tones()
    rendered = render(line_of(("one two three", "four five", "six seven eight"), (0.5, 0.83)), tts, -26.0)
    assert [end - start for start, end in rendered.pauses_s] == pytest.approx([0.5, 0.83], abs=0.011)
    loudest = frame_levels(rendered.audio).max()
    for start, end in rendered.pauses_s:
        inside = frame_levels(rendered.audio[round(start * 16_000) : round(end * 16_000)])
        assert inside.max() < loudest - 40
        after = frame_levels(rendered.audio[round(end * 16_000) : round((end + 0.05) * 16_000)])
        assert after.max() > loudest - 20
    assert [said[0] for said in tts.spoken] == ["one two three", "four five", "six seven eight"]
    assert {said[1:] for said in tts.spoken} == {("af_heart", "en-us", 0.88)}


@pytest.mark.parametrize("gain", [0.02, 0.2, 0.9])
def test_every_line_has_the_stated_active_level(gain: float) -> None:
    """ITU-T P.56: -26 dBov whatever the TTS gives, on the 16-bit grid, with bounds inside the audio."""
    rendered = render(line_of(("one two three four", "five"), (1.0,)), Tones(gain), -26.0)
    assert active_speech_level(rendered.audio).level_dbov == pytest.approx(-26.0, abs=0.1)
    assert rendered.active_level_dbov == pytest.approx(-26.0, abs=0.1)
    assert 0 < rendered.activity <= 1
    assert np.array_equal(quantise(rendered.audio), rendered.audio)
    assert (rendered.onset_s, rendered.offset_s) == speech_bounds(rendered.audio)
    assert rendered.onset_s == pytest.approx(Tones.lead / 16_000, abs=0.011)


def test_a_level_that_would_clip_is_refused() -> None:
    """Clipped speech would have another level and another spectrum."""
    with pytest.raises(CheckFailed, match="clip"):
        render(line_of(("one two three",), ()), Tones(), -0.5)


def test_a_clause_without_speech_is_refused() -> None:
    """A TTS that gives silence is named with its clause and utterance."""
    with pytest.raises(CheckFailed, match=r"x\.opening\.af_heart.*no speech for 'one two'"):
        render(line_of(("one two",), ()), Tones(0.0), -26.0)


@pytest.mark.engines
@pytest.mark.parametrize("scenario", ["dup_charge-fast", "escalate_refund-hesitant"])
def test_I1_real_openings_hold_enough_speech(scenario: str) -> None:
    """At least 2.5 s of speech for the verifier, at the protocol's level, pauses as drawn."""
    from inquesto_dag.speech.engines import Engines, EngineSpec
    from inquesto_dag.speech.fetch import models_folder

    folder = models_folder()
    if not (folder / "kokoro-int8").is_dir():
        pytest.skip("needs the models: inquesto-dag models fetch")
    engines = Engines(EngineSpec(models=folder))
    rows = [
        row for row in plan_calls(PROTOCOL) if row["scenario_id"] == scenario and row["group"] == "uk_male"
    ]
    line = next(line for line in lines_of(PROTOCOL, rows) if line.move == "opening")
    rendered = render(line, engines.tts, PROTOCOL.caller_level_dbov)
    speech = rendered.offset_s - rendered.onset_s - sum(end - start for start, end in rendered.pauses_s)
    assert speech >= 2.5
    assert rendered.active_level_dbov == pytest.approx(PROTOCOL.caller_level_dbov, abs=0.1)
    drawn = list(line.line.pauses_s)
    assert [end - start for start, end in rendered.pauses_s] == pytest.approx(drawn, abs=0.011)
