"""At the end of a run that checked the clauses: how many are held by tests, and which are not, or in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from inquesto_dag.clauses.bindings import count, find_bindings, hold
from inquesto_dag.clauses.load import load_clauses


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Written also with -q and with workers, so that nobody takes a green suite for a finished protocol."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    if any("test_clauses.py" in report.nodeid for report in reports):
        terminalreporter.write_line(count(hold(load_clauses(), find_bindings(Path(__file__).parent))))
