"""What lines and recorders do to a call: onsets and offsets stay within what is stated for each condition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from inquesto_dag.annotation.annotate import annotate
from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.recordings.measure import NoWords, latency_facts, measure, overlaps
from inquesto_dag.recordings.prepare import prepare
from inquesto_dag.recordings.read import Recording, read_recording
from inquesto_dag.recordings.trace import read_trace
from inquesto_dag.speech.engines import Engines
from tests.recordings.espeak import speak
from tests.recordings.material import Call, Stereo, clipped, edges, leaking, mix, noisy

pytestmark = pytest.mark.engines

TRUTH = ["talk_over", "slow_turn"]  # the agent comes in 0.8 s early once, and 3.4 s late once


def as_recording(audio: Stereo) -> Recording:
    """Audio as if it had been read from a file at 16 kHz."""
    tracks = np.ascontiguousarray(audio.T.astype(np.float32))
    return Recording(tracks[0], tracks[1], ())


def telephone(audio: Stereo) -> Stereo:
    """8 kHz and back."""
    import soxr

    return np.asarray(soxr.resample(soxr.resample(audio, 16_000, 8_000), 8_000, 16_000), np.float32)


# Condition, what is done to the clean call, and the tolerance of onsets and of offsets in s.
CONDITIONS = {
    "clean": (lambda a: a, 0.02, 0.02),
    "quiet, -66 dBov": (lambda a: a * 0.01, 0.02, 0.02),
    "quiet, -76 dBov in 16 bit": (lambda a: np.round(a * 10**-2.5 * 32768) / 32768, 0.03, 0.04),
    "loud": (lambda a: np.clip(a * 4, -1, 1), 0.02, 0.02),
    "clipped by 30 dB": (clipped, 0.03, 0.05),
    "offset of 0.2": (lambda a: a + np.float32(0.2), 0.02, 0.02),
    "8 kHz": (telephone, 0.02, 0.03),
    "noise at 30 dB": (lambda a: noisy(a, 30), 0.03, 0.03),
    "noise at 20 dB": (lambda a: noisy(a, 20), 0.05, 0.25),
    "pink noise at 20 dB": (lambda a: noisy(a, 20, "pink"), 0.05, 0.25),
    "noise at 10 dB": (lambda a: noisy(a, 10), 0.15, 0.3),
    "leak at -30 dB": (lambda a: leaking(a, -30), 0.04, 0.04),
    "leak at -30 dB, 120 ms late": (lambda a: leaking(a, -30, 0.12), 0.06, 0.06),
    "leak at -20 dB": (lambda a: leaking(a, -20), 0.04, 0.04),
    "leak at -15 dB": (lambda a: leaking(a, -15), 0.04, 0.04),
    "leak and noise": (lambda a: noisy(leaking(a, -30), 35), 0.04, 0.04),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_T12_edges_and_events_hold_in_every_condition(
    name: str, call: Call, kept_engines: Engines, protocol: Protocol
) -> None:
    """Same turns, onsets and offsets within tolerance, the same two events."""
    spoil, onset, offset = CONDITIONS[name]
    found = measure(as_recording(spoil(call.audio)), kept_engines.vad, None, protocol).result
    errors = np.abs(edges(call.placed, found["turns"]))
    assert errors[:, 0].max() <= onset and errors[:, 1].max() <= offset, errors
    assert [event["event"] for event in found["events"]] == TRUTH
    assert len(found["overlaps"]) == 1 and found["overlaps"][0]["began"] == "agent"


ESPEAK = {"bf_isabella": "en-gb-x-rp", "am_fenrir": "en-us+m3"}


@pytest.fixture(scope="module")
def foreign() -> Call:
    """The same call, said by a formant synthesiser."""
    return mix(lambda text, voice: speak(text, ESPEAK[voice]))


@pytest.mark.parametrize(
    "spoil", [lambda a: a, telephone, lambda a: noisy(a, 30)], ids=["clean", "8 kHz", "noise"]
)
def test_T12_another_synthesisers_speech_is_measured_as_well(
    spoil: Callable[[Stereo], Stereo], foreign: Call, kept_engines: Engines, protocol: Protocol
) -> None:
    """espeak-ng, whose voices no engine here has: every edge within 40 ms, the same two events."""
    found = measure(as_recording(spoil(foreign.audio)), kept_engines.vad, None, protocol).result
    assert np.abs(edges(foreign.placed, found["turns"])).max() <= 0.04
    assert [event["event"] for event in found["events"]] == TRUTH


def test_a_clean_recording_is_passed_on_untouched(
    call: Call, kept_engines: Engines, protocol: Protocol
) -> None:
    """Sample for sample: it measures as it does in the chain."""
    prepared = prepare(as_recording(call.audio))
    assert np.array_equal(prepared.stereo(), call.audio)
    assert all(notes.done == () and notes.warnings == () for notes in prepared.notes.values())
    here = measure(as_recording(call.audio), kept_engines.vad, None, protocol).result
    chain = annotate(call.audio, kept_engines.vad, NoWords())
    assert here["turns"] == chain.transcripts


def test_what_was_done_is_said(call: Call) -> None:
    """Level, offset, leak with its level, clipping: in the notes of the track that has it."""
    audio = leaking(call.audio, -30)
    audio[:, 0] = audio[:, 0] * 0.05
    notes = prepare(as_recording(audio + np.array([0.1, 0.0], np.float32))).notes
    assert notes["caller"].offset == pytest.approx(0.1, abs=1e-3)
    assert [step.split()[0] for step in notes["caller"].done] == ["offset", "leak", "level"]
    assert notes["caller"].leak is not None
    assert notes["caller"].leak.level_db == pytest.approx(-56, abs=3)  # 30 dB, and the track 26 dB softer
    loud = prepare(as_recording(clipped(call.audio))).notes["caller"]
    assert loud.clipped_share > 0.05 and any("clipped" in warning for warning in loud.warnings)
    strong = prepare(as_recording(leaking(call.audio, -6))).notes["caller"]
    assert any("cannot be told apart" in warning for warning in strong.warnings)


def test_one_side_alone(call: Call, kept_engines: Engines, protocol: Protocol) -> None:
    """An agent that never speaks leaves every turn without a reply; a silent caller gives no latency.

    So it is whether the other track is silent, holds noise, or holds the leak of the one.
    """
    alone = call.audio * np.array([1, 0], np.float32)
    for audio in (alone, noisy(alone, 30), leaking(alone, -30)):
        found = measure(as_recording(audio), kept_engines.vad, None, protocol).result
        assert [turn["speaker"] for turn in found["turns"]] == ["caller"] * 3
        assert [event["event"] for event in found["events"]] == ["slow_turn"]
        assert found["tracks"]["agent"]["warnings"] and found["latency"]["median_s"] is None
        assert any("agent's track" in note for note in found["notes"])
    only = measure(as_recording(call.audio * np.array([0, 1], np.float32)), kept_engines.vad, None, protocol)
    assert {turn["speaker"] for turn in only.result["turns"]} == {"agent"}
    assert only.result["events"] == [] and only.result["latency"]["replies"] == 0


def test_silence_and_mono_in_two_tracks_are_refused(call: Call) -> None:
    """No call can be measured on them, and the message says why."""
    with pytest.raises(InputError, match="is silent on both sides"):
        prepare(as_recording(np.zeros((16_000, 2), np.float32)))
    with pytest.raises(InputError, match="same sound on both tracks"):
        prepare(as_recording(np.repeat(call.audio.sum(axis=1, keepdims=True), 2, axis=1)))


def test_a_telephone_file_with_words_and_a_trace(
    tmp_path: Path, call: Call, kept_engines: Engines, protocol: Protocol
) -> None:
    """8 kHz mu-law: the words are read, the trace's times are those measured, T10 comes of its tool calls."""
    import json

    import soundfile
    import soxr

    soundfile.write(tmp_path / "call.wav", soxr.resample(call.audio, 16_000, 8_000), 8_000, subtype="ULAW")
    turns = [{"speaker": who, "start_s": on, "end_s": off} for who, on, off in call.placed]
    tool = {"tool": "issue_refund", "time_s": 18.0, "ok": True, "arguments": {}, "result": {"status": "done"}}
    (tmp_path / "trace.json").write_text(json.dumps({"turns": turns, "tool_calls": [tool], "more": 1}))
    trace = read_trace(tmp_path / "trace.json")
    recording = read_recording(tmp_path / "call.wav")
    found = measure(recording, kept_engines.vad, kept_engines.recogniser(), protocol, trace).result
    assert "refunded" in found["turns"][5]["text"].lower() and found["not_measured"] == []
    assert [event["event"] for event in found["events"]] == [*TRUTH, "unverified_action"]
    against = found["against_trace"]
    assert (against["missed"], against["extra"]) == (0, 0)
    assert all(row["n"] == 3 and row["worst"] <= 40 for row in against["errors_ms"].values())
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_wrong_trace_names_its_field(tmp_path: Path) -> None:
    """No JSON, nothing of a trace, an unknown speaker, a time before the recording."""
    path = tmp_path / "trace.json"
    for text, match in (
        ("{", "is not valid JSON"),
        ("{}", "holds neither"),
        ('{"turns": [{"speaker": "me", "start_s": 0, "end_s": 1}]}', r"turns\.0\.speaker"),
        ('{"turns": [{"speaker": "agent", "start_s": -1, "end_s": 1}]}', r"turns\.0\.start_s"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=match):
            read_trace(path)
    with pytest.raises(InputError, match="does not exist"):
        read_trace(tmp_path / "none.json")


def test_overlaps_and_latency_facts_of_nothing() -> None:
    """Touching segments do not overlap; no replies have no median."""

    def turn(speaker: str, start: float, end: float) -> dict[str, object]:
        return {"speaker": speaker, "start_s": start, "end_s": end}

    assert overlaps([turn("caller", 0, 1), turn("agent", 1, 2)]) == [] and overlaps([]) == []
    (one,) = overlaps([turn("caller", 0, 2), turn("agent", 1, 3)])
    assert (one.start_s, one.end_s, one.began) == (1, 2, "agent")
    assert latency_facts([])["median_s"] is None
