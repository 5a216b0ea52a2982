"""Which of the package's functions really run, to hold against what a digest covers."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from inquesto_dag.provenance import versions
from inquesto_dag.provenance.code import PACKAGE, parse_module
from inquesto_dag.provenance.definitions import Definition


@contextmanager
def functions_run() -> Iterator[set[Definition]]:
    """(module, name at its top) of every function of the package that runs in the block, in this thread."""
    found: set[Definition] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event != "call" or module.split(".")[0] != PACKAGE:
            return
        # The bodies of modules and classes run once, on import, and are no functions.
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and "<" not in frame.f_code.co_filename:
            name = frame.f_code.co_qualname.split(".")[0]
            found.add((module, _definer(module, frame) if name == "<lambda>" else name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _definer(module: str, frame: FrameType) -> str:
    """The name at a module's top whose value a lambda is part of."""
    for statement in parse_module(module).body:
        if statement.lineno <= frame.f_code.co_firstlineno <= (statement.end_lineno or 0):
            (name, *_) = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
            return name
    raise AssertionError(f"{module} has no line {frame.f_code.co_firstlineno}")


def uncovered(run: set[Definition], *functions: str) -> set[str]:
    """What ran and is in the code of none of the functions, though it is not said to decide nothing."""
    covered = {definition for function in functions for definition in versions.code_of(function).definitions}
    free = {versions._definition(text) for text in versions.DECIDE_NOTHING}
    return {
        f"{module.removeprefix(PACKAGE + '.')}:{name}" for module, name in run - covered - free
        if (module, "*") not in free
    }  # fmt: skip
