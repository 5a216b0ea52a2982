"""Which tests hold which clauses: a test's name begins with the clauses' ids, `test_T5_T3_what_it_shows`.

The names are read from the source, so nothing is imported or run. A test binds only when it can fail: it
asserts something and is neither skipped nor expected to fail, for its module, class or self.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from inquesto_dag.clauses.load import Clause, Clauses
from inquesto_dag.errors import InputError

State = Literal["held", "in part", "not yet built", "unbound"]
STATES: tuple[State, ...] = ("held", "in part", "not yet built", "unbound")
IDS = re.compile(r"test_((?:[A-Z]\d+_)+)")
NEVER_FAILS = frozenset({"skip", "xfail"})


@dataclass(frozen=True)
class Binding:
    """A test and the clauses in its name; `test` is `PATH::NAME`, the path from the tests' parent folder."""

    test: str
    clauses: tuple[str, ...]


@dataclass(frozen=True)
class Holding:
    """A clause and the tests that hold it."""

    clause: Clause
    tests: tuple[str, ...]

    @property
    def state(self) -> State:
        """Without a test a clause is not yet built, if the data say so, and else unbound: a fault."""
        if self.clause.not_built:
            return "not yet built"
        if not self.tests:
            return "unbound"
        return "in part" if self.clause.lacks else "held"


def find_bindings(tests: Path) -> list[Binding]:
    """Every test under a folder that binds a clause, known or not; InputError without such a folder."""
    if not tests.is_dir():
        raise InputError("is not a folder", where=tests, remedy="run it in a clone, which has the tests")
    found: list[Binding] = []
    for path in sorted(tests.rglob("test_*.py")):
        place = path.relative_to(tests.parent).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        found += [
            Binding(f"{place}::{name}", tuple(match[1].rstrip("_").split("_")))
            for name, test in _tests(tree)
            if (match := IDS.match(test.name)) and _can_fail(test)
        ]
    return found


def hold(clauses: Clauses, bindings: Iterable[Binding]) -> list[Holding]:
    """Each clause with its tests, in the protocol's order."""
    by_clause: dict[str, list[str]] = {}
    for binding in bindings:
        for name in dict.fromkeys(binding.clauses):
            by_clause.setdefault(name, []).append(binding.test)
    return [Holding(clause, tuple(by_clause.get(clause.id, ()))) for clause in clauses.clauses]


def faults(clauses: Clauses, bindings: Sequence[Binding]) -> list[str]:
    """What is wrong between clauses and tests, one sentence each; none when the table is true."""
    known = {clause.id for clause in clauses.clauses}
    found = [
        f"{binding.test} binds {name}, which is no clause"
        for binding in bindings
        for name in binding.clauses
        if name not in known
    ]
    for holding in hold(clauses, bindings):
        if holding.state == "unbound":
            found.append(f"{holding.clause.id} is held by no test: {holding.clause.demands}")
        elif holding.clause.not_built and holding.tests:
            found.append(f"{holding.clause.id} is marked as not built, and {holding.tests[0]} binds it")
    return found


def count(holdings: Iterable[Holding]) -> str:
    """One line: how many clauses stand how, and which are not wholly held."""
    ids: dict[State, list[str]] = {state: [] for state in STATES}
    for holding in holdings:
        ids[holding.state].append(holding.clause.id)
    parts = [f"{len(ids['held'])} held by tests"]
    parts += [
        f"{len(ids[state])} {state}" + (f" ({', '.join(ids[state])})" if ids[state] else "")
        for state in STATES[1:]
    ]
    return f"{sum(map(len, ids.values()))} clauses: {', '.join(parts)}"


def _tests(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """What pytest would collect: functions of the module and of its `Test` classes, the last of a name."""
    if _marked(tree.body):
        return
    functions: dict[str, ast.FunctionDef] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not _skipped(node):
            functions |= {f"{node.name}::{n.name}": n for n in node.body if isinstance(n, ast.FunctionDef)}
    yield from functions.items()


def _can_fail(test: ast.FunctionDef) -> bool:
    if _never(test.decorator_list):
        return False
    for node in ast.walk(test):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if isinstance(node, ast.Assert) or name in ("raises", "fail") or name.startswith("assert_"):
            return True
    return False


def _skipped(test_class: ast.ClassDef) -> bool:
    return _marked(test_class.body) or _never(test_class.decorator_list)


def _marked(body: Sequence[ast.stmt]) -> bool:
    """Whether a `pytestmark` of this body skips all in it."""
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(name, ast.Name) and name.id == "pytestmark" for name in node.targets)
        and _never([node.value])
        for node in body
    )


def _never(expressions: Iterable[ast.expr]) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in NEVER_FAILS
        for expression in expressions
        for node in ast.walk(expression)
    )
