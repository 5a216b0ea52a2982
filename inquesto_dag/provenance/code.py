"""Which modules of the package a module imports, read in the source, so that nothing needs to be run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

from inquesto_dag.errors import InputError

PACKAGE = "inquesto_dag"
ROOT = Path(__file__).parents[2]  # the folder that holds the package


def reachable(start: str, stop: Iterable[str] = ()) -> set[str]:
    """Every module of the package that `start` imports, directly or not, without entering those of `stop`."""
    found: set[str] = set()
    waiting, closed = [start], frozenset(stop)
    while waiting:
        module = waiting.pop()
        if module in found or module in closed:
            continue
        found.add(module)
        waiting += imports_of(module)
    return found


@cache
def imports_of(module: str) -> frozenset[str]:
    """The package's modules that a module imports anywhere, functions included, but not for types only."""
    names: set[str] = set()
    for node in running(parse_module(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = imported_from(node, module)
            names |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in names if is_module(name))


def running(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes below one but those under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if is_typing_only(child):
            for other in child.orelse:
                yield other
                yield from running(other)
            continue
        yield child
        yield from running(child)


def is_typing_only(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imported_from(node: ast.ImportFrom, module: str) -> str:
    """The module that a `from ... import` names; InputError for what the walk could not follow."""
    if node.level or node.module is None or any(alias.name == "*" for alias in node.names):
        raise InputError(
            "imports relatively or by star, which hides what it depends on",
            where=f"{module}, line {node.lineno}",
            remedy="name the module and what is imported",
        )
    return node.module


def parse_module(module: str) -> ast.Module:
    """The syntax tree of a module's source as it lies on disk now."""
    return ast.parse(path_of(module).read_bytes())


def path_of(module: str) -> Path:
    """The file of a module of the package; a folder without `__init__.py` is data, as Python takes it too."""
    base = ROOT.joinpath(*module.split("."))
    package = base / "__init__.py"
    return package if package.is_file() else base.with_suffix(".py")


@cache
def is_module(name: str) -> bool:
    """Whether a dotted name is a module of the package."""
    return name.split(".")[0] == PACKAGE and path_of(name).is_file()
