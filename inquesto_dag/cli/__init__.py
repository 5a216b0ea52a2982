"""The command line: `inquesto-dag`, also `python -m inquesto_dag`.

Exit codes: 0 done, 1 failed check or infrastructure, 2 wrong use or input.
"""

from __future__ import annotations

from inquesto_dag.cli.app import main

__all__ = ["main"]
