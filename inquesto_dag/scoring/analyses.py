"""Analyses that a release repeats on one record (PROTOCOL A1-A3, A5, A6).

Conventions: `results` and `events` are rows of the tables of that name, events those of
`results.all_events`; only `scored` calls count, but the judge-free variant needs no judge and so counts
unjudged calls too. Rates are in percent, shifts in points against the score; None where a rate has no calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from inquesto_dag.events.rows import Row, by_call, present, severity_number
from inquesto_dag.scoring.rate import Rate, rate_of
from inquesto_dag.scoring.results import passes
from inquesto_dag.scoring.views import scored

JUDGE_FREE_SOURCES = ("audio", "transcript", "trace")


def _worst(events: Sequence[Row]) -> int:
    return max((severity_number(event["severity"]) for event in events), default=0)


def transcript_only(results: Sequence[Row], events: Sequence[Row], fail_severity: int) -> Rate:
    """A1: the rate with audio-derived events removed."""
    seen = by_call(event for event in events if event["source"] != "audio")
    return rate_of(
        passes(row["goal"], _worst(seen.get(row["call_id"], [])), fail_severity) for row in scored(results)
    )


def audio_only_failures(results: Sequence[Row], events: Sequence[Row], fail_severity: int) -> int:
    """A1: failed calls that reached their goal and whose only failing events were audio-derived."""
    seen = by_call(events)
    count = 0
    for row in scored(results):
        failing = [e for e in seen.get(row["call_id"], []) if severity_number(e["severity"]) >= fail_severity]
        count += bool(row["goal"]) and bool(failing) and all(event["source"] == "audio" for event in failing)
    return count


def thresholds(results: Sequence[Row]) -> dict[str, Rate]:
    """A2: the rate when a call fails on S2 and worse, S3 and worse, S4 and worse, S5 alone."""
    counted = scored(results)
    return {
        name: rate_of(passes(row["goal"], row["max_severity"], limit) for row in counted)
        for name, limit in (("s2_plus", 2), ("s3_plus", 3), ("s4_plus", 4), ("s5", 5))
    }


def combinations(views: Sequence[float | None]) -> dict[str, float | None]:
    """A3: the views' rates in percent combined, as what is *not* done; None if a view is missing."""
    values = [value for value in views if value is not None]
    if not values or len(values) < len(views):
        return {"mean": None, "geometric_mean": None, "minimum": None}
    return {
        "mean": sum(values) / len(values),
        "geometric_mean": prod(values) ** (1 / len(values)),
        "minimum": min(values),
    }


def judge_free(results: Sequence[Row], events: Sequence[Row], fail_severity: int) -> Rate:
    """A6: the rate from state predicates and from audio, transcript and trace events alone."""
    seen = by_call(event for event in events if event["source"] in JUDGE_FREE_SOURCES)
    return rate_of(
        passes(row["goal_state"], _worst(seen.get(row["call_id"], [])), fail_severity)
        for row in results
        if row["status"] not in ("infrastructure", "caller")
    )


def agreement(verdicts_a: Sequence[Row], verdicts_b: Sequence[Row]) -> dict[str, Rate]:
    """A5: per question, on how many of the calls that both judges answered they gave the same answer."""
    first = {(row["call_id"], row["question"]): row["answer"] for row in verdicts_a}
    pairs: dict[str, list[bool]] = {}
    for row in verdicts_b:
        other = first.get((row["call_id"], row["question"]))
        if present(other) and present(row["answer"]):
            pairs.setdefault(str(row["question"]), []).append(bool(other) == bool(row["answer"]))
    return {question: rate_of(same) for question, same in sorted(pairs.items())}
