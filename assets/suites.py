"""What every table must hold, as expectations: from its schema, and from what the stage promises beyond it.

An expectation here is data, its class name in `great_expectations.expectations` and its arguments; Great
Expectations itself takes seconds to import and is imported only where a table is validated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from inquesto_dag.tables import Kind, Table

# The type of a cell's value as Great Expectations names it, for each kind of `tables.DTYPES`.
CELL_TYPES: Mapping[Kind, str] = {"string": "str", "int": "int64", "float": "float64", "bool": "bool"}


@dataclass(frozen=True)
class Expectation:
    """One expectation: its class, its arguments, and a condition on the rows that it is about."""

    kind: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.kind}({shown})"


def expect(kind: str, **arguments: Any) -> Expectation:
    """An expectation of a class such as `ExpectColumnValuesToBeBetween`."""
    return Expectation(kind, arguments)


def expect_where(condition: str, kind: str, **arguments: Any) -> Expectation:
    """The same about the rows for which a pandas query holds."""
    return expect(kind, **arguments, row_condition=condition, condition_parser="pandas")


def expect_order(low: str, high: str, *, equal: bool = True) -> Expectation:
    """That one column is below another in every row that has both."""
    return expect(
        "ExpectColumnPairValuesAToBeGreaterThanB",
        column_A=high,
        column_B=low,
        or_equal=equal,
        ignore_row_if="either_value_is_missing",
    )


def schema_expectations(table: Table) -> list[Expectation]:
    """Columns in order, types, empty cells, closed sets, limits, and the key's uniqueness."""
    found = [expect("ExpectTableColumnsToMatchOrderedList", column_list=[c.name for c in table.columns])]
    for column in table.columns:
        name = column.name
        found.append(expect("ExpectColumnValuesToBeOfType", column=name, type_=CELL_TYPES[column.kind]))
        if not column.nullable:
            found.append(expect("ExpectColumnValuesToNotBeNull", column=name))
        if column.values:
            found.append(expect("ExpectColumnValuesToBeInSet", column=name, value_set=list(column.values)))
        if column.minimum is not None or column.maximum is not None:
            found.append(
                expect(
                    "ExpectColumnValuesToBeBetween",
                    column=name,
                    min_value=column.minimum,
                    max_value=column.maximum,
                )
            )
    if len(table.key) == 1:
        found.append(expect("ExpectColumnValuesToBeUnique", column=table.key[0]))
    else:
        found.append(expect("ExpectCompoundColumnsToBeUnique", column_list=list(table.key)))
    return found


@dataclass(frozen=True)
class Validation:
    """The outcome: how many expectations were met, and a sentence for each that was not."""

    expectations: int
    failures: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether all were met."""
        return not self.failures


def validate_table(name: str, frame: pd.DataFrame, expectations: Sequence[Expectation]) -> Validation:
    """Validate a table by Great Expectations; an expectation that cannot be computed is one not met."""
    import os

    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    import great_expectations.expectations as classes
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("disk").add_dataframe_asset(name)
    batch = source.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})
    suite = gx.ExpectationSuite(
        name=name, expectations=[getattr(classes, e.kind)(**e.arguments) for e in expectations]
    )
    results = batch.validate(suite).results
    failures = sorted(_sentence(result) for result in results if not result.success)
    return Validation(len(results), tuple(failures))


def _sentence(result: Any) -> str:
    config = result.expectation_config
    arguments = {name: value for name, value in config.kwargs.items() if name != "batch_id"}
    seen = {
        name: result.result[name]
        for name in ("observed_value", "unexpected_count", "partial_unexpected_list")
        if result.result.get(name)
    }
    error = next(iter(result.exception_info.values()), None) if not seen else None
    if isinstance(error, dict):
        seen["error"] = error.get("exception_message")
    return f"{config.type} {arguments}: {seen or 'not met'}"
