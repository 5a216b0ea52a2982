"""What was said beside what was heard: a word-by-word comparison for reading, not for scoring.

Word error rates are the annotation's affair; here numbers that are written differently count as the same
("four four seven one" and "4471", "forty-nine dollars" and "$49"), so that only real mishearings stand out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Mark = Literal["same", "changed", "missed", "added"]

_MARKS: dict[str, Mark] = {"equal": "same", "replace": "changed", "delete": "missed", "insert": "added"}
_WORD = re.compile(r"\$?\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_UNITS = {
    "zero": 0, "oh": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9,
}  # fmt: skip
_TEENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A run of words: how it was heard, and for a changed or missed run what had been said."""

    mark: Mark
    heard: str
    said: str


@dataclass(frozen=True)
class _Token:
    key: str  # what is compared
    shown: str  # what is printed, punctuation of the original text included


def compare(said: str, heard: str) -> tuple[Piece, ...]:
    """Pieces that in order make up `heard`, with missed runs of `said` in their places."""
    left, right = _tokens(said), _tokens(heard)
    pieces = []
    matcher = SequenceMatcher(None, [t.key for t in left], [t.key for t in right], autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        before = " ".join(t.shown for t in left[a0:a1])
        after = " ".join(t.shown for t in right[b0:b1])
        pieces.append(Piece(_MARKS[tag], after, before))
    return tuple(pieces)


def _tokens(text: str) -> list[_Token]:
    """Words with their trailing punctuation; neighbouring digits and amounts become one token."""
    found = list(_WORD.finditer(text))
    words = []
    for index, match in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        words.append(
            _Token(match.group().casefold().replace("\u2019", "'"), text[match.start() : end].strip())
        )
    tokens: list[_Token] = []
    position = 0
    while position < len(words):
        number, used = _number(words, position)
        if used:
            shown = " ".join(word.shown for word in words[position : position + used])
            tokens.append(_Token(number, shown))
            position += used
        else:
            tokens.append(words[position])
            position += 1
    return tokens


def _number(words: list[_Token], start: int) -> tuple[str, int]:
    """The digits of the number that begins at `start` and how many words it takes; ("", 0) for none."""
    digits, position = "", start
    while position < len(words):
        key = words[position].key
        follower = words[position + 1].key if position + 1 < len(words) else ""
        if key.lstrip("$")[:1].isdigit():
            digits += re.sub(r"\.00$|[$,]", "", key)
        elif key in _TENS and _UNITS.get(follower, 0) > 0:
            digits += str(_TENS[key] + _UNITS[follower])
            position += 1
        elif key in _TENS or key in _TEENS or key in _UNITS:
            digits += str(_TENS.get(key, _TEENS.get(key, _UNITS.get(key))))
        else:
            break
        position += 1
    if digits and position < len(words) and words[position].key in ("dollar", "dollars"):
        position += 1
    return digits, position - start
