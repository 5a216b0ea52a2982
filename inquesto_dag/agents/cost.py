"""What a language model's calls cost: tokens as its server counted them, and money by a dated price table.

Unknown is unknown and never zero: a completion that its server did not count leaves the whole call's tokens
unknown, and so does an agent's file without prices its money. Attempts that failed are not counted by anyone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inquesto_dag.agents.config import Prices


@dataclass(frozen=True)
class Usage:
    """Tokens in and out; None where they were not counted. No completion at all is 0."""

    tokens_in: int | None
    tokens_out: int | None

    def money(self, prices: Prices | None) -> float | None:
        """The cost in the prices' currency; None when tokens or prices are unknown."""
        if prices is None or self.tokens_in is None or self.tokens_out is None:
            return None
        return (
            self.tokens_in * prices.input_per_million + self.tokens_out * prices.output_per_million
        ) / 1_000_000


def usage_of(trace: Mapping[str, Any]) -> Usage | None:
    """The tokens of a call by its trace; None for an agent without a language model."""
    brain = trace.get("agent", {}).get("brain")
    if not brain:
        return None
    turns = brain["turns"]
    return Usage(
        _sum(count for turn in turns for count in turn["prompt_tokens"]),
        _sum(count for turn in turns for count in turn["completion_tokens"]),
    )


def total(usages: Iterable[Usage]) -> Usage:
    """All of them together: unknown as soon as one is."""
    known = list(usages)
    return Usage(_sum(usage.tokens_in for usage in known), _sum(usage.tokens_out for usage in known))


def _sum(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    return None if any(count is None for count in found) else sum(count or 0 for count in found)
