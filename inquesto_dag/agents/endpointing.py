"""Endpointing: when a streaming voice-activity detector's frames make a caller's utterance.

Speech starts at a frame whose probability reaches 0.5 and is over once it has stayed below 0.35 for the
agent's endpointing window (the two thresholds are Silero's own). The window is what PROTOCOL A4 varies.
"""

from __future__ import annotations

from dataclasses import dataclass

from inquesto_dag.units import Samples

ENTER = 0.5
LEAVE = 0.35
MINIMUM_SPEECH_FRAMES = 6  # 0.19 s: shorter bursts are clicks or a babbling talker, not an utterance


@dataclass(frozen=True)
class Endpoint:
    """An utterance that ended: speech from `start` to `end`, noticed at `noticed` (samples)."""

    start: Samples
    end: Samples
    noticed: Samples


class Endpointer:
    """Turns speech probabilities of successive frames into endpoints."""

    def __init__(self, window: Samples, frame: Samples) -> None:
        self.window, self.frame = window, frame
        self.start: Samples | None = None  # of the utterance under way
        self._last_speech_end: Samples = 0
        self._speech_frames = 0

    def step(self, probability: float, frame_start: Samples) -> Endpoint | None:
        """Take one frame; returns an Endpoint when the window has passed without speech."""
        frame_end = frame_start + self.frame
        if self.start is None:
            if probability < ENTER:
                return None
            self.start, self._speech_frames = frame_start, 0
        if probability >= LEAVE:
            self._last_speech_end = frame_end
            self._speech_frames += probability >= ENTER
            return None
        if frame_end - self._last_speech_end < self.window:
            return None
        endpoint = Endpoint(self.start, self._last_speech_end, frame_end)
        long_enough = self._speech_frames >= MINIMUM_SPEECH_FRAMES
        self.start = None
        return endpoint if long_enough else None

    def speaking_for(self, frame_end: Samples) -> Samples:
        """How long the utterance under way has lasted, 0 when there is none."""
        return 0 if self.start is None else frame_end - self.start
