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
from inquesto_dag.report.overview import judge_error_rows
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


def write_leaderboard_page(folder_out: Path, leaderboard: Mapping[str, Any]) -> Path:
    """Write the comparison into `folder_out` and return its `index.html`; the same input, the same bytes."""
    agents = leaderboard["agents"]
    pairs, end = differences(leaderboard["pairs"])
    population = leaderboard["population"]
    version = leaderboard["protocol"]["version"]
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
        judges=[
            (judge["judge"], ", ".join(judge["agents"]), judge_error_rows(judge["error"]))
            for judge in leaderboard["judges"]
        ],
        published=_published(leaderboard["published"]),
        shares=[_audio_share(agent) for agent in agents],
        severities=[_severity_bars(agent) for agent in agents],
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


def _published(published: Mapping[str, Any]) -> dict[str, Any]:
    """The paper's figures in words; `why_not` is empty only where they compare with ours."""

    def text(quantity: Mapping[str, Any], value: float | None) -> str:
        unit = quantity["unit"]
        if unit == "points":
            return signed_text(value)
        return number_text(value, {"%": 0, "calls": 0}.get(unit, 2))

    return {
        "source": published["source"],
        "why_not": published["why_not"],
        "quantities": [
            (
                quantity["clause"],
                quantity["label"],
                quantity["unit"],
                text(quantity, quantity["ours"]),
                text(quantity, quantity["paper"]),
                quantity["over"],
            )
            for quantity in published["quantities"]
        ],
        "rows": {
            agent: [
                str(numbers["score"]),
                f"{numbers['ci_low']}\u2013{numbers['ci_high']}",
                *(str(numbers[key]) for key, _ in VIEWS),
                *(str(numbers[name]) for name in ("us_female", "us_male", "uk_female", "uk_male")),
                *(str(numbers[f"s{level}_events"]) for level in (3, 4, 5)),
                str(numbers["transcript_only_score"]),
                str(numbers["audio_only_failures"]),
            ]
            for agent, numbers in published["rows"].items()
        },
        "thresholds": {
            agent: [str(numbers[key]) for key, _ in THRESHOLDS]
            for agent, numbers in published["rows"].items()
        },
        "windows": curve(
            f"In the paper: {published['windows'][0]['model']}, score",
            "%, with its interval; another set-up",
            [
                (row["model"], row["endpointing_ms"], row["score"], row["interval"])
                for row in published["windows"]
            ],
            ceiling=100,
        ),
    }


def _audio_share(agent: Mapping[str, Any]) -> Bar:
    """A1 as a bar: of the agent's failed calls, those that failed on audio events alone."""
    failed = agent["score"]["n"] - agent["score"]["passes"]
    block = {"passes": agent["audio_only_failures"], "n": failed, "interval": None}
    return bar_of(agent["agent"], block, digits=0)


def _severity_bars(agent: Mapping[str, Any]) -> tuple[str, tuple[Bar, ...]]:
    """A2 as bars: the score had calls failed from another severity on."""
    bars = tuple(bar_of(name, agent["thresholds"][key], digits=0) for key, name in THRESHOLDS)
    return agent["agent"], bars


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
