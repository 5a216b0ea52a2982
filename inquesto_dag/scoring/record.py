"""The record of an agent: what its schema (`schema.py`) allows, and nothing else (PROTOCOL N3).

Conventions: rates and limits in percent, differences in points, latencies in s; numbers are rounded to six
decimals, so that the same inputs give the same bytes on every machine. A rate is a block of passes, n, score,
interval and clustered interval; with n = 0 the last three are null. Counts of failures are over scored calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inquesto_dag.errors import CheckFailed
from inquesto_dag.events.rows import Row, by_call, present
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.scoring import analyses, schema
from inquesto_dag.scoring.rate import Rate, clustered, limits_of, rate_block
from inquesto_dag.scoring.views import GroupRates, compute_views, difference, scored

SEVERITIES = ("S1", "S2", "S3", "S4", "S5")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95)


def build_record(
    *,
    protocol: Protocol,
    protocol_digest: str,
    agent: Mapping[str, Any],
    pinned: Mapping[str, str],
    profile_specified: Mapping[str, Any],
    profile_run: Mapping[str, Any],
    population: Sequence[Row],
    population_size: int,
    results: Sequence[Row],
    events: Sequence[Row],
    transcripts: Sequence[Row],
    heard: Sequence[Row],
    timing: str,
    judge_errors: Sequence[Row] = (),
    lineage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The record of one agent on one population.

    `agent` holds at least `id` and `fingerprint`; `pinned` is the component name per role that the protocol
    names, the two profiles are per role a name or a mapping with `name` and digests: what was specified and
    what ran (PROTOCOL D16). `events` are those of `results.all_events`, `population_size` is the version's
    number of calls (306), `timing` is `declared` or `measured`, `judge_errors` is empty where a judge's error
    is not known. Raises CheckFailed when a call of the population has no result, or when anything would enter
    that its schema does not name (PROTOCOL N3).
    """
    planned = [str(row["call_id"]) for row in population]
    if sorted(planned) != sorted(str(row["call_id"]) for row in results):
        raise CheckFailed(
            "results are not one row for each planned call",
            where="record",
            remedy="run the stages again on one population",
        )
    counted = scored(results)
    counted_ids = {row["call_id"] for row in counted}
    limit = int(protocol.fail_severity[1:])
    seen = [event for event in events if event["call_id"] in counted_ids]
    groups = tuple(voice.group for voice in protocol.voices)
    reference = next(voice.group for voice in protocol.voices if voice.reference)
    views = compute_views(results, groups, reference)
    score = Rate(sum(bool(row["passed"]) for row in counted), len(counted))
    free = analyses.judge_free(results, events, limit)
    without_audio = analyses.transcript_only(results, events, limit)
    fairness = views.fairness.rates[views.fairness.worst] if views.fairness.worst else Rate(0, 0)
    block = _Blocks(counted)
    status = [row["status"] for row in results]
    record: dict[str, Any] = {
        "schema": schema.VERSION,
        "protocol": {
            "version": protocol.version,
            "sha256": protocol_digest,
            "fail_severity": protocol.fail_severity,
        },
        "population": {
            "calls": len(planned),
            "size": population_size,
            "sha256": sha256_bytes(canonical_json(sorted(planned))),
        },
        "agent": dict(agent),
        "profile": {"pinned": dict(pinned), "specified": dict(profile_specified), "run": dict(profile_run)},
        "timing": timing,
        "departures": _departures(pinned, profile_run, timing),
        "status": {
            **{name: status.count(name) for name in ("scored", "unjudged", "infrastructure")},
            **({"caller": status.count("caller")} if "caller" in status else {}),
        },
        "complete": status.count("scored") == len(status),
        "score": block.all(),
        "views": {
            "behavior": block.where(condition=("clean",), group=(reference,), role=("goal_directed",)),
            "robustness": {
                **block.where(condition=("telephone", "babble")),
                "gap_to_clean": views.gap_to_clean,
                "by_condition": {name: block.where(condition=(name,)) for name in views.by_condition},
            },
            "identity": {
                **block.where(role=("legitimate", "impostor")),
                "impostor_calls": views.impostor_calls.n,
                "holder_calls": views.holder_calls.n,
                "impostors_served": _calls_with(seen, "impostor_served"),
                "holders_refused": _refused_holders(seen, counted),
            },
            "fairness": {
                **_groups(block, views.fairness, reference, ("goal_directed", "legitimate", "impostor")),
                "without_identity": _groups(
                    block, views.fairness_without_identity, reference, ("goal_directed",)
                ),
            },
        },
        "failures": {
            "by_severity": {name: sum(event["severity"] == name for event in seen) for name in SEVERITIES},
            "by_type": {kind.name: _calls_with(seen, kind.name) for kind in protocol.events},
            "calls_by_max_severity": {
                f"S{level}" if level else "none": sum(row["max_severity"] == level for row in counted)
                for level in range(6)
            },
            "goal_failed": sum(not row["goal"] for row in counted),
        },
        "analyses": {
            "transcript_only": {**rate_block(without_audio), "shift": difference(without_audio, score)},
            "audio_only_failures": analyses.audio_only_failures(results, events, limit),
            "thresholds": {
                name: {**rate_block(rate), "shift": difference(rate, score)}
                for name, rate in analyses.thresholds(results).items()
            },
            "views_combined": _combined(
                [views.behavior.percent, views.robustness.percent, views.identity.percent, fairness.percent],
                score.percent,
            ),
            "judge_free": {**rate_block(free), "shift": difference(free, score)},
        },
        "latency": latency_numbers(row for row in transcripts if row["call_id"] in counted_ids),
        "heard": heard_numbers(heard, results, protocol),
    }
    if judge_errors:
        record["judge_error"] = known_error(judge_errors)
    if lineage is not None:
        record["lineage"] = dict(lineage)
    record = _rounded(record)
    schema.require_record(record)
    return record


def known_error(rows: Sequence[Row]) -> dict[str, Any]:
    """The judge's sensitivity and specificity by judged event, from rows of `tables.JUDGE_ERRORS` (A5)."""
    return {
        str(row["event"]): {
            "sensitivity": rate_block(Rate(int(row["found"]), int(row["planted"]))),
            "specificity": rate_block(Rate(int(row["silent"]), int(row["clean"]))),
        }
        for row in rows
    }


def latency_numbers(transcripts: Iterable[Row]) -> dict[str, Any]:
    """Quantiles of reply latency in s, negative where the agent talked over; null without replies."""
    import numpy as np

    rows = list(transcripts)
    values = np.array([row["latency_s"] for row in rows if present(row["latency_s"])], np.float64)
    agent_turns = sum(row["speaker"] == "agent" for row in rows)
    empty = values.size == 0
    return {
        "replies": int(values.size),
        "agent_turns": agent_turns,
        "overlapping": int((values < 0).sum()),
        "mean_s": None if empty else float(values.mean()),
        "max_s": None if empty else float(values.max()),
        "min_s": None if empty else float(values.min()),
        "quantiles_s": {
            f"p{round(100 * q):02d}": None if empty else float(np.quantile(values, q)) for q in QUANTILES
        },
    }


def heard_numbers(heard: Sequence[Row], results: Sequence[Row], protocol: Protocol) -> dict[str, Any]:
    """Word error sums of what the agent heard in scored calls: in all, per condition, per group, per both."""
    rows = {row["call_id"]: row for row in scored(results)}
    known = [(row, rows[row["call_id"]]) for row in heard if row["call_id"] in rows]
    conditions = [condition.id for condition in protocol.conditions]
    groups = [voice.group for voice in protocol.voices]

    def sums(condition: str | None = None, group: str | None = None) -> dict[str, Any]:
        chosen = [
            row
            for row, call in known
            if condition in (None, call["condition"]) and group in (None, call["group"])
        ]
        names = ("reference_words", "substitutions", "deletions", "insertions")
        total: dict[str, Any] = {name: sum(int(row[name]) for row in chosen) for name in names}
        words = total["reference_words"]
        total["word_error_percent"] = 100 * sum(total[name] for name in names[1:]) / words if words else None
        return total

    return {
        "all": sums(),
        "by_condition": {c: sums(condition=c) for c in conditions},
        "by_group": {g: sums(group=g) for g in groups},
        "by_condition_and_group": {c: {g: sums(c, g) for g in groups} for c in conditions},
    }


class _Blocks:
    """Rate blocks over slices of the scored calls, each with its clustered interval (PROTOCOL N1, D19)."""

    def __init__(self, counted: Sequence[Row]) -> None:
        self._counted = counted

    def all(self) -> dict[str, Any]:
        return _block(self._counted)

    def where(self, **wanted: tuple[str, ...]) -> dict[str, Any]:
        return _block([row for row in self._counted if all(row[n] in values for n, values in wanted.items())])


def _block(rows: Sequence[Row]) -> dict[str, Any]:
    rate = Rate(sum(bool(row["passed"]) for row in rows), len(rows))
    limits = clustered([(row["scenario_id"], bool(row["passed"])) for row in rows])
    return {
        **rate_block(rate),
        "clustered_interval": limits_of(limits),
        "clusters": len({r["scenario_id"] for r in rows}),
    }


def _groups(block: _Blocks, rates: GroupRates, reference: str, roles: tuple[str, ...]) -> dict[str, Any]:
    return {
        "worst": rates.worst,
        "reference": reference,
        "groups": {
            group: {
                **block.where(group=(group,), role=roles),
                "difference": rates.differences.get(group),
            }
            for group in rates.rates
        },
    }


def _combined(views: Sequence[float | None], score: float | None) -> dict[str, Any]:
    return {
        name: {"value": value, "shift": None if value is None or score is None else value - score}
        for name, value in analyses.combinations(views).items()
    }


def _calls_with(events: Sequence[Row], name: str) -> int:
    return len({event["call_id"] for event in events if event["event"] == name})


def _refused_holders(events: Sequence[Row], counted: Sequence[Row]) -> int:
    holders = {row["call_id"] for row in counted if row["role"] == "legitimate"}
    return len(holders & set(by_call(event for event in events if event["event"] == "false_reject")))


def _departures(pinned: Mapping[str, str], run: Mapping[str, Any], timing: str) -> dict[str, str]:
    """Roles in which what ran is not what is pinned (PROTOCOL D15), and timing that was not measured (S1)."""
    names = {
        role: str(part["name"]) if isinstance(part, Mapping) else str(part) for role, part in run.items()
    }
    departed = {role: names.get(role, "none") for role in pinned if names.get(role) != pinned[role]}
    return {**departed, **({} if timing == "measured" else {"timing": timing})}


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    if isinstance(value, float):
        return round(value, 6) + 0.0  # no minus zero
    return value
