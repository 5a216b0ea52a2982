"""Reading rows of tables, wherever they come from, and comparing the values that they hold.

An empty cell is None, NaN or pandas' NA; arguments and results of tool calls are JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from inquesto_dag.protocol.models import Scalar

Row = Mapping[str, Any]


def present(value: Any) -> bool:
    """Whether a cell holds a value."""
    return value is not None and type(value).__name__ != "NAType" and bool(value == value)


def by_call(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows grouped by their call, in their order."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(str(row["call_id"]), []).append(row)
    return grouped


def severity_number(severity: str) -> int:
    """3 for `S3`; the order of severities."""
    return int(severity[1:])


def arguments_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool call's row; empty when the brain gave something that is no object."""
    given = row["arguments"]
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return {}
    return dict(value) if isinstance(value, Mapping) else {}


def same_scalar(a: Scalar | float, b: Scalar | float) -> bool:
    """Equality of account values: text without regard to case and edges; 1, True and "1" are three values."""
    if isinstance(a, str) and isinstance(b, str):
        return a.strip().casefold() == b.strip().casefold()
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return (type(a) in (int, float) and type(b) in (int, float) and a == b) or (a is None and b is None)
