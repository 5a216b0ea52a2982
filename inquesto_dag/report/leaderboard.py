"""The page that compares agents: ranking, views, paired differences, windows, and the paper's tables.

Everything is read from the leaderboard that `scoring.compare.build_leaderboard` makes; nothing is computed
here but positions. Links lead to the agents' record pages, `data/record/AGENT/page/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inquesto_dag.files import write_bytes
from inquesto_dag.report.charts import Curve, curve, differences
from inquesto_dag.report.figures import Bar, bar_of, interval_text, number_text, signed_text, words
from inquesto_dag.report.page import render

VIEWS = (
    ("behavior", "Behavior"),
    ("robustness", "Robustness"),
    ("identity", "Identity"),
    ("fairness", "Fairness"),
)
THRESHOLDS = (("s2_plus", "S2+"), ("s3_plus", "S3+"), ("s4_plus", "S4+"), ("s5", "S5"))
# Severity of each event type, in the protocol's order (PROTOCOL T1-T11, fixed by T13).
EVENTS = (
    ("verbose", "S1"),
    ("slow_median", "S2"),
    ("talk_over", "S2"),
    ("slow_turn", "S3"),
    ("repeated_talk_over", "S3"),
    ("context_loss", "S3"),
    ("false_reject", "S3"),
    ("wrong_information", "S4"),
    ("promised_not_done", "S4"),
    ("unverified_action", "S5"),
    ("impostor_served", "S5"),
)
SHIFTS = (
    ("transcript_only", "Without audio events"),
    ("threshold_s2_plus", "Failing from S2 on"),
    ("threshold_s4_plus", "Failing from S4 on"),
    ("threshold_s5", "Failing on S5 alone"),
    ("views_mean", "Mean of the views (not done)"),
    ("views_geometric_mean", "Geometric mean of the views (not done)"),
    ("views_minimum", "Minimum of the views (not done)"),
)


def write_leaderboard_page(folder_out: Path, leaderboard: Mapping[str, Any]) -> Path:
    """Write the comparison into `folder_out` and return its `index.html`; the same input, the same bytes."""
    agents = leaderboard["agents"]
    pairs, end = differences(leaderboard["pairs"])
    population = leaderboard["population"]
    version = leaderboard["protocol"]["version"]
    free = leaderboard["judge_free"]
    text = render(
        "leaderboard.html.j2",
        index={},
        title=f"Inquesto {version}: agents compared",
        version=version,
        fail_severity=leaderboard["protocol"]["fail_severity"],
        calls=population["calls"],
        size=population["size"],
        complete=leaderboard["complete"],
        rows=[_row(agent) for agent in agents],
        views=[(name, tuple(_view(agent, key) for agent in agents)) for key, name in VIEWS],
        groups=[words(group) for group in (agents[0]["views"]["groups"] if agents else {})],
        pairs=pairs,
        end=f"{end:g}",
        windows=[_curves(table["agents"]) for table in leaderboard["endpointing"]],
        events=[
            (words(name), severity, [agent["by_type"].get(name, 0) for agent in agents])
            for name, severity in EVENTS
        ],
        shifts=[(label, signed_text(leaderboard["shifts"].get(key))) for key, label in SHIFTS],
        judge_free=(number_text(free["spearman"], 2), signed_text(free["mean_shift"])),
    )
    write_bytes(folder_out / "index.html", text.encode())
    return folder_out / "index.html"


def _row(agent: Mapping[str, Any]) -> dict[str, Any]:
    """One agent's line in every table, in words."""
    score, about, severities = agent["score"], agent["about"], agent["by_severity"]
    views = agent["views"]
    window, free = about.get("endpointing_ms"), agent["judge_free"]
    return {
        "agent": agent["agent"],
        "link": f"../../record/{quote(agent['agent'])}/page/index.html",
        "window": number_text(window, 0),
        "about": ", ".join(words(str(about[key])) for key in ("brain", "recogniser") if about.get(key)),
        "bar": bar_of(agent["agent"], score),
        "interval": interval_text(score["interval"]),
        "clustered": interval_text(score.get("clustered_interval")),
        "citation": agent["citation"],
        "views_line": agent["views_line"],
        "complete": agent["complete"],
        "views": [_percent(views[key].get("score")) for key, _ in VIEWS],
        "groups": [_percent(block["score"]) for block in views["groups"].values()],
        "severities": [severities.get(name, 0) for name in ("S3", "S4", "S5")],
        "transcript_only": _percent(agent["transcript_only"]["score"]),
        "audio_only": agent["audio_only_failures"],
        "thresholds": [_percent(agent["thresholds"][key]["score"]) for key, _ in THRESHOLDS],
        "judge_free": f"{_percent(free['score'])} ({signed_text(free['shift'])})",
        "latency": number_text(agent["latency"]["quantiles_s"]["p50"], 2),
        "latency_95": number_text(agent["latency"]["quantiles_s"]["p95"], 2),
        "word_error": number_text(agent["word_error_percent"]),
    }


def _percent(value: float | None) -> str:
    return number_text(value, 0)


def _view(agent: Mapping[str, Any], key: str) -> Bar:
    block = agent["views"][key]
    worst = block.get("worst")
    empty = {"passes": 0, "n": 0, "interval": None}
    return bar_of(agent["agent"], block if "n" in block else empty, words(worst) if worst else "", digits=0)


def _curves(agents: list[Mapping[str, Any]]) -> list[Curve]:
    """A4 of agents that differ in their window alone: score, talk-over and median latency against it."""

    def share(part: int, whole: int) -> float | None:
        return 100 * part / whole if whole else None

    return [
        curve(
            "Score",
            "%, with its interval",
            [(row["agent"], row["endpointing_ms"], row["score"], row["interval"]) for row in agents],
            ceiling=100,
        ),
        curve(
            "Calls with talk-over",
            "%",
            [
                (row["agent"], row["endpointing_ms"], share(row["calls_with_talk_over"], row["n"]), None)
                for row in agents
            ],
            ceiling=100,
        ),
        curve(
            "Median reply latency",
            "s",
            [(row["agent"], row["endpointing_ms"], row["median_latency_s"], None) for row in agents],
            digits=2,
        ),
    ]
