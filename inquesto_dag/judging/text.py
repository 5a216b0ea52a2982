"""Free wording brought to a form in which facts can be compared: sentences, clauses, and the values in them.

Conventions: a normal form is lower case, without punctuation, numbers as digits. In it an amount of money is
`$49` (`$49.50` with cents), a date is `<08-03>` whatever way it was said, an address is `a.b@host.com`, and
four digits that were said in pairs are joined. A sentence is a question by its mark, and a *read-back* when
it repeats what the caller said, by its wording or because the next sentence asks whether it is right.
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
_ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
)  # fmt: skip
_ORDINALS = {word: number for number, word in enumerate(_ORDINAL_WORDS, 1)} | {"thirtieth": 30}
_DAY = rf"(?:(?:20 |30 )?(?:{'|'.join(_ORDINALS)})|\d{{1,2}}(?:st|nd|rd|th)?)"
_MONTH = rf"(?:{'|'.join(MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_MONTH_DAY = re.compile(rf"\b({_MONTH}) (?:the )?({_DAY})\b(?: (?:20\d\d|20 \d\d))?")
_DAY_MONTH = re.compile(rf"\b(?:the )?({_DAY}) (?:day )?(?:of )?({_MONTH})\b(?: (?:20\d\d|20 \d\d))?")
_ISO = re.compile(r"\b20\d\d (\d\d) (\d\d)\b")
_HUNDRED = re.compile(r"\b(\d) hundred(?: and)?(?: (\d{1,2}))?\b")
_MONEY = re.compile(r"\b(\d+) (?:us |u s )?(?:dollars?|bucks|usd)\b(?: and (\d+) cents)?")
_USD_FIRST = re.compile(r"\busd (\d+)\b")
_PAIRS = re.compile(
    r"\b(ending|ends|end|number|account|card|digits|in|is|order|ord) (\d\d) (\d\d)\b(?! cents)"
)
_CENTS = re.compile(r"\$\s*(\d+(?:,\d{3})*)\.(\d\d)\b")

AMOUNT = re.compile(r"\$(\d+(?:\.\d\d)?)")
DATE = re.compile(r"<(\d\d-\d\d)>")
EMAIL = re.compile(r"[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)+")
NUMBER = re.compile(r"(?<![\w$<@.-])\d+(?![\w@>.-])")
NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|unable|cannot|instead of|rather than|isn't|wasn't|aren't|"
    r"weren't|"
    r"don't|doesn't|didn't|haven't|hasn't|hadn't|won't|can't|couldn't|wouldn't|shouldn't|false|incorrect|"
    r"wrong)\b"
)
HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|once|unless|until|before|in case|as soon as|after (?:i|you|we|that|this|it)|when (?:i|"
    r"you|we)|"
    r"would|could|might|to be able to|in order to)\b"
)
_READ_BACK = re.compile(
    r"\b(?:you(?:'ve| have)? (?:said|say|told|mentioned|want|wanted|would like|need|gave|asked|reported|"
    r"report)|"
    r"you'd like|you(?:'re| are) (?:saying|asking|calling|looking|telling|reporting)|"
    r"i understand(?: that)? you|"
    r"i heard|i hear(?: that)?|to confirm|just to check|just to be sure|let me (?:confirm|repeat|read|"
    r"make sure)|"
    r"did i|so (?:that's|that is|you)|i have (?:that|it|this) (?:as|down)|sorry to hear)\b"
)
_ASKS_BACK = re.compile(
    r"^(?:so )?(?:is|was|did|have|does) (?:that|this|it|i)\b.{0,30}\b(?:right|correct|ok|okay|good|yes)$|"
    r"^(?:right|correct|yes|is that so|did i get that right)$"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_CLAUSE_END = re.compile(
    r"[,;:]\s+|\s+[—–-]\s+|\s*[—–]\s*|\s+(?=(?:but|however|although|though|because|while|whereas)\b)"
)


@dataclass(frozen=True)
class Sentence:
    """One sentence: as said, its normal form, its clauses in normal form, and what kind it is."""

    text: str
    norm: str
    clauses: tuple[str, ...]
    question: bool
    read_back: bool

    @property
    def states(self) -> bool:
        """Whether the speaker states something on their own account."""
        return not self.question and not self.read_back


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """The normal form of the module docstring; empty for text without a word."""
    text = re.sub(r"\be-mail", "email", text, flags=re.IGNORECASE)
    text = _CENTS.sub(lambda m: f"${m[1]}" if m[2] == "00" else f"{m[1]} dollars and {int(m[2])} cents", text)
    norm = normalise_spoken(text)
    norm = _HUNDRED.sub(lambda m: str(100 * int(m[1]) + int(m[2] or 0)), norm)
    norm = _USD_FIRST.sub(r"\1 dollars", norm)
    norm = _MONEY.sub(lambda m: f"${m[1]}" + (f".{int(m[2]):02d}" if m[2] else ""), norm)
    norm = _ISO.sub(r"<\1-\2>", norm)
    norm = _DAY_MONTH.sub(lambda m: _date(m[2], m[1]) or m[0], norm)
    norm = _MONTH_DAY.sub(lambda m: _date(m[1], m[2]) or m[0], norm)
    return _PAIRS.sub(r"\1 \2\3", norm)


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
    parts = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    norms = [normalise(part) for part in parts]
    found = []
    for index, (part, norm) in enumerate(zip(parts, norms, strict=True)):
        following = norms[index + 1] if index + 1 < len(norms) else ""
        pieces = _CLAUSE_END.split(_join_date(part))
        clauses = tuple(clause for clause in (normalise(piece) for piece in pieces) if clause)
        question = part.rstrip("\"') ").endswith("?")
        read_back = bool(_READ_BACK.search(norm) or _ASKS_BACK.search(following))
        found.append(Sentence(part, norm, clauses, question, read_back))
    return tuple(found)


def _join_date(text: str) -> str:
    # The comma of `August 3, 2026` and of `$1,000` ends no clause.
    text = re.sub(r",(?=\s*20\d\d\b)", "", text)
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


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
