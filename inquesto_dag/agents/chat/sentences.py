"""Where a sentence of streamed text ends, so that the TTS can begin with it while the rest is written.

A sentence ends at `.`, `!`, `?` or an ellipsis that white space follows, or at a line break. White space is
what keeps `$49.00`, `m.ruiz@example.com` and `ORD-2207.1` whole. Where the next word decides (after `p.m.` or
`...`), the text is kept until that word is seen or the text is over.
"""

from __future__ import annotations

import re

_CANDIDATE = re.compile(r"(?P<stop>[.!?\u2026]+)[\"'\u2019\u201d)\]*_]*(?=\s)|\n")
_NEVER_LAST = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "mt",
        "no",
        "nos",
        "e.g",
        "i.e",
        "vs",
        "cf",
        "dept",
        "approx",
        "acct",
        "ext",
        "fig",
        "rep",
        "sen",
        "gen",
        "col",
        "lt",
        "capt",
    ]
)
_SELDOM_LAST = frozenset(
    [
        "a.m",
        "p.m",
        "etc",
        "inc",
        "ltd",
        "co",
        "corp",
        "jr",
        "sr",
        "u.s",
        "u.k",
        "jan",
        "feb",
        "aug",
        "sept",
        "oct",
        "nov",
        "dec",
    ]
)
_WORD_BEFORE = re.compile(r"[\w.]*$")


def split_sentences(text: str, final: bool) -> tuple[list[str], str]:
    """The whole sentences at the head of a text, and what is left; with `final` nothing is left.

    Sentences keep their words and lose surplus white space; pieces without a letter or a digit are dropped.
    """
    found: list[str] = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        ends = match[0] == "\n" or _ends_here(text, start, match)
        if ends is None:  # the next word decides, and it is not there yet
            if not final:
                break
        elif ends:
            found.append(text[start : match.end()])
            start = match.end()
    if final:
        found.append(text[start:])
        start = len(text)
    return [tidy for piece in found if (tidy := tidy_sentence(piece))], text[start:]


def _ends_here(text: str, start: int, match: re.Match[str]) -> bool | None:
    """Whether a full stop ends a sentence; None when the word after it would tell."""
    stop = match["stop"]
    if stop[-1] in "!?":
        return True
    after = text[match.end() :].lstrip()
    word = _WORD_BEFORE.search(text[start : match.start()])
    before = word[0].lower() if word else ""
    if stop == ".":
        if before in _NEVER_LAST or (len(before) == 1 and before.isalpha()):
            return False
        if before.isdigit() and len(before) <= 2 and not text[start : match.start() - len(before)].strip():
            return False  # the number of a list's item
        if before not in _SELDOM_LAST:
            return True
    if not after:
        return None
    return not after[0].islower()


_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_SPECIAL_TOKEN = re.compile(r"<\|[^|<>]{1,40}\|>")
_LEAD = re.compile(r"^\s*(?:#{1,6}\s+|[-*\u2022]\s+|>\s+)")


def tidy_sentence(text: str) -> str:
    """A sentence as it is spoken: without markdown and special tokens; empty when nothing can be said."""
    text = _LEAD.sub("", _LINK.sub(r"\1", _SPECIAL_TOKEN.sub("", text)))
    text = " ".join(re.sub(r"\*+|`+|(?<!\w)_+|_+(?!\w)", "", text).split())
    return text if any(character.isalnum() for character in text) else ""
