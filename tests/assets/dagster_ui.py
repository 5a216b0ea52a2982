"""`inquesto-dag ui` on a project, driven as its pages drive it: by GraphQL over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.cli.ui import group_members

OVER = ("SUCCESS", "FAILURE", "CANCELED")
BACKFILL_OVER = ("COMPLETED", "COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")


@dataclass
class DagsterUi:
    """A running UI; `log` is what the command has printed."""

    project: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def url(self) -> str:
        """Where it is open."""
        return f"http://127.0.0.1:{self.port}"

    def query(self, text: str, **variables: Any) -> dict[str, Any]:
        """The data of a GraphQL query; an error is an assertion."""
        request = urllib.request.Request(
            f"{self.url}/graphql",
            json.dumps({"query": text, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            body = json.load(answer)
        assert "errors" not in body, body["errors"]
        return dict(body["data"])

    def launch_backfill(self, assets: list[str], partitions: list[str] | None = None) -> str:
        """A backfill of assets for partitions (all when none are named), as the launch dialog asks for it."""
        params: dict[str, Any] = {"assetSelection": [{"path": [name]} for name in assets]}
        params |= {"partitionNames": partitions} if partitions else {"allPartitions": True}
        answer = self.query(
            "mutation ($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) "
            "{ __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }",
            p=params,
        )["launchPartitionBackfill"]
        assert answer["__typename"] == "LaunchBackfillSuccess", answer
        return str(answer["backfillId"])

    def launch_job(self, job: str) -> str:
        """A run of a job without partitions; returns the run's id."""
        selector = {"repositoryLocationName": "inquesto", "repositoryName": "__repository__", "jobName": job}
        answer = self.query(
            "mutation ($p: ExecutionParams!) { launchRun(executionParams: $p) "
            "{ __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }",
            p={"selector": selector, "runConfigData": {}},
        )["launchRun"]
        assert answer["__typename"] == "LaunchRunSuccess", answer
        return str(answer["run"]["runId"])

    def backfills(self) -> list[dict[str, Any]]:
        """Id and status of every backfill, the newest first."""
        return list(
            self.query(
                "{ partitionBackfillsOrError { ... on PartitionBackfills { results { id status "
                "error { message } } } } }"
            )["partitionBackfillsOrError"]["results"]
        )

    def runs(self) -> list[dict[str, Any]]:
        """Every run: id, status, start and end (s since the epoch), partition or None, job."""
        found = self.query(
            "{ runsOrError { ... on Runs { results { runId status startTime endTime pipelineName "
            "tags { key value } } } } }"
        )["runsOrError"]["results"]
        for run in found:
            tags = {tag["key"]: tag["value"] for tag in run.pop("tags")}
            run["partition"] = tags.get("dagster/partition")
        return list(found)

    def wait_for_backfill(self, backfill: str, limit_s: float) -> str:
        """The status in which a backfill ends."""
        until = time.monotonic() + limit_s
        while time.monotonic() < until:
            status = next((b["status"] for b in self.backfills() if b["id"] == backfill), "UNKNOWN")
            if status in BACKFILL_OVER:
                return str(status)
            time.sleep(1.0)
        raise AssertionError(f"backfill {backfill} is not over after {limit_s} s: {self.runs()}")


def free_port() -> int:
    """A port that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def open_ui(project: Path, log: Path, **environment: str) -> Iterator[DagsterUi]:
    """Start the command, wait until it says where it is open, and end it by an interrupt afterwards."""
    port = free_port()
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "inquesto_dag", "ui", "--port", str(port)],
            cwd=project, stdout=stream, stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(project), "PYTHONUNBUFFERED": "1", **environment},
        )  # fmt: skip
    try:
        until = time.monotonic() + 240
        while f"open http://127.0.0.1:{port}" not in log.read_text(errors="replace"):
            assert process.poll() is None and time.monotonic() < until, log.read_text(errors="replace")
            time.sleep(0.2)
        yield DagsterUi(project, port, process, log)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def servers_of(ui: DagsterUi) -> list[int]:
    """Process ids of everything that the command has started."""
    import psutil

    return [pid for child in psutil.Process(ui.process.pid).children() for pid in group_members(child.pid)]
