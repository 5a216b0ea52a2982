"""The telephone line: PROTOCOL P3 and D5."""

from __future__ import annotations

import numpy as np
import pytest

from inquesto_dag.audio.levels import rms_dbov
from inquesto_dag.audio.telephone import carry
from inquesto_dag.units import Audio, to_pcm16


def gain_db(sent: Audio, received: Audio) -> float:
    """Level of what arrives over what was sent, away from the ends, everything at any frequency counted."""
    return rms_dbov(received[2000:-2000]) - rms_dbov(sent[2000:-2000])


@pytest.mark.parametrize("hz", [50, 100, 4600, 5000, 6000, 7000, 7900])
def test_D5_at_least_20_db_down_out_of_band(tone, hz: int):
    """Hum and what lies above 8 kHz sampling neither pass nor fold back into the band."""
    sent = tone(hz, 2.0)
    assert gain_db(sent, carry(sent)) <= -20.0


@pytest.mark.parametrize("hz", [500, 700, 1000, 1500, 2000, 2500, 3000])
def test_D5_within_1_db_in_band(tone, hz: int):
    """The band itself is flat."""
    sent = tone(hz, 2.0)
    assert abs(gain_db(sent, carry(sent))) <= 1.0


def test_D5_the_edges_of_the_band_are_300_and_3400_hz(tone):
    """6 dB down at both edges: broken by a low-pass alone."""
    for hz in (300, 3400):
        assert gain_db(tone(hz, 2.0), carry(tone(hz, 2.0))) == pytest.approx(-6.0, abs=0.5)


def test_D5_what_is_below_the_first_step_of_the_law_is_not_carried(tone):
    """A tone of 3 of 32,768 is coded as zero and arrives as silence; broken by leaving the codec out."""
    assert not carry(tone(1000, 1.0, 3 / 32_768)).any()
    assert carry(tone(1000, 1.0, 12 / 32_768)).any()


def test_D5_the_codec_is_heard_as_noise_about_38_db_down(tone):
    """mu-law has a signal-to-noise ratio of 33 to 42 dB at this level: neither absent nor a coarser code."""
    received = np.asarray(carry(tone(1013, 2.0, 0.25)), np.float64)[8000:24_000]
    spectrum = np.square(np.abs(np.fft.rfft(received)))
    share = 10 * np.log10(spectrum[1013] / (spectrum.sum() - spectrum[1013]))
    assert 33.0 < share < 42.0


@pytest.mark.parametrize("length", [15_999, 16_000, 16_001])
def test_the_line_delays_nothing(length: int):
    """The cross-correlation of noise with what arrives peaks at lag 0, and the length is kept."""
    sent = (0.1 * np.random.default_rng(1).standard_normal(length)).astype(np.float32)
    received = carry(sent)
    assert len(received) == length
    assert int(np.correlate(received, sent, "full").argmax()) == length - 1


@pytest.mark.parametrize("at", [5000, 5001])
def test_digital_silence_stays_silence_12_ms_from_any_sound(at: int):
    """A burst spreads by the filters' reach and no further, before and after; all else is exactly 0."""
    sent = np.zeros(16_000, np.float32)
    sent[at : at + 4000] = 0.4 * np.random.default_rng(2).standard_normal(4000)
    received = carry(sent)
    assert np.abs(received[at : at + 4000]).max() > 0.1
    assert not received[: at - 192].any()
    assert not received[at + 4000 + 192 :].any()
    assert not carry(np.zeros(4000, np.float32)).any()


@pytest.mark.parametrize("length", [0, 1, 2, 3, 150, 201])
def test_the_shortest_lines_keep_their_length(length: int):
    """Shorter than the filters, and nothing at all."""
    assert carry(np.full(length, 0.2, np.float32)).shape == (length,)


def test_what_arrives_is_on_the_16_bit_grid_and_the_same_every_time(talk):
    """A file gives back exactly what was carried."""
    received = carry(talk(2, 1.0))
    assert received.dtype == np.float32
    assert np.array_equal(to_pcm16(received) / np.float32(32_768), received)
    assert np.array_equal(carry(talk(2, 1.0)), received)
