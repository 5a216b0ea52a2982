"""Reading and writing files so that nothing is lost: every write is to a temporary name, then a rename.

A reader therefore sees the old file or the new one, never a half; a kill leaves at most a `.tmp-*` file,
which the next write to the same folder does not mind and `sweep_temporaries` removes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.errors import InfrastructureError, InputError

if TYPE_CHECKING:
    import pandas as pd
    import yaml

TEMPORARY = ".tmp-"


def canonical_json(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no spaces, UTF-8, no NaN. The input of every digest."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def sha256_bytes(data: bytes) -> str:
    """Hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder that becomes `path` when the block ends without an error.

    Raises InfrastructureError when the disk is full or not writable; nothing half-written stays.
    """
    temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{uuid.uuid4().hex[:8]}-{path.name}")
    make_folder(path.parent)
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise InfrastructureError(
                f"could not be written: {error.strerror}",
                where=path,
                remedy="free space or make the folder writable, then run the same command again",
            ) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it; InfrastructureError when a file is in its place or nobody may."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"cannot be made a folder: {error.strerror}",
            where=path,
            remedy="name another folder, remove the file in its place, or make the one above it writable",
        ) from error


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def json_bytes(value: Any) -> bytes:
    """Indented, key-sorted JSON with a last newline: the same value always gives the same bytes."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def write_json(path: Path, value: Any) -> None:
    """Write `json_bytes` atomically."""
    write_bytes(path, json_bytes(value))


def read_json(path: Path) -> Any:
    """Read a JSON file; InputError names the file when it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("does not exist", where=path, remedy="run the stage that writes it") from error
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"is not valid JSON ({error})", where=path, remedy="restore the file") from error


def read_yaml(path: Path, *, missing: str) -> Any:
    """The content of a YAML file; `missing` is the remedy when there is none.

    InputError names the file and, where there is one, the line: it is missing, no text, not YAML, or holds a
    key twice, of which YAML would keep the last silently.
    """
    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("does not exist", where=path, remedy=missing) from error
    except (UnicodeDecodeError, OSError) as error:
        raise InputError(f"cannot be read ({error})", where=path, remedy="restore the file") from error
    except ValueError as error:
        raise InputError(
            f"is not valid YAML ({error})", where=path, remedy="correct the marked line"
        ) from error


def parse_yaml(text: str) -> Any:
    """The content of a YAML text; ValueError, with the line, when it is none or holds a key twice."""
    import yaml

    # libyaml's parser where it is built in: ten times as fast, and definitions read dvc.yaml 30 times.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_double_keys(node)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{place}{error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    finally:
        loader.dispose()


def _refuse_double_keys(root: yaml.Node) -> None:
    import yaml

    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias of what was looked at
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in keys:
                        line = key.start_mark.line + 1
                        raise ValueError(f"line {line}: the key {key.value!r} is given twice")
                    keys.add((key.tag, key.value))
                waiting.append(value)


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a parquet table atomically, without the index; the same table gives the same bytes."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False, engine="pyarrow", compression="zstd")


def read_table(path: Path) -> pd.DataFrame:
    """Read a parquet table; InputError names the file when it is missing or truncated."""
    import pandas as pd
    import pyarrow as pa

    try:
        return pd.read_parquet(path, engine="pyarrow")
    except FileNotFoundError as error:
        raise InputError("does not exist", where=path, remedy="run the stage that writes it") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            f"is not a readable parquet table ({error})",
            where=path,
            remedy="restore it with `dvc checkout` or run its stage again",
        ) from error


def sweep_temporaries(folder: Path) -> int:
    """Remove what killed writers left in a folder and below; returns how many files."""
    leftovers = [p for p in folder.rglob(f"{TEMPORARY}*") if p.is_file()]
    for path in leftovers:
        path.unlink(missing_ok=True)
    return len(leftovers)
