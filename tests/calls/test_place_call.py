"""The clock of a call (DESIGN, A call in virtual time): who speaks when, and how a call ends.

The agent here is a tone on the seam `CallAgent`: it says given words at given times, so that the timing of
the caller and of the tracks can be checked to the sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from inquesto_dag.agents.interface import FRAME, Listened, Utterance
from inquesto_dag.audio.tracks import Track
from inquesto_dag.callers.scripted import Say, Wait
from inquesto_dag.calls.bank import SpokenLine
from inquesto_dag.calls.caller import FIRST_WORDS, LAST_WAIT, REACTION, SILENCE, CallerClock
from inquesto_dag.calls.simulate import LineTracks, place_call
from inquesto_dag.units import SAMPLE_RATE, quantise, to_samples, to_seconds

SECOND = quantise(np.full(SAMPLE_RATE, 0.2, np.float32))


@dataclass
class Policy:
    """Says `lines` in turn, one for each thing heard; notes what it heard."""

    lines: list[Say | Wait]
    heard: list[str] = field(default_factory=list)
    silences: int = 0

    def first(self) -> Say:
        return Say("opening", "hello")

    def reply(self, said: str) -> Say | Wait:
        self.heard.append(said)
        return self.lines.pop(0)

    def silence(self) -> Say:
        self.silences += 1
        return Say("still_there", "there?", self.silences > 1, "silence" if self.silences > 1 else None)


class Tone:
    """Speaks 1 s at each time of `plan` (s), without listening."""

    def __init__(self, track: Track, plan: dict[float, str], hang_up: float | None = None) -> None:
        self.track, self.plan, self.hang_up = track, dict(plan), hang_up
        self.utterances: list[Utterance] = []
        self.listened: list[Listened] = []
        self.frames: list[Any] = []

    def connect(self) -> None: ...

    def hear(self, frame: Any, start: int) -> None:
        self.frames.append(frame)
        for at in [at for at in self.plan if to_samples(at) < start + 2 * FRAME]:
            placed = self.track.place(max(to_samples(at), start + FRAME), SECOND)
            self.utterances.append(Utterance([self.plan.pop(at)], [placed], greeting=False))

    def hung_up_at(self) -> int | None:
        return None if self.hang_up is None else to_samples(self.hang_up)

    def trace(self) -> dict[str, Any]:
        return {}


def place(policy: Policy, plan: dict[float, str], **more: Any):
    """A call of 1 s utterances over a bed; returns caller clock, agent and recording."""
    bed = quantise(np.full(5000, 0.01, np.float32))
    tracks, agent_track = LineTracks(Track(), Track(bed=bed)), Track()
    agent = Tone(agent_track, plan, more.pop("hang_up", None))
    clock = CallerClock(policy, seed=5)
    first: list[tuple[int, int]] = []
    recording = place_call(
        clock,
        agent,
        tracks,
        agent_track,
        lambda move, text: SpokenLine(move, text, SECOND, SECOND, 0.0, 1.0),
        on_first_words=lambda a, b: first.append((a, b)),
        **more,
    )
    assert first == [(clock.spoken[0].start, clock.spoken[0].end)]
    return clock, agent, recording


BYE = Say("nothing_else", "bye", True, "goal_met")


def test_the_caller_speaks_first_and_answers_after_a_reaction_time():
    clock, _, recording = place(Policy([BYE]), {3.0: "yes"})
    opening, answer = clock.spoken
    assert to_seconds(opening.start) == pytest.approx(FIRST_WORDS, abs=FRAME / SAMPLE_RATE)
    reaction = to_seconds(answer.start) - 4.0
    assert REACTION[0] <= reaction <= REACTION[1] + FRAME / SAMPLE_RATE
    assert recording.ended_by == "goal_met"


def test_an_agents_greeting_is_heard_out_before_the_caller_speaks():
    clock, _, _ = place(Policy([BYE]), {0.0: "welcome", 4.0: "yes"})
    assert clock.spoken[0].start >= to_samples(1.0 + FIRST_WORDS)
    assert clock.policy.heard == ["welcome yes"]


def test_a_caller_does_not_stop_for_an_agent_that_talks_over_it():
    clock, _, recording = place(Policy([BYE]), {1.0: "over", 2.5: "reply"})
    opening = clock.spoken[0]
    assert opening.end - opening.start == SAMPLE_RATE
    assert np.all(recording.caller[opening.start : opening.end] == SECOND)


def test_words_that_were_only_spoken_over_the_caller_are_answered_after_a_while():
    clock, _, _ = place(Policy([BYE]), {0.4: "over"})
    assert to_seconds(clock.spoken[1].start) >= to_seconds(clock.spoken[0].end) + 2.9


def test_what_the_agent_has_not_said_yet_is_not_heard():
    """The second sentence lies 2 s ahead when the caller answers the first."""
    clock, _, _ = place(Policy([Say("confirm", "yes"), BYE]), {3.0: "one", 7.0: "two"})
    assert clock.policy.heard == ["one", "two"]


def test_after_10_s_of_silence_the_caller_asks_once_then_hangs_up():
    clock, _, recording = place(Policy([]), {})
    opening, asked, bye = clock.spoken
    assert to_seconds(asked.start - opening.end) == pytest.approx(SILENCE, abs=0.05)
    assert to_seconds(bye.start - asked.end) == pytest.approx(SILENCE, abs=0.05)
    assert recording.ended_by == "silence"
    assert to_seconds(len(recording.caller) - bye.end) == pytest.approx(LAST_WAIT, abs=0.05)


def test_a_caller_that_waits_keeps_listening():
    clock, _, _ = place(Policy([Wait(), BYE]), {3.0: "one moment", 8.0: "done"})
    assert clock.policy.heard == ["one moment", "done"]


def test_the_agents_goodbye_is_heard_out():
    _, agent, recording = place(Policy([BYE]), {3.0: "yes", 6.5: "goodbye"})
    last = agent.utterances[-1].placements[-1]
    assert last.end == to_samples(7.5)
    assert to_seconds(len(recording.agent)) == pytest.approx(7.8, abs=0.05)


def test_an_agent_may_end_the_call():
    _, _, recording = place(Policy([Say("confirm", "yes")]), {3.0: "bye"}, hang_up=4.0)
    assert recording.ended_by == "agent"


def test_a_call_without_an_end_is_ended_by_its_time_limit():
    policy = Policy([Say("confirm", "yes") for _ in range(20)])
    plan = {3.0 * n: "and?" for n in range(1, 12)}
    _, _, recording = place(policy, plan, time_limit=20.0)
    assert recording.ended_by == "time_limit"
    assert recording.duration_s == pytest.approx(20.0, abs=0.04)


def test_D4_the_three_tracks_have_one_length_and_the_noise_never_stops():
    _, agent, recording = place(Policy([BYE]), {3.0: "yes"})
    assert len(recording.caller) == len(recording.line) == len(recording.agent)
    assert np.all(recording.line != 0)
    np.testing.assert_array_equal(np.concatenate(agent.frames), recording.line)
