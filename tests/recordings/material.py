"""A short call with real speech, mixed by hand at known times, and what lines and recorders do to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from inquesto_dag.audio.levels import active_speech_level, normalise, speech_bounds
from inquesto_dag.units import SAMPLE_RATE, Audio, to_samples

Stereo = npt.NDArray[np.float32]  # (n, 2)

# ruff: noqa: E501  one utterance a line
# Who speaks, with which voice, what, and when: s after the other's last word (the caller's first: after 0 s).
SCRIPT = (
    ("caller", "bf_isabella", "Hello, I was charged twice for the same order, and I want one of them back.", 0.6),
    ("agent", "am_fenrir", "I can help with that. May I have your account number?", 0.9),
    ("caller", "bf_isabella", "Yes, it is four four seven one, and the card ends in three three eight two.", 0.7),
    ("agent", "am_fenrir", "Thank you, one moment please.", -0.8),
    ("caller", "bf_isabella", "Have you found the charge?", 1.2),
    ("agent", "am_fenrir", "Yes. I have refunded forty nine dollars to your card.", 3.4),
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """(n, 2) audio, and (speaker, onset, offset) in s of each utterance as it was placed."""

    audio: Stereo
    placed: tuple[tuple[str, float, float], ...]


def mix(speak: Callable[[str, str], Audio]) -> Call:
    """The script on two tracks with digital silence between, each voice at -26 dBov."""
    placed: list[tuple[str, float, float]] = []
    pieces: list[tuple[str, int, Audio]] = []
    previous = 0.0
    for speaker, voice, text, after in SCRIPT:
        spoken = normalise(speak(text, voice), -26.0)
        onset, offset = speech_bounds(spoken)
        start = to_samples(previous + after - onset)
        pieces.append((speaker, start, spoken))
        begins = start / SAMPLE_RATE
        placed.append((speaker, begins + onset, begins + offset))
        previous = begins + offset
    audio = np.zeros((to_samples(previous + 1.0), 2), np.float32)
    for speaker, start, spoken in pieces:
        audio[start : start + len(spoken), int(speaker == "agent")] += spoken
    return Call(audio, tuple(placed))


def noisy(audio: Stereo, snr_db: float, colour: str = "white") -> Stereo:
    """With steady noise on both tracks, `snr_db` below the active speech level (-26 dBov)."""
    noise = np.random.default_rng(7).standard_normal(audio.shape)
    if colour == "pink":
        spectrum = np.fft.rfft(noise, axis=0)
        spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))[:, None]
        noise = np.fft.irfft(spectrum, len(audio), axis=0)
    noise *= 10 ** ((-26.0 - snr_db) / 20) / noise.std(axis=0)
    return (audio + noise).astype(np.float32)


def leaking(audio: Stereo, level_db: float, delay_s: float = 0.0) -> Stereo:
    """Each track with the other in it at `level_db`, `delay_s` later, through a low-pass as a line has it."""
    from scipy.signal import lfilter

    other = audio[:, ::-1]
    late = np.pad(other, ((to_samples(delay_s), 0), (0, 0)))[: len(other)]
    soft = lfilter([0.6, 0.3, 0.1], [1.0], late, axis=0)
    return (audio + 10 ** (level_db / 20) * soft).astype(np.float32)


def clipped(audio: Stereo) -> Stereo:
    """Recorded 30 dB too loud: every peak is cut off at full scale."""
    return np.clip(audio * 10**1.5, -1.0, 1.0).astype(np.float32)


def edges(
    placed: Sequence[tuple[str, float, float]], turns: Sequence[Mapping[str, object]]
) -> npt.NDArray[np.float64]:
    """(turns, 2): measured minus placed onset and offset in s; turns and speakers must agree."""
    ordered = sorted(placed, key=lambda item: item[1])
    assert [turn["speaker"] for turn in turns] == [speaker for speaker, _, _ in ordered]
    return np.array(
        [
            [float(str(turn["start_s"])) - onset, float(str(turn["end_s"])) - offset]
            for turn, (_, onset, offset) in zip(turns, ordered, strict=True)
        ]
    )


def active_level(audio: Audio) -> float:
    """P.56 active level in dBov."""
    return active_speech_level(audio).level_dbov
