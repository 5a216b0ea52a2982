"""Rates and their intervals (PROTOCOL N1, D19).

Conventions: a rate is a count of passes out of n calls and is formed last; corpus figures are ratios of sums.
Scores and limits are in percent, 0 to 100. The interval is two-sided, at 95 % unless said otherwise. With
n = 0 there is no rate and no interval: both are None, never 0 and never NaN.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Any

from inquesto_dag.errors import InputError

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A confidence interval in percent; `low` <= rate <= `high`."""

    low: float
    high: float


@dataclass(frozen=True)
class Rate:
    """A count of passes out of n calls."""

    passes: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.passes <= self.n:
            raise InputError(
                f"{self.passes} passes of {self.n} calls is no rate",
                where="scoring.rate",
                remedy="count each call once, and passes among the same calls",
            )

    @property
    def percent(self) -> float | None:
        """PROTOCOL R2: 100 * passes / n; None when n is 0."""
        return 100.0 * self.passes / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        """The Wilson interval at 95 % (PROTOCOL N1); None when n is 0."""
        return wilson(self.passes, self.n)


def rate_block(rate: Rate) -> dict[str, Any]:
    """A rate as JSON values: passes, n, score and its interval in percent, None where n is 0."""
    return {"passes": rate.passes, "n": rate.n, "score": rate.percent, "interval": limits_of(rate.interval)}


def limits_of(interval: Interval | None) -> list[float] | None:
    """[low, high] of an interval, in percent."""
    return None if interval is None else [interval.low, interval.high]


def rate_of(outcomes: Iterable[bool]) -> Rate:
    """The rate of a sequence of passes (True) and failures (False)."""
    listed = [bool(outcome) for outcome in outcomes]
    return Rate(sum(listed), len(listed))


def wilson(passes: float, n: float, level: float = LEVEL, quantile: float | None = None) -> Interval | None:
    """The score interval of a binomial proportion, in percent (Wilson 1927); None when n is 0.

    `quantile` replaces the normal quantile of `level`, for a rate whose spread is itself estimated.
    """
    if n <= 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2) if quantile is None else quantile
    p = passes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    # The limits reach 0 and 100 exactly at p = 0 and 1; floating point may step over by one unit.
    low = 0.0 if passes == 0 else max(0.0, centre - half)
    high = 1.0 if passes == n else min(1.0, centre + half)
    return Interval(100 * low, 100 * high)


def design_effect(outcomes: Sequence[tuple[Hashable, bool]]) -> float | None:
    """How many times wider the rate's variance is than that of independent calls; None when n is 0.

    The cluster-robust variance of a mean, with the small-sample factor G/(G-1), over the binomial one. When
    every call passed or failed, nothing can be estimated and the worst is taken: the mean cluster size. It is
    never below 1: a clustered interval that is narrower than the reported one would claim knowledge by luck.
    """
    n = len(outcomes)
    if n == 0:
        return None
    p = sum(passed for _, passed in outcomes) / n
    residuals: dict[Hashable, float] = {}
    for cluster, passed in outcomes:
        residuals[cluster] = residuals.get(cluster, 0.0) + (passed - p)
    groups = len(residuals)
    if p in (0.0, 1.0) or groups == 1:
        return n / groups
    robust = groups / (groups - 1) * sum(r * r for r in residuals.values()) / (n * n)
    return max(1.0, robust / (p * (1 - p) / n))


def clustered(outcomes: Sequence[tuple[Hashable, bool]], level: float = LEVEL) -> Interval | None:
    """The interval when calls of one cluster (scenario) are not independent (PROTOCOL D19); None for n = 0.

    Wilson on the effective number of calls, n over the design effect, with the t quantile of G - 1 degrees of
    freedom (Korn and Graubard 1998). Unlike a bootstrap it draws nothing and stays honest at 0 and 100 %.
    One cluster alone says nothing about others: the interval is then 0 to 100.
    """
    effect = design_effect(outcomes)
    if effect is None:
        return None
    groups = len({cluster for cluster, _ in outcomes})
    if groups == 1:
        return Interval(0.0, 100.0)
    from scipy.special import stdtrit

    n, passes = len(outcomes), sum(bool(passed) for _, passed in outcomes)
    quantile = float(stdtrit(groups - 1, 0.5 + level / 2))
    return wilson(passes / effect, n / effect, level, quantile)


def rounded_percent(passes: int, n: int, digits: int = 1) -> str:
    """The rate as text, rounded half up from the exact fraction; an en dash when n is 0."""
    return rounded(Fraction(100 * passes, n), digits) if n else "–"


def rounded(value: float | Fraction | None, digits: int = 1) -> str:
    """A number as text, rounded half up at `digits` decimals; an en dash for None."""
    if value is None:
        return "–"
    exact = (
        Decimal(value.numerator) / Decimal(value.denominator)
        if isinstance(value, Fraction)
        else Decimal(value)
    )
    return str(exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP))
