"""Babble: several talkers, one level, no seam (PROTOCOL P3, D4, D6)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.audio.babble import excerpt, make_bed, without_pauses
from inquesto_dag.audio.levels import normalise, rms_dbov, speech_bounds, trim_to_speech
from inquesto_dag.audio.measure import band_energy_db, snr_db
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.units import Audio, quantise, to_pcm16

LEVEL = -36.0


@pytest.fixture(scope="module")
def talks(talk) -> list[Audio]:
    return [talk(number, 8.0) for number in range(8)]


@pytest.fixture(scope="module")
def bed(talks: list[Audio]) -> Audio:
    return make_bed(talks, 12.0, LEVEL, seed=3)


def test_D4_noise_is_present_at_its_level_in_every_half_second(bed: Audio):
    """Every 0.5 s window, 10 ms apart and across the loop's end, is within 0.3 dB; so is every second."""
    for length in (4000, 8000, 16_000):
        for start in range(0, len(bed), 160):
            assert rms_dbov(excerpt(bed, start, length)) == pytest.approx(LEVEL, abs=0.3)


@given(start=st.integers(0, 10**9), number=st.integers(20, 30), seconds=st.floats(0.4, 6.0))
@settings(max_examples=40, deadline=None)
def test_P3_any_line_anywhere_in_the_bed_has_10_db(bed: Audio, talk, start: int, number: int, seconds: float):
    """Within 0.5 dB on active speech, from one syllable to six seconds, wherever in the loop it is said."""
    speech = quantise(normalise(trim_to_speech(talk(number, seconds)), LEVEL + 10.0))
    assert snr_db(speech, excerpt(bed, start, len(speech))) == pytest.approx(10.0, abs=0.5)


def test_D6_every_talker_is_heard_in_every_second(talk, tone):
    """Each of eight talkers carries a mark of its own above 4 kHz; all are there, a ninth one's is not."""

    def marked(number: int) -> Audio:
        speech = talk(number, 8.0)
        envelope = np.sqrt(np.convolve(np.square(speech), np.full(400, 1 / 400, np.float32), "same"))
        return (speech + envelope * tone(4500 + 300 * number, 8.0)).astype(np.float32)

    bed = make_bed([marked(number) for number in range(8)], 12.0, LEVEL, seed=3)
    for start in range(0, len(bed), 4000):
        second = excerpt(bed, start, 16_000)
        mark = [band_energy_db(second, 4460 + 300 * n, 4540 + 300 * n) for n in range(9)]
        assert min(mark[:8]) > mark[8] + 15.0


def test_D6_levelling_is_too_slow_to_turn_talk_into_modulated_noise(talks: list[Audio]):
    """A steady 6 kHz tone in a talk keeps 90 % of its power within 6 Hz: the gain follows no syllable."""
    time = np.arange(8 * 16_000) / 16_000
    steady = (0.2 * np.sin(2 * np.pi * 6000 * time)).astype(np.float32)
    bed = make_bed([*talks[:7], steady], 12.0, LEVEL, seed=3)
    within, around = band_energy_db(bed, 5994, 6006), band_energy_db(bed, 5800, 6200)
    assert within - around > 10 * np.log10(0.9)


def test_the_loop_has_no_seam(bed: Audio):
    """The step from the last sample to the first, and around it, is no larger than steps elsewhere."""
    steps = np.abs(np.diff(np.concatenate([bed, bed[:1]])))
    assert steps[-1] <= np.quantile(steps, 0.999)
    around = np.concatenate([bed[-80:], bed[:80]])
    assert band_energy_db(around, 6000, 8001) <= max(
        band_energy_db(bed[at : at + 160], 6000, 8001) for at in range(0, len(bed) - 160, 160)
    )


def test_the_same_seed_gives_the_same_bed_and_another_another(talks: list[Audio], bed: Audio):
    """Byte for byte, on the 16-bit grid, of the length asked for."""
    assert make_bed(talks, 12.0, LEVEL, seed=3).tobytes() == bed.tobytes()
    assert make_bed(talks, 12.0, LEVEL, seed=4).tobytes() != bed.tobytes()
    assert bed.shape == (192_000,) and bed.dtype == np.float32
    assert np.array_equal(to_pcm16(bed) / np.float32(32_768), bed)


def test_talks_of_other_levels_count_alike(talks: list[Audio], bed: Audio):
    """A talk recorded 20 dB softer changes nothing that can be heard."""
    softer = [(t * np.float32(0.1 if n == 2 else 1.0)).astype(np.float32) for n, t in enumerate(talks)]
    assert rms_dbov(make_bed(softer, 12.0, LEVEL, seed=3) - bed) < LEVEL - 30.0


def test_D6_fewer_than_six_talkers_are_not_babble(talks: list[Audio]):
    """Five are refused, six suffice, and the same talk twice is one talker."""
    with pytest.raises(InputError, match="at least 6 different talkers, here are 5"):
        make_bed(talks[:5], 2.0, LEVEL, seed=1)
    with pytest.raises(InputError, match="at least 6 different talkers"):
        make_bed([*talks[:6], talks[0]], 2.0, LEVEL, seed=1)
    assert len(make_bed(talks[:6], 2.0, LEVEL, seed=1)) == 32_000


def test_a_talk_without_speech_is_named(talks: list[Audio]):
    """Silence, or less than a second of speech, is no talker."""
    with pytest.raises(InputError, match="talk 6 holds less than 1 s of speech"):
        make_bed([*talks[:6], np.zeros(64_000, np.float32)], 2.0, LEVEL, seed=1)


def test_a_bed_that_is_too_short_or_too_loud_is_refused(talks: list[Audio]):
    """Both say what to change."""
    with pytest.raises(InputError, match=r"duration_s: a bed of 0\.5 s"):
        make_bed(talks, 0.5, LEVEL, seed=1)
    with pytest.raises(CheckFailed, match="clips"):
        make_bed(talks, 2.0, -3.0, seed=1)


def test_pauses_are_taken_out(talk):
    """Two seconds of silence between two sentences are gone, the sentences are not."""
    first, second = trim_to_speech(talk(1, 2.0)), trim_to_speech(talk(2, 2.0))
    joined = np.concatenate([first, np.zeros(32_000, np.float32), second])
    kept = without_pauses(joined)
    apart = len(without_pauses(first)) + len(without_pauses(second))
    assert len(kept) == pytest.approx(apart, abs=3200)
    assert speech_bounds(kept)[1] < 4.1


@given(st.integers(-100, 100), st.integers(0, 60))
def test_an_excerpt_wraps_round(start: int, length: int):
    """Sample i of an excerpt is sample (start + i) modulo the loop, also when it is longer than the loop."""
    loop = np.arange(17, dtype=np.float32)
    assert excerpt(loop, start, length).tolist() == [(start + i) % 17 for i in range(length)]
