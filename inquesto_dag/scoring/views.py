"""The four views: the same rate on slices, each with interval and n, never combined (PROTOCOL V1-V4, D20).

Conventions: `results` are rows of `tables.RESULTS`; only `scored` ones count. Rates are in percent,
differences in percentage points. A slice without calls has n = 0 and no rate; a difference with such a slice
is None. The worst group is the one with the lowest rate, the first in the protocol's order among equals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inquesto_dag.events.rows import Row
from inquesto_dag.scoring.rate import Rate, rate_of

IDENTITY_ROLES = ("legitimate", "impostor")
NOISY = ("telephone", "babble")


@dataclass(frozen=True)
class GroupRates:
    """A rate per speaker group, and each group's difference to the reference group in points."""

    rates: Mapping[str, Rate]
    differences: Mapping[str, float | None]
    worst: str | None


@dataclass(frozen=True)
class Views:
    """V1-V4. `gap_to_clean` is the robustness rate minus that of all clean calls, in points."""

    behavior: Rate
    robustness: Rate
    clean: Rate
    gap_to_clean: float | None
    by_condition: Mapping[str, Rate]
    identity: Rate
    impostor_calls: Rate
    holder_calls: Rate
    fairness: GroupRates
    fairness_without_identity: GroupRates


def scored(results: Sequence[Row]) -> list[Row]:
    """The calls that count."""
    return [row for row in results if row["status"] == "scored"]


def difference(a: Rate, b: Rate) -> float | None:
    """a minus b in percentage points; None when either has no calls."""
    return None if a.percent is None or b.percent is None else a.percent - b.percent


def rate_where(results: Sequence[Row], **wanted: str | tuple[str, ...]) -> Rate:
    """The rate of scored calls whose columns hold one of the wanted values."""
    chosen = [
        row["passed"]
        for row in scored(results)
        if all(
            row[name] in (value if isinstance(value, tuple) else (value,)) for name, value in wanted.items()
        )
    ]
    return rate_of(chosen)


def group_rates(results: Sequence[Row], groups: Sequence[str], reference: str) -> GroupRates:
    """V4: every group's rate, its difference to the reference group, and the worst group's name."""
    rates = {group: rate_where(results, group=group) for group in groups}
    known = [(rate.percent, group) for group, rate in rates.items() if rate.percent is not None]
    worst = min(known, key=lambda pair: pair[0])[1] if known else None
    return GroupRates(
        rates, {g: difference(rates[g], rates[reference]) for g in groups if g != reference}, worst
    )


def compute_views(results: Sequence[Row], groups: Sequence[str], reference: str) -> Views:
    """All views of a record. `groups` in the protocol's order; `reference` is one of them."""
    robustness, clean = rate_where(results, condition=NOISY), rate_where(results, condition="clean")
    without = [row for row in results if row["role"] not in IDENTITY_ROLES]
    return Views(
        behavior=rate_where(results, condition="clean", group=reference, role="goal_directed"),
        robustness=robustness,
        clean=clean,
        gap_to_clean=difference(robustness, clean),
        by_condition={c: rate_where(results, condition=c) for c in ("clean", *NOISY)},
        identity=rate_where(results, role=IDENTITY_ROLES),
        impostor_calls=rate_where(results, role="impostor"),
        holder_calls=rate_where(results, role="legitimate"),
        fairness=group_rates(results, groups, reference),
        fairness_without_identity=group_rates(without, groups, reference),
    )
