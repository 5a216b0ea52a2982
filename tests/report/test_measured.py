"""The page of a recording that nobody simulated, in a real browser with the network off."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inquesto_dag.audio.files import write_flac
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.report.measured import MEASURED, RECORDING, write_measured_page
from tests.report.conftest import Opened
from tests.report.material import PROTOCOL

SECONDS = 4


def result(**more: Any) -> dict[str, Any]:
    """A measurement as `recordings.measure` gives it: one turn each, the agent 0.6 s early."""
    track = {
        "active_level_dbov": -26.0, "noise_dbov": -70.0, "peak": 0.5, "clipped_share": 0.0, "leak": None,
        "done": [], "warnings": ["speech stands only 9 dB out of the noise; edges are coarse"],
    }  # fmt: skip
    turn = {"text": "<b>yes</b>", "confidence": 0.9}
    return {
        "protocol": "v0.1",
        "duration_s": float(SECONDS),
        "sources": [{"path": "x/call <1>.wav", "format": "WAV PCM_16", "rate": 8_000, "channels": 2}],
        "notes": [],
        "tracks": {"caller": track, "agent": {**track, "warnings": []}},
        "segments": {"caller": [[0.5, 2.0]], "agent": [[1.4, 3.0]]},
        "turns": [
            {"turn": 0, "speaker": "caller", "start_s": 0.5, "end_s": 2.0, "reply_to": None,
             "latency_s": None, **turn},
            {"turn": 1, "speaker": "agent", "start_s": 1.4, "end_s": 3.0, "reply_to": 0,
             "latency_s": -0.6, **turn},
        ],
        "latency": {"replies": 1, "median_s": -0.6, "min_s": -0.6, "max_s": -0.6},
        "overlaps": [{"start_s": 1.4, "end_s": 2.0, "began": "agent"}],
        "events": [
            {"event": "talk_over", "severity": "S2", "source": "audio", "time_s": 1.4, "value": 0.6,
             "threshold": 0.5, "unit": "s", "evidence": {"turns": [1]}}
        ],
        "not_measured": [],
        "recogniser": {"name": "whisper-base"},
        "against_trace": None,
        **more,
    }  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with its two files of sound and a trace of one tool call."""
    folder = tmp_path_factory.mktemp("measured")
    time = np.arange(SECONDS * 16_000) / 16_000
    tone = (0.4 * np.sin(2 * np.pi * 300 * time)).astype(np.float32)
    for name in (RECORDING, MEASURED):
        write_flac(folder / name, np.stack([tone, tone], axis=1))
    tool = {"tool": "lookup_account", "time_s": 1.0, "ok": True, "arguments": {"a": 1}, "result": "{}"}
    turn = {"speaker": "agent", "start_s": 1.4, "end_s": 3.0, "said": "Yes.", "heard": None, "move": None}
    trace = {"turns": [turn], "tool_calls": [tool]}
    tracks = {"caller": tone, "agent": tone}
    return write_measured_page(folder, result(), tracks, trace, protocol=load_protocol(PROTOCOL))


def test_the_page_holds_the_measurement_and_no_markup_of_others(page: Path) -> None:
    """Warning and overlap in sight; file names and words are escaped."""
    text = page.read_text()
    shown = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)
    assert "call &lt;1&gt;.wav" in text and "<b>yes" not in text and "call <1>" not in text
    assert "edges are coarse" in text and "\u22120.60 s" in text and "None" not in shown


@pytest.mark.browser
def test_a_measured_page_opens_and_plays(page: Path, opened: Opened) -> None:
    """Timeline, turns, events, tools; both sounds load; both themes; nothing is asked of the network."""
    opened.page.goto(page.as_uri())
    opened.page.wait_for_selector("#timeline canvas")
    opened.page.wait_for_function("document.querySelector('audio').readyState >= 1")
    assert opened.page.evaluate("document.querySelector('audio').duration") == pytest.approx(
        SECONDS, abs=0.01
    )
    assert opened.page.locator("#transcript .row").count() == 2
    assert opened.page.locator("#events .card").count() == opened.page.locator("#tools .card").count() == 1
    opened.page.click('[data-source="line"]')
    opened.page.wait_for_function("document.querySelector('audio').src.endsWith('measured.flac')")
    opened.page.click("#theme")
    for key in ("]", "e", "l", "ArrowRight"):
        opened.page.keyboard.press(key)
    assert opened.complaints == []
