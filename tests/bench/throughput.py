"""Calls in parallel to an agent whose model answers each request after 200 ms: wall time against the ideal.

    python -m tests.bench.throughput FINISHED [--calls 12] [--workers 2] [--answer 0.2]

FINISHED is a scored project; it is only read. The calls are placed twice with declared timing: once so that
every sentence and recognition is in the memo, then again with another setting of the model, so that each call
is placed anew and nothing but the model is waited for. Ideal is what the requests take when every worker
always has one: requests x answer / workers. Exit code 1 when the stage took more than 1.3 of it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import yaml

from inquesto_dag.files import read_json
from tests.agents.chat.server import MODEL, Json, PerfectModel, Wire, serving
from tests.bench.executors import cut_inputs
from tests.stages.short_calls import command, run_command

AGENT = "embedded-700"  # its window, voice and declared times, with a model for a brain
LIMIT = 1.3


def write_agent(project: Path, max_tokens: int) -> None:
    """The agent with a model that is told so many tokens: other keys of its calls, the same words."""
    path = project / "data" / "agents" / f"{AGENT}.yaml"
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    raw["brain"] = {
        "kind": "openai",
        "settings": {"model": MODEL, "max_tokens": max_tokens},
        "transport": {"base_url_env": "BENCH_URL"},
    }
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")


def main() -> int:
    """Measure and print; the exit code."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("finished", type=Path, help="a scored project; it is only read")
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--answer", type=float, default=0.2, help="s until a request is answered")
    asked = parser.parse_args()
    perfect = PerfectModel()

    def slow(wire: Wire, body: Json) -> None:
        time.sleep(asked.answer)
        perfect(wire, body)

    with tempfile.TemporaryDirectory(prefix="inquesto-throughput-") as name, serving(slow) as server:
        project = Path(name) / "project"
        cut_inputs(asked.finished.resolve(), project, "calls", AGENT, asked.calls)
        os.environ["BENCH_URL"] = server.url
        for max_tokens in (512, 511):
            before = len(server.requests)
            write_agent(project, max_tokens)
            run_command(project, command("calls", AGENT, "--workers", str(asked.workers)))
        wall_s = float(read_json(project / ".reports" / f"calls@{AGENT}.json")["wall_s"])
    requests = len(server.requests) - before
    ideal_s = requests * asked.answer / asked.workers
    print(f"{asked.calls} calls, {requests} requests of {asked.answer} s, {asked.workers} workers")
    print(f"stage {wall_s:.1f} s, ideal {ideal_s:.1f} s: {wall_s / ideal_s:.2f} of it (limit {LIMIT})")
    return 0 if wall_s <= LIMIT * ideal_s else 1


if __name__ == "__main__":
    raise SystemExit(main())
