"""A caller's line as audio: spoken clause by clause, paused as its style says, at one active speech level.

Audio is (n,) float32 at 16 kHz on the 16-bit grid; times are s from the start of the audio; levels are dBov.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inquesto_dag.audio.levels import active_speech_level, normalise, speech_bounds
from inquesto_dag.callers.script import BankLine
from inquesto_dag.errors import CheckFailed
from inquesto_dag.units import Audio, Seconds, quantise, to_samples, to_seconds

if TYPE_CHECKING:
    from inquesto_dag.speech.interfaces import TextToSpeech


@dataclass(frozen=True)
class Rendered:
    """An utterance: audio, [start, end] of its style's pauses, speech bounds, P.56 level and activity."""

    audio: Audio
    pauses_s: tuple[tuple[Seconds, Seconds], ...]
    onset_s: Seconds
    offset_s: Seconds
    active_level_dbov: float
    activity: float


def render(line: BankLine, tts: TextToSpeech, level_dbov: float) -> Rendered:
    """Speak a line at an active speech level in dBov (ITU-T P.56).

    A pause is digital silence, and its drawn length is what lies between the speech on either side, not
    between the buffers (PROTOCOL D3). Raises CheckFailed when the TTS gives no speech for a clause, or when
    the level would make the speech clip.
    """
    spoken = [_speak(clause, line, tts) for clause in line.line.clauses]
    pieces: list[Audio] = []
    pauses: list[tuple[Seconds, Seconds]] = []
    position = 0
    for number, (clause, bounds) in enumerate(spoken):
        if number:
            pause = line.line.pauses_s[number - 1]
            before, bounds_before = spoken[number - 1]
            speech_ends = position - (len(before) - bounds_before[1])
            gap = max(0, speech_ends + to_samples(pause) - position - bounds[0])
            pieces.append(np.zeros(gap, np.float32))
            position += gap
            pauses.append((to_seconds(speech_ends), to_seconds(position + bounds[0])))
        pieces.append(clause)
        position += len(clause)
    audio = quantise(normalise(np.concatenate(pieces), level_dbov))
    onset, offset = speech_bounds(audio)
    measured = active_speech_level(audio)
    return Rendered(audio, tuple(pauses), onset, offset, measured.level_dbov, measured.activity)


def _speak(clause: str, line: BankLine, tts: TextToSpeech) -> tuple[Audio, tuple[int, int]]:
    """A clause's audio and the samples at which its speech starts and ends."""
    audio = tts.speak(clause, voice=line.voice, language=line.language, speed=line.line.speed)
    onset, offset = speech_bounds(audio)
    if offset <= onset:
        raise CheckFailed(
            f"the TTS gave no speech for {clause!r}",
            where=line.utterance_id,
            remedy="change the line in the protocol's scenario, or the voice",
        )
    return audio, (to_samples(onset), to_samples(offset))
