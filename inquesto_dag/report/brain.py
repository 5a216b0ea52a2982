"""What the trace keeps of an agent's language model, as a call's page shows it: times, tokens, money."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.cost import usage_of
from inquesto_dag.report.rows import Row

if TYPE_CHECKING:
    from inquesto_dag.agents.config import Prices

TIMES = ("first_token_s", "first_sentence_s")


def read_trace(folder: Path) -> Mapping[str, Any]:
    """The trace of a recording's folder; empty where there is none."""
    path = folder / "trace.json"
    trace: Mapping[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
    return trace


def describe_brain(trace: Mapping[str, Any], prices: Prices | None) -> Row | None:
    """Model, tokens, money and what went wrong in a call; None for an agent without a model."""
    usage = usage_of(trace)
    if usage is None:
        return None
    brain = trace["agent"]["brain"]
    turns = brain["turns"]
    money = usage.money(prices)
    return {
        "model": brain["model"],
        "served": brain["served"].get("model"),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "money": money,
        "currency": None if prices is None else prices.currency,
        "prices_of": None if prices is None else prices.dated,
        "faults": [fault for turn in turns for fault in turn["faults"]],
        "empty": sum(turn["empty"] for turn in turns),
        "turns_left_out": max((turn["turns_left_out"] for turn in turns), default=0),
        "refused_calls": sum(turn["refused_calls"] for turn in turns),
    }


def reply_times(trace: Mapping[str, Any]) -> dict[float, Row]:
    """By the time of each reply's endpoint in s: from the brain's start to its first token and sentence.

    Empty for declared timing, whose traces keep no wall clock.
    """
    brain = trace.get("agent", {}).get("brain")
    if not brain:
        return {}
    answered = [heard["endpoint_s"] for heard in trace.get("listened", []) if heard["text"].strip()]
    return {
        at: {name: turn[name] for name in TIMES if turn.get(name) is not None}
        for at, turn in zip(answered, brain["turns"], strict=False)
    }
