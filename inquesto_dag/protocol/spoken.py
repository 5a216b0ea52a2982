"""Values as they are spoken and as they are written, brought to one form so that they can be compared.

The form is lower case without punctuation, numbers as digits, spelled letters joined, addresses written out:
`O R D, two two zero seven` and `ORD-2207` both become `ord 2207`; `forty nine dollars` and `$49.00` become
`49 dollars`; `maple dot garden at example dot com` becomes `maple.garden@example.com`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNIT_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TEN_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
UNITS = {word: number for number, word in enumerate(_UNIT_WORDS)} | {"oh": 0}
TENS = {word: 10 * number for number, word in enumerate(_TEN_WORDS, start=2)}
REPEATS = {"double": 2, "triple": 3}

_EMAIL = re.compile(r"[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)+")
_SPOKEN_EMAIL = re.compile(
    r"\b[\w+-]+(?:\s*(?:\bdot\b|\.)\s*[\w+-]+)*\s+at\s+[\w-]+(?:\s*(?:\bdot\b|\.)\s*[a-z]{2,})+\b"
)
_MONEY = re.compile(r"\$\s*(\d+(?:,\d{3})*)(?:\.00\b)?")


def normalise_spoken(text: str) -> str:
    """Text in the form described above; empty for text without a word."""
    text = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    text = _SPOKEN_EMAIL.sub(_write_email, text)
    text = _MONEY.sub(r" \1 dollars ", text)
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(\d+)\.00\b", r"\1", text)
    words: list[str] = []
    for word in text.split():
        match = _EMAIL.search(word)
        words += (
            [match.group()] if match else re.findall(r"\d+(?:st|nd|rd|th)\b|[a-z]+(?:'[a-z]+)?|\d+", word)
        )
    return " ".join(_join_letters(_join_numbers(words)))


def holds_value(text: str, value: str) -> bool:
    """Whether a text, spoken or written, holds a value as whole words."""
    return position_of(text, value) >= 0


def position_of(text: str, value: str) -> int:
    """Where a value starts in the normalised text, or -1."""
    match = re.search(rf"(?<![\w@.]){re.escape(normalise_spoken(value))}(?![\w@])", normalise_spoken(text))
    return match.start() if match else -1


def _write_email(match: re.Match[str]) -> str:
    before, after = re.split(r"\s+at\s+", match.group(), maxsplit=1)
    dot = re.compile(r"\s*(?:\bdot\b|\.)\s*")
    return f" {dot.sub('.', before)}@{dot.sub('.', after)} "


def _join_numbers(words: Sequence[str]) -> list[str]:
    """Number words as digits; neighbouring single digits become one number, `forty nine` becomes 49."""
    joined: list[str] = []
    run = ""  # single digits that belong together
    position = 0
    while position < len(words):
        word = words[position]
        following = words[position + 1] if position + 1 < len(words) else ""
        digit = _digit(word)
        if word in REPEATS and _digit(following):
            run += _digit(following) * REPEATS[word]
            position += 2
            continue
        if digit:
            run += digit
            position += 1
            continue
        if run:
            joined.append(run)
            run = ""
        if word in TENS:
            unit = UNITS.get(following, 0)
            has_unit = following in UNITS and 1 <= unit <= 9
            joined.append(str(TENS[word] + (unit if has_unit else 0)))
            position += 2 if has_unit else 1
            continue
        joined.append(str(UNITS[word]) if word in UNITS else word)
        position += 1
    return [*joined, run] if run else joined


def _digit(word: str) -> str:
    if len(word) == 1 and word.isdigit():
        return word
    number = UNITS.get(word)
    return str(number) if number is not None and number <= 9 else ""


def _join_letters(words: Sequence[str]) -> list[str]:
    """Two or more neighbouring single letters become one word."""
    joined: list[str] = []
    run: list[str] = []
    for word in [*words, ""]:
        if len(word) == 1 and word.isalpha():
            run.append(word)
            continue
        joined += ["".join(run)] if len(run) > 1 else run
        run = []
        if word:
            joined.append(word)
    return joined
