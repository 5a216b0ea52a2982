"""Values as an agent may say them: money, dates, card digits, addresses and orders, in the forms of a set.

Conventions: amounts are whole US dollars, dates `MM-DD` of the account's year, everything else is text. A
form is a format string over the names that `_fields` gives for its kind.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from inquesto_dag.errors import InputError
from inquesto_dag.judging.text import ORDINAL_WORDS
from inquesto_dag.protocol.models import Account, Correction, Scenario
from inquesto_dag.protocol.spoken import TENS, UNITS

ONES = list(UNITS)[:20]
_TENS = {value // 10: word for word, value in TENS.items()}
MONTHS = {6: "June", 7: "July", 8: "August", 9: "September"}
# What no account of the protocol holds and no caller says.
WRONG: Mapping[str, tuple[str, ...]] = {
    "usd": ("59", "65", "79", "112", "120", "18", "37", "45", "150"),
    "date": ("07-30", "08-01", "08-05", "06-16", "07-03", "07-26"),
    "card": ("4410", "3328", "1187", "7754"),
    "email": ("maria.ruiz@example.com", "m.ruiz@example.org", "ruiz.maria@mail.com", "contact@ruiz.net"),
    "order": ("2270", "2113", "3207"),
    "number": ("4417", "4771", "5471"),
}
_SLOT = re.compile(r"\{(\w+)(?::([\w.@-]+))?\}")


def words_of(number: int) -> str:
    """A number from 0 to 199 in words: `forty-nine`, `one hundred and twelve`."""
    if number >= 100:
        return "one hundred" + (f" and {words_of(number - 100)}" if number > 100 else "")
    if number < 20:
        return ONES[number]
    return _TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")


def ordinal_of(day: int) -> str:
    """A day of a month in words: `third`, `thirtieth`."""
    if day <= 20:
        return ORDINAL_WORDS[day - 1]
    tens, ones = divmod(day, 10)
    return f"{_TENS[tens]}-{ORDINAL_WORDS[ones - 1]}" if ones else f"{_TENS[tens][:-1]}ieth"


def _nth(day: int) -> str:
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _fields(kind: str, value: str) -> dict[str, str]:
    if kind == "usd":
        return {"n": value, "words": words_of(int(value))}
    if kind == "date":
        month, day = (int(part) for part in value.split("-"))
        return {
            "month": MONTHS[month],
            "d": str(day),
            "nth": _nth(day),
            "nth_word": ordinal_of(day),
        }
    if kind == "email":
        at = value.replace("@", " at ")
        return {"raw": value, "at": at, "spelled": at.replace(".", " dot ")}
    digits = re.sub(r"\D", "", value)
    spelled = [ONES[int(digit)] for digit in digits]
    halves = [int(digits[:2]), int(digits[2:4])]
    return {
        "digits": digits,
        "spelled": " ".join(spelled),
        "spaced": " ".join(digits),
        "commas": ", ".join(digits),
        "hyphens": "-".join(digits),
        "pairs": " ".join(words_of(half) for half in halves),
    }


def kind_of_detail(detail: str) -> str:
    """The kind of value that a caller's detail is: `usd`, `card`, `order` or `email`."""
    if "usd" in detail:
        return "usd"
    return {"card_last4": "card", "order_id": "order", "email": "email"}[detail]


class Speaker:
    """Says values in the forms of one set; every draw comes from `random`."""

    def __init__(
        self,
        forms: Mapping[str, tuple[str, ...]],
        account: Account,
        scenario: Scenario,
        random: np.random.Generator,
    ) -> None:
        self.forms, self.account, self.scenario, self.random = forms, account, scenario, random

    def fill(self, wording: str) -> str:
        """A wording with every value said; InputError for one that this scenario does not have."""
        return _SLOT.sub(lambda match: self._say(match[1], match[2] or "", wording), wording)

    def _say(self, kind: str, value: str, wording: str) -> str:
        corrected = self.scenario.corrects
        if kind in ("old", "new") and corrected is not None:
            return self._form(*_detail(corrected, kind))
        try:
            found = self._value(kind, value)
        except KeyError as error:
            raise InputError(
                f"{{{kind}:{value}}} means nothing in {self.scenario.id}",
                where="wordings",
                field=wording,
                remedy="see the values that `wordings.py` lists",
            ) from error
        return found if kind == "number" else self._form(kind, found)

    def _value(self, kind: str, value: str) -> str:
        if value == "wrong":
            return str(self.random.choice(WRONG[kind]))
        named = {
            ("number", "right"): self.account.number,
            ("email", "current"): self.account.billing_email,
        }
        if (kind, value) in named:
            return named[kind, value]
        if value == "new":
            return self.scenario.knows[{"card": "card_last4", "email": "email"}[kind]]
        if kind not in self.forms or not re.search(r"\d", value):
            raise KeyError(kind)
        return value

    def _form(self, kind: str, value: str) -> str:
        return str(self.random.choice(self.forms[kind])).format(**_fields(kind, value))


def _detail(corrected: Correction, which: str) -> tuple[str, str]:
    value = corrected.first if which == "old" else corrected.corrected
    return kind_of_detail(corrected.detail), value
