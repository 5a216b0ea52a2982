"""What a scripted caller understands of an agent's words.

It reads free text by keywords, because it must cope with agents that it has never met, language models
included. Sentences are read one by one, and a claim counts only in a clause that neither asks, denies nor
supposes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from inquesto_dag.callers import wording as w
from inquesto_dag.protocol.models import Scenario
from inquesto_dag.protocol.spoken import holds_value, normalise_spoken

Request = Literal["account_number", "name", "detail", "unknown", "voice", "reason"]
Wrong = Literal["", "account_number", "detail", "goal"]

CHANGES = frozenset({"dup_charge", "failed_order", "cancel_sub", "update_card", "change_email"})

_SENTENCES = re.compile(r"(?<=[.?!])\s+|\n+")
_CLAUSES = re.compile(r"[,;:]\s+|\s+(?:and|but|so)\s+", re.IGNORECASE)
_GO_AHEAD = re.compile(r"\bgo(?:ne)? ahead and ", re.IGNORECASE)  # adds nothing, and would split the claim
_ACCOUNT = re.compile(
    r"\b(?:account|customer) (?:number|id|digits)\b|\baccount please\b|\bwhich account\b"
    r"|\bnumber (?:of|for|on) (?:your|the) account\b"
)
_NAME = re.compile(
    r"\byour (?:full |first |last )*name\b|\bwho am i (?:speaking|talking)\b"
    r"|\bwho is (?:this|calling|speaking)\b|\bname (?:on|of|for) (?:the|this|your) account\b"
    r"|\bname please\b|\b(?:holder|owner)(?:'s)? (?:full )?name\b|\bfull name\b"
)
_REASON = re.compile(
    r"\bwhy (?:you|do you|did you|are you)\b|\bwhat made you\b"
    r"|\breason for (?:cancel\w*|leaving|the change)\b"
)
_LOST_ACCOUNT = re.compile(
    r"\b(?:not|\w+n't|cannot|unable to) (?:\w+ )?(?:find|locate|see|recogni[sz]e) (?:\w+ ){0,3}?"
    r"(?:account|number)\b"
    r"|\b(?:account|number) (?:\w+ )?(?:is not|isn't|was not|does not|doesn't) (?:\w+ )?"
    r"(?:valid|exist|found|right|match)"
)


@dataclass(frozen=True)
class Understood:
    """One agent's turn as the caller takes it."""

    words: bool  # whether anything was said
    done: bool  # the change that the caller wants is said to be made
    answered: bool  # the caller's question is answered, rightly or not
    refused: bool
    handover: Literal["", "offered", "made"]
    held: Literal["", "asked", "said"]  # the agent wants a moment
    requests: tuple[Request, ...]  # what it asks for, in order
    confirm: bool  # it asks for a yes
    keep: bool  # it asks whether the caller would rather not have what they want
    wrong: Wrong  # what it says or reads back wrong
    repeat: bool
    open: bool  # it asks what the caller wants
    more: bool  # it asks for anything else
    closing: bool
    greeting: bool
    question: bool
    about_goal: bool


def understand(said: str, scenario: Scenario) -> Understood:
    """Read an agent's turn as the caller of a scenario would."""
    sentences = [sentence for sentence in _SENTENCES.split(said.strip()) if normalise_spoken(sentence)]
    read = [(normalise_spoken(sentence), "?" in sentence) for sentence in sentences]
    whole = normalise_spoken(said)
    clauses = [clause for sentence in sentences if "?" not in sentence for clause in _clauses(sentence)]
    requests = tuple(
        dict.fromkeys(request for text, question in read for request in _requests(text, question, scenario))
    )
    confirm = any(_wants_yes(text, question) for text, question in read)
    done = scenario.family not in ("invoice_up", "confirm_payment") and any(
        _claims(clause, pattern, w.NOT_YET)
        for clause in clauses
        for pattern in (w.DONE[scenario.family], w.DONE_ANYHOW)
    )
    return Understood(
        words=bool(whole),
        done=done,
        answered=any(_claims(clause, w.ANSWERED[scenario.family], w.STILL_ASKING) for clause in clauses),
        refused=any(w.REFUSED.search(text) for text, question in read if not question),
        handover=_handover(clauses, [text for text, question in read if question]),
        held=_held(read),
        requests=requests,
        confirm=confirm,
        keep=any(question and w.RETENTION.search(text) for text, question in read),
        wrong=_wrong(whole, sentences, scenario) if confirm or done else "",
        repeat=bool(w.REPEAT.search(whole)),
        open=any(w.OPEN.search(text) for text, _ in read),
        more=bool(w.MORE.search(whole)),
        closing=bool(w.CLOSING.search(whole)),
        greeting=bool(w.GREETING.search(whole)),
        question=any(question for _, question in read),
        about_goal=bool(w.ABOUT[scenario.family].search(whole)),
    )


def _clauses(sentence: str) -> list[str]:
    sentence = _GO_AHEAD.sub("", sentence)
    return [text for clause in _CLAUSES.split(sentence) if (text := normalise_spoken(clause))]


def _claims(clause: str, claim: re.Pattern[str], taken_back_by: re.Pattern[str]) -> bool:
    """Whether a clause makes a claim that nothing before it, or inside it, takes back."""
    return any(
        not taken_back_by.search(clause[: found.start()])
        and not (taken_back_by is w.NOT_YET and w.NEGATED.search(found.group()))
        for found in claim.finditer(clause)
    )


def _requests(text: str, question: bool, scenario: Scenario) -> list[Request]:
    """What a sentence asks the caller to give."""
    if _LOST_ACCOUNT.search(text):
        return ["account_number"]
    if not (question or w.ASKS.search(text)):
        return []
    found: list[tuple[int, Request]] = []
    has_number = bool(re.search(r"\b\d{4}\b", text))
    if (match := _ACCOUNT.search(text)) and not has_number:
        found.append((match.start(), "account_number"))
    if (match := _NAME.search(text)) and not holds_value(text, scenario.knows["name"]):
        found.append((match.start(), "name"))
    if match := w.VOICE.search(text):
        found.append((match.start(), "voice"))
    if match := w.UNKNOWN.search(text):
        found.append((match.start(), "unknown"))
    elif (match := w.DETAIL[scenario.family].search(text)) and not _reads_back(text):
        old = scenario.family in ("update_card", "change_email") and w.OLD_VALUE.search(text)
        # "what is the new e-mail address": asked; "shall I change the e-mail address": a yes is asked for
        if not w.CONFIRM.search(text) or re.search(r"\b(?:what|which|spell|tell me|give me|new)\b", text):
            found.append((match.start(), "unknown" if old and " new " not in f" {text} " else "detail"))
    if match := _REASON.search(text):
        found.append((match.start(), "reason"))
    return [request for _, request in sorted(found)]


def _reads_back(text: str) -> bool:
    """Whether a sentence holds a value that the caller may have given."""
    return bool(re.search(r"\b\d{4}\b|@|\b\d+ dollars\b|\bord \d+", text))


def _wants_yes(text: str, question: bool) -> bool:
    return bool(w.CONFIRM.search(text)) and (question or text.endswith("confirm") or "please confirm" in text)


def _handover(clauses: Sequence[str], questions: Sequence[str]) -> Literal["", "offered", "made"]:
    """A hand-over that is under way, or offered; what the agent repeats of a wish is neither."""
    state: Literal["", "offered", "made"] = ""
    for clause in clauses:
        if _claims(clause, w.HANDOVER, w.WISHED):
            if not w.OFFER.search(clause):
                return "made"
            state = "offered"
    if any(
        _claims(text, w.HANDOVER, re.compile(r"\b(?:did|you want|you'd like)\b(?! me)")) for text in questions
    ):
        return "offered"
    return state


def _held(read: Sequence[tuple[str, bool]]) -> Literal["", "asked", "said"]:
    if any(w.ASKS_HOLD.search(text) for text, _ in read):
        return "asked"
    return "said" if any(w.HELD.search(text) and not question for text, question in read) else ""


def _wrong(whole: str, sentences: Sequence[str], scenario: Scenario) -> Wrong:
    """What an agent reads back, or says that it did, and the caller knows to be otherwise."""
    account = re.search(r"\baccount (?:number )?(?:is |ending (?:in )?|as )?(\d{4})\b", whole)
    if account and account[1] != scenario.knows["account_number"]:
        return "account_number"
    fresh = " ".join(
        clause for sentence in sentences for clause in _clauses(sentence) if not w.OLD_VALUE.search(clause)
    )
    if _wrong_detail(fresh, scenario):
        return "detail"
    if w.OTHER_ACTION.search(whole) and not w.ABOUT[scenario.family].search(whole):
        return "goal"
    return ""


def _wrong_detail(text: str, scenario: Scenario) -> bool:
    """Whether a text holds values of the caller's detail's kind, and none of them is the caller's."""
    knows = scenario.knows
    if scenario.family == "update_card":
        given = set(re.findall(r"\b\d{4}\b", text)) - {knows["account_number"]}
        return bool(given) and knows["card_last4"] not in given
    if scenario.family == "change_email":
        given = set(re.findall(r"[\w.+-]+@[\w.-]+\w", text))
        return bool(given) and knows["email"] not in given
    if scenario.family == "failed_order" and (
        order := re.search(r"\bord(?:er)? (?:number )?(?:ord )?(\d{3,})\b", text)
    ):
        return order[1] not in knows["order_id"]
    amounts = {value for key, value in knows.items() if key.endswith("_usd")}
    given = set(re.findall(r"\b(\d+) dollars\b", text))
    return bool(amounts and given) and not given & amounts
