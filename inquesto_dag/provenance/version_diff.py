"""What differs between two protocol versions, field by field, as their files say it.

The files are compared as they are written, not as they are loaded: a line that every caller shares is one
difference and not thirty. An item of a list is named by its `id`, or else by its `group` or place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.protocol.load import file_digests
from inquesto_dag.provenance.params import load_yaml

NAMES = ("id", "group")


@dataclass(frozen=True)
class Difference:
    """One field of one file; `before` or `after` is None where the version has no such field.

    `field` is empty when the difference is the file's: it is in one version only, or its layout differs.
    """

    file: str
    field: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        place = f"{self.file}: {self.field}" if self.field else self.file
        if self.before is None:
            return f"+ {place}: {self.after}"
        if self.after is None:
            return f"- {place}: {self.before}"
        return f"~ {place}: {self.before} -> {self.after}"


def diff_versions(before: Path, after: Path) -> list[Difference]:
    """Every difference between two versions' folders, in the order of files and fields; none when equal.

    Raises InputError for a folder without protocol files and for a file that is not YAML.
    """
    old, new = file_digests(before), file_digests(after)
    found: list[Difference] = []
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            found.append(Difference(name, "", "in the first version only", None))
        elif name not in old:
            found.append(Difference(name, "", None, "in the second version only"))
        elif old[name] != new[name]:
            fields = list(_differences(name, "", load_yaml(before / name), load_yaml(after / name)))
            found += fields or [Difference(name, "", "the same values", "written differently")]
    return found


def _differences(file: str, place: str, old: Any, new: Any) -> Iterator[Difference]:
    before, after = _children(old), _children(new)
    if before is None or after is None:
        if old != new or type(old) is not type(new):
            yield Difference(file, place, _text(old), _text(new))
        return
    for key in [*before, *(key for key in after if key not in before)]:
        inner = f"{place}.{key}" if place else key
        if key not in after:
            yield Difference(file, inner, _text(before[key]), None)
        elif key not in before:
            yield Difference(file, inner, None, _text(after[key]))
        else:
            yield from _differences(file, inner, before[key], after[key])
    shared = [key for key in before if key in after]
    if isinstance(old, list) and shared != [key for key in after if key in before]:
        yield Difference(file, place, "in this order", ", ".join(key for key in after if key in before))


def _children(value: Any) -> dict[str, Any] | None:
    """The parts of a mapping, or of a list of mappings; None for what is compared as a whole."""
    if isinstance(value, Mapping):
        return {str(key): inner for key, inner in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        keys = [
            next((str(item[name]) for name in NAMES if name in item), str(place))
            for place, item in enumerate(value)
        ]
        return dict(zip(keys, value, strict=True)) if len(set(keys)) == len(keys) else None
    return None


def _text(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=str, sort_keys=True)
