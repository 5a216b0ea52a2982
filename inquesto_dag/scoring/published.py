"""The paper's figures beside ours, where both speak of the same thing (PROTOCOL A1-A4, A6; paper/README.md).

The paper's are over its thirteen configurations on its own set-up. Ours compare with them only where the same
configurations ran complete on pinned components; `why_not` says what keeps them apart, and pages print it.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from inquesto_dag.scoring.citation import variant_marks

FOLDER = Path(__file__).parent / "paper"
SOURCE = "Baali and Raj, arXiv 2609.30514"
PERCENT = ("score", "behavior", "robustness", "identity", "fairness")


@dataclass(frozen=True)
class Configuration:
    """One row of the paper's tables: percent and counts, by column name, and the agent file of that name."""

    agent: str
    model: str
    endpointing_ms: int
    numbers: Mapping[str, int]


@dataclass(frozen=True)
class Quantity:
    """One figure of ours and the paper's; `ours` is None where nothing gives it, `over` is its basis."""

    clause: str
    label: str
    unit: str
    ours: float | None
    paper: float
    over: str


def _read(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


@cache
def configurations() -> tuple[Configuration, ...]:
    """The thirteen rows of the paper's tables 2 and 3, joined."""
    key = ("model", "serving", "endpointing_ms")
    thresholds = {tuple(row[k] for k in key): row for row in _read("table3.csv")}
    rows = _read("table2.csv")
    local = {(row["model"], row["endpointing_ms"]) for row in rows if row["serving"] == "local"}
    found = []
    for row in rows:
        twice = row["serving"] == "hosted" and (row["model"], row["endpointing_ms"]) in local
        agent = f"{row['model'].lower()}-{'hosted-' if twice else ''}{row['endpointing_ms']}"
        both = {**row, **thresholds[tuple(row[k] for k in key)]}
        numbers = {name: int(value) for name, value in both.items() if name not in key}
        found.append(Configuration(agent, row["model"], int(row["endpointing_ms"]), numbers))
    return tuple(found)


@cache
def figures() -> dict[str, float]:
    """The figures in the paper's text, by name."""
    return {row["quantity"]: float(row["value"]) for row in _read("text.csv")}


def configuration_of(agent: str) -> Configuration | None:
    """The paper's row of an agent's name; None for an agent that the paper does not have."""
    return next((row for row in configurations() if row.agent == agent), None)


def why_not(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What keeps our figures and the paper's from being compared, in words; empty when nothing does."""
    reasons = []
    foreign = sorted(agent for agent in records if configuration_of(agent) is None)
    if foreign:
        reasons.append(f"other agents: {', '.join(foreign)}")
    marks = sorted({mark for record in records.values() for mark in variant_marks(record)})
    if marks:
        reasons.append(f"another set-up: {', '.join(marks)}")
    absent = len(configurations()) - (len(records) - len(foreign))
    if absent:
        reasons.append(f"{absent} of the paper's {len(configurations())} configurations were not run")
    return reasons


def beside(records: Mapping[str, Mapping[str, Any]], leaderboard: Mapping[str, Any]) -> dict[str, Any]:
    """Figures over all agents, rows of the agents that the paper has, windows of one model; as plain JSON."""
    return {
        "source": SOURCE,
        "why_not": why_not(records),
        "quantities": [asdict(quantity) for quantity in quantities(list(records.values()), leaderboard)],
        "rows": {
            agent: dict(row.numbers) for agent in records if (row := configuration_of(agent)) is not None
        },
        "windows": [
            {"endpointing_ms": row.endpointing_ms, "score": row.numbers["score"],
             "interval": [row.numbers["ci_low"], row.numbers["ci_high"]], "model": row.model}
            for row in sorted(_windows(), key=lambda row: row.endpointing_ms)
        ],
    }  # fmt: skip


def _windows() -> list[Configuration]:
    """A4 in the paper: the rows of the one model that ran with more than one window."""
    models = [row.model for row in configurations()]
    several = {
        row.model
        for row in configurations()
        if len({r.endpointing_ms for r in configurations() if r.model == row.model}) > 1
    }
    assert len(several) == 1, models
    return [row for row in configurations() if row.model in several]


def quantities(records: Sequence[Mapping[str, Any]], leaderboard: Mapping[str, Any]) -> tuple[Quantity, ...]:
    """Figures that the paper states over its configurations, and the same over ours."""
    paper, shifts, free = figures(), leaderboard["shifts"], leaderboard["judge_free"]
    mean = "mean over agents"
    failed = sum(r["score"]["n"] - r["score"]["passes"] for r in records)
    audio = sum(r["analyses"]["audio_only_failures"] for r in records)
    gaps = [
        -block["difference"]
        for r in records
        for block in r["views"]["fairness"]["groups"].values()
        if block["difference"] is not None
    ]

    def events(name: str) -> float:
        return float(sum(r["failures"]["by_type"].get(name, 0) for r in records))

    return (
        Quantity("A1", "Failed calls that failed on audio alone", "%",
                 100 * audio / failed if failed else None, paper["failed_only_on_audio_events"],
                 "all failed calls"),
        Quantity("A1", "Without audio events the score is", "points", shifts["transcript_only"],
                 paper["transcript_only_minus_score"], mean),
        Quantity("A2", "Failing from S2 on", "points", shifts["threshold_s2_plus"],
                 paper["threshold_s2_shift"], mean),
        Quantity("A2", "Failing from S4 on", "points", shifts["threshold_s4_plus"],
                 paper["threshold_s4_shift"], mean),
        Quantity("A2", "Failing on S5 alone", "points", shifts["threshold_s5"],
                 paper["threshold_s5_shift"], mean),
        Quantity("A3", "Mean of the views (not done)", "points", shifts["views_mean"],
                 paper["view_mean_shift"], mean),
        Quantity("A3", "Geometric mean of the views (not done)", "points", shifts["views_geometric_mean"],
                 paper["view_geometric_mean_shift"], mean),
        Quantity("A3", "Minimum of the views (not done)", "points", shifts["views_minimum"],
                 paper["view_minimum_shift"], mean),
        Quantity("A6", "Without the judge", "points", free["mean_shift"], paper["judge_free_shift"], mean),
        Quantity("A6", "Rank correlation with the judge-free score", "Spearman's ρ", free["spearman"],
                 paper["judge_free_spearman"], "ranks of the agents"),
        Quantity("V4", "Largest gap of a group below the reference", "points", max(gaps, default=None),
                 paper["worst_group_gap"], "all agents"),
        Quantity("V3", "Impostors served", "calls", events("impostor_served"),
                 paper["impostor_served_events"], "all agents"),
        Quantity("V3", "Holders refused", "calls", events("false_reject"), paper["false_reject_events"],
                 "all agents"),
    )  # fmt: skip
