"""Free wording brought to a form in which facts can be compared: sentences, clauses, and the values in them.

Conventions: a normal form is lower case, without punctuation, numbers as digits. In it an amount of money is
`$49` (`$49.50` with cents), a date is `<08-03>` whatever way it was said, an address is `a.b@host.com`, and
four digits that were said one by one or in pairs are joined. A sentence is a question by its mark. A clause
is a *read-back* when it repeats what the caller said, by its own wording, by that of the clause before it, or
because the next sentence asks whether it is right; a sentence is one when nothing else is left of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from inquesto_dag.protocol.spoken import normalise_spoken

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
)  # fmt: skip
_ORDINALS = {word: number for number, word in enumerate(ORDINAL_WORDS, 1)} | {"thirtieth": 30}
_DAY = rf"(?:(?:20 |30 )?(?:{'|'.join(_ORDINALS)})|\d{{1,2}}(?:st|nd|rd|th)?)"
_MONTH = rf"(?:{'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_MONTH_DAY = re.compile(rf"\b({_MONTH}) (?:the )?({_DAY})\b(?: (?:20\d\d|20 \d\d))?")
_DAY_MONTH = re.compile(rf"\b(?:the )?({_DAY}) (?:day )?(?:of )?({_MONTH})\b(?: (?:20\d\d|20 \d\d))?")
_ISO = re.compile(r"\b20\d\d (\d\d) (\d\d)\b")
_HUNDRED = re.compile(r"\b(\d) hundred(?: and)?(?: (\d{1,2}))?\b")
_MONEY = re.compile(
    r"\b(\d+) (?:us |u s |american )?(?:dollars?|bucks|usd)\b(?: and (\d+) cents)?|\b(\d+) dollar(?= \w)"
)
_USD_FIRST = re.compile(r"\busd (\d+)\b")
# Two pairs of digits side by side are one number of four, unless they count something.
_PAIRS = re.compile(
    r"(?<![\w$<@.-])([1-9]\d) (\d\d)(?! (?:\d|dollars?|cents|percent|days?|hours?|minutes?))(?![\w@>.-])"
)
_CENTS = re.compile(r"\$\s*(\d+(?:,\d{3})*)\.(\d\d)\b")
_DIGIT = "zero|oh|one|two|three|four|five|six|seven|eight|nine"
_DIGIT_COMMA = re.compile(rf"\b(\d|{_DIGIT}),\s*(?=(?:\d|{_DIGIT})\b)", re.IGNORECASE)
# The last ` at ` is the address's own: in `an invoice at maple dot lane at host dot com` the first is not. A
# full stop with a space behind it ends a sentence, and no part of an address.
_DOT = r"(?:\s*\bdot\b\s*|\.)"
_ADDRESS = re.compile(
    rf"\b([\w+-]+(?:{_DOT}[\w+-]+)*)(?:\s+at\s+|@)([\w-]+(?:{_DOT}[a-z]{{2,}})+)\b(?!\s+at\s|@)"
)
_HELD = "xqaddress"  # stands for an address while the words around it are brought to their form

AMOUNT = re.compile(r"\$(\d+(?:\.\d\d)?)")
DATE = re.compile(r"<(\d\d-\d\d)>")
EMAIL = re.compile(r"[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)+")
NUMBER = re.compile(r"(?<![\w$<@.-])\d+(?![\w@>.-])")
NOT = (
    r"(?:not|no|never|none|nothing|nobody|neither|nor|without|unable|cannot|hardly|isn't|wasn't|aren't|"
    r"weren't|"
    r"don't|doesn't|didn't|haven't|hasn't|hadn't|won't|can't|couldn't|wouldn't|shouldn't|ain't)"
)
NEGATION = re.compile(rf"\b(?:{NOT}|instead of|rather than|as opposed to|no longer|false|incorrect|wrong)\b")
_WHEN = r"(?= (?:i|you|we|it|that|this|the|your|a|they|all|everything|\w+ed|done)\b)"
# `If I see it right` and `as soon as this call ends` put nothing under a condition.
_HEDGE = (
    r"(?! (?:i(?:'m| am| have| haven't)? (?:read|look|see|not (?:mistaken|wrong)|understand|remember|"
    r"recall|check)|memory))"
)
_CALL_ENDS = r"(?! (?:we|you|i)(?:'re| are|'ve| have)? (?:hang|hung|done|finish|end))"
_DATE_NEXT = r"(?! (?:<|august|the (?:end|month|\d)|\d|then|next|tomorrow|end of))"
CONDITION = re.compile(
    rf"\b(?:if{_HEDGE}|unless|until{_DATE_NEXT}|in case|as soon as{_CALL_ENDS}|provided|assuming|once{_WHEN}|"
    rf"before{_DATE_NEXT}|after (?:i|you|we)|after (?:that|this|it) (?:is|has|was)|when(?:ever)? (?:i|you|"
    rf"we))\b|"
    r"^had (?:you|i|we|it|the|your)\b|^with your (?:okay|ok|permission|consent|approval|confirmation|go "
    r"ahead)\b|"
    r"^(?:just |please |kindly )?(?:say (?:the word|yes|so|go)|tell me|let me know|confirm|give me|allow "
    r"me)\b|"
    r"\bi(?:'d| would|'ll)? (?:just |only |first )*need (?:you to|your|a yes|an? (?:ok|okay|yes|"
    r"confirmation))\b"
)
HYPOTHETICAL = re.compile(rf"{CONDITION.pattern}|\b(?:whether|would|could|might|to be able to|in order to)\b")
_READ_BACK = re.compile(
    r"\b(?:you(?:'ve| have)? (?:just |first |initially )?(?:said|say|told|mentioned|mention|want|wanted|"
    r"would "
    r"like|wish|need|gave|asked|reported|report|tell|think|believe|misspoke|expected|were expecting)|"
    r"you'd (?:like|want|prefer)|"
    r"you(?:'re| are) (?:saying|asking|calling|looking|telling|reporting|referring|expecting|after)|"
    r"i (?:understand|get|hear|appreciate|realise|realize|know)(?: that)? (?:you|it's)|i (?:understand|get|"
    r"realise|realize|"
    r"appreciate|hear) that|i(?:'d| had)? (?:first |initially |just )?(?:thought|assumed|believed|misread|"
    r"misheard)|"
    r"i heard|i hear(?: that)?|to confirm|just to (?:check|be sure|confirm|double check)|"
    r"let me (?:confirm|repeat|read|make sure|run|spell)|"
    r"(?:did|do|does|had|have) (?:i|you)|i have (?:that|it|this) (?:as|down))\b|"
    r"^so you(?:'d|'re|'ve| want| would| need| were| are| have| had)\b"
)
# Regret repeats what it is about, and nothing that comes after it.
_REGRET = re.compile(
    r"\b(?:sorry (?:to hear|that you|that the|you|about)|(?:must|can) be (?:frustrating|annoying|"
    r"upsetting))\b"
)
_OWN = re.compile(
    r"^(?:but|however|though|although|yet|and yet|what|and what)\b|"
    r"^(?:so |and |then )?(?:i|i'm|i've|i'll|we|we've|we'll|we're|there|there's|here|here's|it's|that's)\b|"
    r"\b(?:in front of me|on file|our records|the (?:record|system)|shows?)\b"
)
# `The order that you mentioned was for ...` states something of the order.
_WHICH_ONE = re.compile(
    r"\b((?:the|that|this|your) \w+(?: \w+)?) (?:that |which )?you(?:'re| are| were|'ve| have|'d| just)? "
    r"(?:referring to|"
    r"asking about|looking (?:for|at)|asked about|mentioned|mean|meant|calling about|talking about|after|"
    r"gave me|want|"
    r"wanted|described)(?= (?:is|was|has|had|costs?|were|are|went|came|can|did|does|isn't|wasn't|hasn't|"
    r"shows?|dates|"
    r"comes)\b)"
)
_ASKS_BACK = re.compile(
    r"^(?:so )?(?:is|was|did|have|has|does|do) (?:that|this|it|i)\b.{0,30}\b(?:right|correct|ok|okay|good|"
    r"yes|"
    r"properly|correctly)$|^(?:right|correct|yes|okay|is that so)$"
)
_CLOSER = re.compile(r"^(?:and |is there |will there be )?(?:anything|something) (?:else|more|further)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_CLAUSE_END = re.compile(
    r"[,;:]\s+|\s+[—–-]\s+|\s*[—–]\s*|"
    r"\s+(?=(?:but|however|although|though|because|while|whereas|since|yet)\b)|"
    r"\s+(?=and (?:i|you|we|it|there|he|she|they|your|that|that's|it's|i'm|i've|i'll|you'll|we'll)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """One sentence: as said, its normal form, its clauses in normal form, and what kind it is.

    `stated` are the clauses that the speaker states on their own account; none of a question.
    """

    text: str
    norm: str
    clauses: tuple[str, ...]
    stated: tuple[str, ...]
    question: bool
    read_back: bool

    @property
    def states(self) -> bool:
        """Whether the speaker states something on their own account."""
        return bool(self.stated)


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """The normal form of the module docstring; empty for text without a word."""
    text = re.sub(r"\be-mail", "email", text.lower())
    text = _CENTS.sub(lambda m: f"${m[1]}" if m[2] == "00" else f"{m[1]} dollars and {int(m[2])} cents", text)
    held: list[str] = []
    norm = normalise_spoken(_ADDRESS.sub(lambda m: _hold(m, held), text))
    norm = _HUNDRED.sub(lambda m: str(100 * int(m[1]) + int(m[2] or 0)), norm)
    norm = _USD_FIRST.sub(r"\1 dollars", norm)
    norm = _MONEY.sub(lambda m: f"${m[1] or m[3]}" + (f".{int(m[2]):02d}" if m[2] else ""), norm)
    norm = _ISO.sub(r"<\1-\2>", norm)
    norm = _DAY_MONTH.sub(lambda m: _date(m[2], m[1]) or m[0], norm)
    norm = _MONTH_DAY.sub(lambda m: _date(m[1], m[2]) or m[0], norm)
    norm = _PAIRS.sub(r"\1\2", norm)
    return re.sub(rf"{_HELD}(z+)y", lambda m: held[len(m[1]) - 1], norm)


def _hold(match: re.Match[str], held: list[str]) -> str:
    held.append(f"{re.sub(_DOT, '.', match[1])}@{re.sub(_DOT, '.', match[2])}")
    return f"{_HELD}{'z' * len(held)}y"


def _date(month: str, day: str) -> str | None:
    number = 1 + next(i for i, name in enumerate(MONTHS) if name.startswith(month[:3]))
    tens, _, rest = day.rpartition(" ")
    word = _ORDINALS.get(rest)
    value = (int(tens) if tens else 0) + word if word else int(re.sub(r"\D", "", day))
    return f"<{number:02d}-{value:02d}>" if 1 <= value <= 31 else None


def date_token(iso: str) -> str:
    """The month and day of an ISO date, as they stand in a normal form: `08-03`."""
    return iso[5:10]


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a turn, in order."""
    parts = [part.strip() for part in _SENTENCE_END.split(_join_digits(text)) if part.strip()]
    norms = [normalise(part) for part in parts]
    found = []
    for index, (part, norm) in enumerate(zip(parts, norms, strict=True)):
        following = norms[index + 1] if index + 1 < len(norms) else ""
        pieces = _CLAUSE_END.split(_join_date(part))
        clauses = tuple(clause for clause in (normalise(piece) for piece in pieces) if clause)
        question = part.rstrip("\"') ").endswith("?")
        # In `all done, anything else?` only the end asks.
        ended = clauses[:-1] if question and clauses and _CLOSER.search(clauses[-1]) else ()
        if ended:
            stated = _stated(ended)
            found.append(Sentence(part, norm, clauses, stated, False, not stated))
            continue
        stated = () if question or _ASKS_BACK.search(following) else _stated(clauses)
        found.append(Sentence(part, norm, clauses, stated, question, not (stated or question)))
    return tuple(found)


def _stated(clauses: Sequence[str]) -> tuple[str, ...]:
    """The clauses that repeat nothing: a read-back goes on until the speaker turns to what they see."""
    found, repeating = [], False
    for clause in clauses:
        if _READ_BACK.search(_WHICH_ONE.sub(r"\1", clause)):
            repeating = True
        elif _OWN.search(clause):
            repeating = False
        if not (repeating or _REGRET.search(clause)):
            found.append(clause)
    return tuple(found)


def _join_digits(text: str) -> str:
    # The commas of `3, 3, 8, 2` and of `three, three, eight, two` end no clause.
    return _DIGIT_COMMA.sub(r"\1 ", text)


def _join_date(text: str) -> str:
    # The comma of `August 3, 2026` and of `$1,000` ends no clause.
    text = re.sub(r",(?=\s*20\d\d\b)", "", text)
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


def supposed(clause: str, start: int) -> bool:
    """Whether what stands at a place in a clause is only supposed: under an `if` or a `would`."""
    return any(match.start() < start for match in HYPOTHETICAL.finditer(clause))


def negated(clause: str, start: int, words: int = 6) -> bool:
    """Whether one of the `words` words before a place in a clause denies what stands there."""
    return bool(NEGATION.search(" ".join(clause[:start].split()[-words:])))


def values(texts: Sequence[str]) -> frozenset[str]:
    """Every amount, date, address and number in texts, as they stand in normal forms."""
    found: set[str] = set()
    for text in texts:
        norm = normalise(text)
        found |= {f"${amount}" for amount in AMOUNT.findall(norm)} | {
            f"<{date}>" for date in DATE.findall(norm)
        }
        found |= set(EMAIL.findall(norm)) | set(NUMBER.findall(norm))
    return frozenset(found)
