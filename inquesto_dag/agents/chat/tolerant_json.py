"""Reads an object as language models write it: JSON with the faults that they make, and nothing guessed.

Accepted beside JSON: single and typographic quotes, keys without quotes, `=` for `:`, `True`, `None`,
comments, trailing and missing commas, line breaks in strings, doubled braces, and closing brackets that are
missing at the end of the text. Refused: a string or number that the text breaks off in, because half an
account number is another account number. That is why no library for repairing JSON does it: they close such
strings."""

from __future__ import annotations

import json
import re
from typing import Any

_SPACE = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_NUMBER = re.compile(r"[-+]?\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None, "none": None}
DEEPEST = 40


class Unreadable(ValueError):
    """The text holds no whole object here."""


def read_object(text: str, start: int = 0) -> tuple[dict[str, Any], int]:
    """The object that begins at `text[start]`, a brace, and the index after it; Unreadable when there is
    none.
    """
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
        if isinstance(value, dict):
            return value, end
    except (ValueError, RecursionError):
        pass
    reader = _Reader(text, start)
    return reader.mapping("}"), reader.at


def read_arguments(text: str) -> dict[str, Any]:
    """`account_number="4471", amount_usd=49`, or `"account_number": "4471"`, as an object; Unreadable
    otherwise.
    """
    reader = _Reader("{" + text + "}", 0)
    value = reader.mapping("}")
    if reader.rest():
        raise Unreadable("text after the arguments")
    return value


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text, self.at, self.depth = text, at, 0

    def rest(self) -> str:
        self._skip()
        return self.text[self.at :]

    def mapping(self, closing: str) -> dict[str, Any]:
        self._enter()
        self._skip()
        if self._peek() == "{":  # a doubled brace, from a prompt's own template
            value = self.mapping("}")
            self._close(closing)
            return value
        found: dict[str, Any] = {}
        while not self._at_end(closing):
            key = self._key()
            self._skip()
            if self._peek() not in (":", "="):
                raise Unreadable(f"no value for {key!r}")
            self.at += 2 if self.text.startswith("=>", self.at) else 1
            found[key] = self._value()
            self._separator()
        self._close(closing)
        return found

    def _sequence(self) -> list[Any]:
        self._enter()
        found: list[Any] = []
        while not self._at_end("]"):
            found.append(self._value())
            self._separator()
        self._close("]")
        return found

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("nested too deep")
        self.at += 1

    def _close(self, closing: str) -> None:
        self._skip()
        if self._peek() == closing:
            self.at += 1
        elif self._peek():
            raise Unreadable(f"{self._peek()!r} instead of {closing!r}")
        self.depth -= 1

    def _at_end(self, closing: str) -> bool:
        self._skip()
        return self._peek() in ("", closing)

    def _separator(self) -> None:
        self._skip()
        if self._peek() in (",", ";"):
            self.at += 1

    def _key(self) -> str:
        if self._peek() in _QUOTES:
            return self._string()
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise Unreadable(f"no key at {self.text[self.at : self.at + 10]!r}")
        self.at = word.end()
        return word[0]

    def _value(self) -> Any:
        self._skip()
        head = self._peek()
        if head == "{":
            return self.mapping("}")
        if head == "[":
            return self._sequence()
        if head in _QUOTES:
            return self._string()
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            if self.at == len(self.text):
                raise Unreadable("the text ends in a number")
            return _number(number[0])
        word = _WORD.match(self.text, self.at)
        if word is None or word[0].lower() not in _WORDS or word.end() == len(self.text):
            raise Unreadable(f"no value at {self.text[self.at : self.at + 10]!r}")
        self.at = word.end()
        return _WORDS[word[0].lower()]

    def _string(self) -> str:
        closing = _QUOTES[self._peek()]
        self.at += 1
        found: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            self.at += 1
            if character == closing:
                return "".join(found)
            if character == "\\" and self.at < len(self.text):
                found.append(self._escape())
            else:
                found.append(character)
        raise Unreadable("the text ends in a string")

    def _escape(self) -> str:
        character = self.text[self.at]
        self.at += 1
        digits = self.text[self.at : self.at + 4]
        if character == "u" and re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            self.at += 4
            return chr(int(digits, 16))
        return _ESCAPES.get(character, character)

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]


def _number(text: str) -> int | float | str:
    digits = text.lstrip("+-").replace("_", "")
    if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
        return text  # 0447 is no number, and its zero counts
    return float(text.replace("_", "")) if re.search(r"[.eE]", text) else int(text.replace("_", ""))
