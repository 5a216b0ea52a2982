"""Segments end where speech does (PROTOCOL D3), by VAD and level."""

import numpy as np
import pytest

from inquesto_dag.annotation.segments import Segment, find_speech, goes_on, refine, segments_of
from inquesto_dag.audio.levels import frame_levels
from inquesto_dag.units import SAMPLE_RATE, to_samples

RNG = np.random.default_rng(3)


def burst(track, start, end, level=0.1):
    a, b = to_samples(start), to_samples(end)
    track[a:b] = RNG.normal(0, level, b - a)


def track(seconds=4.0):
    return np.zeros(to_samples(seconds), np.float32)


@pytest.mark.parametrize(("said", "found"), [((1.0, 2.0), (1.08, 2.12)), ((1.0, 2.0), (0.95, 1.9))])
def test_edges_move_to_the_levels_edges(said, found):
    audio = track()
    burst(audio, *said)
    (moved,) = refine(audio, [Segment(*found)])
    assert moved.start_s == pytest.approx(said[0], abs=0.011)
    assert moved.end_s == pytest.approx(said[1], abs=0.011)


def test_D3_trailing_silence_is_not_speech():
    audio = track()
    burst(audio, 1.0, 2.0)
    (moved,) = refine(audio, [Segment(1.0, 2.18)])
    assert moved.end_s == pytest.approx(2.0, abs=0.011)


def test_a_stop_consonant_inside_reach_does_not_stop_the_edge():
    audio = track()
    burst(audio, 1.0, 1.1)
    burst(audio, 1.14, 2.0)
    (moved,) = refine(audio, [Segment(1.16, 2.0)])
    assert moved.start_s == pytest.approx(1.0, abs=0.011)


def test_segments_that_meet_after_moving_are_one():
    audio = track()
    burst(audio, 1.0, 2.0)
    assert len(refine(audio, [Segment(1.0, 1.45), Segment(1.55, 2.0)])) == 1


def test_short_gaps_are_bridged_and_short_runs_left_out():
    probability = np.zeros(60)
    probability[10:20] = probability[22:30] = 0.9  # a gap of 64 ms
    probability[50:52] = 0.9  # 64 ms of "speech"
    assert segments_of(probability) == [Segment(10 * 0.032, 30 * 0.032)]


def test_a_sound_that_goes_on_is_no_gap_for_all_that_the_vad_doubts():
    """A vowel in which Silero dips for 128 ms makes one run, and its halves are each too short to be kept."""
    probability = np.zeros(60)
    probability[10:13] = probability[17:20] = 0.9
    assert segments_of(probability) == []
    audio = track()
    burst(audio, 0.3, 0.66)
    levels = frame_levels(audio)
    assert segments_of(probability, lambda a, b: goes_on(levels, a, b)) == [Segment(0.32, 20 * 0.032)]


def test_a_pause_is_a_gap_however_much_noise_is_in_it():
    """20 dB below speech, or longer than a doubt."""
    audio = track()
    burst(audio, 0.0, 3.0, 0.01)
    burst(audio, 0.3, 0.42)
    burst(audio, 0.54, 0.66)
    runs = Segment(0.32, 0.42), Segment(0.54, 0.64)
    assert not goes_on(frame_levels(audio), *runs)
    burst(audio, 0.3, 1.2)
    assert goes_on(frame_levels(audio), *runs)
    assert not goes_on(frame_levels(audio), Segment(0.32, 0.42), Segment(0.72, 0.82))


def test_a_run_that_reaches_the_end_is_kept():
    probability = np.zeros(20)
    probability[10:] = 0.9
    assert segments_of(probability) == [Segment(0.32, 0.64)]


def test_a_silent_track_has_no_speech():
    assert find_speech(np.zeros(SAMPLE_RATE, np.float32), vad=None) == []
