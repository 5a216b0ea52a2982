"""Files of every kind become the same two tracks; what is no call is refused in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from inquesto_dag.errors import InputError
from inquesto_dag.recordings.read import read_recording
from inquesto_dag.units import SAMPLE_RATE

SECONDS = 2.0


def tones(rate: int) -> np.ndarray:
    """Left a tone of 300 Hz from 0.5 s on, right one of 500 Hz from 1.0 s on, (n, 2)."""
    time = np.arange(round(SECONDS * rate)) / rate
    left = np.where(time >= 0.5, 0.3 * np.sin(2 * np.pi * 300 * time), 0.0)
    right = np.where(time >= 1.0, 0.3 * np.sin(2 * np.pi * 500 * time), 0.0)
    return np.stack([left, right], axis=1)


def starts(track: np.ndarray) -> float:
    """When a track first exceeds half its peak, in s."""
    return float(np.argmax(np.abs(track) > 0.15)) / SAMPLE_RATE


@pytest.mark.parametrize(
    ("name", "rate", "subtype"),
    [
        ("a.wav", 8_000, "ULAW"),
        ("a.wav", 8_000, "ALAW"),
        ("a.wav", 44_100, "PCM_24"),
        ("a.wav", 48_000, "FLOAT"),
        ("a.flac", 16_000, "PCM_16"),
        ("a.flac", 22_050, "PCM_16"),
        ("a.ogg", 44_100, "VORBIS"),
        ("a.ogg", 48_000, "OPUS"),
    ],
)
def test_every_container_and_rate_gives_the_same_times(
    tmp_path: Path, name: str, rate: int, subtype: str
) -> None:
    """Both tracks at 16 kHz, neither late by more than 5 ms, left the caller."""
    path = tmp_path / name
    soundfile.write(path, tones(rate), rate, subtype=subtype)
    recording = read_recording(path)
    assert recording.duration_s == pytest.approx(SECONDS, abs=0.001)
    assert starts(recording.caller) == pytest.approx(0.5, abs=0.005)
    assert starts(recording.agent) == pytest.approx(1.0, abs=0.005)
    assert (recording.sources[0].rate, recording.sources[0].channels) == (rate, 2)


def test_two_files_of_two_rates_and_the_swap(tmp_path: Path) -> None:
    """Each file is resampled by itself; the shorter is padded and the difference told; swap exchanges."""
    soundfile.write(tmp_path / "caller.wav", tones(8_000)[:, 0], 8_000)
    soundfile.write(tmp_path / "agent.flac", tones(48_000)[: 48_000 * 3 // 2, 1], 48_000)
    recording = read_recording(tmp_path / "caller.wav", tmp_path / "agent.flac")
    assert len(recording.caller) == len(recording.agent) == 2 * SAMPLE_RATE
    assert starts(recording.caller) == pytest.approx(0.5, abs=0.005)
    assert starts(recording.agent) == pytest.approx(1.0, abs=0.005)
    assert any("differ in length by 0.50 s" in note for note in recording.notes)
    swapped = read_recording(tmp_path / "caller.wav", tmp_path / "agent.flac", swap=True)
    assert np.array_equal(swapped.caller, recording.agent)
    assert np.array_equal(swapped.agent, recording.caller)


def refused(tmp_path: Path, name: str, data: bytes, match: str) -> None:
    """The file is refused with these words, a place and a next step."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=match) as caught:
        read_recording(path)
    assert name in caught.value.where and caught.value.remedy


def encoded(tmp_path: Path, name: str, audio: np.ndarray, rate: int = 16_000) -> bytes:
    """The bytes of a file of this audio."""
    soundfile.write(tmp_path / f"whole-{name}", audio, rate)
    return (tmp_path / f"whole-{name}").read_bytes()


def test_what_is_no_call_is_refused_in_words(tmp_path: Path) -> None:
    """Missing, empty, no audio, mono, three tracks, a folder, too short, too slow, not finite."""
    with pytest.raises(InputError, match="does not exist"):
        read_recording(tmp_path / "none.wav")
    with pytest.raises(InputError, match="is a folder"):
        read_recording(tmp_path)
    refused(tmp_path, "empty.wav", b"", "is empty")
    refused(tmp_path, "text.wav", b"this is a letter, not a recording of anything", "cannot be read as audio")
    stereo = tones(16_000)
    refused(tmp_path, "mono.wav", encoded(tmp_path, "mono.wav", stereo[:, 0]), "has one track")
    three = np.concatenate([stereo, stereo[:, :1]], axis=1)
    refused(tmp_path, "three.wav", encoded(tmp_path, "three.wav", three), "has 3 tracks")
    refused(tmp_path, "short.wav", encoded(tmp_path, "short.wav", stereo[:1_600]), "too little for a call")
    refused(tmp_path, "slow.wav", encoded(tmp_path, "slow.wav", stereo, 4_000), "less than a telephone")
    soundfile.write(tmp_path / "nan.wav", np.where(stereo == 0, np.nan, stereo), 16_000, subtype="FLOAT")
    with pytest.raises(InputError, match="not finite"):
        read_recording(tmp_path / "nan.wav")


@pytest.mark.parametrize("name", ["cut.wav", "cut.flac", "cut.ogg"])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_truncated_file_is_never_a_shorter_call(tmp_path: Path, name: str, share: float) -> None:
    """Half of it, or all but its last twentieth: refused as truncated or damaged, never measured."""
    whole = encoded(tmp_path, name, tones(16_000))
    read_recording(tmp_path / f"whole-{name}")
    refused(tmp_path, name, whole[: int(share * len(whole))], "is truncated|cannot be read as audio")


def test_a_wav_that_its_recorder_never_closed(tmp_path: Path) -> None:
    """A header that promises nothing is refused; a streamed one is read, and its reader told."""
    whole = bytearray(encoded(tmp_path, "a.wav", tones(16_000)))
    at = whole.index(b"data") + 4
    whole[at : at + 4] = b"\x00" * 4
    refused(tmp_path, "open.wav", bytes(whole), "never closed")
    whole[at : at + 4] = b"\xff" * 4
    (tmp_path / "streamed.wav").write_bytes(bytes(whole))
    recording = read_recording(tmp_path / "streamed.wav")
    assert recording.duration_s == pytest.approx(SECONDS, abs=0.01)
    assert any("states no length" in note for note in recording.notes)


def test_two_files_are_two_sides(tmp_path: Path) -> None:
    """A stereo file is not a side, and one file is not both."""
    soundfile.write(tmp_path / "stereo.wav", tones(16_000), 16_000)
    soundfile.write(tmp_path / "mono.wav", tones(16_000)[:, 0], 16_000)
    with pytest.raises(InputError, match="each holds one side"):
        read_recording(tmp_path / "mono.wav", tmp_path / "stereo.wav")
    with pytest.raises(InputError, match="is given twice"):
        read_recording(tmp_path / "mono.wav", tmp_path / "mono.wav")
