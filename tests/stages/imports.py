"""Which modules of the project a module imports, found in the source, so that nothing needs to be run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "inquesto_dag"


def reachable(start: str, stop: frozenset[str]) -> set[str]:
    """Every module of the project that `start` imports, directly or not, without entering those of `stop`."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        module = waiting.pop()
        if module in found or module in stop:
            continue
        found.add(module)
        waiting += imports_of(module)
    return found


@cache
def imports_of(module: str) -> frozenset[str]:
    """The project's modules that a module imports anywhere, functions included, but not for types only."""
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in _running(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{module} imports relatively; the project does not")
    return frozenset(name for name in names if name.split(".")[0] == PACKAGE and _exists(name))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield other
                yield from _running(other)
            continue
        yield child
        yield from _running(child)


def path_of(module: str) -> Path:
    """The file of a module of the project."""
    base = ROOT.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def _exists(module: str) -> bool:
    return path_of(module).is_file()
