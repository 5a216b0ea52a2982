"""What was planted beside what was found, by event, condition, group and style.

Conventions: a result is a row of `tables.PROBES`. A call in which the probe's plan did not come about (the
caller left before the turning point) counts for nothing and is reported. An event that the wording leaves
open is not counted in that call, nor is a judged event that the rubric does not ask about it. Sensitivity is
found of planted, specificity is silence where nothing was planted, in percent with Wilson's interval (N1);
both are None where there is nothing to count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inquesto_dag.judging.outcomes import judged_in
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.scoring.rate import rate_block, rate_of
from inquesto_dag.validation.probes.catalogue import PROBES
from inquesto_dag.validation.timing import TimeErrors

Row = Mapping[str, Any]
VIEWS = ("condition", "group", "style")
# Below and above each threshold: the event must be silent in the first and found in the second.
PAIRS = (
    ("words-59", "words-61", "verbose"),
    ("median-1.4", "median-1.6", "slow_median"),
    ("overlap-0.4", "overlap-0.6", "talk_over"),
    ("slow-2.8", "slow-3.2", "slow_turn"),
    ("overlaps-2-of-7", "overlaps-2-of-6", "repeated_talk_over"),
)


def summarise(protocol: Protocol, rows: Sequence[Row], times: Mapping[str, TimeErrors]) -> dict[str, Any]:
    """The report of the stage as JSON values; `times` holds the errors of each call, by `PROBE/CALL`."""
    realised = [row for row in rows if row["realised"]]
    return {
        "calls": len(rows),
        "not_realised": [
            {"probe": row["probe"], "call_id": row["call_id"], "fault": row["fault"]}
            for row in rows
            if not row["realised"]
        ],
        "events": [tally(protocol, realised, event.name) for event in protocol.events],
        "pairs": [pair(realised, *names) for names in PAIRS],
        "wrong": [wrong_of(protocol, row) for row in realised if wrong_of(protocol, row)["events"]],
        "timing": {
            "all": total(rows, times).summary(),
            **{
                view: {
                    value: total([row for row in rows if row[view] == value], times).summary()
                    for value in sorted({str(row[view]) for row in rows})
                }
                for view in VIEWS[:2]
            },
        },
        "probes": [
            {
                "id": probe.id,
                "does": probe.does,
                "near": probe.near,
                "calls": sum(row["probe"] == probe.id for row in rows),
            }
            for probe in PROBES
        ],
    }


def tally(protocol: Protocol, realised: Sequence[Row], event: str) -> dict[str, Any]:
    """One event over the calls in which it can be told."""
    told = [row for row in realised if counts_for(protocol, row, event)]
    return {
        "event": event,
        **_rates(told, event),
        "near": rate_block(rate_of(event not in found_in(row) for row in told if row["near"] == event)),
        "by": {
            view: {
                value: _rates([row for row in told if row[view] == value], event)
                for value in sorted({str(row[view]) for row in realised})
            }
            for view in VIEWS
        },
    }


def counts_for(protocol: Protocol, row: Row, event: str) -> bool:
    """Whether this call tells anything about an event."""
    if event in json.loads(row["open"]):
        return False
    asked = judged_in(protocol, event)
    return not asked or row["role"] in asked or event in json.loads(row["planted"])


def wrong_of(protocol: Protocol, row: Row) -> dict[str, Any]:
    """What was missed, and what was seen where nothing is, in one call."""
    planted, found = frozenset(json.loads(row["planted"])), found_in(row)
    events = [
        {"event": event.name, "fault": "missed" if event.name in planted else "false alarm"}
        for event in protocol.events
        if counts_for(protocol, row, event.name) and (event.name in planted) != (event.name in found)
    ]
    return {"probe": row["probe"], "call_id": row["call_id"], "events": events}


def pair(realised: Sequence[Row], below: str, above: str, event: str) -> dict[str, Any]:
    """How many calls of two probes fall on their side of a threshold, and which do not."""
    sides: tuple[tuple[str, Callable[[Row], bool]], ...] = (
        (below, lambda row: event not in found_in(row)),
        (above, lambda row: event in found_in(row)),
    )
    shown: dict[str, Any] = {"event": event, "below": below, "above": above}
    for side, (probe, right) in zip(("right_below", "right_above"), sides, strict=True):
        shown[side] = rate_block(rate_of(right(row) for row in realised if row["probe"] == probe))
    shown["wrong"] = [
        f"{row['probe']} {row['call_id']}"
        for probe, right in sides
        for row in realised
        if row["probe"] == probe and not right(row)
    ]
    return shown


def found_in(row: Row) -> frozenset[str]:
    """The events that were found in a call."""
    return frozenset(json.loads(row["found"]))


def total(rows: Sequence[Row], times: Mapping[str, TimeErrors]) -> TimeErrors:
    """The time errors of some calls together."""
    whole = TimeErrors()
    for row in rows:
        whole.add(times[f"{row['probe']}/{row['call_id']}"])
    return whole


def _rates(told: Sequence[Row], event: str) -> dict[str, Any]:
    planted = [event in found_in(row) for row in told if event in json.loads(row["planted"])]
    clean = [event not in found_in(row) for row in told if event not in json.loads(row["planted"])]
    return {"sensitivity": rate_block(rate_of(planted)), "specificity": rate_block(rate_of(clean))}
