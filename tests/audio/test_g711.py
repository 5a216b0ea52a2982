"""G.711 mu-law against two independent implementations, libsndfile and audioop, and the table itself."""

from __future__ import annotations

import io
import warnings

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.audio import g711

EVERY_CODE = np.arange(256).astype(np.uint8)
EVERY_SAMPLE = np.arange(-32_768, 32_768).astype(np.int16)


def sndfile_encode(pcm: npt.NDArray[np.int16]) -> npt.NDArray[np.uint8]:
    stream = io.BytesIO()
    soundfile.write(stream, pcm, 8_000, format="RAW", subtype="ULAW")
    return np.frombuffer(stream.getvalue(), np.uint8)


def sndfile_decode(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
    stream = io.BytesIO(codes.tobytes())
    pcm, _ = soundfile.read(stream, dtype="int16", format="RAW", subtype="ULAW", samplerate=8_000, channels=1)
    return np.asarray(pcm, np.int16)


def test_D5_all_256_codes_decode_as_in_libsndfile():
    """Every code gives the 16-bit sample that libsndfile gives."""
    assert np.array_equal(g711.decode(EVERY_CODE), sndfile_decode(EVERY_CODE))


def test_D5_all_65536_samples_encode_as_in_libsndfile():
    """Every 16-bit sample gives the code that libsndfile gives."""
    assert np.array_equal(g711.encode(EVERY_SAMPLE), sndfile_encode(EVERY_SAMPLE))


def test_D5_all_codes_and_all_14_bit_samples_agree_with_audioop():
    """audioop agrees on every code and on all 16,384 samples of the law's own 14-bit PCM.

    Off that grid it rounds negative samples away from zero, so 16-bit samples that are no multiple of 4 are
    left to libsndfile, which treats both signs alike.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        audioop = pytest.importorskip("audioop", reason="left the standard library with Python 3.13")
    samples = EVERY_SAMPLE[EVERY_SAMPLE % 4 == 0]
    decoded = np.frombuffer(audioop.ulaw2lin(EVERY_CODE.tobytes(), 2), np.int16)
    encoded = np.frombuffer(audioop.lin2ulaw(samples.tobytes(), 2), np.uint8)
    assert np.array_equal(g711.decode(EVERY_CODE), decoded)
    assert len(samples) == 16_384
    assert np.array_equal(g711.encode(samples), encoded)


def test_D5_codes_are_those_of_the_recommendation():
    """Values of ITU-T G.711 table 2a, in 14 bits: 0 is 0xFF, the largest, 8031, is 0x80, -8031 is 0x00."""
    assert g711.decode(np.array([0xFF, 0x7F, 0x80, 0x00, 0xFE, 0x7E], np.uint8)).tolist() == [
        0, 0, 4 * 8031, -4 * 8031, 4 * 2, -4 * 2,
    ]  # fmt: skip
    assert g711.encode(np.array([0, 32_767, -32_768], np.int16)).tolist() == [0xFF, 0x80, 0x00]


def test_decoding_then_encoding_gives_every_code_back_but_negative_zero():
    """What a line delivered, sent again, is the same codes; only the second zero becomes the first."""
    again = g711.encode(g711.decode(EVERY_CODE))
    assert again[0x7F] == 0xFF
    assert np.array_equal(np.delete(again, 0x7F), np.delete(EVERY_CODE, 0x7F))


@given(st.integers(-32_124, 32_124))
def test_the_error_is_at_most_half_a_step_of_its_segment(sample: int):
    """Within the range of the law, a sample comes back within half its segment's step (and 3 of 16 bits)."""
    back = int(g711.decode(g711.encode(np.array([sample], np.int16)))[0])
    segment = (abs(sample) + 132).bit_length() - 8
    assert abs(back - sample) <= 4 * (1 << segment) + 3


def test_shapes_are_kept():
    """Empty and two-dimensional arrays come back as they went in."""
    assert g711.encode(np.zeros((3, 2), np.int16)).shape == (3, 2)
    assert g711.decode(np.zeros(0, np.uint8)).shape == (0,)
