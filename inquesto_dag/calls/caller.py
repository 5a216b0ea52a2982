"""When a caller speaks: the timing around what a caller policy says (DESIGN, A call in virtual time).

The caller speaks first. It answers once the agent has been silent for a reaction time, does not stop for an
agent that talks over it, and after 10 s in which nobody spoke asks once whether anybody is there, then
hangs up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from inquesto_dag.agents.interface import Utterance
from inquesto_dag.audio.tracks import Placement
from inquesto_dag.callers.scripted import Say, Wait
from inquesto_dag.calls.bank import SpokenLine
from inquesto_dag.units import Samples, Seconds, to_samples

FIRST_WORDS: Seconds = 0.5  # from the connection to the caller's first word, when no greeting plays
REACTION: tuple[Seconds, Seconds] = (0.4, 0.8)  # from the agent's last sound to the caller's answer
SECOND_THOUGHT: Seconds = 3.0  # an answer to words that the agent only spoke over the caller
SILENCE: Seconds = 10.0
LAST_WAIT: Seconds = 2.0  # after a goodbye, for the agent's own
AFTERWARDS: Seconds = 0.3  # from the agent's last word to putting the phone down
LAST_WORDS: Seconds = 8.0  # at most, of an agent that is still talking


class CallerPolicy(Protocol):
    """What decides a caller's words; see `callers.scripted.ScriptedCaller`."""

    def first(self) -> Say: ...
    def reply(self, said: str) -> Say | Wait: ...
    def silence(self) -> Say: ...


@dataclass
class Spoken:
    """An utterance of the caller in the call: what, and from which to which sample."""

    say: Say
    start: Samples
    end: Samples
    line: SpokenLine


@dataclass
class CallerClock:
    """Decides at each step of the clock whether the caller speaks, from what it could have heard so far."""

    policy: CallerPolicy
    seed: int
    spoken: list[Spoken] = field(default_factory=list)
    _answered: int = 0  # agent sentences that the caller has reacted to
    _waiting_since: Samples = 0

    def decide(self, now: Samples, agent: list[Utterance]) -> Say | None:
        """What the caller starts to say at sample `now`, or None."""
        if self.spoken and (now < self.spoken[-1].end or self.spoken[-1].say.hang_up):
            return None
        audible = _audible(agent, now)
        last_agent = max((p.end for p, _ in audible), default=0)
        if last_agent > now:
            return None
        if not self.spoken:
            return self.policy.first() if now >= last_agent + to_samples(FIRST_WORDS) else None
        last_own = self.spoken[-1].end
        fresh = audible[self._answered :]
        if fresh:
            wait = self._reaction() if last_agent > last_own else SECOND_THOUGHT
            if now < max(last_agent, last_own) + to_samples(wait):
                return None
            self._answered = len(audible)
            decision = self.policy.reply(" ".join(sentence for _, sentence in fresh))
            if isinstance(decision, Say):
                return decision
            self._waiting_since = now
        if now >= max(last_agent, last_own, self._waiting_since) + to_samples(SILENCE):
            return self.policy.silence()
        return None

    def started(self, say: Say, start: Samples, end: Samples, line: SpokenLine) -> None:
        """What was decided now lies on the tracks from `start` to `end`."""
        self.spoken.append(Spoken(say, start, end, line))

    def hangs_up(self, now: Samples, agent: list[Utterance]) -> bool:
        """Whether a caller that has said goodbye puts the phone down at `now`."""
        if not self.spoken or not self.spoken[-1].say.hang_up or now < self.spoken[-1].end:
            return False
        goodbye = self.spoken[-1].end
        latest = max((p.end for p, _ in _audible(agent, now)), default=0)
        if latest > now:  # the agent is talking
            return now >= goodbye + to_samples(LAST_WORDS)
        if latest > goodbye:
            return now >= latest + to_samples(AFTERWARDS)
        return now >= goodbye + to_samples(LAST_WAIT)

    def _reaction(self) -> Seconds:
        draw = np.random.default_rng([self.seed, len(self.spoken)])
        return float(draw.uniform(*REACTION))


def _audible(agent: list[Utterance], now: Samples) -> list[tuple[Placement, str]]:
    """The agent's sentences that have begun by `now`, in order; one that barge-in emptied is not heard."""
    begun = [
        (placement, sentence)
        for utterance in agent
        for placement, sentence in zip(utterance.placements, utterance.sentences, strict=True)
        if placement.start < now and len(placement.audio)
    ]
    return sorted(begun, key=lambda item: item[0].start)
