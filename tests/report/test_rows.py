"""From tables to plain values, and from values to script text."""

from __future__ import annotations

import json
import math

import pandas as pd

from inquesto_dag import tables
from inquesto_dag.report.rows import flatten, parsed, plain_rows, rows_by_call, script_json


def test_empty_cells_become_none_and_types_become_plain() -> None:
    """NA of every nullable dtype is None; numbers and flags are JSON's own."""
    row = {name: None for name in ("time_s", "value", "threshold", "unit")}
    frame = tables.EVENTS.conform(
        [
            {
                "call_id": "a.b.c",
                "event": "verbose",
                "severity": "S1",
                "source": "transcript",
                "evidence": "{}",
                **row,
            }
        ]
    )
    (plain,) = plain_rows(frame)
    assert plain["time_s"] is None and plain["unit"] is None
    assert json.loads(script_json(plain))["event"] == "verbose"


def test_rows_and_frames_are_taken_alike() -> None:
    """A stage hands over rows or frames; both give the same, NaN included."""
    rows = [{"call_id": "x", "value": math.nan}, {"call_id": "y", "value": 2.0}]
    assert (
        plain_rows(rows)
        == plain_rows(pd.DataFrame(rows))
        == [
            {"call_id": "x", "value": None},
            {"call_id": "y", "value": 2.0},
        ]
    )


def test_rows_of_a_call_are_in_the_order_of_their_key() -> None:
    """Whatever order the table has."""
    rows = [{"call_id": "x", "turn": 2}, {"call_id": "y", "turn": 0}, {"call_id": "x", "turn": 1}]
    assert [row["turn"] for row in rows_by_call(rows, "turn")["x"]] == [1, 2]


def test_script_json_cannot_leave_its_script_element() -> None:
    """A text that closes the element, or a line separator, stays text; what is read back is the same."""
    text = "</script><!-- \u2028 & done"
    written = script_json({"said": text, "level": math.nan})
    assert "<" not in written and "\u2028" not in written
    assert json.loads(written) == {"said": text, "level": None}


def test_a_cell_that_is_no_json_stays_text() -> None:
    """Nothing of a raw reply is lost; an empty cell is None."""
    assert parsed("not json") == "not json"
    assert parsed('{"a": 1}') == {"a": 1}
    assert parsed(None) is None


def test_leaves_are_named_by_id_where_there_is_one() -> None:
    """Lists of records by id, other lists by position."""
    assert flatten({"a": [{"id": "x", "v": 1}], "b": [2]}) == {"a.x.id": "x", "a.x.v": 1, "b.0": 2}
