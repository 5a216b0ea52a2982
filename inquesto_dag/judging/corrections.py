"""Whether a corrected detail is used as it stood before the correction (PROTOCOL T6).

Conventions: a caller corrects a detail by saying it in its first form and later, in the same turn or another,
as corrected. After that the first form may be mentioned to put it aside (`not X but Y`, `Y instead of X`, `I
have struck X`), and an agent that corrects itself before the caller speaks again has lost nothing.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from inquesto_dag.judging.claims import Talk, Turn
from inquesto_dag.judging.text import Sentence, normalise
from inquesto_dag.protocol.models import Correction

# What stands right before a form that is put aside, and what is done to it.
_ASIDE_BEFORE = re.compile(
    r"\b(?:not|instead of|rather than|as opposed to|no longer|never|isn't|wasn't|without|in place of|than|"
    r"over)"
    r"(?: (?:the|a|an|for|to|by|of|with|use|using|order|card|number|ending|one|1|ord|in|charge|refund|use "
    r"the|be))*$"
)
_PUT_ASIDE = re.compile(
    r"\b(?:forget|forgetting|ignore|ignoring|disregard|disregarding|delete|deleted|remove|removed|scratch|"
    r"scratched|"
    r"strike|struck|drop|dropped|discard|discarded|gone|misspoke|by mistake|was (?:a mistake|wrong|"
    r"incorrect)|erase|erased|cross(?:ed)? out|"
    r"take out|taken out|throw out|undo|cancelled|replaced|won't (?:use|be used)|not (?:use|be used|using)|"
    r"no need for|"
    r"never mind|clear(?:ed)?)\b"
)


def detail_correction(talk: Talk, corrected: Correction) -> Turn | None:
    """The caller's turn in which the detail, said before in its first form, is corrected; None without."""
    said = False
    for turn in talk.turns:
        if turn.speaker != "caller":
            continue
        norm = normalise(turn.said)
        first = find_value(norm, corrected.first, corrected.detail)
        if first is not None:
            said, norm = True, norm[first:]
        if said and find_value(norm, corrected.corrected, corrected.detail) is not None:
            return turn
    return None


def lost_in(talk: Talk, agent: Turn, corrected: Correction) -> bool:
    """Whether an agent's turn uses the first form as if it still held."""
    spoken = agent.sentences
    norms = [sentence.norm for sentence in spoken]
    following = [
        sentence.norm
        for turn in talk.agent_run(agent.number)
        if turn.number > agent.number
        for sentence in turn.sentences
    ]
    for position, norm in enumerate(norms):
        first = find_value(norm, corrected.first, corrected.detail)
        if (
            first is None
            or _ASIDE_BEFORE.search(norm[:first].rstrip())
            or _put_aside(spoken[position], corrected)
        ):
            continue
        # Said beside the corrected form, or before it in the same breath, it is what was corrected.
        beside = [*norms[max(0, position - 1) :], *following]
        new = [(text, find_value(text, corrected.corrected, corrected.detail)) for text in beside]
        if any(at is not None and not _ASIDE_BEFORE.search(text[:at].rstrip()) for text, at in new):
            continue
        return True
    return False


def puts_aside(agent: Turn, clause: str, corrected: Correction) -> bool:
    """Whether a clause says the first form in a turn that says the corrected one too."""
    if find_value(clause, corrected.first, corrected.detail) is None:
        return False
    return find_value(normalise(agent.said), corrected.corrected, corrected.detail) is not None


def _put_aside(sentence: Sentence, corrected: Correction) -> bool:
    """Whether the clause that says the first form, or the one right after it, does away with it."""
    for clause, following in zip_longest(sentence.clauses, sentence.clauses[1:], fillvalue=""):
        if find_value(clause, corrected.first, corrected.detail) is not None:
            return bool(_PUT_ASIDE.search(f"{clause} {following}"))
    return bool(_PUT_ASIDE.search(sentence.norm))


def find_value(norm: str, value: str, detail: str) -> int | None:
    """Where a detail's value stands in a normal form: amounts as money, identifiers by their number."""
    if re.search(r"usd|amount|price", detail):
        wanted = "$" + value
    elif re.search(r"id$|number|last4", detail):
        wanted = re.sub(r"\D", "", value)
    else:
        wanted = normalise(value)
    match = re.search(rf"(?<![\w$<@.-]){re.escape(wanted)}(?![\w@>]|\.\d)", norm)
    return match.start() if match else None


def holds_value(text: str, value: str, detail: str) -> bool:
    """Whether an account value or a tool argument is a detail's value."""
    if re.search(r"usd|amount|price", detail):
        return text == value
    return find_value(normalise(text), value, detail) is not None
