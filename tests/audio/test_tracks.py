"""Tracks of a call: aligned placements over a bed that never stops (PROTOCOL D4)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.audio.tracks import Placement, Track
from inquesto_dag.units import quantise

TONE = quantise(np.full(1000, 0.25, np.float32))


def test_overlapping_placements_add_up():
    track = Track()
    track.place(0, TONE)
    track.place(500, TONE)
    heard = track.read(0, 2000)
    assert heard[499] == np.float32(0.25)
    assert heard[500] == np.float32(0.5)
    assert heard[1499] == np.float32(0.25)
    assert not heard[1500:].any()


def test_D4_the_bed_runs_where_nobody_speaks_and_wraps_round():
    bed = quantise(np.linspace(0.1, 0.2, 300, dtype=np.float32))
    track = Track(bed=bed, bed_start=250)
    heard = track.read(0, 700)
    assert (heard != 0).all()
    np.testing.assert_array_equal(heard[:50], bed[250:])
    np.testing.assert_array_equal(heard[50:350], bed)


@given(st.lists(st.integers(1, 900), min_size=1, max_size=5))
def test_reading_in_pieces_is_reading_at_once(steps):
    track = Track(bed=TONE[:777], bed_start=3)
    track.place(120, TONE)
    pieces, at = [], 0
    for step in steps:
        pieces.append(track.read(at, step))
        at += step
    np.testing.assert_array_equal(np.concatenate(pieces), track.read(0, at))


def test_a_cut_fades_and_a_cut_before_the_start_leaves_nothing():
    placement = Placement(100, TONE.copy())
    placement.cut(600)
    assert placement.end == 600
    assert placement.audio[-1] == 0
    placement.cut(50)
    assert len(placement.audio) == 0
