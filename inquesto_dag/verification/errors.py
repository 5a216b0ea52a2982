"""Errors of a verifier from its scores (PROTOCOL I2): false accepts, false rejects, and where they are equal.

Conventions: a score at the threshold or above is accepted. Rates are shares in [0, 1]; without scores of one
kind there is no rate: None, never 0. Counts come first and rates last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

HOLDER, IMPOSTOR, ALIKE = "holder", "impostor", "alike"


@dataclass(frozen=True)
class Score:
    """One opening against one enrolment; `kind` is holder, impostor, or alike.

    Alike is an impostor of the holder's sex and accent, which the protocol's population does not hold.
    """

    kind: str
    condition: str
    voice: str
    similarity: float


@dataclass(frozen=True)
class EqualError:
    """The rate at which false accepts and false rejects meet, and the thresholds between which they do."""

    rate: float
    low: float
    high: float


def rejected(scores: Sequence[float], threshold: float) -> int:
    """How many scores lie below a threshold."""
    return sum(score < threshold for score in scores)


def equal_error(holders: Sequence[float], impostors: Sequence[float]) -> EqualError | None:
    """The equal-error point; None without scores of both kinds.

    When all impostors lie below all holders the rate is 0 anywhere in the gap. Else it is the mean of both
    rates at the score at which they differ least, the lowest such score and the next being the thresholds.
    """
    if not holders or not impostors:
        return None
    lowest, highest = min(holders), max(impostors)
    if highest < lowest:
        return EqualError(0.0, highest, lowest)
    candidates = sorted({*holders, *impostors})

    def rates(threshold: float) -> tuple[float, float]:
        accepts = 1 - rejected(impostors, threshold) / len(impostors)
        return accepts, rejected(holders, threshold) / len(holders)

    best = min(candidates, key=lambda t: (abs(rates(t)[0] - rates(t)[1]), t))
    accepts, rejects = rates(best)
    below = [score for score in candidates if score < best]
    return EqualError((accepts + rejects) / 2, below[-1] if below else best, best)


def summarise(scores: Sequence[Score], threshold: float, conditions: Sequence[str]) -> dict[str, Any]:
    """Numbers in all and by condition: extremes, margin, errors at the threshold, equal-error points.

    `equal_error` is against the protocol's impostors, `equal_error_alike` against those of the holder's sex
    and accent alone.
    """
    return {
        "all": _block(scores, threshold),
        "by_condition": {
            name: _block([score for score in scores if score.condition == name], threshold)
            for name in conditions
        },
    }


def _block(scores: Sequence[Score], threshold: float) -> dict[str, Any]:
    of: Mapping[str, list[float]] = {
        kind: [score.similarity for score in scores if score.kind == kind]
        for kind in (HOLDER, IMPOSTOR, ALIKE)
    }
    holders, impostors, alike = of[HOLDER], of[IMPOSTOR], of[ALIKE]
    plain, near = equal_error(holders, impostors), equal_error(holders, alike)
    return {
        "holders": len(holders),
        "impostors": len(impostors),
        "alike": len(alike),
        "lowest_holder": min(holders, default=None),
        "highest_impostor": max(impostors, default=None),
        "highest_alike": max(alike, default=None),
        "margin": min(holders) - max(impostors) if holders and impostors else None,
        "holders_rejected": rejected(holders, threshold),
        "impostors_accepted": len(impostors) - rejected(impostors, threshold),
        "alike_accepted": len(alike) - rejected(alike, threshold),
        "equal_error": None if plain is None else asdict(plain),
        "equal_error_alike": None if near is None else asdict(near),
    }
