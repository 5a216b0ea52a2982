"""Written words as they are said aloud, for the TTS: money, account and card numbers, e-mail addresses.

The transcript keeps the written form; only what is synthesised changes.
"""

from __future__ import annotations

import re

_EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_MONEY = re.compile(r"\$(\d+)(?:\.(\d\d))?")
_CODE = re.compile(r"\b([A-Z]{2,3})-(\d+)\b")
_DIGITS = re.compile(r"\b\d{4}\b(?!-)")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def spoken_form(text: str) -> str:
    """`$49` becomes `49 dollars`, `4471` becomes `4 4 7 1`, `a.b@c.com` becomes `a dot b at c dot com`."""
    text = _EMAIL.sub(lambda m: m[0].replace("@", " at ").replace(".", " dot "), text)
    text = _MONEY.sub(_money, text)
    text = _CODE.sub(lambda m: f"{' '.join(m[1])} {' '.join(m[2])}", text)
    return _DIGITS.sub(lambda m: m[0] if _YEAR.fullmatch(m[0]) else " ".join(m[0]), text)


def _money(match: re.Match[str]) -> str:
    dollars, cents = int(match[1]), int(match[2] or 0)
    said = f"{dollars} dollar{'' if dollars == 1 else 's'}"
    return f"{said} and {cents} cents" if cents else said
