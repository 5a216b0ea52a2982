"""The UI in a headless Chromium, by clicking: graph, a partition, a failing check, what an edit unsyncs.

    python -m tests.bench.ui_in_chromium PROJECT [--shots /tmp/ui-shots]

PROJECT is a finished project with the agents of its params.yaml scored; it is edited and put back. Each step
asserts what it sees and leaves a screenshot to look at. Exit code 0 when all steps have passed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from inquesto_dag.provenance.params import load_params
from tests.assets.dagster_ui import OVER, DagsterUi, open_ui

LIMIT_S = 600.0


class Steps:
    """A page of the UI, with a screenshot for each step."""

    def __init__(self, ui: DagsterUi, page: Any, shots: Path) -> None:
        self.ui, self.page, self.shots = ui, page, shots
        self.number = 0
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, path: str, text: str) -> None:
        """Open a page and wait for a text on it."""
        self.page.goto(f"{self.ui.url}{path}")
        self.page.get_by_text(text).first.wait_for()

    def shot(self, name: str) -> None:
        """Keep what is seen."""
        self.number += 1
        self.page.wait_for_timeout(1500)  # transitions
        path = self.shots / f"{self.number:02}-{name}.png"
        self.page.screenshot(path=str(path))
        print(path, flush=True)

    def wait_for_new_run(self, before: set[str]) -> dict[str, Any]:
        """The run that was launched since `before`, when it is over."""
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            new = [run for run in self.ui.runs() if run["runId"] not in before]
            if new and all(run["status"] in OVER for run in new):
                return new[0]
            time.sleep(1.0)
        raise AssertionError(f"no run ended: {self.ui.runs()}")

    def run_ids(self) -> set[str]:
        """Every run that Dagster knows."""
        return {run["runId"] for run in self.ui.runs()}


def show_graph(steps: Steps, agent: str) -> None:
    """Every group, and every asset of the groups that are opened."""
    steps.open("/asset-groups", "Global asset lineage")
    for group in ("callers", "calls", "measurement", "score"):
        steps.page.get_by_text(group, exact=True).first.wait_for()
    steps.shot("graph")
    steps.page.get_by_text("measurement", exact=True).last.click()
    steps.page.get_by_text("verdicts").first.wait_for()
    steps.shot("group-opened")


def materialise_partition(steps: Steps, agent: str) -> None:
    """A click on Materialize for one agent: the run succeeds and the partition shows what it left."""
    for asset in ("calls", "record"):
        steps.open(f"/assets/{asset}?view=partitions&partition={agent}", "Partitions Selected")
        before = steps.run_ids()
        steps.page.get_by_text("Materialize…").first.click()
        steps.page.get_by_text("Launch 1 run").click()
        run = steps.wait_for_new_run(before)
        assert (run["status"], run["partition"]) == ("SUCCESS", agent), run
    steps.open(f"/assets/record?view=partitions&partition={agent}", "citation")
    steps.page.get_by_text("Inquesto v0.1 variant").first.wait_for()
    steps.shot("partition")
    steps.page.locator("tr", has_text="score_and_views").get_by_text("Show Markdown").click()
    image = steps.page.locator('img[src^="data:image/svg+xml"]').first
    image.wait_for()
    assert image.evaluate("i => i.complete && i.naturalWidth > 0")
    steps.shot("score")
    steps.page.keyboard.press("Escape")
    with steps.page.context.expect_page() as opened:
        steps.page.get_by_text(f"/data/record/{agent}/page/index.html").click()
    page = opened.value
    page.wait_for_selector("#calls tbody tr")
    page.locator("#calls tbody tr").first.click()
    page.wait_for_function("document.querySelector('audio')?.readyState >= 1")
    page.evaluate("document.querySelector('audio').currentTime = 3")
    page.wait_for_function("Math.abs(document.querySelector('audio').currentTime - 3) < 0.1")
    page.close()


def fail_check(steps: Steps, agent: str) -> None:
    """A table edited on disk: the job that checks fails, and the partition's check says what is wrong."""
    table = steps.ui.project / "data" / "events" / agent / "events.parquet"
    kept = table.read_bytes()
    frame = pd.read_parquet(table)
    edited = pd.concat([frame, frame.tail(1)]) if len(frame) else frame.rename(columns={"event": "what"})
    edited.to_parquet(table.with_suffix(".new"))
    os.replace(table.with_suffix(".new"), table)
    try:
        steps.open("/locations/inquesto/jobs/check_outputs/playground", "Launch Run")
        before = steps.run_ids()
        steps.page.get_by_text("Launch Run").click()
        assert steps.wait_for_new_run(before)["status"] == "FAILURE"
        steps.open("/assets/events?view=checks&checkDetail=events_table", "Latest execution")
        steps.page.get_by_role("tab", name="Partitions").last.click()
        steps.page.get_by_text(agent, exact=True).last.click()
        steps.page.get_by_text("Show Markdown").first.wait_for()
        steps.shot("failed-check")
        steps.page.get_by_text("Show Markdown").first.click()
        steps.page.get_by_text("NOT MET").first.wait_for()
        steps.shot("expectations")
    finally:
        table.write_bytes(kept)


def unsync(steps: Steps, agent: str) -> None:
    """A threshold of the protocol edited, definitions reloaded: what depends on it is unsynced, no more."""
    path = steps.ui.project / "data" / "protocols" / load_params(steps.ui.project).protocol / "events.yaml"
    kept = path.read_bytes()
    path.write_bytes(kept + b"\n# an edit\n")
    try:
        steps.open("/asset-groups", "Reload definitions")
        steps.page.get_by_text("Reload definitions").click()
        steps.page.wait_for_timeout(20_000)
        steps.page.locator("button", has_text="Materialize all").locator("xpath=following::button[1]").click()
        steps.page.get_by_text("Materialize unsynced").first.click()
        steps.page.get_by_text("events").last.wait_for()
        steps.shot("unsynced")
        steps.page.keyboard.press("Escape")
        steps.open("/assets/events", "Unsynced")
        steps.shot("events-unsynced")
    finally:
        path.write_bytes(kept)


STEPS: tuple[Callable[[Steps, str], None], ...] = (show_graph, materialise_partition, fail_check, unsync)


def main() -> int:
    """Run the steps; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("--shots", type=Path, default=Path("/tmp/ui-shots"))
    given = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("no Chromium on this system (apt-get install chromium): nothing was looked at")
        return 1
    from playwright.sync_api import sync_playwright

    given.shots.mkdir(parents=True, exist_ok=True)
    project = given.project.resolve()
    agent = load_params(project).agents[-1]
    with open_ui(project, given.shots / "ui.log") as ui, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page(
            viewport={"width": 1500, "height": 950}
        )
        page.set_default_timeout(90_000)
        steps = Steps(ui, page, given.shots)
        for step in STEPS:
            print(f"{step.__name__}: {step.__doc__}", flush=True)
            step(steps, agent)
        assert steps.complaints == [], steps.complaints
    print("all steps passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
