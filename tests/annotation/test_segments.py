"""Segments end where speech does (PROTOCOL D3), by VAD and level."""

import numpy as np
import pytest

from inquesto_dag.annotation.segments import Segment, find_speech, refine, segments_of
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


def test_a_run_that_reaches_the_end_is_kept():
    probability = np.zeros(20)
    probability[10:] = 0.9
    assert segments_of(probability) == [Segment(0.32, 0.64)]


def test_a_silent_track_has_no_speech():
    assert find_speech(np.zeros(SAMPLE_RATE, np.float32), vad=None) == []
