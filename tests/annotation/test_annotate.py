"""A recording in, segments and turns out; nothing else is read (PROTOCOL D2, T12)."""

import numpy as np
import pytest

from inquesto_dag.annotation.annotate import annotate
from inquesto_dag.annotation.transcribe import cut_turn
from inquesto_dag.annotation.turns import Turn
from inquesto_dag.errors import InputError
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import models_folder
from inquesto_dag.units import SAMPLE_RATE, quantise, to_samples


@pytest.mark.engines
def test_D1_D3_onsets_offsets_and_latency_are_those_of_the_speech():
    engines = Engines(EngineSpec(models_folder()))
    caller = engines.tts.speak("I want to cancel my plan.", voice="am_michael", language="en-us", speed=1.0)
    agent = engines.tts.speak("Your plan is cancelled.", voice="af_bella", language="en-us", speed=1.0)
    stereo = np.zeros((10 * SAMPLE_RATE, 2), np.float32)
    stereo[SAMPLE_RATE : SAMPLE_RATE + len(caller), 0] = caller
    start = SAMPLE_RATE + len(caller) + to_samples(1.4)
    stereo[start : start + len(agent), 1] = agent
    found = annotate(stereo, engines.vad, engines.recogniser())
    ask, answer = found.transcripts
    margin = 0.03  # silence that the TTS keeps around speech
    assert ask["start_s"] == pytest.approx(1.0 + margin, abs=0.02)
    assert ask["end_s"] == pytest.approx(1.0 + len(caller) / SAMPLE_RATE - margin, abs=0.04)
    assert answer["latency_s"] == pytest.approx(1.4 + 2 * margin, abs=0.04)
    assert "cancel my plan" in ask["text"].lower()
    assert "plan is cancel" in answer["text"].lower()


def test_one_track_is_no_call():
    with pytest.raises(InputError, match="two tracks"):
        annotate(np.zeros(100, np.float32), None, None)


@pytest.mark.parametrize("at", [3200, 5000, 16123])
def test_an_utterance_is_the_same_audio_wherever_it_lies(at):
    """So that a recogniser reads it once, however many calls it occurs in."""
    speech = quantise(np.random.default_rng(1).normal(0, 0.1, 8000).astype(np.float32))
    track = np.zeros(40_000, np.float32)
    track[at : at + len(speech)] = speech
    turn = Turn("agent", at / SAMPLE_RATE + 0.01, (at + len(speech)) / SAMPLE_RATE - 0.01)
    cut = cut_turn(track, turn)
    np.testing.assert_array_equal(cut[3200:-3200], speech)
    assert not cut[:3200].any() and not cut[-3200:].any()
