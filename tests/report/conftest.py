"""One small record with its page, and a real browser where the system has one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.report.page import write_record_page
from tests.report.material import Material, make_material

AGENT = "agent-a"


@dataclass(frozen=True)
class Written:
    """A record's material and the page that was written for it."""

    material: Material
    index: Path


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Eight calls, one of each behaviour, laid out as the stages lay them out."""
    project = tmp_path_factory.mktemp("project")
    material = make_material(project, AGENT)
    page = project / "data" / "record" / AGENT / "page"
    return Written(material, write_record_page(page, **material.page_arguments()))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium of the system; skips, and says so, where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this system (apt-get install chromium): pages are not opened")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
        )
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page in the browser and everything that it complained of."""

    page: Any
    complaints: list[str]


@pytest.fixture
def opened(chromium: Any) -> Iterator[Opened]:
    """An empty page with the network off, collecting complaints of console, scripts and requests."""
    context = chromium.new_context(viewport={"width": 1360, "height": 900}, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url))
    page.set_default_timeout(10_000)
    yield Opened(page, complaints)
    context.close()
