"""`inquesto-dag measure` from a file to its page, and what it says of a file that is no call."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

from inquesto_dag.audio.files import read_flac
from inquesto_dag.cli.app import app
from inquesto_dag.errors import InputError
from tests.recordings.conftest import ROOT, call, kept_engines  # noqa: F401  fixtures
from tests.recordings.material import Call


@pytest.fixture(scope="module")
def measured(call: Call, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:  # noqa: F811
    """What the command printed for a 44.1 kHz file with a trace, sides swapped, and the folder it wrote."""
    import soxr

    folder = tmp_path_factory.mktemp("measure")
    swapped = soxr.resample(call.audio[:, ::-1], 16_000, 44_100)
    soundfile.write(folder / "a call.wav", swapped, 44_100, subtype="PCM_16")
    turns = [{"speaker": who, "start_s": on, "end_s": off, "said": "<i>"} for who, on, off in call.placed]
    (folder / "trace.json").write_text(json.dumps({"turns": turns}))
    arguments = [
        "measure", str(folder / "a call.wav"), "--swap", "--no-words", "--trace", str(folder / "trace.json"),
        "--out", str(folder / "out"), "--project", str(ROOT),
    ]  # fmt: skip
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output, folder / "out"


def test_it_prints_turns_latencies_overlaps_and_events(measured: tuple[str, Path], call: Call) -> None:  # noqa: F811
    """In plain lines, with what was not measured and the errors against the trace."""
    text, folder = measured
    length = len(call.audio) / 16_000
    assert (
        f"WAV PCM_16, 2 tracks, 44100 Hz, {length:.2f} s" in text and "the two sides were exchanged" in text
    )
    found = re.search(r"3 replies: median latency (\S+) s, from (\S+) to (\S+) s", text)
    assert found and [float(value) for value in found.groups()] == pytest.approx([0.9, -0.8, 3.4], abs=0.03)
    assert len(re.findall(r"\n +\d (caller|agent) ", text)) == 6
    early, late = call.placed[3], call.placed[5]  # the agent comes in over the caller once, and once late
    overlap = re.search(r"overlap (\S+) to (\S+) s: the agent came in", text)
    assert overlap and [float(at) for at in overlap.groups()] == pytest.approx(
        [early[1], call.placed[2][2]], abs=0.03
    )
    events = {name: float(at) for name, at in re.findall(r"S\d (\w+) at ([\d.]+)", text)}
    assert events == {
        "talk_over": pytest.approx(early[1], abs=0.1),
        "slow_turn": pytest.approx(late[1], abs=4),
    }
    assert "not measured: T1 verbose" in text and "turns of the trace not found: 0" in text
    assert str(folder / "measured.json") in text and str(folder / "index.html") in text


def test_it_writes_the_measurement_and_a_page_with_its_sound(measured: tuple[str, Path]) -> None:
    """`measured.json` holds what was printed; the page lies beside the two files that it plays."""
    result = json.loads((measured[1] / "measured.json").read_text())
    assert [event["event"] for event in result["events"]] == ["talk_over", "slow_turn"]
    page = (measured[1] / "index.html").read_text()
    assert "recording.flac" in page and "measured.flac" in page and "<i>" not in page.split("</style>")[1]
    recorded = read_flac(measured[1] / "recording.flac")
    assert recorded.shape[1] == 2 and np.abs(recorded).max() > 0.1
    assert len(recorded) == pytest.approx(result["duration_s"] * 16_000, abs=1)


def test_a_file_that_is_no_call_is_refused_before_any_model_is_asked_for(tmp_path: Path) -> None:
    """Wrong use: exit code 2 and the next step."""
    soundfile.write(tmp_path / "mono.wav", np.zeros(32_000), 16_000)
    with pytest.raises(InputError, match="has one track") as caught:
        CliRunner().invoke(
            app, ["measure", str(tmp_path / "mono.wav"), "--project", str(ROOT)], catch_exceptions=False
        )
    assert caught.value.exit_code == 2 and "two files" in caught.value.remedy
