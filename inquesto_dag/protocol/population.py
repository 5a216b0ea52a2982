"""The plan: which calls a version demands, and the slices of it for a quick look (PROTOCOL P1-P7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal

from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.protocol.models import Protocol, Scenario, Voice

Row = dict[str, Any]
Slice = Literal["full", "quick"]
SLICES: tuple[str, ...] = ("full", "quick")


def plan_calls(protocol: Protocol) -> list[Row]:
    """All calls of a version, rows of `tables.POPULATION`, in the order scenario, condition, group.

    A goal-directed scenario is called by every group (its own voice is then the enrolled one), an identity
    scenario only by its fixed voice, against the protocol's enrolled voice (PROTOCOL P5, P6): 24 x 3 x 4 +
    6 x 3 = 306 calls for v0.1, each of weight one.
    """
    return [
        {
            "call_id": call_id,
            "scenario_id": scenario.id,
            "family": scenario.family,
            "style": scenario.style,
            "role": scenario.role,
            "condition": condition.id,
            "group": voice.group,
            "voice": voice.voice,
            "enrolled_voice": voice.voice if scenario.role == "goal_directed" else protocol.enrolled_voice,
            "seed": call_seed(protocol.version, call_id),
        }
        for scenario in protocol.scenarios
        for condition, voice in product(protocol.conditions, _voices_of(scenario, protocol))
        for call_id in [f"{scenario.id}.{condition.id}.{voice.group}"]
    ]


def call_seed(version: str, call_id: str) -> int:
    """The seed of a call's random draws, 0 to 2**31 - 1: the same on every machine and for every agent."""
    return int(sha256_bytes(canonical_json([version, call_id]))[:8], 16) & 0x7FFF_FFFF


def take_slice(rows: Sequence[Mapping[str, Any]], name: str) -> list[Row]:
    """The rows of a slice, in their order: `full` is all of them, `quick` is one call of every scenario.

    The rule of `quick`: scenario by scenario, in the plan's order, take the call whose (condition, group)
    pair, then condition, then group, then style or role with condition has been taken least so far; ties go
    to the plan's order. Scenarios with fewer calls choose first, so that the free ones can level out. Every
    condition and group then occurs about equally often. InputError for an unknown name.
    """
    if name == "full":
        return [dict(row) for row in rows]
    if name != "quick":
        raise InputError(f"{name} is not a slice", field="population", remedy=f"use one of {list(SLICES)}")
    calls: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        calls.setdefault(row["scenario_id"], []).append(row)
    taken: Counter[tuple[str, ...]] = Counter()
    chosen: set[str] = set()
    for choices in sorted(calls.values(), key=len):
        best = min(choices, key=lambda row: tuple(taken[key] for key in _balance_keys(row)))
        chosen.add(best["call_id"])
        taken.update(_balance_keys(best))
    return [dict(row) for row in rows if row["call_id"] in chosen]


def _balance_keys(row: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """What `quick` levels out, most important first."""
    condition, group, style = row["condition"], row["group"], row["style"]
    return (
        ("pair", condition, group),
        ("condition", condition),
        ("group", group),
        ("style", style, condition),
        ("role", row["role"], condition),
    )


def _voices_of(scenario: Scenario, protocol: Protocol) -> tuple[Voice, ...]:
    if scenario.voice is None:
        return protocol.voices
    return tuple(voice for voice in protocol.voices if voice.voice == scenario.voice)
