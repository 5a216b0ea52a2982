"""Numbers in recognised speech: digits or words, single or in groups, written as the recogniser likes.

`4471`, `4,471`, `44 71`, `4-4-7-1`, `four four seven one`, `double four seven one`, `forty-four seventy-one`
and `four thousand four hundred and seventy one` are all the digits 4471. What a number is for is read from
the words around it: money, a date, an order, a card, an account.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Use = Literal["amount", "date", "order", "card", "account", "plain"]

_UNITS = {
    w: str(n)
    for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
}
_TEENS = {
    w: str(n)
    for n, w in enumerate(
        [
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        10,
    )
}
_TENS = {
    w: n
    for n, w in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_TENS["fourty"] = 4
_SCALES = {"hundred": 100, "thousand": 1000}
_TIMES = {"double": 2, "triple": 3, "treble": 3}
# Words that a recogniser writes for a digit; they count only where digits surround them.
_SOUNDS_LIKE = {"oh": "0", "o": "0", "to": "2", "too": "2", "for": "4", "fore": "4", "won": "1", "ate": "8"}
_FILLERS = {"um", "uh", "er", "erm", "uhm", "hmm", "mm", "ah", "eh"}
_MONTHS = set(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
_MONEY_WORDS = {"dollar", "dollars", "bucks", "usd"}
_USES: dict[str, Use] = {
    "account": "account",
    "card": "card",
    "ends": "card",
    "ending": "card",
    "digits": "card",
    "order": "order",
    "ord": "order",
}
_TOKEN = re.compile(r"\$|\d+(?:st|nd|rd|th)\b|\d+|[a-z]+(?:'[a-z]+)?|[.?!]")


@dataclass(frozen=True)
class Number:
    """A number that was heard: its digits as a string, and what it is for as far as its words tell."""

    digits: str
    use: Use
    negated: bool = False  # "not 9012": named only to be ruled out


def tokens_of(text: str) -> list[str]:
    """Lower-case words, digit groups, `$` and sentence ends; thousands commas and cents are taken out."""
    text = text.lower().replace("\u2019", "'")
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<=\d)\.\d\d(?!\d)", "", text)
    text = re.sub(r"\bo\.?\s?r\.?\s?d\b\.?", "ord ", text)
    return [token for token in _TOKEN.findall(text) if token not in _FILLERS]


def _numeric(token: str) -> bool:
    return token.isdigit() or token in _UNITS or token in _TEENS or token in _TENS or token in _SCALES


def _single(token: str) -> bool:
    return token in _UNITS or (token.isdigit() and len(token) == 1)


def _runs(tokens: list[str]) -> list[tuple[int, int]]:
    """Half-open ranges of tokens that together are one number."""
    runs: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        if not (_numeric(tokens[at]) or _opens(tokens, at)):
            at += 1
            continue
        end = at + 1
        while end < len(tokens) and _continues(tokens, at, end):
            end += 1
        while tokens[end - 1] in {".", "?", "!", "and"}:
            end -= 1
        runs.append((at, end))
        at = end
    return runs


def _opens(tokens: list[str], at: int) -> bool:
    return tokens[at] in _TIMES and at + 1 < len(tokens) and _single(tokens[at + 1])


def _continues(tokens: list[str], start: int, at: int) -> bool:
    token, before = tokens[at], tokens[at - 1]
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if _numeric(token):
        return True
    if token in _TIMES:
        return _single(after)
    if token in {".", "?", "!"}:  # "4. 4. 7. 1." is one number, "4471. 2 charges" is not
        return _numeric(after) and len(_digits(tokens[start:at])) < 4
    if token == "and":
        return before in _SCALES and _numeric(after)
    if token in {"oh", "o"}:
        return _single(before) or before in _TENS or before in _SOUNDS_LIKE
    if token in _SOUNDS_LIKE:
        return _single(before) and (_single(after) or after in {"oh", "o"})
    return False


def _digits(tokens: list[str]) -> str:
    if any(token in _SCALES for token in tokens):
        return str(_cardinal(tokens))
    out, at = "", 0
    while at < len(tokens):
        token = tokens[at]
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in _TIMES and after:
            out += (_UNITS.get(after) or after) * _TIMES[token]
            at += 1
        elif token in _TENS:
            unit = _UNITS.get(after, "0")
            out += f"{_TENS[token]}{unit}"
            at += unit != "0"
        elif token.isdigit():
            out += token
        else:
            out += _UNITS.get(token) or _TEENS.get(token) or _SOUNDS_LIKE.get(token) or ""
        at += 1
    return out


def _cardinal(tokens: list[str]) -> int:
    total = group = 0
    for token in tokens:
        if token == "thousand":
            total, group = total + max(group, 1) * 1000, 0
        elif token == "hundred":
            group = max(group, 1) * 100
        elif token in _TENS:
            group += _TENS[token] * 10
        else:
            group += int(_UNITS.get(token) or _TEENS.get(token) or (token if token.isdigit() else 0))
    return total + group


def _use(tokens: list[str], start: int, end: int) -> Use:
    before = tokens[max(0, start - 6) : start]
    after = tokens[end : end + 2]
    if (before and before[-1] == "$") or (after and after[0] in _MONEY_WORDS):
        return "amount"
    if (before and before[-1] in _MONTHS) or (after and (after[0] in _MONTHS or after[-1] in _MONTHS)):
        return "date"
    for token in reversed(before):
        if token in {".", "?", "!"}:
            break
        if token in _USES:
            return _USES[token]
    return "plain"


def find_numbers(text: str) -> list[Number]:
    """Every number of an utterance in the order said; dates are named as such.

    A single digit by itself is left out ("one of them"), unless the utterance is nothing but digits.
    """
    tokens = tokens_of(text)
    found = []
    for start, end in _runs(tokens):
        digits = _digits(tokens[start:end])
        use = _use(tokens, start, end)
        alone = all(_numeric(t) or t in {".", "?", "!"} for t in tokens)
        if not digits or (len(digits) == 1 and use != "amount" and not alone):
            continue
        if len(digits) == 3 and start and tokens[start - 1] in {"for", "to", "too"} and use != "amount":
            digits = _SOUNDS_LIKE[tokens[start - 1]] + digits  # "for four seven one"
        negated = "not" in tokens[max(0, start - 2) : start]
        found.append(Number(digits, use, negated))
    return found
