"""Agents side by side on one population: paired differences, windows, ranks (PROTOCOL P7, A4, A6, D19).

Conventions: differences are in percentage points over the calls that both agents have scored; `a` minus `b`.
The interval of a difference is a bootstrap that draws whole scenarios, since calls of one scenario are not
independent; it is seeded, so that a leaderboard is the same each time. What has no calls is None.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from inquesto_dag.errors import InputError
from inquesto_dag.events.rows import Row, present
from inquesto_dag.files import canonical_json
from inquesto_dag.scoring.citation import citation, views_line
from inquesto_dag.scoring.published import beside
from inquesto_dag.scoring.rate import LEVEL, Interval

FORMAT = 1
SEED = 20260
RESAMPLES = 2000


@dataclass(frozen=True)
class Paired:
    """Two agents on the same calls: how many both, only one and neither passed, and what follows."""

    n: int
    both: int
    only_a: int
    only_b: int
    neither: int
    difference: float | None
    interval: Interval | None
    p_value: float | None


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact p of McNemar's test on discordant pairs (statsmodels); 1 when there are none."""
    from statsmodels.stats.contingency_tables import mcnemar

    return float(min(1.0, mcnemar([[0, only_a], [only_b, 0]], exact=True).pvalue))


def paired(a: Sequence[Row], b: Sequence[Row], *, seed: int = SEED, resamples: int = RESAMPLES) -> Paired:
    """The paired comparison of two agents' rows of RESULTS; None throughout without a common scored call."""
    other = {row["call_id"]: bool(row["passed"]) for row in b if row["status"] == "scored"}
    common = [
        (str(row["scenario_id"]), bool(row["passed"]), other[row["call_id"]])
        for row in a
        if row["status"] == "scored" and row["call_id"] in other
    ]
    counts = {pair: sum((x, y) == pair for _, x, y in common) for pair in _PAIRS}
    n = len(common)
    if n == 0:
        return Paired(0, 0, 0, 0, 0, None, None, None)
    only_a, only_b = counts[True, False], counts[False, True]
    return Paired(
        n,
        counts[True, True],
        only_a,
        only_b,
        counts[False, False],
        100 * (only_a - only_b) / n,
        _bootstrap([(scenario, int(x) - int(y)) for scenario, x, y in common], seed, resamples),
        mcnemar_exact(only_a, only_b),
    )


_PAIRS = tuple((x, y) for x in (True, False) for y in (True, False))


def _bootstrap(differences: Sequence[tuple[Hashable, int]], seed: int, resamples: int) -> Interval:
    """The percentile interval of the difference in points, whole scenarios drawn (scipy.stats.bootstrap).

    One scenario alone says nothing about others: the interval is then everything, -100 to 100.
    """
    import numpy as np
    from scipy.stats import bootstrap

    sums: dict[Hashable, list[int]] = {}
    for scenario, value in differences:
        total = sums.setdefault(scenario, [0, 0])
        total[0] += value
        total[1] += 1
    if len(sums) == 1:
        return Interval(-100.0, 100.0)
    # In the order of names, so that the order of rows decides nothing.
    table = np.array([sums[name] for name in sorted(sums, key=str)], np.float64)

    def difference(values: Any, calls: Any, axis: int = -1) -> Any:
        return 100 * values.sum(axis=axis) / calls.sum(axis=axis)

    found = bootstrap(
        (table[:, 0], table[:, 1]),
        difference,
        paired=True,
        n_resamples=resamples,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None for fewer than two values or equal ones."""
    from scipy.stats import spearmanr

    if len(a) != len(b) or len(set(a)) < 2 or len(set(b)) < 2:
        return None
    return float(spearmanr(a, b).statistic)


def build_leaderboard(
    records: Mapping[str, Mapping[str, Any]],
    results: Mapping[str, Sequence[Row]],
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> dict[str, Any]:
    """All agents side by side: `agents` by rank, `pairs`, `endpointing` (A4), `judges` (A5), `judge_free`
    (A6), `shifts`, and the paper's figures where they speak of the same thing (`published`).

    Raises InputError when the records are not of one protocol and one population (PROTOCOL P7).
    """
    if not records:
        raise InputError("no agent to compare", where="leaderboard", remedy="name an agent in params.yaml")
    _require_same(records)
    first = next(iter(records.values()))
    ranked = sorted(records, key=lambda agent: (-_number(records[agent]["score"]["score"]), agent))
    board = {
        "format": FORMAT,
        "protocol": first["protocol"],
        "population": first["population"],
        "complete": all(record["complete"] for record in records.values()),
        "agents": [_line(agent, records[agent]) for agent in ranked],
        "pairs": [
            _pair(a, b, paired(results[a], results[b], seed=seed, resamples=resamples))
            for a, b in combinations(ranked, 2)
        ],
        "endpointing": endpointing_table(records),
        "judge_free": _judge_free([records[agent] for agent in ranked]),
        "judges": _judges({agent: records[agent] for agent in ranked}),
        "shifts": _mean_shifts(list(records.values())),
    }
    return {**board, "published": beside(records, board)}


def _judges(records: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A5: each judge, whom it judged, and its known error, null where that was never measured."""
    judges: dict[str, dict[str, Any]] = {}
    for agent, record in records.items():
        ran = record["profile"]["run"].get("judge", {})
        name = str(ran.get("name")) if isinstance(ran, Mapping) else str(ran)
        entry: dict[str, Any] = {"judge": name, "agents": [], "error": record.get("judge_error")}
        judges.setdefault(canonical_json([ran, entry["error"]]).decode(), entry)["agents"].append(agent)
    return list(judges.values())


def endpointing_table(records: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A4: agents that differ in nothing but their window, by window; a group needs two windows."""
    families: dict[str, list[str]] = {}
    for agent, record in records.items():
        if present(record["agent"].get("endpointing_ms")):
            families.setdefault(_but_window(record["agent"]), []).append(agent)
    tables = []
    for agents in families.values():
        if len({records[agent]["agent"]["endpointing_ms"] for agent in agents}) < 2:
            continue
        agents.sort(key=lambda agent: int(records[agent]["agent"]["endpointing_ms"]))
        tables.append({"agents": [_window(agent, records[agent]) for agent in agents]})
    return tables


def _but_window(agent: Mapping[str, Any]) -> str:
    given = agent.get("fingerprint_but_window")
    left_out = {"id", "fingerprint", "endpointing_ms", "description"}
    return str(given or sorted((k, str(v)) for k, v in agent.items() if k not in left_out))


def _window(agent: str, record: Mapping[str, Any]) -> dict[str, Any]:
    failures, latency = record["failures"]["by_type"], record["latency"]
    return {
        "agent": agent,
        "endpointing_ms": record["agent"]["endpointing_ms"],
        "score": record["score"]["score"],
        "interval": record["score"]["interval"],
        "n": record["score"]["n"],
        "calls_with_talk_over": failures.get("talk_over", 0) + failures.get("repeated_talk_over", 0),
        "calls_with_slow_turn": failures.get("slow_turn", 0),
        "overlapping_replies": latency["overlapping"],
        "replies": latency["replies"],
        "median_latency_s": latency["quantiles_s"]["p50"],
    }


def _line(agent: str, record: Mapping[str, Any]) -> dict[str, Any]:
    views, analyses = record["views"], record["analyses"]
    worst = views["fairness"]["worst"]
    return {
        "agent": agent,
        "about": record["agent"],
        "citation": citation(record),
        "views_line": views_line(record),
        "complete": record["complete"],
        "status": record["status"],
        "score": record["score"],
        "views": {
            "behavior": views["behavior"],
            "robustness": views["robustness"],
            "identity": views["identity"],
            "fairness": {"worst": worst, **(views["fairness"]["groups"][worst] if worst else {})},
            "groups": views["fairness"]["groups"],
        },
        "by_severity": record["failures"]["by_severity"],
        "by_type": record["failures"]["by_type"],
        "transcript_only": analyses["transcript_only"],
        "audio_only_failures": analyses["audio_only_failures"],
        "thresholds": analyses["thresholds"],
        "judge_free": analyses["judge_free"],
        "latency": record["latency"],
        "word_error_percent": record["heard"]["all"]["word_error_percent"],
    }


def _pair(a: str, b: str, found: Paired) -> dict[str, Any]:
    limits = found.interval
    return {
        "a": a,
        "b": b,
        "n": found.n,
        "both": found.both,
        "only_a": found.only_a,
        "only_b": found.only_b,
        "neither": found.neither,
        "difference": None if found.difference is None else round(found.difference, 6),
        "interval": None if limits is None else [round(limits.low, 6), round(limits.high, 6)],
        "p_value": None if found.p_value is None else round(found.p_value, 9),
    }


def _judge_free(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    pairs = [(r["score"]["score"], r["analyses"]["judge_free"]["score"]) for r in records]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    rho = spearman([a for a, _ in known], [b for _, b in known])
    return {
        "agents": len(known),
        "spearman": None if rho is None else round(rho, 6),
        "mean_shift": round(sum(b - a for a, b in known) / len(known), 6) if known else None,
    }


def _mean_shifts(records: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Mean over agents of what each analysis shifts the score by (PROTOCOL A1-A3)."""

    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return round(sum(known) / len(known), 6) if known else None

    analyses = [record["analyses"] for record in records]
    shifts = {"transcript_only": mean([a["transcript_only"]["shift"] for a in analyses])}
    for name in ("s2_plus", "s4_plus", "s5"):
        shifts[f"threshold_{name}"] = mean([a["thresholds"][name]["shift"] for a in analyses])
    for name in ("mean", "geometric_mean", "minimum"):
        shifts[f"views_{name}"] = mean([a["views_combined"][name]["shift"] for a in analyses])
    return shifts


def _require_same(records: Mapping[str, Mapping[str, Any]]) -> None:
    for place, what in (("protocol", "protocol"), ("population", "population")):
        digests = {record[place]["sha256"]: agent for agent, record in records.items()}
        if len(digests) > 1:
            agents = " and ".join(sorted(digests.values())[:2])
            raise InputError(
                f"the records of {agents} are of two {what}s, and scores compare under one only (P7)",
                where="leaderboard",
                field=place,
                remedy="score the agents again with the same params.yaml",
            )


def _number(score: float | None) -> float:
    return -1.0 if score is None else float(score)
