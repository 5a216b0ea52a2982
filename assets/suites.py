"""What every table must hold, as expectations: from its schema, and from what the stage promises beyond it.

An expectation here is data, its class name in `great_expectations.expectations` and its arguments; Great
Expectations itself takes seconds to import and is imported only where a table is validated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inquesto_dag.tables import Kind, Table

if TYPE_CHECKING:
    import pandas as pd

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
class Outcome:
    """One expectation as it came out: what it is about, what it asks, whether it is met, what was seen."""

    kind: str
    about: str
    asks: str
    met: bool
    seen: str

    def __str__(self) -> str:
        asked = f" ({self.asks})" if self.asks else ""
        return f"{self.kind} {self.about}{asked}: {self.seen or 'not met'}"


@dataclass(frozen=True)
class Validation:
    """The outcome of every expectation, those that are not met first."""

    outcomes: tuple[Outcome, ...]

    @property
    def expectations(self) -> int:
        """How many expectations were computed."""
        return len(self.outcomes)

    @property
    def failures(self) -> tuple[str, ...]:
        """A sentence for each expectation that is not met."""
        return tuple(str(outcome) for outcome in self.outcomes if not outcome.met)

    @property
    def passed(self) -> bool:
        """Whether all were met."""
        return all(outcome.met for outcome in self.outcomes)


def validate_table(name: str, frame: "pd.DataFrame", expectations: Sequence[Expectation]) -> Validation:
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
    outcomes = [_outcome(result) for result in batch.validate(suite).results]
    return Validation(tuple(sorted(outcomes, key=lambda o: (o.met, o.about, o.kind, o.asks))))


# Arguments that say how an expectation is computed, not what it asks.
_PLUMBING = frozenset({"batch_id", "condition_parser", "ignore_row_if"})
_ABOUT = ("column", "column_A", "column_B", "column_list")
LONGEST_SET = 6  # values of a set that are shown


def _outcome(result: Any) -> Outcome:
    config = result.expectation_config
    arguments = {name: value for name, value in config.kwargs.items() if name not in _PLUMBING}
    columns = [arguments.pop(name) for name in _ABOUT if name in arguments]
    about = ", ".join(", ".join(map(str, c)) if isinstance(c, list) else str(c) for c in columns) or "table"
    where = arguments.pop("row_condition", None)
    if where:  # Great Expectations keeps a query as the settings of a filter
        about += f" where {where.get('pass_through_filter', where) if isinstance(where, dict) else where}"
    asks = ", ".join(f"{name}={_short(value)}" for name, value in arguments.items() if value is not None)
    return Outcome(config.type, about, asks, bool(result.success), _seen(result))


def _seen(result: Any) -> str:
    """What the table has, in words: an observed value, how many rows are wrong and some of them, an error."""
    found = result.result
    parts = []
    if found.get("observed_value") is not None:
        parts.append(str(_short(found["observed_value"])))
    if found.get("unexpected_count"):
        examples = ", ".join(str(value) for value in found.get("partial_unexpected_list", [])[:3])
        # An expectation about the distinct values counts those, and not the rows.
        count = found.get("element_count")
        of = f" of {count} rows are not" if count is not None else " are not expected"
        parts.append(f"{found['unexpected_count']}{of}: {examples}")
    elif "unexpected_count" in found and "element_count" in found:
        parts.append(f"{found['element_count']} rows")
    if not parts:
        error = next(iter(result.exception_info.values()), None)
        if isinstance(error, dict) and error.get("exception_message"):
            parts.append(f"error: {error['exception_message']}")
    return "; ".join(parts)


def _short(value: Any) -> Any:
    if isinstance(value, list | tuple | set) and len(value) > LONGEST_SET:
        shown = ", ".join(str(item) for item in list(value)[:LONGEST_SET])
        return f"[{shown}, … {len(value)} in all]"
    return value
