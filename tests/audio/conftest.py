"""Sound made by rule: what it is, is known exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from inquesto_dag.units import SAMPLE_RATE, Audio, quantise

Talker = Callable[..., Audio]


def _talk(number: int, seconds: float = 8.0, peak: float = 0.3) -> Audio:
    """A talker of fixed pitch: harmonics under random syllables of 0.1 to 0.3 s, with pauses between some."""
    rng = np.random.default_rng(1000 + number)
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    pitch = 90.0 + 17.0 * number
    voice = sum(np.sin(2 * np.pi * pitch * k * time + rng.uniform(0, 6.28)) / k for k in range(1, 20))
    envelope = np.zeros(len(time))
    at = 0
    while at < len(time):
        length = int(rng.integers(1600, 4800))
        part = envelope[at : at + length]
        part[:] = np.sin(np.pi * np.arange(length)[: len(part)] / length) * rng.uniform(0.3, 1.0)
        at += length + (8000 if rng.random() < 0.12 else 0)
    sound = np.asarray(voice) * envelope
    return quantise((peak * sound / np.max(np.abs(sound))).astype(np.float32))


@pytest.fixture(scope="session")
def talk() -> Talker:
    """`talk(number, seconds=8.0, peak=0.3)`: the same number is the same talker saying the same thing."""
    return _talk


@pytest.fixture(scope="session")
def tone() -> Callable[..., Audio]:
    """`tone(hz, seconds=1.0, amplitude=0.25)`: a sine on the 16-bit grid."""

    def make(hz: float, seconds: float = 1.0, amplitude: float = 0.25) -> Audio:
        time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
        return quantise((amplitude * np.sin(2 * np.pi * hz * time)).astype(np.float32))

    return make
