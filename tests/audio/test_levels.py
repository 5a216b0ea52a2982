"""Levels: P.56 against a sample-by-sample reading of the recommendation, and where speech begins and ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.audio.levels import (
    SILENCE_DBOV,
    active_samples,
    active_speech_level,
    frame_levels,
    normalise,
    rms_dbov,
    speech_bounds,
    trim_to_speech,
)
from inquesto_dag.errors import CheckFailed
from inquesto_dag.units import Audio, quantise


def p56_by_the_letter(audio: Audio, rate: int = 16_000) -> tuple[float, float]:
    """(level in dBov, activity): method B as P.56 words it, one sample at a time, then a search by halving.

    Written without a look at the house's own: counters a_j with hangover counters h_j, and the threshold at
    which the margin is 15.9 dB found by halving between two neighbours.
    """
    decay, hold = math.exp(-1 / (rate * 0.03)), math.ceil(0.2 * rate)
    thresholds = [2.0**-k for k in range(15, 0, -1)]
    counts, hangovers = [0] * 15, [hold] * 15
    p = q = energy = 0.0
    for sample in audio.astype(float).tolist():
        energy += sample * sample
        p = decay * p + (1 - decay) * abs(sample)
        q = decay * q + (1 - decay) * p
        for j, threshold in enumerate(thresholds):
            if q >= threshold:
                counts[j] += 1
                hangovers[j] = 0
            elif hangovers[j] < hold:
                counts[j] += 1
                hangovers[j] += 1
            else:
                break  # a lower threshold is left before a higher one
    levels = [10 * math.log10(energy / c) if c else None for c in counts]
    decibels = [20 * math.log10(t) for t in thresholds]
    for j in range(1, 15):
        low, high = levels[j - 1], levels[j]
        assert low is not None and high is not None, "the signal never meets the margin"
        if high - decibels[j] <= 15.9:
            a, b = 0.0, 1.0
            for _ in range(60):
                middle = (a + b) / 2
                level = low + middle * (high - low)
                if level - (decibels[j - 1] + middle * (decibels[j] - decibels[j - 1])) > 15.9:
                    a = middle
                else:
                    b = middle
            return level, energy / len(audio) / 10 ** (level / 10)
    raise AssertionError("no threshold meets the margin")


@pytest.mark.parametrize(("number", "peak"), [(1, 0.3), (2, 0.9), (3, 0.03), (4, 0.005)])
def test_itu_p56_agrees_with_the_recommendation_read_word_by_word(talk, number: int, peak: float):
    """Level to 0.001 dB and activity to 0.001, from loud to very soft speech with pauses."""
    audio = np.pad(talk(number, 3.0, peak), (8000, 12_000))
    level, activity = p56_by_the_letter(audio)
    found = active_speech_level(audio)
    assert found.level_dbov == pytest.approx(level, abs=1e-3)
    assert found.activity == pytest.approx(activity, abs=1e-3)
    assert found.level_dbov - found.threshold_dbov == pytest.approx(15.9, abs=1e-6)


def test_itu_p56_silence_around_speech_changes_activity_and_hardly_the_level(talk):
    """Three times as long with silence: a third of the activity, the level within 0.5 dB."""
    speech = talk(5, 4.0)
    padded = np.pad(speech, 64_000)
    alone, among = active_speech_level(speech), active_speech_level(padded)
    assert among.level_dbov == pytest.approx(alone.level_dbov, abs=0.5)
    assert among.activity == pytest.approx(alone.activity / 3, rel=0.12)
    assert rms_dbov(padded) == pytest.approx(rms_dbov(speech) - 10 * math.log10(3), abs=1e-6)


def test_itu_p56_a_steady_tone_has_its_own_level(tone):
    """Without pauses the active level is the RMS level: a sine of amplitude 0.25 is -15.05 dBov."""
    found = active_speech_level(tone(1000, 10.0))
    assert found.level_dbov == pytest.approx(20 * math.log10(0.25) - 3.01, abs=0.05)
    assert found.activity == pytest.approx(1.0, abs=0.01)


def test_itu_p56_a_click_in_silence_counts_for_no_more_than_its_hangover():
    """One sample in ten seconds is active for at most 0.3 s."""
    audio = np.zeros(160_000, np.float32)
    audio[80_000] = 0.9
    found = active_speech_level(audio)
    assert 0 < found.activity < 0.03
    assert math.isfinite(found.level_dbov)


@pytest.mark.parametrize("audio", [np.zeros(0, np.float32), np.zeros(16_000, np.float32)])
def test_silence_and_no_samples_have_a_decided_level(audio: Audio):
    """-120 dBov, nothing active, no bounds, and nothing to normalise or keep."""
    assert active_speech_level(audio) == (SILENCE_DBOV, 0.0, SILENCE_DBOV)
    assert rms_dbov(audio) == SILENCE_DBOV
    assert not active_samples(audio).any() and len(active_samples(audio)) == len(audio)
    assert speech_bounds(audio) == (0.0, 0.0)
    assert np.array_equal(normalise(audio, -26.0), audio)
    assert trim_to_speech(audio).shape == (0,)
    assert set(frame_levels(audio)) <= {SILENCE_DBOV}


@given(st.floats(-60.0, 20.0), st.sampled_from([-20.0, -26.0, -36.0]), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_normalise_reaches_the_level_from_anywhere(talk, gain_db: float, target: float, number: int):
    """Within 0.01 dB before rounding and 0.05 dB after it, from inaudible to far too loud."""
    audio = (talk(number, 2.0) * 10 ** (gain_db / 20)).astype(np.float32)
    levelled = normalise(audio, target)
    assert active_speech_level(levelled).level_dbov == pytest.approx(target, abs=0.01)
    assert active_speech_level(quantise(levelled)).level_dbov == pytest.approx(target, abs=0.05)
    assert levelled.dtype == np.float32


def test_normalise_refuses_to_clip(talk):
    """-3 dBov speech does not fit below full scale; the error says by how much and what to do."""
    with pytest.raises(CheckFailed, match=r"-3 dBov would clip: it peaks at \+.*\n.*lower level"):
        normalise(talk(1), -3.0)


@given(st.integers(1, 40), st.integers(1, 159))
def test_frame_levels_count_a_part_frame_by_its_own_samples(frames: int, rest: int):
    """A constant signal has the same level in every frame, the last part one too."""
    levels = frame_levels(np.full(frames * 160 + rest, 0.5, np.float32))
    assert levels.shape == (frames + 1,)
    assert np.allclose(levels, 20 * math.log10(0.5))


@given(st.integers(0, 200), st.integers(5, 100), st.integers(0, 200))
@settings(deadline=None)
def test_D3_bounds_are_those_of_the_sound_to_a_frame(before: int, length: int, after: int):
    """Silence of any length around a sound of 10 ms frames is not speech."""
    rng = np.random.default_rng(length)
    sound = (0.1 * np.sign(rng.standard_normal(length * 160))).astype(np.float32)
    audio = np.concatenate([np.zeros(before * 160, np.float32), sound, np.zeros(after * 160, np.float32)])
    assert speech_bounds(audio) == pytest.approx((before * 0.01, (before + length) * 0.01))


def test_D3_a_tail_of_noise_41_db_down_is_not_speech_and_39_db_down_is(tone):
    """The bound is 40 dB below the loudest frame, and can be set."""
    speech, faint = tone(1000, 1.0, 0.5), tone(1000, 1.0)
    for below, end in [(41.0, 1.0), (39.0, 2.0)]:
        audio = np.concatenate([speech, faint * np.float32(2 * 10 ** (-below / 20))])
        assert speech_bounds(audio)[1] == pytest.approx(end)
        assert speech_bounds(audio, below_peak_db=45.0)[1] == pytest.approx(2.0)


def test_bounds_never_pass_the_end():
    """A sound that ends within a frame ends there, not at the frame's end."""
    assert speech_bounds(np.full(250, 0.1, np.float32)) == (0.0, 250 / 16_000)


def test_trim_keeps_the_margin_and_begins_and_ends_at_zero(talk):
    """30 ms stay on either side, the edges are exactly zero and the speech inside is untouched."""
    noise = 1e-4 * np.random.default_rng(0).standard_normal(64_000).astype(np.float32)
    audio = noise.copy()
    audio[16_000:48_000] += talk(6, 2.0)
    onset, offset = speech_bounds(audio)
    cut = trim_to_speech(audio)
    assert len(cut) == round((offset - onset + 0.06) * 16_000)
    assert cut[0] == 0.0 and cut[-1] == 0.0
    start = round((onset - 0.03) * 16_000)
    assert np.array_equal(cut[80:-80], audio[start + 80 : start + len(cut) - 80])
    assert speech_bounds(cut) == pytest.approx((0.03, 0.03 + offset - onset))


def test_trim_of_speech_without_margin_still_has_zero_edges():
    """Sound that reaches both ends is faded over 5 ms, and its input is not changed."""
    audio = np.full(4000, 0.25, np.float32)
    cut = trim_to_speech(audio)
    assert len(cut) == 4000 and cut[0] == 0.0 and cut[-1] == 0.0
    assert np.all(cut[80:-80] == 0.25) and np.all(audio == 0.25)


def test_active_samples_hold_for_a_fifth_of_a_second(tone):
    """Activity ends 0.2 s after the envelope fell below the threshold, and not before."""
    audio = np.concatenate([tone(500, 1.0), np.zeros(16_000, np.float32)])
    last = np.flatnonzero(active_samples(audio))[-1] / 16_000
    assert 1.2 < last < 1.5
