"""FLAC between stages: what was written is what is read, and no damaged file passes for a shorter one."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from inquesto_dag.audio.files import audio_from_flac, flac_bytes, read_flac, write_flac
from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import sha256_bytes
from inquesto_dag.units import from_pcm16, to_pcm16


@given(arrays(np.int16, st.integers(1, 5000)))
@settings(max_examples=40, deadline=None)
def test_mono_comes_back_bit_for_bit(pcm):
    """Any 16-bit mono audio survives the file exactly, the extremes included."""
    back = audio_from_flac(flac_bytes(from_pcm16(pcm)), "x")
    assert back.dtype == np.float32
    assert np.array_equal(to_pcm16(back), pcm)


@given(arrays(np.int16, st.tuples(st.integers(1, 3000), st.just(2))))
@settings(max_examples=20, deadline=None)
def test_stereo_keeps_its_channels_apart(pcm):
    """(n, 2) comes back as (n, 2), left and right not exchanged."""
    assert np.array_equal(to_pcm16(audio_from_flac(flac_bytes(from_pcm16(pcm)), "x")), pcm)


def test_the_file_is_16_khz_16_bit_for_any_reader(tmp_path: Path, talk):
    """A library that knows nothing of the project reads rate, width and samples."""
    write_flac(tmp_path / "deep" / "a.flac", talk(1))
    pcm, rate = soundfile.read(tmp_path / "deep" / "a.flac", dtype="int16")
    assert rate == 16_000
    assert soundfile.info(tmp_path / "deep" / "a.flac").subtype == "PCM_16"
    assert np.array_equal(pcm, to_pcm16(talk(1)))
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a.flac"]


def test_the_same_audio_gives_the_same_bytes_in_another_process(talk):
    """Bytes depend on the samples alone, so digests of recordings can be compared between runs."""
    script = (
        "import sys, numpy as np; from inquesto_dag.audio.files import flac_bytes;"
        "from inquesto_dag.files import sha256_bytes;"
        "print(sha256_bytes(flac_bytes(np.frombuffer(sys.stdin.buffer.read(), np.float32))))"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], input=talk(2).tobytes(), capture_output=True, check=True
    )
    assert other.stdout.decode().strip() == sha256_bytes(flac_bytes(talk(2)))


def test_louder_than_full_scale_is_clipped_not_wrapped():
    """+1.5 becomes the largest 16-bit sample, not a negative one."""
    back = audio_from_flac(flac_bytes(np.array([1.5, -1.5], np.float32)), "x")
    assert to_pcm16(back).tolist() == [32_767, -32_768]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.3, 0.7, 0.99, 0.9999])
def test_a_truncated_file_is_refused_by_name(tmp_path: Path, talk, share: float):
    """However much of the end is missing, the error names the file and the next step."""
    whole = flac_bytes(talk(3))
    path = tmp_path / "call-017.flac"
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match=r"call-017\.flac: (is a damaged|is truncated|is not a)") as caught:
        read_flac(path)
    assert caught.value.exit_code == 2
    assert "dvc checkout" in caught.value.remedy


def test_a_file_cut_between_frames_with_a_header_to_match_is_caught_by_its_md5(talk):
    """Even a header that was made to promise fewer samples does not hide what is lost: the MD5 differs."""
    short, whole = bytearray(flac_bytes(talk(3, 1.0))), flac_bytes(talk(3, 2.0))
    short[26:42] = whole[26:42]
    with pytest.raises(InputError, match="MD5"):
        audio_from_flac(bytes(short), "call.flac")


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_flipped_bit_changes_samples_silently(talk, data):
    """One flipped bit anywhere: refused, or the samples are the same (a bit of the comment block)."""
    whole = flac_bytes(talk(4, 0.5))
    damaged = bytearray(whole)
    damaged[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        back = audio_from_flac(bytes(damaged), "x")
    except InputError:
        return
    assert np.array_equal(back, audio_from_flac(whole, "x"))


@pytest.mark.parametrize(("rate", "subtype"), [(8_000, "PCM_16"), (44_100, "PCM_16"), (16_000, "PCM_24")])
def test_another_rate_or_width_is_refused(tmp_path: Path, rate: int, subtype: str):
    """A file of another format is not silently played at the wrong speed or rounded."""
    soundfile.write(tmp_path / "a.flac", np.zeros(100), rate, subtype=subtype)
    with pytest.raises(InputError, match=rf"a\.flac: is {rate} Hz {subtype}.*\n.*next: convert"):
        read_flac(tmp_path / "a.flac")


def test_a_wave_file_named_flac_is_refused(tmp_path: Path):
    """The content counts, not the name."""
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros(100), 16_000, format="WAV")
    (tmp_path / "a.flac").write_bytes(stream.getvalue())
    with pytest.raises(InputError, match=r"a\.flac: is not a FLAC file"):
        read_flac(tmp_path / "a.flac")


def test_a_missing_file_says_which_and_what_to_do(tmp_path: Path):
    """Missing is said as missing."""
    with pytest.raises(InputError, match=r"gone\.flac: does not exist\n.*run the stage"):
        read_flac(tmp_path / "gone.flac")


@pytest.mark.parametrize("shape", [(0,), (4, 3), (2, 2, 2), ()])
def test_audio_of_another_shape_is_never_written(shape):
    """No samples, three channels or a lone number: a fault of the code that made it."""
    with pytest.raises(ValueError, match="audio must be"):
        flac_bytes(np.zeros(shape, np.float32))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_sample_that_is_no_number_is_never_written(bad):
    """NaN would become some 16-bit sample and be heard as a click."""
    with pytest.raises(ValueError, match="finite"):
        flac_bytes(np.array([0.0, bad], np.float32))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, talk, monkeypatch):
    """When the disk is full the error says so, the old file stays and no part of the new one."""
    path = tmp_path / "a.flac"
    write_flac(path, talk(1, 0.2))
    before = path.read_bytes()

    def write_to_full_device(_: Path, data: bytes) -> int:
        with open("/dev/full", "wb") as device:
            return device.write(data)

    monkeypatch.setattr(Path, "write_bytes", write_to_full_device)
    with pytest.raises(InfrastructureError, match=r"a\.flac: could not be written: No space left"):
        write_flac(path, talk(2, 0.2))
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.flac"]
