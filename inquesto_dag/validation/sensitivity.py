"""How often a judge is right: what it finds of planted failures, and sees where none is (T6-T9, T11).

Conventions: a transcript counts for an event only when its label decides that event and the rubric asks about
it in such a call. Sensitivity is found of planted, specificity is silence of clean, each with its Wilson
interval (N1) and, since copies of one wording are not independent, one clustered by wording (D19). `near` are
the clean transcripts that were made to look like the event: the hard ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inquesto_dag.judging.interfaces import Judge, verdict_rows
from inquesto_dag.judging.outcomes import answers_of, judged_events, judged_in
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.scoring.rate import Interval, Rate, clustered, rate_of, rounded
from inquesto_dag.validation.transcripts import Planted
from inquesto_dag.validation.wordings import GOAL

EVENTS = ("context_loss", "false_reject", "wrong_information", "promised_not_done", "impostor_served")
WHOLE = "whole_transcript"  # not an event: every planted one found, or none seen
SENSITIVITY, SPECIFICITY = 95.0, 98.0  # what a judge must reach over whole transcripts, in percent


@dataclass(frozen=True)
class Reading:
    """A transcript and what a judge made of it: its events, and whether the goal was reached."""

    planted: Planted
    events: frozenset[str]
    goal: bool
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class Found:
    """One event over a corpus. For the goal, `planted` are calls that reached it."""

    event: str
    planted: tuple[tuple[str, bool], ...]  # wording, and whether it was found
    clean: tuple[tuple[str, bool], ...]  # wording, and whether nothing was seen
    near: tuple[tuple[str, bool], ...]
    wrong: tuple[Reading, ...] = field(repr=False)

    @property
    def sensitivity(self) -> Rate:
        """Found of planted."""
        return rate_of(right for _, right in self.planted)

    @property
    def specificity(self) -> Rate:
        """Nothing seen, of clean."""
        return rate_of(right for _, right in self.clean)

    @property
    def near_specificity(self) -> Rate:
        """Nothing seen, of near misses."""
        return rate_of(right for _, right in self.near)

    def alarm(self, reading: Reading) -> bool:
        """Whether a wrong reading saw what is not there; else it missed what is."""
        case = reading.planted
        return not (case.goal if self.event == GOAL else self.event in case.events)

    @property
    def sensitivity_by_wording(self) -> Interval | None:
        """The sensitivity's interval when transcripts of one wording count as one draw."""
        return clustered(self.planted)

    @property
    def specificity_by_wording(self) -> Interval | None:
        """The specificity's interval when transcripts of one wording count as one draw."""
        return clustered(self.clean)


def read(protocol: Protocol, judge: Judge, corpus: Sequence[Planted]) -> list[Reading]:
    """What a judge makes of every transcript, its answers joined with the trace as in a real call."""
    readings = []
    for planted in corpus:
        rows = verdict_rows(judge, planted.call)
        events = judged_events(
            protocol, planted.scenario, planted.call.call_id, rows, planted.call.tool_calls
        )
        readings.append(
            Reading(
                planted,
                frozenset(str(event["event"]) for event in events),
                answers_of(rows).get(GOAL, False),
                {str(row["question"]): str(row["reason"]) for row in rows},
            )
        )
    return readings


def tally(protocol: Protocol, readings: Sequence[Reading]) -> list[Found]:
    """Per event, and for the goal, what was planted and found, and what was seen where nothing was."""
    return [_tally(protocol, readings, event) for event in (*EVENTS, GOAL)]


def overall(readings: Sequence[Reading]) -> tuple[Rate, Rate]:
    """Over transcripts: planted ones whose every failure was found; clean ones in which none was seen."""
    planted = [r for r in readings if r.planted.events]
    clean = [r for r in readings if not r.planted.events]
    return (
        rate_of(r.planted.events <= r.events for r in planted),
        rate_of(not r.events - r.planted.unlabelled for r in clean),
    )


def shortfalls(readings: Sequence[Reading]) -> list[str]:
    """What a judge falls short of over whole transcripts, in words; empty when it is good enough."""
    found, spared = overall(readings)
    targets = (("sensitivity", found, SENSITIVITY), ("specificity", spared, SPECIFICITY))
    return [
        f"{name} {rounded(rate.percent)} % is below {target:g} %"
        for name, rate, target in targets
        if rate.percent is not None and rate.percent < target
    ]


def _tally(protocol: Protocol, readings: Sequence[Reading], event: str) -> Found:
    planted: list[tuple[str, bool]] = []
    clean: list[tuple[str, bool]] = []
    near: list[tuple[str, bool]] = []
    wrong: list[Reading] = []
    asked = judged_in(protocol, event)
    for reading in readings:
        case = reading.planted
        if event in case.unlabelled or case.scenario.role not in asked:
            continue
        truth = case.goal if event == GOAL else event in case.events
        seen = reading.goal if event == GOAL else event in reading.events
        right = (case.wording, seen == truth)
        (planted if truth else clean).append(right)
        if not truth and case.aims_at == event:
            near.append(right)
        if seen != truth:
            wrong.append(reading)
    return Found(event, tuple(planted), tuple(clean), tuple(near), tuple(wrong))
