"""A link of the chain behind a record, and how its check came out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

# ok: it holds. changed: something else stands there now. missing: it is nowhere. not available here: it
# cannot be looked at in this place. dirty: the record was made from files that no commit holds. note: it
# differs and need not hold (a package's version, say).
Outcome = Literal["ok", "changed", "missing", "not available here", "dirty", "note"]
FAILED: tuple[Outcome, ...] = ("changed", "missing", "dirty")
SHOWN = 4  # differences that a line names


@dataclass(frozen=True)
class Link:
    """One link: what is checked (`calls: output`), the outcome, and what exactly was found."""

    name: str
    outcome: Outcome
    detail: str = ""

    @property
    def failed(self) -> bool:
        """Whether an audit with this link fails."""
        return self.outcome in FAILED


def holds(name: str, faults: Sequence[str], outcome: Outcome = "changed", detail: str = "") -> Link:
    """`ok` with the detail when there are no faults, else the outcome with the first of them."""
    if not faults:
        return Link(name, "ok", detail)
    more = f"; and {len(faults) - SHOWN} more" if len(faults) > SHOWN else ""
    return Link(name, outcome, "; ".join(faults[:SHOWN]) + more)


def differences(recorded: Any, found: Any, path: str = "") -> list[str]:
    """Where two JSON values differ, `path: recorded … , found …` each, in the order of the first."""
    if isinstance(recorded, Mapping) and isinstance(found, Mapping):
        faults: list[str] = []
        for key in [*recorded, *(key for key in found if key not in recorded)]:
            inner = f"{path}.{key}" if path else str(key)
            if key not in found:
                faults.append(f"{inner}: the record has {_short(recorded[key])}, there is none")
            elif key not in recorded:
                faults.append(f"{inner}: the record has none, there is {_short(found[key])}")
            else:
                faults += differences(recorded[key], found[key], inner)
        return faults
    if isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        return [
            fault
            for number, (a, b) in enumerate(zip(recorded, found, strict=True))
            for fault in differences(a, b, f"{path}.{number}")
        ]
    if recorded == found and isinstance(recorded, bool) == isinstance(found, bool):
        return []
    return [f"{path}: the record has {_short(recorded)}, there is {_short(found)}"]


def row_differences(
    stored: Iterable[Mapping[str, Any]], found: Iterable[Mapping[str, Any]], key: Sequence[str]
) -> list[str]:
    """Where two tables differ: rows that only one of them has, and cells that are others, by key."""

    def by_key(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
        return {tuple(row[name] for name in key): row for row in rows}

    before, after = by_key(stored), by_key(found)
    faults = []
    for row_key in sorted(before.keys() | after.keys(), key=str):
        name = " ".join(str(part) for part in row_key)
        if row_key not in after:
            faults.append(f"{name}: stands in the table and is not found again")
        elif row_key not in before:
            faults.append(f"{name}: is found and does not stand in the table")
        else:
            cells = [c for c in before[row_key] if before[row_key][c] != after[row_key].get(c)]
            faults += [
                f"{name}: {c} is {_short(before[row_key][c])}, found {_short(after[row_key].get(c))}"
                for c in cells
            ]
    return faults


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
