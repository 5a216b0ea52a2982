"""The suites of every table: what they accept, and that each expectation refuses what it is meant for."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest

from assets.suites import expect, schema_expectations, validate_table
from inquesto_dag.tables import TABLES, Column, Table
from tests.assets.tables_that_pass import passing_table

Break = Callable[[pd.DataFrame], pd.DataFrame]


def faults(table: Table) -> dict[str, tuple[str, Break]]:
    """For each rule of a schema: the expectation that must complain, and a table that breaks the rule."""
    found: dict[str, tuple[str, Break]] = {
        "a column is missing": (
            "expect_table_columns_to_match_ordered_list",
            lambda frame: frame.drop(columns=frame.columns[-1]),
        ),
        "columns are in another order": (
            "expect_table_columns_to_match_ordered_list",
            lambda frame: frame[list(reversed(frame.columns))],
        ),
        "a key occurs twice": (
            "expect_column_values_to_be_unique"
            if len(table.key) == 1
            else "expect_compound_columns_to_be_unique",
            lambda frame: pd.concat([frame, frame.iloc[:1]], ignore_index=True),
        ),
    }
    for column in table.columns:
        name = column.name
        found[f"{name} has another type"] = (
            "expect_column_values_to_be_of_type",
            lambda frame, c=column: frame.assign(**{c.name: _other_type(c)}),
        )
        if not column.nullable:
            found[f"{name} is empty"] = (
                "expect_column_values_to_not_be_null",
                lambda frame, n=name: frame.assign(**{n: frame[n].mask([False, True])}),
            )
        if column.values:
            found[f"{name} is none of its values"] = (
                "expect_column_values_to_be_in_set",
                lambda frame, n=name: frame.assign(**{n: pd.array(["elsewhere"] * 2, dtype="string")}),
            )
        for limit, step in ((column.minimum, -1), (column.maximum, 1)):
            if limit is not None:
                found[f"{name} is beyond {limit}"] = (
                    "expect_column_values_to_be_between",
                    lambda frame, n=name, v=limit + step: frame.assign(
                        **{n: frame[n].mask([False, True], v)}
                    ),
                )
    return found


def _other_type(column: Column) -> list[object]:
    return [1, 2] if column.kind == "string" else ["one", "two"]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_its_schema_passes(name: str) -> None:
    """No expectation complains about a sound table."""
    outcome = validate_table(name, passing_table(name), schema_expectations(TABLES[name]))
    assert outcome.failures == ()
    assert outcome.expectations > 2 * len(TABLES[name].columns) - 1


@pytest.mark.parametrize(
    ("name", "fault"), [(name, fault) for name, table in TABLES.items() for fault in faults(table)]
)
def test_every_rule_of_a_schema_can_fail(name: str, fault: str) -> None:
    """A table with one fault is refused by the expectations of the kind that is meant for it."""
    complains, damage = faults(TABLES[name])[fault]
    # Only those, because a whole suite takes half a second and there are some 400 faults.
    meant = [e for e in schema_expectations(TABLES[name]) if snake(e.kind) == complains]
    outcome = validate_table(name, damage(passing_table(name)), meant)
    assert len(outcome.failures) == 1, outcome.failures
    assert outcome.failures[0].startswith(complains)


def snake(kind: str) -> str:
    """`ExpectColumnValuesToBeUnique` as Great Expectations reports it."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()


def test_an_expectation_that_cannot_be_computed_is_not_met() -> None:
    """A suite about a column that is not there must not pass."""
    outcome = validate_table(
        "heard", passing_table("heard"), [expect("ExpectColumnValuesToNotBeNull", column="nowhere")]
    )
    assert not outcome.passed
    assert "nowhere" in outcome.failures[0]
