"""What was loaded: digests of model files and versions of packages, for identities (PROTOCOL D16)."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.errors import InputError
from inquesto_dag.files import sha256_file

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


@lru_cache(maxsize=256)
def _digest(path: Path, size: int, modified_ns: int) -> str:
    return sha256_file(path)


def digest_of(path: Path) -> str:
    """Hex SHA-256 of a file, read once per process and state of the file; InputError when it is missing."""
    try:
        state = path.stat()
    except FileNotFoundError as error:
        raise InputError(
            "model file does not exist", where=path, remedy="run `inquesto-dag models fetch`"
        ) from error
    return _digest(path, state.st_size, state.st_mtime_ns)


def versions_of(*packages: str) -> dict[str, str]:
    """Versions of installed packages by name."""
    return {package: version(package) for package in packages}


def open_session(model: Path, threads: int) -> InferenceSession:
    """An ONNX session on the CPU with this many threads; InputError when the file is no ONNX model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; warnings about unused initialisers help nobody
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own exceptions share no base class
        raise InputError(
            f"is not a readable ONNX model ({str(error).splitlines()[0]})",
            where=model,
            remedy="run `inquesto-dag models fetch`",
        ) from error


def installed_file(module: str, relative: str) -> Path:
    """A file inside an installed package, found without importing it; InputError when it is not there."""
    spec = find_spec(module)
    path = Path(spec.origin).parent / relative if spec and spec.origin else Path(module) / relative
    if not path.is_file():
        raise InputError("does not exist", where=path, remedy=f"install the package {module}")
    return path


def single_name(values: list[Any], what: str, model: Path) -> str:
    """The name of the only input or output of a session; InputError when there is another number of them."""
    if len(values) != 1:
        names = ", ".join(value.name for value in values)
        raise InputError(f"has {len(values)} {what} ({names}), expected 1", where=model)
    return str(values[0].name)
