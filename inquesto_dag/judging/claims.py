"""What an agent claims: that a change was made, that it refuses, that it hands over, that a fact is so.

Conventions: patterns read normal forms (`judging.text`), clause by clause, and are about any agent's wording.
A claim is made only by a statement: not by a question, not by repeating what the caller said, not under an
`if` or `once`, and not when it is denied. `Place` says where: the agent's turn number in the trace and the
sentence in it; places are ordered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from inquesto_dag.judging.text import HYPOTHETICAL, Sentence, negated, normalise, sentences
from inquesto_dag.protocol.models import Family

Change = Literal["refund", "cancel", "card", "email"]
CHANGE_OF: dict[Family, Change] = {
    "dup_charge": "refund",
    "failed_order": "refund",
    "cancel_sub": "cancel",
    "update_card": "card",
    "change_email": "email",
}


@dataclass(frozen=True, order=True)
class Place:
    """A sentence of an agent's turn."""

    turn: int
    sentence: int


@dataclass(frozen=True)
class Turn:
    """One turn of a call: its number, who, what was said, and when on the track (for order only)."""

    number: int
    speaker: str
    said: str
    start_s: float
    end_s: float

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        return sentences(self.said)


@dataclass(frozen=True)
class Talk:
    """A call's turns in order of onset."""

    turns: Sequence[Turn] = field(default_factory=tuple)

    def agent(self) -> Iterator[tuple[Place, Sentence]]:
        """Every sentence of the agent."""
        for turn in self.turns:
            if turn.speaker == "agent":
                for index, sentence in enumerate(turn.sentences):
                    yield Place(turn.number, index), sentence

    def caller_before(self, number: int) -> list[str]:
        """What the caller had begun to say before a turn."""
        return [turn.said for turn in self.turns if turn.speaker == "caller" and turn.number < number]

    def next_caller(self, number: int) -> Turn | None:
        """The caller's first turn after a turn."""
        return next((t for t in self.turns if t.speaker == "caller" and t.number > number), None)


_ADV = (
    r"(?: (?:now|just|already|also|all|fully|successfully|officially|gone ahead and|went ahead and|then|"
    r"indeed))*"
)
_DID = rf"\b(?:i|we)(?:'ve| have)?{_ADV}"
_BEEN = rf"(?:'s|'ve|\bis|\bhas|\bwas|\bare|\bhave|\bwere){_ADV}(?: been)?{_ADV}"
_DONE: dict[Change, tuple[str, ...]] = {
    "refund": (
        rf"{_DID} (?:issued|processed|submitted|completed|initiated|sent|made|given|gave|put through|"
        rf"approved|"
        rf"arranged|credited|returned|reversed)\b.{{0,60}}(?:\$\d|\b(?:refund|credit|money|charge|it|"
        rf"that)\b)",
        rf"{_DID} refunded\b",
        rf"(?<!promised )\brefund\b.{{0,50}}?{_BEEN} (?:issued|processed|submitted|completed|complete|done|"
        rf"on (?:its|the) "
        rf"way|sent|made|approved|through|initiated|gone through|credited|under way|underway|confirmed|"
        rf"successful)\b",
        rf"(?:\$\d+|\b(?:charge|amount|money|payment|it|that|one|which|order)\b).{{0,40}}?{_BEEN} "
        rf"(?:refunded|credited|reversed|sent back|paid back|returned|on (?:its|the) way)\b",
        rf"\byou{_BEEN} (?:refunded|credited)\b",
        r"\brefund (?:went|goes) through\b",
        r"\byou(?:'ll| will| should| can expect to)(?: now)? (?:see|receive|get|have|find)\b.{0,30}"
        r"(?:\$\d+|\b(?:refund|money|credit)\b)",
        r"\brefund(?: of \$\d+)? (?:will|should) (?:reach|arrive|show|appear|be (?:in|on|back))\b",
    ),
    "cancel": (
        rf"{_DID} (?:cancell?ed|ended|terminated|closed|stopped)\b",
        rf"\b(?:plan|subscription|it|account|membership|that|everything|service)\b.{{0,30}}?{_BEEN} "
        rf"(?:cancell?ed|terminated|ended|closed|stopped)\b",
        rf"\b(?:it|that)'s{_ADV} cancell?ed\b",
        rf"\bcancell?ation\b.{{0,30}}?{_BEEN} (?:complete|completed|confirmed|processed|done|through|"
        rf"gone through|"
        rf"successful)\b",
        rf"\byou(?:'re| are|'ve| have){_ADV}(?: been)? (?:cancell?ed|unsubscribed)\b",
    ),
    "card": (
        rf"{_DID} (?:updated|changed|replaced|saved|put|added|set|switched|registered|recorded|swapped|"
        rf"stored)\b"
        rf".{{0,60}}\b(?:card|payment method|\d{{4}}|it|that)\b",
        rf"\b(?:card|payment method|\d{{4}}|it|that)\b.{{0,40}}?{_BEEN} (?:updated|changed|replaced|saved|"
        rf"on file|"
        rf"added|set|in place|active|registered|recorded|stored)\b",
        r"\bcard\b.{0,40}\bnow\b.{0,25}\b(?:ends|ending|the one)\b",
        r"\bwe'll (?:now )?(?:use|charge) (?:your|the) new card\b",
    ),
    "email": (
        rf"{_DID} (?:updated|changed|replaced|saved|put|added|set|switched|registered|recorded|stored)\b"
        rf".{{0,60}}(?:\b(?:email|address|it|that)\b|@)",
        rf"(?:\b(?:email|address|it|that)\b|@).{{0,60}}?{_BEEN} (?:updated|changed|replaced|saved|on file|"
        rf"added|set|"
        rf"in place|registered|recorded|stored)\b",
        r"\b(?:email|address)\b.{0,40}\bis now\b",
        r"\b(?:invoices|bills|emails|statements|receipts)\b.{0,25}\bwill (?:now )?(?:go|be sent|come|"
        r"arrive)\b",
    ),
}
_PROMISE: dict[Change, str] = {
    "refund": r"(?:refund|issue|process|credit)",
    "cancel": r"(?:cancel|end|terminate|close)",
    "card": r"(?:update|change|replace|save|put|add|set|switch)",
    "email": r"(?:update|change|replace|save|put|add|set|switch)",
}
_WILL = (
    r"\b(?:i'll|i will|i'm going to|i am going to|we'll|we will|will be|i'm|i am|let me)(?: now| just|"
    r" go ahead and)*"
)
_NOUN: dict[Change, str] = {
    "refund": r"\b(?:refund\w*|charge\w*|money|credit\w*)\b",
    "cancel": r"\b(?:cancel\w*|subscription|plan)\b",
    "card": r"\b(?:card|payment method)\b",
    "email": r"(?:\b(?:email|address)\b|@)",
}
_GENERIC = re.compile(
    rf"\b(?:that|it|this|everything|all|request|change)(?:'s| is| has been| was){_ADV}(?: been)?{_ADV} "
    r"(?:done|set|complete|completed|taken care of|sorted|finished|processed|updated|changed|made|"
    r"in place)\b|"
    r"\ball (?:done|set|sorted)\b|\b(?:i've|i have) (?:done|taken care of|sorted) (?:that|it|this)\b|"
    r"^(?:\w+ )?done$"
)
_FAILED = re.compile(
    r"\b(?:could|did|was|were|has|have|can|is)(?:n't|not| not)(?: \w+){0,4}? "
    r"(?:refund\w*|cancel\w*|updat\w*|chang\w*|process\w*|complet\w*|issu\w*|go through|gone through|sav\w*|"
    r"done|"
    r"work|able)\b|\b(?:refund|cancellation|update|change|request|that|it) (?:has )?failed\b"
)
_REFUSAL = re.compile(
    r"\b(?:can't|cannot|can not|unable to|(?:not|n't) able to|won't|will not|not allowed to|"
    r"not authori[sz]ed to|"
    r"not permitted to|couldn't|could not|must not|may not)(?! (?:hear|catch|understand|find|see|make out|"
    r"locate|get))"
    r"(?: \w+){0,6}? (?:help|assist|proceed|continue|make|do|process|discuss|access|share|complete|issue|"
    r"cancel|update|"
    r"change|refund|give|verify|confirm|go ahead|go on|serve|provide|tell)\b|"
    r"\b(?:verification|identity check|voice check|security check)\b.{0,20}\b(?:failed|did not (?:pass|"
    r"succeed)|didn't "
    r"(?:pass|succeed)|was not successful|was unsuccessful)\b|"
    r"\bvoice\b.{0,30}\b(?:does not|doesn't|did not|didn't) match\b|\bnot (?:been )?verified\b"
)
_STEP = re.compile(r"\b(?:until|unless|before|yet|once|if|first|right now)\b|\bwithout (?!.*verif)")
_RETRY = re.compile(
    r"\b(?:please|let's|let us|could you|can you|would you)\b.{0,40}\b(?:say|repeat|speak|tell|try|again|"
    r"give|provide|"
    r"read|name|number)\b"
)
_CLEARED = re.compile(
    r"\b(?:you are|you're|you have been|you've been|voice is|identity is|voice has been|identity has been|"
    r"i have|i've|"
    r"now)\b.{0,20}\b(?:verified|confirmed)\b|\bverification (?:passed|succeeded|is complete|"
    r"was successful)\b|"
    r"\bvoice matches\b"
)
_WHO = (
    r"(?:colleague|specialist|person|human|supervisor|manager|representative|agent|team|someone|somebody|"
    r"department)"
)
_HAND_OVER = re.compile(
    rf"\bput(?:ting)? you (?:through|in touch|on)\b|\btransfer(?:r?ing|red)?\b|\bescalat(?:e|ing|ed)\b|"
    rf"\bhand(?:ing|ed)? (?:you|this|it|that|your \w+|the \w+)(?: \w+){{0,3}} (?:over|on|to)\b|"
    rf"\bconnect(?:ing|ed)? you\b|"
    rf"\bpass(?:ing|ed)? (?:you|this|it|that|your \w+|the \w+)(?: \w+){{0,3}} (?:on|to|over|along)\b|"
    rf"\b{_WHO}\b(?: \w+){{0,6}}? (?:will|'ll|is going to)(?: \w+){{0,2}}? (?:call|contact|help|take|"
    rf"be with|get back|"
    rf"reach|look|speak|assist|follow)\b|"
    rf"\b(?:get|getting|bring|bringing) (?:you |in )?(?:over )?(?:to )?(?:a|an|my|"
    rf"someone)\b(?: \w+){{0,2}} ?{_WHO}?\b"
)
_OFFER = re.compile(r"\b(?:can|could|may|might|shall|should|would|able to)\b(?: \w+){0,3}$")
_YES = re.compile(r"\b(?:yes|please|sure|ok|okay|yeah|fine|put me through|go ahead)\b")
_MOMENT = re.compile(r"\b(?:moment|hold|stay on|wait|now|transferring|connecting|through)\b")


def says(pattern: str | re.Pattern[str], sentence: Sentence) -> bool:
    """Whether a statement makes a claim of this pattern in one of its clauses, undenied and unconditional."""
    return sentence.states and any(
        _claimed(pattern, clause, sentence) for clause in (*sentence.clauses, sentence.norm)
    )


def _claimed(pattern: str | re.Pattern[str], clause: str, sentence: Sentence) -> bool:
    for match in re.finditer(pattern, clause):
        inside = negated(match.group(), len(match.group()), 99)
        before = clause[: match.start()]
        conditional = HYPOTHETICAL.search(before) or HYPOTHETICAL.search(match.group())
        if not (inside or conditional or negated(clause, match.start())):
            # A condition may stand in another clause: `once you confirm, it is cancelled`.
            return not re.search(r"\b(?:if|once|unless|until|as soon as)\b", sentence.norm)
    return False


def last_claim(talk: Talk, change: Change) -> Place | None:
    """Where the agent last says that the change was made, unless it takes it back afterwards.

    A plain `done` counts where the talk is about this change; a promise counts when the agent's last turn
    makes it, since nothing follows that could keep it.
    """
    claimed: Place | None = None
    recent: list[str] = []
    agent = list(talk.agent())
    final = agent[-1][0].turn if agent else -1
    will = re.compile(rf"{_WILL} {_PROMISE[change]}\w*")
    for place, sentence in agent:
        recent = [*recent[-5:], sentence.norm]
        about = bool(
            re.search(
                _NOUN[change], " ".join([*recent, *map(normalise, talk.caller_before(place.turn)[-1:])])
            )
        )
        done = any(says(pattern, sentence) for pattern in _DONE[change])
        plain = about and says(_GENERIC, sentence)
        promised = (
            place.turn == final and says(will, sentence) and bool(re.search(_NOUN[change], sentence.norm))
        )
        if done or plain or promised:
            claimed = place
        elif (
            claimed
            and sentence.states
            and _FAILED.search(sentence.norm)
            and not HYPOTHETICAL.search(sentence.norm)
        ):
            claimed = None
    return claimed


def done_claims(talk: Talk, change: Change) -> list[tuple[Place, Sentence]]:
    """Every statement that the change was made."""
    return [
        (place, sentence) for place, sentence in talk.agent() if any(says(p, sentence) for p in _DONE[change])
    ]


def hand_over(talk: Talk) -> Place | None:
    """Where the agent says that it hands over to a person, or does so after the caller took its offer."""
    offered: Place | None = None
    for place, sentence in talk.agent():
        if offered and place.turn > offered.turn and sentence.states and _MOMENT.search(sentence.norm):
            answer = talk.next_caller(offered.turn)
            if answer and answer.number < place.turn and _YES.search(normalise(answer.said)):
                return place
        for match in _HAND_OVER.finditer(sentence.norm):
            before = sentence.norm[: match.start()]
            if negated(sentence.norm, match.start(), 4):
                continue
            if sentence.question or _OFFER.search(before) or HYPOTHETICAL.search(before):
                offered = place
            elif not sentence.read_back:
                return place
    return None


def refusal(talk: Talk) -> Place | None:
    """Where the agent last refuses its service, unless it only asks for a step first or goes on to serve."""
    refused: Place | None = None
    for turn in talk.turns:
        if turn.speaker != "agent":
            continue
        asks = any(s.question or _RETRY.search(s.norm) for s in turn.sentences)
        for index, sentence in enumerate(turn.sentences):
            if says(_CLEARED, sentence):
                refused = None
            match = None if sentence.question else _REFUSAL.search(sentence.norm)
            if match and not _STEP.search(sentence.norm) and not asks:
                refused = Place(turn.number, index)
    return refused


def told(talk: Talk, forms: Sequence[str]) -> Place | None:
    """Where the agent first states a fact in one of its forms, undenied and on its own account."""
    wanted = [normalise(form) for form in forms]
    for place, sentence in talk.agent():
        if not sentence.states:
            continue
        for form in wanted:
            match = re.search(rf"(?<![\w$<@.]){re.escape(form)}(?![\w@>])", sentence.norm)
            conditional = match and HYPOTHETICAL.search(sentence.norm[: match.start()])
            if match and not conditional and not negated(sentence.norm, match.start(), 4):
                return place
    return None
