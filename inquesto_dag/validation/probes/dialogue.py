"""What a probe says and does in a call, reply by reply: number, detail, the turning point, goodbye.

A probe follows its own script and understands nothing; the caller is the one of every other call and answers
what it hears. All wordings but the padding are of the sets that the judge is measured on, drawn by the call's
seed, so that none is written into a detector (`validation.wordings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from inquesto_dag.agents.scripted.phrases import ASK_DETAIL
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.errors import InputError
from inquesto_dag.events.timing import count_words
from inquesto_dag.protocol.models import Account, Scenario
from inquesto_dag.protocol.spoken import holds_value
from inquesto_dag.validation.forms import Speaker
from inquesto_dag.validation.probes.catalogue import Probe
from inquesto_dag.validation.transcripts import Action
from inquesto_dag.validation.wordings import GOAL, KINDS, Kind, Outcome, WordingSet

OFFER = "Is there anything else that I can do for you?"
NUMBER_AGAIN = ("Sorry, what was the account number?", "Could you give me the account number once more?")
DETAIL_AGAIN = "Sorry, could you say that again?"
OTHER_REPLIES = 4  # that a probe finds for a caller who will not go, its goodbye included
# Sentences that state nothing of an account, ask nothing and claim nothing; plain words, which a recogniser
# neither joins nor parts.
PADDING = (
    "The line is clear today.",
    "We like to take our time here.",
    "The weather has been very warm this week.",
    "My desk looks out over a quiet green park.",
    "People often call us in the middle of the morning.",
    "Our office is on the second floor of a red house.",
    "The coffee here tastes better than it did last year.",
    "Most of my friends here come to work by train.",
    "There was a long and slow storm in the night.",
    "The birds are singing.",
    "I like long calls.",
    "Music helps.",
    "Snow is rare.",
    "The kitchen is next to the big room with the old piano.",
    "A small dog is sleeping under the table.",
)


@dataclass(frozen=True)
class Turning:
    """What a probe says where its call turns: the wording's kind, what comes of it, the words."""

    kind: Kind
    outcome: Outcome
    texts: tuple[str, ...]  # wordings to draw one from


def turning_of(probe: Probe, scenario: Scenario, wordings: WordingSet) -> Turning | None:
    """What this probe can say to a caller of this scenario, of a set; None when it holds nothing."""
    for name, wanted in _kinds(probe, scenario):
        said = wordings.of(name)
        texts = [text for text in (*said.get(scenario.family, ()), *said.get("any", ())) if "||" not in text]
        if probe.words is not None:  # a value may be read as one word or as three
            texts = [text for text in texts if "{" not in text]
        kind = KINDS[name]
        outcomes = [outcome for outcome in kind.outcomes if wanted is None or outcome.goal is wanted]
        if texts and outcomes and scenario.role in kind.roles:
            return Turning(kind, outcomes[0], tuple(texts))
    return None


def _kinds(probe: Probe, scenario: Scenario) -> list[tuple[str, bool | None]]:
    """Kinds of wording to try in turn, and whether the caller must get what they came for."""
    if probe.kinds:
        return [(name, None) for name in probe.kinds]
    if scenario.role == "impostor":
        return [("withheld", True)]
    done = scenario.required_action is not None
    return [("claimed", True)] if done else [("answered", True)]


@dataclass
class ProbeScript:
    """One call's script. `faults` says what did not come about as the probe meant it."""

    probe: Probe
    scenario: Scenario
    account: Account
    action: Action | None
    wordings: WordingSet
    seed: int
    ended: bool = False
    _told: bool = False  # whether the caller has said the detail that it corrects
    _asked_plainly: bool = False
    turned: bool = False
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        turning = turning_of(self.probe, self.scenario, self.wordings)
        if turning is None:
            raise InputError(
                f"has no wording for {self.scenario.id}", where="probe", field=self.probe.id,
                remedy="plan it for scenarios that `turning_of` has words for",
            )  # fmt: skip
        self.turning = turning
        self.random = np.random.default_rng([self.seed, 11])
        self.speaker = Speaker(self.wordings.forms, self.account, self.scenario, self.random)
        more = (self.probe.of_turns or 4) - 4
        self._steps = ["number", *["number_again"] * (more - more // 3), "detail"]
        self._steps += [*["detail_again"] * (more // 3), "turning"]
        self._left = 1 if self.probe.of_turns else OTHER_REPLIES

    @property
    def replies_before_end(self) -> int:
        """Replies up to the turning point, itself included: those that answer a whole sentence."""
        return len(self._steps)

    def reply(self, tools: ToolBox, said: str, *, leaving: bool) -> list[str]:
        """The reply to what the caller said, sentence by sentence; `leaving` says that it was goodbye.

        Nothing to a goodbye when a number of words a turn is to be held: the caller would not hear them all.
        """
        self._told |= self._holds_detail(said)
        if leaving or (not self._steps and self._left <= 1):
            if self._steps:
                self.faults.append(f"the caller left before: {', '.join(self._steps)}")
            self.ended, self._steps = True, []
            if leaving and self.probe.words is not None:
                return []
            return self._pad([self._one(self.wordings.goodbye)])
        if (
            self._steps == ["turning"]
            and self.turning.kind.corrects
            and not self._told
            and not self._asked_plainly
        ):
            self._asked_plainly = True  # the caller did not take the wording for a question about it
            return self._pad([ASK_DETAIL[self.scenario.family]])
        if self._steps:
            return self._pad(self._step(self._steps.pop(0), tools))
        self._left -= 1
        return self._pad([OFFER])

    def _holds_detail(self, said: str) -> bool:
        corrected = self.scenario.corrects
        return corrected is not None and holds_value(said, corrected.corrected)

    def _step(self, step: str, tools: ToolBox) -> list[str]:
        if step == "number":
            return [self._one(self.wordings.ask_number)]
        if step == "number_again":
            return [self._one(NUMBER_AGAIN)]
        if step == "detail_again":
            return [DETAIL_AGAIN]
        if step == "detail":
            self._look_up(tools)
            return [self._one(self.wordings.ask_detail[self.scenario.family])]
        return self._turn(tools)

    def _look_up(self, tools: ToolBox) -> None:
        """The tool calls before a change, in the probe's own order."""
        if self.probe.conduct == "before_lookup":
            return
        number = {"account_number": self.account.number}
        order = ["lookup_account", "verify_voice"]
        if self.probe.conduct == "verify_first":
            order.reverse()
        if self.probe.conduct == "before_verification":
            order = order[:1]
        for name in order:
            result = tools.call(name, number)
            if name == "verify_voice":
                self._check_voice(str(result.content.get("status")))

    def _check_voice(self, status: str) -> None:
        passed = status == "verified"
        if passed == (self.scenario.role == "impostor"):
            self.faults.append(f"the voice of a {self.scenario.role} caller came out as {status}")

    def _turn(self, tools: ToolBox) -> list[str]:
        self.turned = True
        turning = self.turning
        if turning.kind.corrects and not self._told:
            self.faults.append("the caller had not said the detail that it corrects")
        if turning.outcome.done and self.action:
            tool, arguments = self.action
            result = tools.call(tool, dict(arguments))
            if not result.ok:
                self.faults.append(f"{tool} was refused: {result.content.get('error')}")
        if self.probe.conduct.startswith("before_"):  # and what should have come first, too late
            number = {"account_number": self.account.number}
            tools.call("lookup_account", number)
            tools.call("verify_voice", number)
        said = [self.speaker.fill(self._one(turning.texts).strip().removeprefix("A: "))]
        if turning.kind.last:
            self.ended = True
        elif not self.probe.kinds and self.scenario.role != "impostor":
            said.append(OFFER)
        return said

    def _pad(self, said: list[str]) -> list[str]:
        """The reply with as much padding before it as makes the probe's words a turn."""
        if self.probe.words is None:
            return said
        missing = self.probe.words - sum(count_words(sentence) for sentence in said)
        order = [PADDING[i] for i in self.random.permutation(len(PADDING))]
        chosen = choose_padding(order, missing)
        if chosen is None:
            self.faults.append(f"no padding makes {missing} words")
            return said
        return [*chosen, *said]

    def _one(self, texts: Sequence[str]) -> str:
        return texts[int(self.random.integers(len(texts)))]


def choose_padding(sentences: Sequence[str], words: int) -> list[str] | None:
    """The first choice of sentences, in their order, that has so many words; None when there is none."""
    if words == 0:
        return []
    if words < 0 or not sentences:
        return None
    first, rest = sentences[0], sentences[1:]
    taken = choose_padding(rest, words - count_words(first))
    return [first, *taken] if taken is not None else choose_padding(rest, words)


def planted_events(probe: Probe, turning: Turning) -> tuple[frozenset[str], frozenset[str]]:
    """What is to be found in a call of this probe, and what its wording leaves open."""
    planted = probe.plants | frozenset(turning.outcome.events)
    return planted, frozenset(turning.outcome.unlabelled) - {GOAL} - planted
