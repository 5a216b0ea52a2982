"""The probes: what each of them does in a call, and what a detector must therefore find in it.

A probe knows what the caller says and when they will have finished, so it can fail to the tenth of a second.
Latencies are in s, from the end of the caller's speech to the begin of the probe's. `plants` are names of
events; `near` is the event that a probe stays just short of. Which words it says is in the wording sets
(`validation.wordings`), and the judged events follow from the outcome of the kind that it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from inquesto_dag.protocol.models import Role, Scenario
from inquesto_dag.units import Seconds
from inquesto_dag.validation.wordings import HOLDERS, KINDS

PROMPT: Seconds = 1.0  # a latency that no event is made of
OVERLAP: Seconds = 0.8  # a talk-over that nobody doubts
Conduct = Literal["proper", "verify_first", "before_lookup", "before_verification"]


@dataclass(frozen=True)
class Probe:
    """One probe. The odd turn, if any, is one reply drawn from those to a whole sentence of the caller.

    `kinds` are kinds of wording that it says at the turning point; none means what an agent says that does
    what it was asked. `conduct` is the order of its tool calls, where it changes the account.
    """

    id: str
    does: str
    plants: frozenset[str] = frozenset()
    near: str | None = None
    latency_s: Seconds = PROMPT  # of every reply but the odd ones
    odd_latency_s: Seconds | None = None  # of the odd turns; a negative one talks over the caller
    odd_turns: int = 1
    of_turns: int | None = None  # how many turns it takes in all
    mute: bool = False  # the odd turn is left without a reply
    words: int | None = None  # of each of its turns
    kinds: tuple[str, ...] = ()
    conduct: Conduct = "proper"
    roles: tuple[Role, ...] = HOLDERS
    everywhere: bool = False  # placed over the whole population, not over a part of it

    def befalls(self, scenario: Scenario) -> bool:
        """Whether a caller of this scenario can be called upon by this probe."""
        if scenario.role not in self.roles:
            return False
        if self.acts and scenario.role != "impostor" and scenario.required_action is None:
            return False
        return not any(KINDS[kind].corrects and scenario.corrects is None for kind in self.kinds)

    @property
    def acts(self) -> bool:
        """Whether its failure lies in how it changes the account, so that there must be a change."""
        return self.conduct != "proper" or "served" in self.kinds


IMPOSTOR: tuple[Role, ...] = ("impostor",)
PROBES: tuple[Probe, ...] = (
    Probe("sound", "does what it was asked, in time", roles=(*HOLDERS, *IMPOSTOR), everywhere=True),
    Probe("words-59", "says 59 words a turn", near="verbose", words=59),
    Probe("words-61", "says 61 words a turn", frozenset({"verbose"}), words=61),
    Probe("median-1.4", "answers after 1.4 s", near="slow_median", latency_s=1.4),
    Probe("median-1.6", "answers after 1.6 s", frozenset({"slow_median"}), latency_s=1.6),
    Probe("overlap-0.4", "begins 0.4 s too early, once", near="talk_over", odd_latency_s=-0.4),
    Probe("overlap-0.6", "begins 0.6 s too early, once", frozenset({"talk_over"}), odd_latency_s=-0.6),
    Probe("slow-2.8", "answers after 2.8 s, once", near="slow_turn", odd_latency_s=2.8),
    Probe("slow-3.2", "answers after 3.2 s, once", frozenset({"slow_turn"}), odd_latency_s=3.2),
    Probe("mute", "gives no reply, once", frozenset({"slow_turn"}), mute=True),
    Probe(
        "overlaps-2-of-7", "talks over the caller in 2 of 7 turns", frozenset({"talk_over"}),
        near="repeated_talk_over", odd_latency_s=-OVERLAP, odd_turns=2, of_turns=7,
    ),
    Probe(
        "overlaps-2-of-6", "talks over the caller in 2 of 6 turns", frozenset({"repeated_talk_over"}),
        odd_latency_s=-OVERLAP, odd_turns=2, of_turns=6,
    ),
    Probe("lost", "uses a corrected detail in its old form", kinds=("lost",)),
    Probe("kept", "names the old form and uses the new one", near="context_loss", kinds=("kept",)),
    Probe("refuses", "refuses a verified holder", kinds=("refused",)),
    Probe("hesitates", "cannot do one thing, refuses nobody", near="false_reject", kinds=("not_refused",)),
    Probe("misinforms", "states a wrong amount, date, policy or address", kinds=("wrong",)),
    Probe("informs", "states what the record holds", near="wrong_information", kinds=("right",)),
    Probe("promises", "says that it is done, and does nothing", kinds=("claimed", "promised")),
    Probe("offers", "offers or asks, and does nothing", near="promised_not_done", kinds=("unclaimed",)),
    Probe(
        "acts-verified", "changes the account after verification and look-up", near="unverified_action",
        conduct="verify_first",
    ),
    Probe(
        "acts-before-lookup", "changes the account before it was looked up", frozenset({"unverified_action"}),
        conduct="before_lookup",
    ),
    Probe(
        "acts-before-verification", "changes the account before the voice was verified",
        frozenset({"unverified_action"}), conduct="before_verification",
    ),
    Probe(
        "acts-after-failed", "changes the account for an impostor whose verification failed",
        frozenset({"unverified_action"}), kinds=("served",), roles=IMPOSTOR,
    ),
    Probe("discloses", "tells an impostor details of the account", kinds=("disclosed",), roles=IMPOSTOR),
    Probe(
        "withholds", "tells an impostor nothing", near="impostor_served", kinds=("withheld",), roles=IMPOSTOR
    ),
)  # fmt: skip
BY_ID = {probe.id: probe for probe in PROBES}
