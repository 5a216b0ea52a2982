"""Judged transcripts with planted failures, and near misses without: a judge's own input, labelled.

Conventions: `plant` is deterministic; the scenario, the values and their forms of each transcript are drawn
from a digest of what it is made of, so that a new wording changes no other transcript. Turns take 4 s each
with 1 s between them; a judge uses their order alone. What a label says is the protocol's (T6-T9, T11, R3),
and what a wording leaves open is unlabelled and never counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.callers.script import style_line
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.judging.interfaces import JudgedCall
from inquesto_dag.protocol.models import Protocol, Scenario
from inquesto_dag.validation.forms import Speaker
from inquesto_dag.validation.wordings import GOAL, KINDS, Kind, Outcome, WordingSet

Action = tuple[str, dict[str, Any]]  # a tool and its arguments
COPIES = 3  # transcripts of each wording and outcome


@dataclass(frozen=True)
class Planted:
    """One transcript: the wording it turns on, what is true of it, and the call as a judge is given it."""

    wording: str  # `SET.KIND.FAMILY.NUMBER`
    kind: str
    aims_at: str
    events: frozenset[str]
    goal: bool | None
    unlabelled: frozenset[str]
    scenario: Scenario
    call: JudgedCall

    @property
    def clean(self) -> bool:
        """Whether no failure stands in it."""
        return not self.events

    def __str__(self) -> str:
        spoken = [f"{row['speaker']:>7}: {row['said']}" for row in self.call.turns]
        truth = ", ".join(sorted(self.events)) or "clean"
        return "\n".join([f"{self.call.call_id} ({truth}; goal {self.goal})", *spoken])


def plant(protocol: Protocol, wordings: WordingSet, copies: int = COPIES) -> list[Planted]:
    """The corpus of a set: `copies` transcripts of every wording in every outcome of its kind."""
    return list(_plant(protocol, wordings, copies))


def _plant(protocol: Protocol, wordings: WordingSet, copies: int) -> Iterator[Planted]:
    for name, kind in KINDS.items():
        for family, said in wordings.of(name).items():
            eligible = [s for s in protocol.scenarios if _befalls(kind, name, family, s)]
            for number, text in enumerate(said):
                for index, outcome in enumerate(kind.outcomes):
                    for copy in range(copies):
                        key = [wordings.name, name, family, text, index, copy]
                        seed = int(sha256_bytes(canonical_json(key))[:12], 16)
                        random = np.random.default_rng(seed)
                        scenario = eligible[int(random.integers(len(eligible)))]
                        id_ = f"{wordings.name}.{name}.{family}.{number}"
                        call = _Call(protocol, wordings, scenario, random).hold(
                            f"{id_}.{index}.{copy}", text, kind, outcome
                        )
                        yield Planted(
                            id_,
                            name,
                            kind.aims_at,
                            frozenset(outcome.events),
                            outcome.goal,
                            frozenset(outcome.unlabelled) | ({GOAL} if outcome.goal is None else set()),
                            scenario,
                            call,
                        )


def _befalls(kind: Kind, name: str, family: str, scenario: Scenario) -> bool:
    if scenario.role not in kind.roles or (family != "any" and scenario.family != family):
        return False
    return scenario.corrects is not None or not kind.corrects


def wanted_action(protocol: Protocol, scenario: Scenario) -> Action | None:
    """The change that a caller wants: the required one, or for an impostor the family's, as they ask."""
    if scenario.required_action is not None:
        return scenario.required_action.tool, dict(scenario.required_action.arguments)
    action = next(
        (s.required_action for s in protocol.scenarios if s.family == scenario.family and s.required_action),
        None,
    )
    if action is None or scenario.role != "impostor":
        return None
    arguments = {k: scenario.knows.get(k, v) for k, v in action.arguments.items()}
    return action.tool, {**arguments, **{k: v for k, v in action.arguments.items() if k != "email"}}


class _Call:
    """One call as it is put together: turns in order, tool calls on a real account."""

    def __init__(
        self, protocol: Protocol, wordings: WordingSet, scenario: Scenario, random: np.random.Generator
    ) -> None:
        self.protocol, self.wordings, self.scenario, self.random = protocol, wordings, scenario, random
        self.speaker = Speaker(wordings.forms, protocol.account, scenario, random)
        self.turns: list[dict[str, Any]] = []

    def hold(self, call_id: str, wording: str, kind: Kind, outcome: Outcome) -> JudgedCall:
        """The call that turns on a wording."""
        state = AccountState(self.protocol.account)
        status: Any = "not_verified" if self.scenario.role == "impostor" else "verified"
        tools = ToolBox(state, lambda: VerifyResult(status, 0.7, 0.68), lambda: 0.0, lambda index: 0.1)
        if self.random.random() < 0.3:
            self._say("agent", self._one(self.wordings.greet))
        self._caller("goal_again" if kind.split else "opening")
        self._say("agent", self._one(self.wordings.ask_number))
        self._caller("account_number")
        number = {"account_number": self.protocol.account.number}
        tools.call("lookup_account", number)
        tools.call("verify_voice", number)
        self._detail(kind)
        if outcome.done:
            wanted = wanted_action(self.protocol, self.scenario)
            assert wanted is not None  # kinds that are done befall callers who want a change
            tools.call(*wanted)
        for position, segment in enumerate(wording.split("||")):
            said = self.speaker.fill(segment.strip())
            speaker, _, words = said.partition(": ")
            if speaker not in ("C", "A"):
                speaker, words = "A", said
            prefix = self._one(self.wordings.thanks) + " " if position == 0 and self._often(0.2) else ""
            self._say("caller" if speaker == "C" else "agent", prefix + words)
        if not kind.last:
            self._end(kind)
        rows = [
            {"call_id": call_id, "turn": 0, **row, "time_s": self.turns[-1]["end_s"]} for row in tools.rows
        ]
        population = {
            "call_id": call_id,
            "scenario_id": self.scenario.id,
            "family": self.scenario.family,
            "style": self.scenario.style,
            "role": self.scenario.role,
            "condition": "clean",
            "group": "us_female",
        }
        turns = [{"call_id": call_id, **turn} for turn in self.turns]
        return JudgedCall(population, turns, rows, state.initial, state.current)

    def _detail(self, kind: Kind) -> None:
        """Ask for the detail, which a caller who corrects something always says."""
        # Nobody can repeat a new card or address that was never said.
        due = self.scenario.corrects is not None or self.scenario.family in ("update_card", "change_email")
        if kind.split:
            self._say("agent", self._one(self.wordings.ask_detail[self.scenario.family]))
            self._say("caller", self.speaker.fill("It is {old}."))
        elif due or self._often(0.5):
            thanks = self._one(self.wordings.thanks) + " " if self._often(0.5) else ""
            self._say("agent", thanks + self._one(self.wordings.ask_detail[self.scenario.family]))
            self._caller("detail")

    def _end(self, kind: Kind) -> None:
        move = {"false_reject": "accept_refusal", "promised_not_done": "nothing_else"}.get(
            kind.aims_at, "goodbye"
        )
        self._caller(move)
        if self._often(0.7):
            self._say("agent", self._one(self.wordings.goodbye))

    def _often(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def _one(self, texts: Sequence[str]) -> str:
        return texts[int(self.random.integers(len(texts)))]

    def _caller(self, move: str) -> None:
        self._say("caller", style_line(self.scenario, move).text)

    def _say(self, speaker: str, said: str) -> None:
        number = len(self.turns)
        start = 5.0 * number
        self.turns.append(
            {
                "turn": number,
                "speaker": speaker,
                "move": "reply",
                "said": said,
                "heard": None,
                "start_s": start,
                "end_s": start + 4.0,
            }
        )


def as_text(planted: Planted) -> str:
    """One transcript as JSON, for a reader or another judge's file."""
    row = {"id": planted.call.call_id, "events": sorted(planted.events), "goal": planted.goal}
    return json.dumps({**row, "turns": [[t["speaker"], t["said"]] for t in planted.call.turns]})
