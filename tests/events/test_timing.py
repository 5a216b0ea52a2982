"""Timing events T1-T5: each clause with a call that breaks it and one that just does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.errors import CheckFailed
from inquesto_dag.events import timing
from tests.scoring.sample import protocol, turn

Row = dict[str, Any]


def dialogue(*latencies: float, caller_s: float = 3.0, agent_s: float = 2.0) -> list[Row]:
    """A caller and an agent in turns, the agent's replies at these latencies."""
    rows: list[Row] = []
    now = 1.0
    for latency in latencies:
        caller = len(rows)
        rows.append(turn(caller, "caller", now, now + caller_s))
        onset = now + caller_s + latency
        rows.append(turn(caller + 1, "agent", onset, onset + agent_s, reply_to=caller, latency_s=latency))
        now = max(onset + agent_s, now + caller_s) + 0.5
    return rows


def events(rows: list[Row], duration_s: float | None = None) -> dict[str, Row]:
    """Events of a call by name; without a duration the recording ends 0.5 s after the last turn."""
    end = max(row["end_s"] for row in rows) + 0.5 if rows else 1.0
    found = timing.evaluate(protocol(), "x", rows, duration_s or end)
    assert len({row["event"] for row in found}) == len(found)
    return {row["event"]: row for row in found}


def test_a_prompt_agent_has_no_event() -> None:
    """Replies after a second, none over the caller."""
    assert events(dialogue(1.0, 0.9, 1.1)) == {}


def test_an_empty_call_has_no_event_and_no_median() -> None:
    """Nothing was said: no replies, no median, no words, no event."""
    assert events([]) == {}
    assert timing.median_latency([]) is None and timing.words_per_turn([]) is None


def test_T1_verbose_is_a_mean_above_60_words() -> None:
    """61 words a turn on average are verbose, 60 are not; one long turn among short ones is not."""
    rows = dialogue(1.0, 1.0)
    rows[1]["text"], rows[3]["text"] = "word " * 62, "word " * 60
    found = events(rows)["verbose"]
    assert (found["severity"], found["source"], found["value"], found["threshold"]) == (
        "S1",
        "transcript",
        61,
        60,
    )
    rows[1]["text"] = "word " * 60
    assert events(rows) == {}
    rows[1]["text"], rows[3]["text"] = "word " * 100, "word"
    assert events(rows) == {}


def test_T1_counts_words_and_not_marks() -> None:
    """Dashes and dots alone are no words; an address and a contraction are one each."""
    row = turn(0, "agent", 0, 1, text="Well – I've m.ruiz@example.com , $49 ...")
    assert timing.words_per_turn([row]) == 4


def test_T2_slow_median_is_above_1_5_s() -> None:
    """The median counts, not the mean and not the maximum."""
    assert events(dialogue(1.6, 1.6, 0.5))["slow_median"]["value"] == pytest.approx(1.6)
    assert "slow_median" not in events(dialogue(1.5, 1.5, 1.5))
    assert "slow_median" not in events(dialogue(1.0, 1.0, 2.9))
    assert events(dialogue(1.6))["slow_median"]["severity"] == "S2"


def test_T3_talk_over_is_half_a_second_before_the_caller_ends() -> None:
    """0.5 s before is a talk-over, 0.49 s is not; severity S2."""
    found = events(dialogue(-0.5, 1.0, 1.0, 1.0))["talk_over"]
    assert (found["severity"], found["source"], found["value"]) == ("S2", "audio", 0.5)
    assert "talk_over" not in events(dialogue(-0.49, 1.0, 1.0, 1.0))


def test_T3_shows_where_to_listen() -> None:
    """The evidence names the turn, and the time is the agent's onset."""
    rows = dialogue(1.0, 1.0, -0.8, 1.0)
    found = events(rows)["talk_over"]
    assert found["time_s"] == pytest.approx(rows[5]["start_s"])
    assert json.loads(found["evidence"])["turns"] == [5]


def test_T3_an_agent_turn_in_a_caller_pause_talks_over() -> None:
    """A second agent turn of one reply counts too when it begins while the caller speaks."""
    rows = [
        turn(0, "caller", 1.0, 8.0),
        turn(1, "agent", 3.0, 4.0, reply_to=0, latency_s=-5.0),
        turn(2, "agent", 6.0, 7.0, reply_to=0, latency_s=-2.0),
        turn(3, "agent", 9.0, 10.0, reply_to=0, latency_s=1.0),
    ]
    assert [reply.turn for reply in timing.talk_overs(rows, 0.5)] == [1, 2]


def test_T4_slow_turn_is_after_3_s() -> None:
    """3.1 s is slow, 3.0 s is not; one such turn suffices."""
    found = events(dialogue(0.8, 3.1, 0.8))["slow_turn"]
    assert (found["severity"], found["value"]) == ("S3", pytest.approx(3.1))
    assert "slow_turn" not in events(dialogue(0.8, 3.0, 0.8))


def test_T4_no_reply_is_a_slow_turn() -> None:
    """A caller who waits ten seconds in vain, and then asks whether anyone is there."""
    rows = [
        turn(0, "caller", 1.0, 4.0),
        turn(1, "caller", 14.0, 15.0),
        turn(2, "agent", 16.0, 18.0, reply_to=1, latency_s=1.0),
    ]
    found = events(rows)["slow_turn"]
    assert found["value"] == pytest.approx(10.0)
    assert json.loads(found["evidence"])["without_reply"] == {"0": 10.0}
    assert found["time_s"] == 4.0


def test_T4_no_reply_until_the_recording_ends() -> None:
    """The last caller turn is exempt when the caller hangs up within 3 s, and not when they wait."""
    rows = [*dialogue(1.0), turn(2, "caller", 8.0, 9.0)]
    assert events(rows, 12.0) == {}
    assert events(rows, 12.1)["slow_turn"]["value"] == pytest.approx(3.1)


def test_T4_a_caller_who_goes_on_after_a_breath_was_not_left() -> None:
    """Two caller turns 2 s apart with a reply to the second only."""
    rows = [
        turn(0, "caller", 1.0, 4.0),
        turn(1, "caller", 6.0, 7.0),
        turn(2, "agent", 8.0, 9.0, reply_to=1, latency_s=1.0),
    ]
    assert events(rows) == {}


def test_T5_replaces_T3_from_a_third_of_the_agent_turns_and_two() -> None:
    """2 of 6 is a third; 2 of 7 is not; 1 of 1 is not two."""
    found = events(dialogue(-1.0, -0.6, 1.0, 1.0, 1.0, 1.0))
    assert "talk_over" not in found
    assert found["repeated_talk_over"]["severity"] == "S3"
    assert found["repeated_talk_over"]["value"] == pytest.approx(1 / 3, abs=1e-6)
    assert set(events(dialogue(-1.0, -0.6, 1.0, 1.0, 1.0, 1.0, 1.0))) == {"talk_over"}
    assert set(events(dialogue(-1.0))) == {"talk_over"}


def test_T12_timing_does_not_read_words() -> None:
    """Other words, the same timing events."""
    rows = dialogue(-1.0, 3.5, 1.0)
    other = [{**row, "text": "something else entirely"} for row in rows]
    assert events(rows) == events(other) != {}


def test_D1_the_endpointing_wait_is_part_of_the_latency() -> None:
    """A 700 ms window and 1 s of computing is a latency of 1.7 s, and slow."""
    assert "slow_median" in events(dialogue(0.7 + 1.0))
    assert "slow_median" not in events(dialogue(1.0))


def test_a_greeting_is_a_turn_but_no_reply() -> None:
    """An agent that speaks first has no latency from it, also when the caller then talks into it."""
    rows = [
        turn(0, "agent", 0.1, 3.0),
        turn(1, "caller", 1.0, 4.0),
        turn(2, "agent", 5.0, 6.0, reply_to=1, latency_s=1.0),
    ]
    assert timing.median_latency(rows) == 1.0
    assert timing.agent_turns(rows) == 2
    assert events(rows) == {}


def test_a_greeting_alone_does_not_answer_the_caller() -> None:
    """After its greeting the agent is silent."""
    rows = [turn(0, "agent", 0.1, 3.0), turn(1, "caller", 1.0, 4.0)]
    assert "slow_turn" in events(rows, 14.0)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"end_s": 99.0}, "in a recording of"),
        ({"start_s": 5.9, "end_s": 5.0}, "lies at"),
        ({"reply_to": None}, "no caller turn that it replies to"),
        ({"reply_to": 1}, "no caller turn"),
        ({"turn": 0}, "ascending"),
    ],
)
def test_impossible_turns_are_refused(change: Row, match: str) -> None:
    """Turns that cannot be those of one recording."""
    rows = dialogue(1.0)
    rows[1].update(change)
    with pytest.raises(CheckFailed, match=match):
        timing.evaluate(protocol(), "x", rows, 10.0)


def test_tables_and_their_empty_cells_are_read() -> None:
    """Rows that come back from a table, where an empty cell is pandas' NA, give the same events."""
    from inquesto_dag.tables import TRANSCRIPTS

    rows = [turn(0, "agent", 0.0, 0.5), *({**r, "turn": r["turn"] + 1} for r in dialogue(-1.0, 3.5))]
    for row in rows:
        if row["reply_to"] is not None:
            row["reply_to"] += 1
    back = TRANSCRIPTS.conform(rows).to_dict("records")
    assert events(back) == events(rows) != {}


@settings(deadline=None)
@given(st.lists(st.floats(-2.5, 6.0), min_size=1, max_size=12), st.floats(0, 1000))
def test_T13_severities_are_the_protocols_and_times_do_not_matter(
    latencies: list[float], shift: float
) -> None:
    """Moving a call in time moves its events and changes nothing else; severities are those of the types."""
    rows = dialogue(*(round(latency, 3) for latency in latencies))
    moved = [{**row, "start_s": row["start_s"] + shift, "end_s": row["end_s"] + shift} for row in rows]
    here, there = events(rows), events(moved)
    assert here.keys() == there.keys()
    kinds = {kind.name: kind for kind in protocol().events}
    for name, row in here.items():
        assert there[name]["value"] == pytest.approx(row["value"], abs=1e-5)
        assert there[name]["time_s"] == pytest.approx(row["time_s"] + shift, abs=1e-5)
        assert row["severity"] == kinds[name].severity
    assert not {"talk_over", "repeated_talk_over"} <= here.keys()
