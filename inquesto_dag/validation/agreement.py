"""Two judges over the same calls: how far they agree, and where they differ (PROTOCOL A5).

Conventions: what each judge said is a mapping from (call, question) to yes, no or nothing. Only what both
answered is compared; what one of them left open is counted apart. Agreement is a rate with its Wilson
interval (N1). Kappa (Cohen 1960) is agreement beyond chance, 0 at chance and 1 when all answers agree, with
the interval of its asymptotic variance (Fleiss, Cohen and Everitt 1969) as statsmodels computes it. Where
all answers agree, or one judge gave one answer throughout, that variance is 0, however few the calls: the
interval is then that of the agreement, with chance as it was seen. Where both judges gave one and the same
answer throughout, chance explains everything, and there is no kappa.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inquesto_dag.scoring.rate import Interval, Rate

Answers = Mapping[tuple[str, str], bool | None]


@dataclass(frozen=True)
class Agreement:
    """One question: how often both said yes, only the one, only the other, and neither; where they differ.

    `open_a` and `open_b` are the calls that one of the two left without an answer and the other answered.
    """

    question: str
    both_yes: int
    only_a: int
    only_b: int
    both_no: int
    open_a: int
    open_b: int
    differing: tuple[str, ...]

    @property
    def n(self) -> int:
        """Calls that both answered."""
        return self.both_yes + self.only_a + self.only_b + self.both_no

    @property
    def rate(self) -> Rate:
        """How often they gave the same answer."""
        return Rate(self.both_yes + self.both_no, self.n)

    @property
    def found(self) -> Rate:
        """Of what B answers with yes, what A does: A's sensitivity when B is the truth."""
        return Rate(self.both_yes, self.both_yes + self.only_b)

    @property
    def spared(self) -> Rate:
        """Of what B answers with no, what A does: A's specificity when B is the truth."""
        return Rate(self.both_no, self.both_no + self.only_a)

    @property
    def chance(self) -> float | None:
        """The agreement to be expected from how often each says yes; None without calls."""
        if not self.n:
            return None
        a, b = (self.both_yes + self.only_a) / self.n, (self.both_yes + self.only_b) / self.n
        return a * b + (1 - a) * (1 - b)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa, -1 to 1; None without calls, or when both gave one answer throughout."""
        if self.chance is None or self.chance == 1:
            return None
        return (self.rate.passes / self.n - self.chance) / (1 - self.chance)

    @property
    def kappa_interval(self) -> Interval | None:
        """The interval of kappa at 95 %, within -1 and 1; None where there is no kappa."""
        limits = self.rate.interval
        if self.kappa is None or self.chance is None or limits is None:
            return None
        yes_a, yes_b = self.both_yes + self.only_a, self.both_yes + self.only_b
        if self.rate.passes == self.n or yes_a in (0, self.n) or yes_b in (0, self.n):
            low, high = (
                (limit / 100 - self.chance) / (1 - self.chance) for limit in (limits.low, limits.high)
            )
        else:
            from statsmodels.stats.inter_rater import cohens_kappa

            found = cohens_kappa([[self.both_yes, self.only_a], [self.only_b, self.both_no]])
            low, high = float(found.kappa_low), float(found.kappa_upp)
        return Interval(max(-1.0, low), min(1.0, high))


def compare_answers(a: Answers, b: Answers) -> list[Agreement]:
    """Per question that both judges were asked, in order of its id; empty when they share no call."""
    shared = sorted(a.keys() & b.keys(), key=lambda key: (key[1], key[0]))
    questions = sorted({question for _, question in shared})
    return [_compare(question, [key for key in shared if key[1] == question], a, b) for question in questions]


def _compare(question: str, keys: Sequence[tuple[str, str]], a: Answers, b: Answers) -> Agreement:
    pairs = [(call, a[call, question], b[call, question]) for call, _ in keys]
    return Agreement(
        question,
        both_yes=sum(x is True and y is True for _, x, y in pairs),
        only_a=sum(x is True and y is False for _, x, y in pairs),
        only_b=sum(x is False and y is True for _, x, y in pairs),
        both_no=sum(x is False and y is False for _, x, y in pairs),
        open_a=sum(x is None and y is not None for _, x, y in pairs),
        open_b=sum(y is None and x is not None for _, x, y in pairs),
        differing=tuple(call for call, x, y in pairs if x is not None and y is not None and x != y),
    )
