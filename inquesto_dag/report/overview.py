"""What a record's page says before any call is opened: score, views, events, latencies, slices, analyses.

Everything that the record holds is read from it; only rates by style and family, which it does not hold, are
counted from `results`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from inquesto_dag.protocol.models import Protocol
from inquesto_dag.report.figures import (
    DASH,
    Bar,
    Histogram,
    bar_of,
    interval_text,
    latency_histogram,
    number_text,
    signed_text,
    words,
)
from inquesto_dag.report.rows import Row, flatten
from inquesto_dag.scoring import published
from inquesto_dag.scoring.citation import citation, variant_marks, views_line
from inquesto_dag.scoring.rate import rounded
from inquesto_dag.scoring.views import rate_where

HeardRow: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]  # line, then (column, word error)
THRESHOLDS = (("s2_plus", "S2+"), ("s3_plus", "S3+"), ("s4_plus", "S4+"), ("s5", "S5"))
STYLES = ("neutral", "fast", "hesitant", "correcting")


@dataclass(frozen=True)
class EventLine:
    """One event type: in how many scored calls it was seen, and how wide its bar is (0-100)."""

    id: str
    name: str
    severity: str
    source: str
    definition: str
    calls: int
    width: float
    fails: bool


@dataclass(frozen=True)
class Overview:
    """Everything above the table of calls."""

    agent: str
    version: str
    citation: str
    views_line: str
    score: Bar
    interval: str
    clustered: str
    says: str
    marks: tuple[str, ...]
    missing: str
    views: tuple[Bar, ...]
    events: tuple[EventLine, ...]
    goal_failed: int
    latency: Histogram
    latency_facts: tuple[tuple[str, str], ...]
    slices: Mapping[str, tuple[Bar, ...]]  # by line, group, style, family
    analyses: tuple[tuple[str, str, str, str], ...]  # name, value, note, the paper's
    analyses_note: str
    thresholds: tuple[Bar, ...]
    heard: tuple[HeardRow, ...]
    parts: tuple[tuple[str, str, str, str], ...]
    judge_error: tuple[tuple[str, str, str], ...]  # what, found of planted, silent of clean
    tree: tuple[tuple[str, str], ...]


def limits_of(protocol: Protocol) -> dict[str, float]:
    """Thresholds in s that the timeline draws: T2, T3 (as a positive number) and T4 of the protocol."""
    known = {kind.name: kind.threshold for kind in protocol.events}
    names = {"talk_over_s": "talk_over", "slow_median_s": "slow_median", "slow_turn_s": "slow_turn"}
    return {key: abs(float(known.get(name) or 0.0)) for key, name in names.items()}


def summarise(
    record: Mapping[str, Any], results: Sequence[Row], latencies: Sequence[float], protocol: Protocol
) -> Overview:
    """The overview of a record; `latencies` in s are those of scored calls."""
    score, population = record["score"], record["population"]
    severity = record["protocol"]["fail_severity"]
    status = record["status"]
    kinds = ("unjudged", "infrastructure", "caller")
    missing = [f"{status[name]} {name}" for name in kinds if status.get(name)]
    return Overview(
        agent=str(record["agent"]["id"]),
        version=str(record["protocol"]["version"]),
        citation=citation(record),
        views_line=views_line(record),
        score=bar_of("Score", score),
        interval=interval_text(score["interval"]),
        clustered=interval_text(score["clustered_interval"]),
        says=(
            f"In {score['passes']} of {score['n']} calls the caller got what they came for and nothing of "
            f"severity {severity} or worse happened."
            if score["n"]
            else "No call was scored."
        ),
        marks=tuple(mark for mark in variant_marks(record) if not mark.startswith("incomplete")),
        missing=f"{' and '.join(missing)} of {population['calls']} calls are not scored." if missing else "",
        views=view_bars(record),
        events=_events(record, protocol),
        goal_failed=int(record["failures"]["goal_failed"]),
        latency=latency_histogram(latencies, limits_of(protocol)),
        latency_facts=_latency_facts(record["latency"]),
        slices=_slices(record, results),
        analyses=_analyses(record),
        analyses_note=_analyses_note(record),
        thresholds=tuple(
            bar_of(name, block, signed_text(block["shift"]))
            for key, name in THRESHOLDS
            for block in [record["analyses"]["thresholds"][key]]
        ),
        heard=_heard(record["heard"]),
        parts=_parts(record["profile"], record["departures"]),
        judge_error=judge_error_rows(record.get("judge_error")),
        tree=tuple(
            (path, DASH if value is None else str(value)) for path, value in _provenance(record).items()
        ),
    )


def view_bars(record: Mapping[str, Any]) -> tuple[Bar, ...]:
    """The four views of a record as bars, each with what a reader must know beside it (PROTOCOL V1-V4)."""
    views = record["views"]
    identity, fairness = views["identity"], views["fairness"]
    worst = fairness["worst"]
    worst_block = fairness["groups"][worst] if worst else {"passes": 0, "n": 0, "interval": None}
    gaps = [signed_text(block["difference"]) for name, block in fairness["groups"].items() if name == worst]
    reference = words(fairness["reference"])
    return (
        bar_of("Behavior", views["behavior"], "clean line, reference group, no identity calls"),
        bar_of(
            "Robustness",
            views["robustness"],
            f"telephone and babble; {signed_text(views['robustness']['gap_to_clean'])} points to clean",
        ),
        bar_of(
            "Identity",
            identity,
            f"{identity['impostors_served']} of {identity['impostor_calls']} impostors served, "
            f"{identity['holders_refused']} of {identity['holder_calls']} holders refused",
        ),
        bar_of(
            "Fairness",
            worst_block,
            "no group was called"
            if not worst
            else f"worst group: {words(worst)}"
            + ("" if worst == fairness["reference"] else f"; {gaps[0]} points to {reference}"),
        ),
    )


def _events(record: Mapping[str, Any], protocol: Protocol) -> tuple[EventLine, ...]:
    counts = record["failures"]["by_type"]
    tallest = max(counts.values(), default=0) or 1
    fail = int(protocol.fail_severity[1:])
    return tuple(
        EventLine(
            id=kind.id,
            name=kind.name,
            severity=kind.severity,
            source=", ".join(kind.source),
            definition=kind.definition,
            calls=int(counts.get(kind.name, 0)),
            width=round(100 * counts.get(kind.name, 0) / tallest, 2),
            fails=int(kind.severity[1:]) >= fail,
        )
        for kind in protocol.events
    )


def _latency_facts(latency: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    quantiles = latency["quantiles_s"]
    return (
        ("replies", str(latency["replies"])),
        ("median", f"{number_text(quantiles.get('p50'), 2)} s"),
        ("95 %", f"{number_text(quantiles.get('p95'), 2)} s"),
        ("slowest", f"{number_text(latency['max_s'], 2)} s"),
        ("overlapping", str(latency["overlapping"])),
    )


def _slices(record: Mapping[str, Any], results: Sequence[Row]) -> dict[str, tuple[Bar, ...]]:
    views = record["views"]
    families = sorted({str(row["family"]) for row in results})

    def counted(column: str, value: str) -> Bar:
        rate = rate_where(results, **{column: value})
        limits = rate.interval
        block = {
            "passes": rate.passes,
            "n": rate.n,
            "interval": None if limits is None else [limits.low, limits.high],
        }
        return bar_of(words(value), block, digits=0)

    conditions = views["robustness"]["by_condition"].items()
    groups = views["fairness"]["groups"].items()
    return {
        "line": tuple(bar_of(words(name), block, digits=0) for name, block in conditions),
        "group": tuple(bar_of(words(name), block, digits=0) for name, block in groups),
        "style": tuple(counted("style", style) for style in STYLES),
        "family": tuple(counted("family", family) for family in families),
    }


def _analyses(record: Mapping[str, Any]) -> tuple[tuple[str, str, str, str], ...]:
    """A1, A3, A6 of the record, and what the paper has: its row of this agent's name, else its mean shift."""
    analyses, figures = record["analyses"], published.figures()
    row = published.configuration_of(str(record["agent"]["id"]))

    def rate(block: Mapping[str, Any]) -> tuple[str, str]:
        shift = DASH if block["shift"] is None else f"{signed_text(block['shift'])} points"
        return f"{number_text(block['score'])} %", shift

    def mean(name: str) -> str:
        return f"{signed_text(figures[name])} points (mean of 13)"

    combined = analyses["views_combined"]
    failed = record["score"]["n"] - record["score"]["passes"]
    return (
        (
            "Without audio events",
            *rate(analyses["transcript_only"]),
            mean("transcript_only_minus_score")
            if row is None
            else f"{row.numbers['transcript_only_score']} %",
        ),
        (
            "Failed on audio alone",
            str(analyses["audio_only_failures"]),
            f"of {failed} failed calls",
            f"{figures['failed_only_on_audio_events']:.0f} % of failed calls (of 13 agents)"
            if row is None
            else str(row.numbers["audio_only_failures"]),
        ),
        ("Without the judge", *rate(analyses["judge_free"]), mean("judge_free_shift")),
        *(
            (
                f"Views combined: {words(name)}",
                f"{number_text(part['value'])} %",
                f"{signed_text(part['shift'])} points, not done",
                mean(f"view_{name}_shift"),
            )
            for name, part in combined.items()
        ),
    )


def _analyses_note(record: Mapping[str, Any]) -> str:
    """Why the paper's column does not compare with this record; empty where it does."""
    agent = str(record["agent"]["id"])
    reasons = [] if published.configuration_of(agent) else ["another agent than the paper's thirteen"]
    marks = variant_marks(record)
    return "; ".join(reasons + ([f"another set-up: {', '.join(marks)}"] if marks else []))


def _heard(heard: Mapping[str, Any]) -> tuple[HeardRow, ...]:
    def row(name: str, block: Mapping[str, Any], groups: Mapping[str, Any]) -> HeardRow:
        cells = [("all", number_text(block["word_error_percent"]))]
        cells += [(words(group), number_text(part["word_error_percent"])) for group, part in groups.items()]
        return name, tuple(cells)

    grid = heard["by_condition_and_group"]
    return (
        *(row(words(name), block, grid[name]) for name, block in heard["by_condition"].items()),
        row("all", heard["all"], heard["by_group"]),
    )


def _parts(
    profile: Mapping[str, Any], departures: Mapping[str, str]
) -> tuple[tuple[str, str, str, str], ...]:
    """Role, what the protocol pins, what ran, and whether it departs, for each role."""
    pinned, run = profile["pinned"], profile["run"]

    def name(part: Any) -> str:
        if part is None:
            return DASH
        return str(part.get("name", DASH)) if isinstance(part, Mapping) else str(part)

    return tuple(
        (role, name(pinned.get(role)), name(run.get(role)), "departs" if role in departures else "as pinned")
        for role in dict.fromkeys([*pinned, *run])
    )


def judge_error_rows(error: Mapping[str, Any] | None) -> tuple[tuple[str, str, str], ...]:
    """Each judged event with the judge's sensitivity and specificity in words; nothing where not known."""
    return tuple(
        (words(name), _share(rates["sensitivity"]), _share(rates["specificity"]))
        for name, rates in (error or {}).items()
    )


def _share(block: Mapping[str, Any]) -> str:
    if not block["n"]:
        return DASH
    limits = interval_text(block["interval"])
    return f"{rounded(block['score'])} % ({limits}; {block['passes']} of {block['n']})"


def _provenance(record: Mapping[str, Any]) -> Row:
    names = ("protocol", "population", "agent", "profile", "timing", "lineage")
    return flatten({name: record[name] for name in names if name in record})
