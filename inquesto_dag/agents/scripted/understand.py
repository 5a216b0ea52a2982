"""What a caller meant by one recognised utterance: request, yes or no, details, and how they steer the talk.

Works on free wording by weighted patterns. Where a detail is said more than once the last one counts, and one
named after "not" does not, so a correction within an utterance is followed (PROTOCOL D7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inquesto_dag.agents.scripted.emails import find_emails
from inquesto_dag.agents.scripted.numbers import Number, find_numbers

Intent = Literal[
    "dup_charge",
    "failed_order",
    "cancel_sub",
    "update_card",
    "change_email",
    "invoice_up",
    "confirm_payment",
    "escalate_refund",
]
# Pattern and weight; an intent needs INTENT_SCORE, and each pattern counts once.
_PATTERNS: Mapping[Intent, tuple[tuple[str, int], ...]] = {
    "dup_charge": (
        (r"\b(twice|two times|double|doubled|duplicate\w*|second time|repeated)\b", 3),
        (r"\b(charge[ds]?|billed|took|taken|payments?)\b", 1),
        (r"\b(two|both|same|second|identical|equal|extra) (charges?|payments?|amount)\b", 3),
        (r"\brefund\w*|money back|pay me back\b", 1),
    ),
    "failed_order": (
        (r"\b(order\w*|purchase\w*|checkout)\b", 2),
        (r"\b(fail\w*|never (went|got|came|arrived)|did(n't| not) (go|work|complete)|error)\b", 2),
        (r"\b(charged|took the money|money|paid)\b", 1),
        (r"\brefund\w*|money back\b", 1),
    ),
    "cancel_sub": (
        (r"\b(cancel\w*|unsubscribe|terminate)\b", 4),
        (r"\b(stop|end|close|quit|leave)\b.{0,20}\b(plan|subscription|service|account|membership)\b", 3),
        (r"\b(plan|subscription|membership)\b", 1),
        (r"\b(no longer|not?.{0,10}any ?more)\b", 1),
    ),
    "update_card": (
        (r"\bcards?\b", 2),
        (r"\b(new|another|different|replacement|other) (credit |debit |bank |payment )?card\b", 2),
        (r"\b(update|change|replace|switch|put|swap|add|register)\b", 1),
        (r"\b(expire[sd]?|expiring|lost|stolen|old one)\b", 1),
        (r"\b(update|change|replace|switch|swap)\b.{0,12}\bcard\b", 1),
    ),
    "change_email": (
        (r"\be-?mails?\b|\bmail ?(box|address|provider)\b", 3),
        (r"\b(new|another|different|other) (billing )?(e-?mail )?address\b", 2),
        (r"\b(change\w*|update|new|another|replace|switch|different)\b", 1),
        (r"@|\bdot com\b", 2),
    ),
    "invoice_up": (
        (r"\b(invoices?|bill|statement)\b", 2),
        (r"\b(why|how come|explain|explanation|understand|reason)\b", 2),
        (r"\b(high|higher|more than|so much|went up|go up|gone up|up to|increase\w*|jumped|expensive)\b", 2),
        (r"\binstead of\b|\busual(ly)?\b|\bother months\b", 1),
    ),
    "confirm_payment": (
        (r"\b(payments?|paid|pay)\b", 2),
        (r"\b(went|go|gone|goes|going|came|come) through\b", 3),
        (r"\b(confirm|check|make sure|know|tell me|verify|whether|received|receipt|cleared|succeed\w*)\b", 1),
        (r"\bthis month\b|\baugust\b", 1),
    ),
    "escalate_refund": (
        (r"\bpromis\w*", 3),
        (r"\brefund\w*|money back\b", 1),
        (r"\b(never|not|hasn't|haven't|didn't|waiting) ?(came|come|arrived?|received?|got|get|for)?\b", 1),
        (r"\bweeks? ago\b", 2),
        (r"\b(speak|talk|connect|transfer|put)\b.{0,25}\b(person|human|someone|somebody|manager)\b", 3),
    ),
}  # fmt: skip
_COMPILED = {
    intent: tuple((re.compile(pattern), weight) for pattern, weight in patterns)
    for intent, patterns in _PATTERNS.items()
}
INTENT_SCORE = 4
_WORDS = re.compile(r"[a-z0-9@]+(?:'[a-z]+)?")
_FILLERS = frozenset(
    ["um", "uh", "er", "erm", "uhm", "hmm", "mm", "mhm", "ah", "eh", "oh", "well", "so", "like", "and"]
)

_YES = re.compile(
    r"\b(yes|yeah|yep|yup|correct|right|exactly|sure|absolutely|of course|go ahead|please do|do it|do that|"
    r"sounds good|that's it|okay|ok|fine|indeed|confirm(ed)?)\b"
)
_NO = re.compile(
    r"\b(no|nope|nah|wrong|incorrect|(not|isn't|wasn't) (right|correct|true|it|what)|don't|do not)\b"
)
_WRONG = re.compile(r"\b(wrong|incorrect|mistaken|(not|isn't|wasn't) (right|correct|true|it|what))\b")
_NO_MORE = re.compile(
    r"\b(that('s| is| was| will be|'ll be)? (all|everything|it)\b|nothing else|nothing more|"
    r"no,? thank|no more|all set|i'm (good|done|fine))"
)
_BYE = re.compile(r"\b(good ?bye|bye|have a (nice|good)|leave it for today)\b")
_REPEAT = re.compile(
    r"\b(pardon|(say|repeat) (that|it)( again)?|come again|(didn't|did not) (catch|hear|understand)|"
    r"what did you say|repeat)\b"
)
_STILL_THERE = re.compile(r"\b(still there|are you there|anybody there|anyone there|can you hear me)\b")
_PERSON = re.compile(
    r"\b(speak|talk|connect|transfer|put|pass)\b.{0,25}\b(person|human|someone|somebody|supervisor|manager)\b"
)


@dataclass(frozen=True)
class Understood:
    """One utterance, read: the last of each detail, and what kind of answer it is."""

    text: str
    polarity: Literal["yes", "no"] | None
    numbers: tuple[Number, ...]
    email: str | None
    disagrees: bool  # says that something was wrong, beyond a plain no
    no_more: bool
    goodbye: bool
    repeat: bool
    still_there: bool
    wants_person: bool

    def last(self, *uses: str, length: int | None = None) -> str | None:
        """Digits of the last number for one of these uses (of this length) that was not ruled out."""
        fitting = [
            number.digits
            for number in self.numbers
            if number.use in uses and not number.negated and length in (None, len(number.digits))
        ]
        return fitting[-1] if fitting else None

    @property
    def amounts(self) -> tuple[int, ...]:
        """Amounts of money in US dollars in the order said, without those ruled out."""
        return tuple(int(n.digits) for n in self.numbers if n.use == "amount" and not n.negated)


def has_words(text: str) -> bool:
    """Whether anything was said that can be answered: more than fillers and punctuation (PROTOCOL D12)."""
    return any(word not in _FILLERS for word in _WORDS.findall(text.lower()))


def plain(text: str) -> str:
    """Lower case, straight apostrophes, fillers and hyphens out: the text on which patterns are tried."""
    text = text.lower().replace("\u2019", "'").replace("e-mail", "email").replace("-", " ")
    text = re.sub(r"\b(?:um+|uh+|uhm|erm?|hmm+)\b[,.]?\s*", "", text)
    return re.sub(r"\s+", " ", text).strip()


def score_intents(text: str) -> dict[Intent, int]:
    """How strongly a text speaks for each request: the sum of the weights of the patterns it holds."""
    words = plain(text)
    return {
        intent: sum(weight for pattern, weight in patterns if pattern.search(words))
        for intent, patterns in _COMPILED.items()
    }


def find_intent(text: str, score: int = INTENT_SCORE) -> Intent | None:
    """The request of a text, or None when none reaches the score or two are equally strong."""
    ranked = sorted(score_intents(text).items(), key=lambda item: -item[1])
    (best, highest), (_, second) = ranked[0], ranked[1]
    return best if highest >= score and highest > second else None


def find_polarity(text: str) -> Literal["yes", "no"] | None:
    """Yes or no; where an utterance holds both, what is said first counts ("No, sorry, right, ...")."""
    words = plain(text)
    no = _NO.search(words)
    yes = _YES.search(_NO.sub(lambda match: " " * len(match[0]), words))
    if no and yes:
        return "no" if no.start() < yes.start() else "yes"
    return "no" if no else "yes" if yes else None


def understand(text: str) -> Understood:
    """Read one recognised utterance."""
    words = plain(text)
    emails = find_emails(text)
    return Understood(
        text=text,
        polarity=find_polarity(text),
        numbers=tuple(find_numbers(text)),
        email=emails[-1] if emails else None,
        disagrees=bool(_WRONG.search(words)),
        no_more=bool(_NO_MORE.search(words)),
        goodbye=bool(_BYE.search(words)),
        repeat=bool(_REPEAT.search(words)),
        still_there=bool(_STILL_THERE.search(words)),
        wants_person=bool(_PERSON.search(words)),
    )
