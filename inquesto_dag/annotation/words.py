"""Word error of what an agent heard (jiwer), over words as Whisper's own normaliser writes them.

Both sides are first brought to one written form: addresses are spelled out, money and numbers become digits,
case, punctuation and fillers go. Counts are summed before any rate is formed (pyannote.metrics).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

_ADDRESS = re.compile(r"[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)+")
_DOTTED = re.compile(r"(?<=[a-z])\.(?=[a-z])", re.IGNORECASE)
_DIGIT_GROUP = re.compile(r"\b\d+(?:(?:, ?| |-)\d+)+\b")


@dataclass(frozen=True)
class WordErrors:
    """Counts of a comparison. `rate` is None when the reference has no words."""

    reference_words: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def rate(self) -> float | None:
        """(substitutions + deletions + insertions) / reference words."""
        errors = self.substitutions + self.deletions + self.insertions
        return errors / self.reference_words if self.reference_words else None


@cache
def _normaliser() -> Any:
    from transformers.models.whisper.english_normalizer import EnglishTextNormalizer

    make: Any = EnglishTextNormalizer  # has no type hints
    return make({})


def normal_words(text: str) -> str:
    """The written form that is compared: `4 4 7 1`, `44-71` and `four four seven one` are all `4471`."""
    text = _ADDRESS.sub(lambda m: m[0].replace("@", " at "), text)
    text = _DOTTED.sub(" dot ", text)
    # Before the normaliser, which would write the last of `4 4 7 1` as a word.
    text = _DIGIT_GROUP.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    return str(_normaliser()(text)).strip()


def word_errors(said: Sequence[str], heard: Sequence[str]) -> WordErrors:
    """Errors of all that was heard in a call against all that was said, in order.

    With an empty reference every heard word is an insertion; with nothing heard every word is a deletion.
    """
    import jiwer

    reference, hypothesis = normal_words(" ".join(said)), normal_words(" ".join(heard))
    if not reference:
        return WordErrors(0, 0, 0, len(hypothesis.split()))
    if not hypothesis:
        return WordErrors(len(reference.split()), 0, len(reference.split()), 0)
    out = jiwer.process_words(reference, hypothesis)
    words = out.hits + out.substitutions + out.deletions
    return WordErrors(words, out.substitutions, out.deletions, out.insertions)
