"""How a score is cited (PROTOCOL N2), and how what is not the protocol's score is told apart (D15).

Conventions: both functions read a record alone, so a citation can be checked against its record. Percentages
are rounded half up; the score from its counts. What has no calls is written as an en dash.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from inquesto_dag.scoring.rate import rounded

ORDER = ("judge", "caller", "tts", "asr", "vad", "verifier", "timing")


def citation(record: Mapping[str, Any]) -> str:
    """One line that names the score, its interval and n (PROTOCOL N2).

    `Inquesto v0.1 = 44.8% (95% CI 39.3–50.4; n = 306)` for a complete run of all calls on the pinned
    components, `Inquesto v0.1 variant [...] = ...` for everything else.
    """
    score = record["score"]
    marks = variant_marks(record)
    name = f"Inquesto {record['protocol']['version']}" + (f" variant [{', '.join(marks)}]" if marks else "")
    if not score["n"]:
        return f"{name} = – (no call was scored)"
    low, high = score["interval"]
    value = rounded(Fraction(100 * score["passes"], score["n"]))
    return f"{name} = {value}% (95% CI {rounded(low)}–{rounded(high)}; n = {score['n']})"


def variant_marks(record: Mapping[str, Any]) -> list[str]:
    """What makes a record a variant: departures from the pinned parts, a slice, calls that do not count."""
    departures = record["departures"]
    order = [*(role for role in ORDER if role in departures), *sorted(set(departures) - set(ORDER))]
    marks = [f"{role}={departures[role]}" for role in order]
    population = record["population"]
    if population["calls"] != population["size"]:
        marks.append(f"n={population['calls']} of {population['size']}")
    missing = [
        f"{record['status'][name]} {name}"
        for name in ("unjudged", "infrastructure", "caller")
        if record["status"].get(name)
    ]
    if missing:
        marks.append(f"incomplete: {' and '.join(missing)}")
    return marks


def views_line(record: Mapping[str, Any]) -> str:
    """PROTOCOL N2: `B 42 · R 46 · I 39 · F 41`, F being the worst group's rate (V4)."""
    views = record["views"]
    worst = views["fairness"]["worst"]
    parts = {
        "B": views["behavior"],
        "R": views["robustness"],
        "I": views["identity"],
        "F": views["fairness"]["groups"][worst] if worst else {"passes": 0, "n": 0},
    }
    return " · ".join(f"{letter} {_whole(part)}" for letter, part in parts.items())


def _whole(part: Mapping[str, Any]) -> str:
    return rounded(Fraction(100 * part["passes"], part["n"]) if part["n"] else None, 0)
