"""Files that cannot be read or written: told with file, line and next step, whatever is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import make_folder, parse_yaml, read_yaml, write_bytes


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"a: 1\nb: 2\na: 3\n", r"is not valid YAML \(line 3: the key 'a' is given twice\)"),
        (b"x:\n  - b: {c: 1, c: 2}\n", r"line 2: the key 'c' is given twice"),
        (b"a: [1\nb: 2\n", r"is not valid YAML \(line 2: "),
        (b"a: \xff\n", r"cannot be read \('utf-8' codec"),
        (b"a: !!python/name:os.system x\n", r"is not valid YAML \(line 1: could not determine a constructor"),
        (b"- " * 20_000, r"is not valid YAML"),
    ],
)
def test_a_yaml_file_that_is_none_is_told_with_its_line(tmp_path: Path, data: bytes, told: str) -> None:
    """A key given twice above all: YAML itself keeps the last, and the first is ignored silently."""
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    with pytest.raises(InputError, match=told) as raised:
        read_yaml(path, missing="restore it")
    assert raised.value.where == str(path) and raised.value.remedy


def test_a_yaml_file_that_is_not_there_or_a_folder(tmp_path: Path) -> None:
    """The caller says where it comes from."""
    with pytest.raises(InputError, match=r"x\.yaml: does not exist\n  next: restore it"):
        read_yaml(tmp_path / "x.yaml", missing="restore it")
    with pytest.raises(InputError, match="cannot be read"):
        read_yaml(tmp_path, missing="restore it")


def test_yaml_that_is_right_is_read_as_ever() -> None:
    """Anchors, merge keys and equal keys of different maps are no doubles; an empty text is None."""
    text = "a: &x {k: 1, l: 2}\nb: {<<: *x, k: 3}\nc: [*x, *x]\n1: one\n'1': text\n"
    inner = {"k": 1, "l": 2}
    assert parse_yaml(text) == {
        "a": inner, "b": {"k": 3, "l": 2}, "c": [inner, inner], 1: "one", "1": "text"
    }  # fmt: skip
    assert parse_yaml("") is None


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file stands in its place, or above it."""
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "inner"):
        with pytest.raises(InfrastructureError, match=r"file.*: cannot be made a folder: .*\n  next: "):
            make_folder(folder)
    with pytest.raises(InfrastructureError, match="cannot be made a folder"):
        write_bytes(tmp_path / "file" / "x", b"")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
