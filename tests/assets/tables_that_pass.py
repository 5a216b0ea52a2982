"""Small tables that every suite accepts, from the schemas; the tests break them one cell at a time."""

from __future__ import annotations

from typing import Any

import pandas as pd

from inquesto_dag.tables import TABLES, Column, Table

SHA = "a" * 64


def passing_table(name: str, **columns: list[Any]) -> pd.DataFrame:
    """Two rows (or as many as `columns` give) that satisfy the schema of a table."""
    table = TABLES[name]
    count = max((len(values) for values in columns.values()), default=2)
    rows = [{c.name: _value(table, c, number) for c in table.columns} for number in range(count)]
    for column, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[column] = value
    return table.conform(rows)


def _value(table: Table, column: Column, number: int) -> Any:
    if column.values:
        return column.values[0]
    if column.kind == "string":
        return f"{column.name}-{number}" if column.name in table.key else f"some {column.name} {number}"
    if column.kind == "bool":
        return True
    low = column.minimum or 0
    if column.kind == "int":
        return int(low) + number
    high = column.maximum if column.maximum is not None else low + 1.0
    return low + 0.25 * (high - low)
