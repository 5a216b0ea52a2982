"""The endpointing window decides when a caller counts as finished (PROTOCOL A4, S1)."""

import pytest

from inquesto_dag.agents.endpointing import Endpointer
from inquesto_dag.units import to_samples

FRAME = 512


def run(probabilities, window_ms):
    endpointer = Endpointer(to_samples(window_ms / 1000), FRAME)
    return [e for i, p in enumerate(probabilities) if (e := endpointer.step(p, i * FRAME))]


def speech(*runs):
    """Frames of speech and silence in turn: (speech, silence, speech, ...)."""
    return [p for i, n in enumerate(runs) for p in [0.9 if i % 2 == 0 else 0.0] * n]


@pytest.mark.parametrize("window_ms", [400, 700, 1100])
def test_the_window_passes_between_the_last_speech_and_the_endpoint(window_ms):
    (endpoint,) = run(speech(30, 60), window_ms)
    assert (endpoint.start, endpoint.end) == (0, 30 * FRAME)
    waited = endpoint.noticed - endpoint.end
    assert to_samples(window_ms / 1000) <= waited < to_samples(window_ms / 1000) + FRAME


@pytest.mark.parametrize(("window_ms", "utterances"), [(400, 2), (700, 2), (1100, 1)])
def test_A4_a_hesitation_of_0_8_s_cuts_the_caller_under_short_windows_only(window_ms, utterances):
    assert len(run(speech(30, 25, 30, 60), window_ms)) == utterances


def test_a_click_is_no_utterance():
    assert run(speech(3, 60), 400) == []


def test_speech_between_the_thresholds_keeps_an_utterance_alive_but_does_not_start_one():
    assert run([0.4] * 60, 400) == []
    (endpoint,) = run([0.9] * 10 + [0.4] * 20 + [0.0] * 40, 400)
    assert endpoint.end == 30 * FRAME
