"""Run a DVC command, and run it again when all that failed is that another DVC holds one of its paths.

`--wait-for-lock` waits for the repository's lock alone. A stage's dependencies and outputs have locks of
their own, and on those DVC gives up at once: with two agents under way, the second's check of a shared stage
fails as long as the first one's calls read it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence

BUSY = "is busy, it is being blocked by"  # dvc.rwlock, as of 3.67
WAITING = "waiting for the run that uses these files\n"
PAUSE_S = 2.0


def run_patiently(
    command: Sequence[str],
    *,
    tell: Callable[[str], None],
    sleep: Callable[[float], None] = time.sleep,
    pause_s: float = PAUSE_S,
) -> int:
    """The exit code of a command, repeated while a path that it needs is busy; `tell` gets its error lines.

    There is no limit: who holds the path is a living process (DVC drops the locks of dead ones), and its
    stage may take hours.
    """
    waited = False
    while True:
        code, busy = _run(command, tell)
        if code == 0 or not busy:
            return code
        if not waited:
            tell(WAITING)
        waited = True
        sleep(pause_s)


def _run(command: Sequence[str], tell: Callable[[str], None]) -> tuple[int, bool]:
    busy = False
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stderr is not None
        for line in process.stderr:
            busy = busy or BUSY in line
            if not busy:  # nor what follows: who holds the path, and advice for a lock that nobody holds
                tell(line)
        code = process.wait()
    return code, busy
