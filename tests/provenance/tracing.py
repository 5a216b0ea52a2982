"""Which of the package's functions really run, to hold against what a digest covers."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from inquesto_dag.provenance import versions
from inquesto_dag.provenance.code import PACKAGE
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
            found.add((module, frame.f_code.co_qualname.split(".")[0]))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def uncovered(run: set[Definition], *functions: str) -> set[str]:
    """What ran and is in the code of none of the functions, though it is not said to decide nothing."""
    covered = {definition for function in functions for definition in versions.code_of(function).definitions}
    free = {versions._definition(text) for text in versions.DECIDE_NOTHING}
    return {
        f"{module.removeprefix(PACKAGE + '.')}:{name}" for module, name in run - covered - free
        if (module, "*") not in free
    }  # fmt: skip
