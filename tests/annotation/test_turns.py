"""Turns and latencies (PROTOCOL D1, T12; DESIGN, A call in virtual time)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.annotation.segments import Segment
from inquesto_dag.annotation.turns import TURN_GAP, find_turns


def S(*pairs):
    return [Segment(a, b) for a, b in pairs]


def test_D1_latency_runs_from_the_callers_offset_to_the_agents_onset():
    turns = find_turns(S((0.5, 3.0)), S((4.4, 6.0)))
    assert [t.speaker for t in turns] == ["caller", "agent"]
    assert turns[1].reply_to == 0
    assert turns[1].latency_s == pytest.approx(1.4)


def test_a_callers_pause_shorter_than_the_gap_stays_one_turn():
    assert len(find_turns(S((0, 2), (2 + TURN_GAP - 0.01, 5)), [])) == 1
    assert len(find_turns(S((0, 2), (2 + TURN_GAP, 5)), [])) == 2


def test_a_pause_that_holds_a_complete_agent_turn_ends_the_callers_turn():
    turns = find_turns(S((0, 2), (3.0, 5)), S((2.2, 2.8)))
    assert [(t.speaker, t.start_s) for t in turns] == [("caller", 0), ("agent", 2.2), ("caller", 3.0)]


def test_an_agent_that_starts_in_a_pause_and_goes_on_talks_over_the_caller():
    turns = find_turns(S((0, 2), (2.8, 5)), S((2.5, 4.0)))
    agent = next(t for t in turns if t.speaker == "agent")
    assert agent.latency_s == pytest.approx(-2.5)


def test_after_a_talk_over_the_first_turn_after_the_callers_offset_is_timed_too():
    turns = find_turns(S((0, 2), (2.8, 5)), S((2.5, 4.0), (8.5, 9.0), (11, 12)))
    assert [t.latency_s for t in turns if t.speaker == "agent"] == [
        pytest.approx(-2.5),
        pytest.approx(3.5),
        None,
    ]


def test_a_greeting_is_a_turn_and_no_reply():
    turns = find_turns(S((3, 5)), S((0.2, 2.0), (6, 7)))
    assert (turns[0].speaker, turns[0].reply_to, turns[0].latency_s) == ("agent", None, None)
    assert turns[2].latency_s == pytest.approx(1.0)


def test_no_speech_gives_no_turns():
    assert find_turns([], []) == []


spans = st.lists(st.integers(0, 600), min_size=0, max_size=12, unique=True).map(
    lambda marks: [
        Segment(a / 10, b / 10) for a, b in zip(sorted(marks)[::2], sorted(marks)[1::2], strict=False)
    ]
)


@given(spans, spans)
def test_turns_cover_every_segment_once_and_latency_agrees_with_the_turns(caller, agent):
    turns = find_turns(caller, agent)
    for speaker, segments in (("caller", caller), ("agent", agent)):
        own = [t for t in turns if t.speaker == speaker]
        for segment in segments:
            assert sum(t.start_s <= segment.start_s and segment.end_s <= t.end_s for t in own) == 1
    assert [t.start_s for t in turns] == sorted(t.start_s for t in turns)
    for turn in turns:
        if turn.latency_s is not None:
            assert turn.latency_s == pytest.approx(turn.start_s - turns[turn.reply_to].end_s)
