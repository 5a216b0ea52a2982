"""Labels in a CSV: what is written is read again, and what is malformed is named by its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.errors import InputError
from inquesto_dag.validation.labels import ANSWERS, COLUMNS, Label, label_answers, read_labels, write_labels

HEADER = ",".join(COLUMNS)
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff"), max_size=20)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Commas, quotes, line breaks and other alphabets included."""
    labels = [
        Label("a.clean.us_male", "goal_reached", "yes", "Ada", 'said "done", twice'),
        Label("b.clean.us_male", "goal_reached", "unsure", "", "één\nregel"),
        Label("b.clean.us_male", "context_loss", "no"),
    ]
    path = tmp_path / "deep" / "labels.csv"
    write_labels(path, labels)
    assert read_labels(path) == labels
    assert label_answers(labels) == {
        ("a.clean.us_male", "goal_reached"): True,
        ("b.clean.us_male", "goal_reached"): None,
        ("b.clean.us_male", "context_loss"): False,
    }
    assert [p.name for p in path.parent.iterdir()] == ["labels.csv"]


@given(st.lists(st.tuples(st.sampled_from(list(ANSWERS)), TEXT, TEXT), max_size=5))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    """Whatever a person writes, but for blanks at its edges."""
    path = tmp_path_factory.mktemp("labels") / "l.csv"
    labels = [
        Label(f"c{i}", "q", answer, who.strip(), note.strip()) for i, (answer, who, note) in enumerate(rows)
    ]
    write_labels(path, labels)
    assert read_labels(path) == labels


def test_a_spreadsheet_may_mark_its_bytes_and_leave_blank_lines(tmp_path: Path) -> None:
    """Windows line ends, a byte order mark, `Yes` with a capital."""
    path = tmp_path / "l.csv"
    path.write_bytes(f"\ufeff{HEADER}\r\nc1,q, Yes ,Ada,\r\n\r\n".encode())
    assert read_labels(path) == [Label("c1", "q", "yes", "Ada", "")]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("call,answer\nc1,yes\n", "has the header call,answer"),
        (f"{HEADER}\nc1,q,yes\n", r"line 2: has 3 columns and not 5"),
        (f"{HEADER}\nc1,q,yes,Ada,one, two\n", r"line 2: has 6 columns .*\n.*in quotes"),
        (f"{HEADER}\nc1,q,maybe,Ada,\n", r"line 2: answer: is 'maybe'"),
        (f"{HEADER}\nc1,,yes,Ada,\n", r"line 2: question: is empty"),
        (f"{HEADER}\nc1,q,yes,,\nc2,q,no,,\nc1,q,no,,\n", r"line 4: answers q of c1 a second time"),
        (f'{HEADER}\nc1,q,yes,,"open\n', r"is not CSV"),
    ],
)
def test_a_malformed_file_is_refused_by_line(tmp_path: Path, text: str, match: str) -> None:
    """With what is wrong, and what to do."""
    path = tmp_path / "l.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=match):
        read_labels(path)


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    """By name."""
    with pytest.raises(InputError, match="does not exist"):
        read_labels(tmp_path / "none.csv")
    path = tmp_path / "l.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_labels(path)
