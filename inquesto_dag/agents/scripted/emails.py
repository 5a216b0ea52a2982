"""E-mail addresses in recognised speech: `harbor dot lane at example dot com` however it is spelled."""

from __future__ import annotations

import re

_LOCAL = r"[a-z0-9]+(?:[._+-][a-z0-9]+)*"
_DOMAIN = r"(?:[a-z0-9-]+\.)+[a-z]{2,}"
_ADDRESS = re.compile(rf"({_LOCAL})[.,]?\s*(?:@|\bat\b)[.,]?\s*({_DOMAIN})")
# A recogniser lost the "at": `a.b example.com`, `a.batexample.com`, `a.b.example.com`.
_AT_LOST = re.compile(r"\b([a-z0-9]+\.[a-z0-9]+?)(?:[\s,.]+|at)([a-z0-9-]+\.(?:com|org|net|edu|io|co\.uk))\b")
# Words that stand before an address and are no part of it.
_LEADS = frozenset(
    [
        "is",
        "its",
        "it's",
        "it",
        "to",
        "was",
        "be",
        "address",
        "email",
        "mail",
        "one",
        "new",
        "mean",
        "me",
        "say",
        "said",
        "sorry",
        "no",
        "not",
        "use",
        "please",
        "a",
        "the",
        "my",
        "at",
        "on",
        "and",
        "so",
        "with",
        "by",
        "as",
        "wait",
        "actually",
        "rather",
        "but",
        "or",
        "for",
        "that's",
        "this",
        "that",
        "would",
        "instead",
        "from",
    ]
)


def _written(text: str) -> str:
    text = text.lower().replace("\u2019", "'").replace("e-mail", "email")
    text = re.sub(r"\b(?:um+|uh+|erm?|hmm)\b[,.]?\s*", "", text)
    text = re.sub(r"\bat\s+(?:sign|symbol)\b", "@", text)
    text = re.sub(r"\s*\bunderscore\b\s*", "_", text)
    text = re.sub(r"\s*\b(?:dash|hyphen)\b\s*", "-", text)
    text = re.sub(r"[\s,.]*\bdot\b[\s,.]*", ".", text)
    text = re.sub(r"\s+\.\s*(?=[a-z0-9])", ".", text)  # `example .com`
    text = re.sub(r"(?<=[a-z0-9])\.\s+(?=(?:com|org|net)\b)", ".", text)  # `example. com`
    return re.sub(r"(?<![a-z0-9])((?:[a-z][\s-]){2,}[a-z])(?![a-z0-9])", _join_letters, text)


def _join_letters(match: re.Match[str]) -> str:
    return re.sub(r"[\s-]", "", match[1])  # `h a r b o r`, spelled


def _whole_local(text: str, match: re.Match[str]) -> str:
    """The local part, with a word before it that a lost "dot" or a sentence end cut off."""
    local = match[1]
    if re.search(r"[._-]", local):
        return local
    word = re.search(r"([a-z0-9']+)(\.?)\s+$", text[: match.start()])
    if word is None or word[1] in _LEADS:
        return local
    return f"{word[1]}.{local}"


def find_emails(text: str) -> list[str]:
    """Every address of an utterance in the order said, lower case; those named after "not" are left out."""
    written = _written(text)
    found = [
        f"{_whole_local(written, match)}@{match[2]}"
        for match in _ADDRESS.finditer(written)
        if match[1] not in _LEADS and not re.search(r"\bnot\s+$", written[: match.start()])
    ]
    if not found:
        found = [f"{match[1]}@{match[2]}" for match in _AT_LOST.finditer(written)]
    return found
