"""From tables to the plain values that a page's data files hold: no pandas NA, no NaN, nested JSON parsed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Rows: TypeAlias = "pd.DataFrame | Sequence[Mapping[str, Any]]"


def plain_rows(table: Rows) -> list[Row]:
    """A table's rows, given as a frame or as dicts, as dicts of Python values; every empty cell is None."""
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        columns = list(table.columns)
        table = [
            dict(zip(columns, values, strict=True))
            for values in table.astype(object).itertuples(index=False, name=None)
        ]
    return [{name: None if _empty(cell) else cell for name, cell in row.items()} for row in table]


def _empty(cell: Any) -> bool:
    import pandas as pd

    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def rows_by_call(table: Rows, *order: str) -> dict[str, list[Row]]:
    """Rows of each call, sorted by the columns of `order`."""
    grouped: dict[str, list[Row]] = {}
    for row in plain_rows(table):
        grouped.setdefault(str(row["call_id"]), []).append(row)
    for rows in grouped.values():
        rows.sort(key=lambda row: tuple(row[name] for name in order))
    return grouped


def parsed(text: str | None) -> Any:
    """The value of a JSON cell; text that is not JSON stays text, an empty cell is None."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element or file: compact, key-sorted, no `<`, NaN as null."""
    text = json.dumps(
        _finite(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return (
        text.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return [_finite(item) for item in value]


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Dotted paths to the leaves of nested data; a list of records is addressed by their `id`."""
    if isinstance(value, Mapping):
        pairs = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list | tuple):
        pairs = [
            (str(item["id"]) if isinstance(item, Mapping) and "id" in item else str(index), item)
            for index, item in enumerate(value)
        ]
    else:
        return {prefix: value}
    leaves: dict[str, Any] = {}
    for key, item in pairs:
        leaves |= flatten(item, f"{prefix}.{key}" if prefix else key)
    return leaves
