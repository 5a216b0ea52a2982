"""Whether an agent answers the caller's question with the facts that it needs (PROTOCOL R3).

Conventions: a fact is told in one of the forms that the protocol lists for it, or in another wording of the
same statement; undenied, and on the agent's own account.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inquesto_dag.judging.claims import Place, Talk, claimed, conditional
from inquesto_dag.judging.text import negated, normalise, supposed
from inquesto_dag.protocol.models import Family

_CHARGED = (
    r"(?:charged?|billed|bill|invoiced|booked|debited|added|listed|entered|appears?|shows?(?: up)?|"
    r"counted|taken|put|there|stands|occurs)"
)
_AGAIN = (
    r"(?:twice|2 times|double|doubly|a (?:second|2nd) time|again|once more|once too often|1 time too "
    r"many|in duplicate)"
)
_PAYMENT = r"(?<!\w)(?:payments?|it|that|money|month|invoice|bill|\$\d+|august|everything|transaction)"
# Other wordings of the facts that an information goal needs, by family.
WORDINGS: Mapping[Family, tuple[str, ...]] = {
    "invoice_up": (
        rf"\b{_CHARGED}\b.{{0,50}}?\b{_AGAIN}\b|\b{_AGAIN}\b.{{0,20}}?\b{_CHARGED}\b",
        r"\b(?:duplicate|duplicated|duplication|double charge|double billing|double entry)\b",
        r"\b(?:second|2nd|extra|additional|repeated|redundant|repeat)\b.{0,20}\b(?:charge|line|fee|entry|"
        r"item|\$49|payment|"
        r"billing|of your plan)\b|\ba repeat of\b|\bsame (?:charge|fee|line|item)\b",
        r"\b2 (?:\w+ )?(?:of )?\$49\b|\b2 (?:charges|lines|fees|entries)\b",
    ),
    "confirm_payment": (
        rf"{_PAYMENT}\b.{{0,50}}?\b(?:went|gone|came|come|got|has gone|has come) (?:through|in|out|fine|"
        rf"well|ok|okay)\b",
        rf"{_PAYMENT}(?:'s|\b).{{0,50}}?(?:'s|\b(?:was|is|been|were|got|has))(?: \w+)? (?:received|cleared|"
        rf"completed?|"
        r"processed|paid|successful|settled|booked|taken|collected|credited|accepted|posted|approved|made)\b",
        rf"{_PAYMENT}\b.{{0,30}}?\b(?:cleared|succeeded|arrived|reached us|landed|posted)\b",
        r"\b(?:we|i)(?:'ve| have)? (?:got|received|collected|taken|have|see|got)\b.{0,15}\b(?:your|the|"
        r"a)\b.{0,12}\b(?:payment|money)\b"
        r"(?! (?:is|was|that|has|hasn't|for|from|of|you)\b.{0,20}\b(?:pending|fail\w*|declined|open)\b)",
        r"\byou(?:'ve| have)(?: already| just)? paid\b|\byou paid\b|\byou(?:'re| are)(?: all)? paid up\b|"
        r"\bpaid in full\b|"
        r"\breceipt of (?:your|the) payment\b",
    ),
}
_OPEN = re.compile(
    r"\b(?:looking (?:for|into|at)|checking|check|order|usually|normally|generally|let me "
    r"see|tell you)\b"
)


def told(talk: Talk, forms: Sequence[str], family: Family) -> Place | None:
    """Where the agent first states a fact in one of its forms, undenied and on its own account."""
    wanted = [re.compile(rf"(?<![\w$<@.]){re.escape(normalise(form))}(?![\w@>])") for form in forms]
    for place, sentence in talk.agent():
        for clause in sentence.stated:
            for pattern in wanted:
                match = pattern.search(clause)
                if (
                    match
                    and not supposed(clause, match.start())
                    and not conditional(clause, sentence, match.end())
                    and not negated(clause, match.start(), 4)
                ):
                    return place
        if not _OPEN.search(sentence.norm) and any(
            claimed(wording, sentence) for wording in WORDINGS.get(family, ())
        ):
            return place
    return None
