"""What an asset's body starts: a DVC command that waits for busy files, its progress told to Dagster's log.

`python -m assets.launch COMMAND...` within a run of Dagster. It imports Pipes, which is small, not Dagster.
"""

import sys

from dagster_pipes import open_dagster_pipes

from inquesto_dag.provenance.waiting import run_patiently


def launch(command: list[str]) -> int:
    """Run a command, each line of its progress and errors an entry of the run's log; its exit code."""
    with open_dagster_pipes() as pipes:

        def tell(line: str) -> None:
            sys.stderr.write(line)
            sys.stderr.flush()
            if line.strip():
                pipes.log.info(line.rstrip())

        return run_patiently(command, tell=tell)


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1:]))
