"""SmolLM2-135M-Instruct takes twelve calls in this process, and twelve behind an endpoint: records and pages.

    python -m tests.bench.small_model MEMO [--url http://127.0.0.1:8000/v1 --served NAME] [--folder FOLDER]

MEMO is the memo of a scored project (its `.memo`), which spares the callers' speech. The endpoint is one that
streams: `transformers serve`, llama.cpp, vLLM; NAME is what it lists. It scores badly; what is looked at is
that every call ends with a result, and what its replies and tool attempts were. The folder stays, with its
pages. Exit code 1 when a call was lost: neither scored nor said to be unjudged or broken.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from inquesto_dag.files import read_json, read_table
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.scoring.citation import citation
from tests.provenance.small_project import EVERY_KIND, ROOT, SmallProject, copy_inputs, link_memo

IN_PROCESS, SERVED = "smollm2-135m-700", "smollm2-135m-served-700"
CALLS = 12


def choose_scenarios() -> list[str]:
    """Twelve of thirty, spread over families and styles: two of every five in the protocol's order."""
    scenarios = load_protocol(ROOT / "data" / "protocols" / "v0.1").scenarios
    return [scenario.id for number, scenario in enumerate(scenarios) if number % 5 in (0, 2)][:CALLS]


def write_agents(project: SmallProject, served: str | None) -> list[str]:
    """The agent in process, and the same behind $BENCH_URL; params.yaml names them."""
    agents = project.folder / "data" / "agents"
    raw = yaml.safe_load((agents / f"{IN_PROCESS}.yaml").read_text(encoding="utf-8"))
    names = [IN_PROCESS]
    if served is not None:
        kept = ("temperature", "max_tokens", "context_tokens", "tool_format", "max_tool_calls")
        settings = {key: raw["brain"]["settings"][key] for key in kept} | {"model": served}
        raw["id"] = SERVED
        raw["brain"] = {
            "kind": "openai", "settings": settings, "transport": {"base_url_env": "BENCH_URL"},
        }  # fmt: skip
        (agents / f"{SERVED}.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
        names.append(SERVED)
    params = project.folder / "params.yaml"
    text = yaml.safe_load(params.read_text(encoding="utf-8")) | {"agents": names}
    params.write_text(yaml.safe_dump(text), encoding="utf-8")
    return names


def report(project: SmallProject, agent: str) -> bool:
    """Print what came of an agent's calls; whether each of them came to something."""
    data = project.folder / "data"
    record: dict[str, Any] = read_json(data / "record" / agent / "record.json")
    status = record["status"]
    print(f"{agent}: {citation(record)}")
    print(f"  {status}")
    replies, tools, finishes = Counter[str](), Counter[str](), Counter[str]()
    for path in sorted((data / "calls" / agent).rglob("trace.json")):
        trace = read_json(path)
        for turn in trace["agent"]["brain"]["turns"]:
            replies.update({"all": 1, "empty": turn["empty"], "calls over the cap": turn["refused_calls"]})
            finishes.update(turn["finishes"])
        tools.update("done" if row["ok"] else "refused" for row in trace["tool_calls"])
    print(f"  replies {dict(replies)}, ended by {dict(finishes)}, tool calls {dict(tools) or 'none'}")
    events = Counter(read_table(data / "events" / agent / "events.parquet")["event"])
    print(f"  events by audio, transcript and trace: {dict(events)}")
    print(f"  page {data / 'record' / agent / 'page' / 'index.html'}")
    return bool(status["scored"] + status["unjudged"] + status["infrastructure"] == CALLS)


def main() -> int:
    """Run and report; the exit code."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("memo", type=Path, help="the memo of a scored project; it is only read")
    parser.add_argument("--url", help="a streaming endpoint that serves the model")
    parser.add_argument("--served", help="its name there")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/small-model"))
    asked = parser.parse_args()
    if (asked.url is None) != (asked.served is None):
        parser.error("--url and --served come together")
    folder = asked.folder.resolve()
    project = SmallProject(folder, folder / ".memo")
    if not (folder / "dvc.yaml").exists():
        folder.mkdir(parents=True, exist_ok=True)
        link_memo(asked.memo.resolve(), project.memo, EVERY_KIND)
        copy_inputs(folder, project.memo, choose_scenarios())
    if asked.url:
        os.environ["BENCH_URL"] = asked.url
    names = write_agents(project, asked.served)
    project.cli("score", *(part for name in names for part in ("--agent", name)))
    return 0 if all([report(project, name) for name in names]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
