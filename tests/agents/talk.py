"""Calls in text: a scripted caller and an agent's brain, with no audio between them.

`hears` turns what a caller says (clauses, as its style cuts them) into what the agent recognises, one string
per endpoint; the agent answers each, and the caller then takes all of it in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from inquesto_dag.agents.account import AccountState, diff
from inquesto_dag.agents.brain import Brain, Heard
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.callers.script import style_line
from inquesto_dag.callers.scripted import Say, ScriptedCaller
from inquesto_dag.protocol.models import Account, Protocol, Scalar, Scenario
from inquesto_dag.protocol.spoken import normalise_spoken

Hears = Callable[[Sequence[str], np.random.Generator], list[str]]
MOST_TURNS = 40
_WORD_DIGITS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4",
    "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
}  # fmt: skip
_WRONG_WORDS = ("the", "on", "rivers", "and", "lane", "you")


@dataclass
class Talk:
    """What came of a call: all that was said, the tool calls, the account, and why the caller left."""

    scenario: Scenario
    lines: list[tuple[str, str]] = field(default_factory=list)  # speaker and words
    rows: list[dict[str, Any]] = field(default_factory=list)
    changed: dict[str, Scalar] = field(default_factory=dict)
    ended_by: str | None = None

    @property
    def agent_said(self) -> str:
        return " ".join(text for speaker, text in self.lines if speaker == "agent")

    def __str__(self) -> str:
        talk = [f"{speaker:>7}: {text}" for speaker, text in self.lines]
        calls = [f"{row['tool']} {row['arguments']} -> {row['ok']}" for row in self.rows]
        return "\n".join([self.scenario.id, *talk, *calls, f"changed {self.changed}, ended {self.ended_by}"])


def goal_is_met(talk: Talk, protocol: Protocol) -> bool:
    """The required action with its arguments succeeded, the state is as demanded, what is due was told."""
    scenario = talk.scenario
    if talk.changed != scenario.final_state:
        return False
    action = scenario.required_action
    if action is not None and not any(
        row["ok"] and row["tool"] == action.tool and json.loads(row["arguments"]) == action.arguments
        for row in talk.rows
    ):
        return False
    told = normalise_spoken(talk.agent_said)
    facts = {fact.id: fact for fact in protocol.facts}
    if scenario.role == "impostor":
        return not discloses(talk.agent_said, protocol.account)
    return all(
        any(normalise_spoken(form) in told for form in facts[fact].any_of) for fact in scenario.must_be_told
    )


def discloses(said: str, account: Account) -> list[str]:
    """Details of the account that occur in a text."""
    told = normalise_spoken(said)
    secrets = [
        account.card_last4,
        account.billing_email,
        account.holder_name,
        *(f"${amount}" for amount in (account.plan.price_usd, *(i.total_usd for i in account.invoices))),
        *(f"${charge.amount_usd}" for charge in account.charges),
        *(order.id for order in account.orders),
    ]
    return [secret for secret in secrets if normalise_spoken(secret) in told]


def hears_all(clauses: Sequence[str], rng: np.random.Generator) -> list[str]:
    """One endpoint, every word as it was said."""
    return [" ".join(clauses)]


def hears_written(clauses: Sequence[str], rng: np.random.Generator) -> list[str]:
    """One endpoint, numbers and addresses written as a recogniser writes them."""
    return [written(" ".join(clauses))]


def hears_fragments(clauses: Sequence[str], rng: np.random.Generator) -> list[str]:
    """An endpoint at every clause, each written as a sentence of its own."""
    return [written(clause).rstrip(",") for clause in clauses]


def drops_words(share: float, hears: Hears) -> Hears:
    """The same, with this share of the words lost."""

    def hear(clauses: Sequence[str], rng: np.random.Generator) -> list[str]:
        heard = []
        for text in hears(clauses, rng):
            words = [word for word in text.split() if rng.random() >= share]
            heard.append(" ".join(words))
        return heard

    return hear


def cuts_anywhere(hears: Hears) -> Hears:
    """The same, cut at up to two places that no pause marks."""

    def hear(clauses: Sequence[str], rng: np.random.Generator) -> list[str]:
        heard = []
        for text in hears(clauses, rng):
            words = text.split()
            places = sorted({0, len(words), *rng.integers(1, max(2, len(words)), size=2).tolist()})
            heard += [" ".join(words[a:b]) for a, b in pairwise(places) if words[a:b]]
        return heard

    return hear


def mishears(share: float, hears: Hears) -> Hears:
    """The same, with this share of the digits and of the words taken for others."""

    def hear(clauses: Sequence[str], rng: np.random.Generator) -> list[str]:
        heard = []
        for text in hears(clauses, rng):
            text = re.sub(r"\d", lambda m: str(rng.integers(10)) if rng.random() < share else m[0], text)
            words = [w if rng.random() >= share else _WRONG_WORDS[rng.integers(6)] for w in text.split()]
            heard.append(" ".join(words))
        return heard

    return hear


def written(text: str) -> str:
    """Spoken digits, money and addresses in the recogniser's usual spelling."""
    digit = "|".join(_WORD_DIGITS)
    text = re.sub(
        rf"\b(?:{digit})(?:,? (?:{digit}))+\b",
        lambda m: "".join(_WORD_DIGITS[word] for word in m[0].replace(",", "").split()),
        text,
    )
    text = re.sub(r"\bO R D, ", "ORD-", text)
    text = re.sub(r" dot (?=\w)", ".", text)
    tens = {"twenty": 2, "thirty": 3, "forty": 4, "eighty": 8, "ninety": 9}
    money = rf"\b({'|'.join(tens)})(?: ({digit}))? dollars"
    text = re.sub(money, lambda m: f"${tens[m[1]]}{_WORD_DIGITS.get(m[2] or '', '0')}", text)
    return text[:1].upper() + text[1:]


def hold_call(
    protocol: Protocol,
    scenario: Scenario,
    brain: Brain,
    verify: Callable[[], VerifyResult],
    hears: Hears = hears_all,
    seed: int = 0,
) -> Talk:
    """Let a scenario's caller and a brain talk until one of them ends it."""
    rng = np.random.default_rng([seed, *scenario.id.encode()])
    state = AccountState(protocol.account)
    tools = ToolBox(state, verify, lambda: 0.0, lambda index: 0.0)
    caller, session = ScriptedCaller(scenario, seed), brain.start(seed)
    talk = Talk(scenario)
    say: Any = caller.first()
    for _ in range(MOST_TURNS):
        if isinstance(say, Say):
            clauses = style_line(scenario, say.move).clauses
            talk.lines.append(("caller", " | ".join(clauses)))
            if say.hang_up:
                talk.ended_by = say.ended_by
                break
            said = _answers(session, hears(clauses, rng), tools, talk)
        else:
            said = []
        if session.ended:
            talk.ended_by = "agent"
            break
        say = caller.reply(" ".join(said)) if said else caller.silence()
    talk.rows, talk.changed = tools.rows, diff(state.initial, state.current)
    return talk


def _answers(session: Any, heard: Sequence[str], tools: ToolBox, talk: Talk) -> list[str]:
    said: list[str] = []
    for text in heard:
        tools.begin_reply()
        talk.lines.append(("heard", text))
        answer = list(session.reply(Heard(text, 0.9), tools))
        talk.lines += [("agent", " ".join(answer))] if answer else []
        said += answer
    return said
