"""What a result depends on in the code: the definitions that a root reaches, and one digest of them.

The walk goes from name to name, not from module to module: a root's function, class or constant, every name
of the package in it, the names in those, and so on, annotations included (an argument's class is what is
called). A statement at the top of a module that defines nothing counts with every name of that module. The
digest is taken over the syntax trees without comments, docstrings and formatting, so that only an edit that
can change a result changes it; an annotation of a function counts by what it leads to alone. What a caller
hands in and no annotation names (an engine behind an interface) is a root of its own.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.provenance.code import PACKAGE, imported_from, is_module, is_typing_only, path_of

Definition = tuple[str, str]  # module, name at its top
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Documented = (ast.Module, ast.ClassDef, *_Function)


@dataclass(frozen=True)
class Closure:
    """The definitions behind some roots, the files that hold them, libraries they import, their digest."""

    definitions: frozenset[Definition]
    files: tuple[Path, ...]
    libraries: frozenset[str]  # importable names outside the package and the standard library
    digest: str


@dataclass
class _Reached:
    """What one definition's statements say: their shape, the names they lead to, libraries."""

    shape: str
    definitions: set[Definition] = field(default_factory=set)
    libraries: set[str] = field(default_factory=set)
    bindings: set[tuple[str, str]] = field(default_factory=set)  # imported name, what stands behind it


def close_over(roots: Iterable[Definition], stop: Iterable[Definition] = ()) -> Closure:
    """The closure of roots, without entering the definitions of `stop`, or modules given as (module, "*").

    InputError names a definition that does not exist.
    """
    closed = frozenset(stop)
    found: dict[Definition, _Reached] = {}
    sources: dict[str, _Source] = {}  # one look at each file
    waiting = list(roots)
    while waiting:
        definition = waiting.pop()
        if definition in found or definition in closed or (definition[0], "*") in closed:
            continue
        module, name = definition
        if module not in sources:
            sources[module] = _read(*_state(module))
        reached = found[definition] = sources[module].reach(name)
        waiting += reached.definitions
    listed = [
        [module, name, reached.shape, sorted(reached.bindings)]
        for (module, name), reached in sorted(found.items())
    ]
    return Closure(
        definitions=frozenset(found),
        files=tuple(sorted(path_of(module) for module in sources)),
        libraries=frozenset().union(*(reached.libraries for reached in found.values())),
        digest=sha256_bytes(canonical_json(listed)),
    )


def _state(module: str) -> tuple[str, Path, int, int]:
    path = path_of(module)
    state = path.stat()
    return module, path, state.st_size, state.st_mtime_ns


@lru_cache(maxsize=512)
def _read(module: str, path: Path, size: int, modified_ns: int) -> _Source:
    return _Source(module, path)


class _Source:
    """One module's source: which statements define which name, and what its imports bind."""

    def __init__(self, module: str, path: Path) -> None:
        self.module = module
        self._defined: dict[str, list[ast.stmt]] = {}
        self._imported: dict[str, str] = {}  # name here -> dotted name
        self._loose: list[ast.stmt] = []
        self._reached: dict[str, _Reached] = {}
        for statement in ast.parse(path.read_bytes()).body:
            self._file(statement)

    def _file(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._imported |= dict(self._bindings(statement))
        elif isinstance(statement, (*_Function, ast.ClassDef)):
            self._defined.setdefault(statement.name, []).append(statement)
        elif is_typing_only(statement):
            for other in statement.orelse:
                self._file(other)
        elif names := _assigned(statement):
            for name in names:
                self._defined.setdefault(name, []).append(statement)
        elif not _is_docstring(statement):
            self._loose.append(statement)

    def _bindings(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
        """Names that an import binds, with the dotted name behind each."""
        if isinstance(node, ast.ImportFrom):
            source = imported_from(node, self.module)
            yield from ((alias.asname or alias.name, f"{source}.{alias.name}") for alias in node.names)
        else:
            for alias in node.names:
                top = alias.name.split(".")[0]
                if top == PACKAGE and not alias.asname:
                    raise InputError(
                        f"imports {alias.name} without a name of its own",
                        where=f"{self.module}, line {node.lineno}",
                        remedy="write `from PACKAGE import MODULE`",
                    )
                yield (alias.asname, alias.name) if alias.asname else (top, top)

    def reach(self, name: str) -> _Reached:
        """What the definition of a name says; "*" is all of the module."""
        if name not in self._reached:
            statements = self._statements(name)
            reached = _Reached(" ".join(map(_shape, statements)))
            for statement in statements:
                self._follow(statement, reached)
            # A name that this module merely imports leads on to where it is defined.
            if not statements and name in self._imported:
                self._add(self._imported[name], None, reached, name)
            self._reached[name] = reached
        return self._reached[name]

    def _statements(self, name: str) -> list[ast.stmt]:
        if name == "*":
            everything = [statement for group in self._defined.values() for statement in group]
            return [*self._loose, *dict.fromkeys(everything)]
        if name not in self._defined and name not in self._imported:
            raise InputError(f"defines no {name}", where=self.module, field=name)
        return [*self._loose, *self._defined[name]] if name in self._defined else []

    def _follow(self, node: ast.AST, reached: _Reached, *, typed: bool = False) -> None:
        """Note what a statement leads to; `typed` in the annotation of a function, which computes nothing."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, dotted in self._bindings(node):
                self._add(dotted, None, reached, name)
            return
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            behind = self._imported.get(node.value.id)
            if behind is not None:
                self._add(behind, node.attr, reached, node.value.id, typed=typed)
                return
        if isinstance(node, ast.Name):
            if node.id in self._defined:
                reached.definitions.add((self.module, node.id))
            elif node.id in self._imported:
                self._add(self._imported[node.id], None, reached, node.id, typed=typed)
            return
        annotation = node.annotation if isinstance(node, ast.arg) else getattr(node, "returns", None)
        for child in ast.iter_child_nodes(node):
            self._follow(child, reached, typed=typed or child is annotation)

    def _add(
        self, dotted: str, attribute: str | None, reached: _Reached, name: str, *, typed: bool = False
    ) -> None:
        """Note a name that is used here and imported, and the attribute that is taken of it, if any."""
        top = dotted.split(".")[0]
        if not typed and not is_module(dotted):
            reached.bindings.add((name, dotted))
        if top != PACKAGE:
            if not typed and top not in sys.stdlib_module_names:
                reached.libraries.add(top)
        elif is_module(dotted):
            reached.definitions.add((dotted, attribute or "*"))
        else:
            module, _, defined = dotted.rpartition(".")
            reached.definitions.add((module, defined))


def _assigned(statement: ast.stmt) -> list[str]:
    """Names that a plain assignment binds; none for any other statement, or when it binds more than names."""
    targets: list[ast.expr]
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return []
    flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
    names = [e.id for e in flat if isinstance(e, ast.Name)]
    return names if len(names) == len(flat) else []


def _is_docstring(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


_NOT_SAID = frozenset({"ctx", "kind", "type_comment", "type_ignores", "returns"})


def _shape(node: ast.AST) -> str:
    """A syntax tree as text: the same for the same code in every supported version of Python.

    Left out are positions, docstrings, annotations of functions, and fields that are empty (versions differ
    in which of those a node has).
    """
    parts: list[str] = []
    _say(node, parts)
    return " ".join(parts)


def _say(node: object, parts: list[str]) -> None:
    if isinstance(node, ast.AST):
        parts.append(f"({type(node).__name__}")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is None or value == [] or name in _NOT_SAID:
                continue
            if name == "annotation" and isinstance(node, ast.arg):
                continue
            if name == "body" and isinstance(node, _Documented) and _is_docstring(value[0]):
                value = value[1:]
            parts.append(name)
            _say(value, parts)
        parts.append(")")
    elif isinstance(node, list):
        parts.append("[")
        for item in node:
            _say(item, parts)
        parts.append("]")
    else:
        parts.append(repr(node))
