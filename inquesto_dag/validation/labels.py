"""Labels: what a person answers to the rubric, as a CSV file that any spreadsheet opens.

Columns, with a header line, in UTF-8:

    call_id    the call, `SCENARIO.CONDITION.GROUP`
    question   the id of a question of the rubric, such as `wrong_information`
    answer     `yes`, `no` or `unsure`
    labeller   who answered; may be empty
    note       why, in free words; may be empty

A call and a question have one answer in a file: two people write two files, which can then be compared.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.errors import InputError
from inquesto_dag.files import write_bytes
from inquesto_dag.validation.agreement import Answers

COLUMNS = ("call_id", "question", "answer", "labeller", "note")
ANSWERS: Mapping[str, bool | None] = {"yes": True, "no": False, "unsure": None}


@dataclass(frozen=True)
class Label:
    """One answer of one person to one question about one call."""

    call_id: str
    question: str
    answer: str
    labeller: str = ""
    note: str = ""


def read_labels(path: Path) -> list[Label]:
    """The labels of a file, in order; InputError names the line and column of what is wrong with it."""
    try:
        # A spreadsheet may put a byte order mark before the first column's name.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise InputError(
            "does not exist", where=path, remedy="write one with `inquesto-dag label AGENT`"
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=path, remedy="name a CSV file") from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text", where=path, remedy="save it as CSV in UTF-8") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        where = f"{path}, line {reader.line_num}"
        raise InputError(
            f"is not CSV: {error}", where=where, remedy="close the quote that is open"
        ) from error
    if not rows:
        raise InputError("is empty", where=path, remedy=f"start with the header {','.join(COLUMNS)}")
    header = [cell.strip() for cell in rows[0][1]]
    if header != list(COLUMNS):
        raise InputError(
            f"has the header {','.join(header)}", where=path, remedy=f"it must be {','.join(COLUMNS)}"
        )
    labels = [_label(path, line, row) for line, row in rows[1:]]
    seen: dict[tuple[str, str], int] = {}
    for (line, _), label in zip(rows[1:], labels, strict=True):
        key = (label.call_id, label.question)
        if key in seen:
            raise InputError(
                f"answers {label.question} of {label.call_id} a second time",
                where=f"{path}, line {line}",
                remedy=f"keep one of the lines {seen[key]} and {line}",
            )
        seen[key] = line
    return labels


def _label(path: Path, line: int, row: list[str]) -> Label:
    where = f"{path}, line {line}"
    if len(row) != len(COLUMNS):
        raise InputError(
            f"has {len(row)} columns and not {len(COLUMNS)}",
            where=where,
            remedy=f"give {', '.join(COLUMNS)}; put a text with a comma in quotes",
        )
    label = Label(*(cell.strip() for cell in row))
    for name in ("call_id", "question"):
        if not getattr(label, name):
            raise InputError("is empty", where=where, field=name, remedy="fill it in, or remove the line")
    if label.answer.lower() not in ANSWERS:
        raise InputError(
            f"is {label.answer!r}", where=where, field="answer", remedy=f"use one of {', '.join(ANSWERS)}"
        )
    return Label(label.call_id, label.question, label.answer.lower(), label.labeller, label.note)


def write_labels(path: Path, labels: Iterable[Label]) -> None:
    """Write a file of labels, whole or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(label) for label in labels)
    write_bytes(path, text.getvalue().encode())


def label_answers(labels: Iterable[Label]) -> Answers:
    """Labels as answers; an unsure one is none."""
    return {(label.call_id, label.question): ANSWERS[label.answer] for label in labels}


def verdict_answers(rows: Iterable[Mapping[str, Any]]) -> Answers:
    """Rows of `tables.VERDICTS` as answers."""
    return {(str(row["call_id"]), str(row["question"])): row["answer"] for row in rows}
