"""Speaker verification: calibration and the answers that it can give (PROTOCOL I1, I2, D11)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.errors import CheckFailed
from inquesto_dag.speech.verification import MINIMUM_SPEECH, Verifier, calibrate, enrol, speech_seconds
from inquesto_dag.units import SAMPLE_RATE


def test_I2_the_threshold_is_the_middle_of_the_gap():
    found = calibrate([0.9, 0.8], [0.4, 0.6])
    assert (found.threshold, found.margin) == (pytest.approx(0.7), pytest.approx(0.2))


def test_I2_calibration_fails_when_holders_and_impostors_overlap():
    with pytest.raises(CheckFailed, match=r"do not separate: lowest holder 0\.600, highest impostor 0\.700"):
        calibrate([0.9, 0.6], [0.7])


@pytest.mark.parametrize(("holders", "impostors"), [([], [0.1]), ([0.9], [])])
def test_I2_calibration_needs_both(holders, impostors):
    with pytest.raises(CheckFailed, match="at least one"):
        calibrate(holders, impostors)


@given(st.lists(st.floats(0.71, 1.0), min_size=1), st.lists(st.floats(-1.0, 0.7), min_size=1))
def test_I2_the_threshold_accepts_every_holder_and_rejects_every_impostor(holders, impostors):
    threshold = calibrate(holders, impostors).threshold
    assert all(score >= threshold for score in holders)
    assert all(score < threshold for score in impostors)


@pytest.mark.engines
def test_D11_too_little_speech_is_never_verified(engines, said):
    voice = said()
    verifier = Verifier(engines.speaker, engines.vad, {"af_heart": enrol([voice], engines.speaker)}, -1.0)
    short = voice[: SAMPLE_RATE // 2]
    for heard in (np.zeros(SAMPLE_RATE * 3, np.float32), short, voice[:0]):
        outcome = verifier.verify(heard, "af_heart")
        assert (outcome.status, outcome.similarity) == ("not_enough_speech", None)
        assert outcome.speech_s < MINIMUM_SPEECH


@pytest.mark.engines
def test_I1_the_holder_is_verified_and_another_voice_is_not(engines, said):
    enrolment = enrol(
        [said("The morning train was late again, so I walked along the river.")], engines.speaker
    )
    verifier = Verifier(engines.speaker, engines.vad, {"af_heart": enrolment}, 0.75)
    assert verifier.verify(said(), "af_heart").status == "verified"
    assert verifier.verify(said(voice="bm_george"), "af_heart").status == "not_verified"


@pytest.mark.engines
def test_speech_is_counted_without_its_pauses(engines, said):
    voice = said()
    padded = np.concatenate([np.zeros(SAMPLE_RATE, np.float32), voice, np.zeros(SAMPLE_RATE, np.float32)])
    assert speech_seconds(padded, engines.vad) == pytest.approx(speech_seconds(voice, engines.vad), abs=0.2)
    assert speech_seconds(padded, engines.vad) <= len(voice) / SAMPLE_RATE + 0.1
