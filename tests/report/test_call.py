"""One call as the page shows it."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inquesto_dag.audio.files import read_flac, write_flac
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.report.call import CallRows, Recording, describe_call, median_latency, replies, transcript
from tests.report.conftest import Written

Row = dict[str, Any]


def _rows(written: Written, call_id: str) -> CallRows:
    made = written.material

    def of(table: list[Row]) -> list[Row]:
        return [row for row in table if row["call_id"] == call_id]

    return CallRows(
        of(made.population)[0], of(made.calls)[0], of(made.results)[0], of(made.turns), of(made.tool_calls),
        of(made.segments), of(made.transcripts), of(made.events), of(made.verdicts),
    )  # fmt: skip


def _call_ids(written: Written) -> list[str]:
    return [row["call_id"] for row in written.material.calls]


def _annotated(turn: int, speaker: str, start: float, end: float, **other: Any) -> Row:
    row = {
        "turn": turn,
        "speaker": speaker,
        "start_s": start,
        "end_s": end,
        "reply_to": None,
        "latency_s": None,
    }
    return {**row, "text": "t", "confidence": 0.9, **other}


def _own(turn: int, speaker: str, start: float, end: float, said: str, heard: str | None = None) -> Row:
    times = {name: None for name in ("endpoint_s", "recognition_s", "brain_s", "synthesis_s")}
    base = {"turn": turn, "speaker": speaker, "move": "detail", "said": said, "heard": heard}
    return {**base, "start_s": start, "end_s": end, **times}


def test_T12_replies_come_from_the_annotation_alone() -> None:
    """Offset, onset and latency of a reply are those of the annotated turns."""
    rows = [_annotated(0, "caller", 0.5, 2.0), _annotated(1, "agent", 2.9, 4.0, reply_to=0, latency_s=0.9)]
    assert replies(rows) == [{"turn": 1, "reply_to": 0, "offset": 2.0, "onset": 2.9, "latency": 0.9}]
    assert median_latency(rows) == 0.9


def test_a_greeting_is_no_reply_and_a_call_without_replies_has_no_median() -> None:
    """An agent turn without a latency draws nothing."""
    assert replies([_annotated(0, "agent", 0.0, 1.0)]) == []
    assert median_latency([]) is None


def test_two_utterances_in_one_annotated_turn_stand_in_one_row() -> None:
    """A caller who is cut in two by the agent's window: one turn on the recording, two said and two heard."""
    rows = transcript(
        [_annotated(0, "caller", 0.5, 4.0), _annotated(1, "agent", 1.0, 2.0)],
        [
            _own(0, "caller", 0.5, 1.9, "it is four four", "it is 44"),
            _own(1, "agent", 1.0, 2.0, "sorry?"),
            _own(2, "caller", 2.4, 4.0, "seven one", "71"),
        ],
    )
    assert [(row["speaker"], [own["said"] for own in row["own"]]) for row in rows] == [
        ("caller", ["it is four four", "seven one"]),
        ("agent", ["sorry?"]),
    ]
    assert rows[0]["own"][0]["pieces"] == [["same", "it is 44", "it is four four"]]


def test_an_utterance_that_is_not_on_the_recording_stands_alone() -> None:
    """The page must not hide what the annotation missed."""
    rows = transcript([_annotated(0, "caller", 0.5, 1.0)], [_own(0, "caller", 3.0, 3.2, "hm")])
    assert [(row["found"], row["start"]) for row in rows] == [(True, 0.5), (False, 3.0)]
    assert rows[1]["text"] is None


def test_waveforms_are_those_of_the_three_tracks(written: Written) -> None:
    """Left is the caller, right the agent, and the line is what the agent hears."""
    call_id = _call_ids(written)[0]
    folder = written.material.call_folder / call_id
    call = describe_call(_rows(written, call_id), Recording(folder, "c", "l"), written.material.protocol)
    both = read_flac(folder / "call.flac")
    for name, samples in (
        ("caller", both[:, 0]),
        ("agent", both[:, 1]),
        ("line", read_flac(folder / "line.flac")),
    ):
        peak = np.frombuffer(base64.b64decode(call["tracks"][name]["peak"]), np.uint8)
        assert 1500 < len(peak) <= 2000
        assert peak.max() == np.ceil(np.abs(samples).max() * np.float32(255))
    assert call["tracks"]["caller"] != call["tracks"]["agent"]


def test_account_changes_show_before_and_after(written: Written) -> None:
    """What the call changed, by dotted path, and nothing else."""
    changed = {}
    for call_id in _call_ids(written):
        call = describe_call(_rows(written, call_id), None, written.material.protocol)
        required = call["scenario"]["required_action"]
        changed[call_id] = bool(call["changes"])
        done = any(tool["ok"] and required and tool["tool"] == required["tool"] for tool in call["tools"])
        assert changed[call_id] == done
    assert len(set(changed.values())) == 2


def test_worst_events_come_first_with_their_definition(written: Written) -> None:
    """Severity decides the order; definition and clause are the protocol's."""
    call_id = next(row["call_id"] for row in written.material.events if row["event"] == "slow_turn")
    call = describe_call(_rows(written, call_id), None, written.material.protocol)
    severities = [event["severity"] for event in call["events"]]
    assert severities == sorted(severities, reverse=True) and severities[0] == "S3"
    assert call["events"][0]["clause"] == "T4" and call["events"][0]["threshold"] == 3.0
    assert call["events"][0]["definition"]


def test_files_of_two_recordings_are_refused(written: Written, tmp_path: Path) -> None:
    """A line of another length than the call cannot share its time axis."""
    call_id = _call_ids(written)[0]
    shutil.copytree(written.material.call_folder / call_id, tmp_path / call_id)
    write_flac(tmp_path / call_id / "line.flac", np.zeros(1600, np.float32))
    with pytest.raises(CheckFailed, match="are not one recording"):
        describe_call(
            _rows(written, call_id), Recording(tmp_path / call_id, "c", "l"), written.material.protocol
        )


def test_a_truncated_recording_is_named(written: Written, tmp_path: Path) -> None:
    """A FLAC that lost its end between stages: the error names the file and the next step."""
    call_id = _call_ids(written)[0]
    shutil.copytree(written.material.call_folder / call_id, tmp_path / call_id)
    data = (tmp_path / call_id / "call.flac").read_bytes()
    (tmp_path / call_id / "call.flac").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"call\.flac.*\n.*next: "):
        describe_call(
            _rows(written, call_id), Recording(tmp_path / call_id, "c", "l"), written.material.protocol
        )
