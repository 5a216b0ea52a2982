"""The three sample-aligned tracks of a call while it is being placed (DESIGN, A call in virtual time).

- caller: near end, clean, what the caller says
- line: what the agent hears: the same utterances as the condition carries them, plus the noise bed, which
  runs from the first sample to the last (PROTOCOL D4)
- agent: what the caller hears

Utterances are *placed* at a sample; overlapping placements add up. Nothing is mixed before it is read, so a
placement may be cut short as long as its cut lies ahead of what was read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inquesto_dag.audio.babble import excerpt
from inquesto_dag.units import SAMPLE_RATE, Audio, Samples, quantise

FADE = SAMPLE_RATE // 100  # 10 ms: how an utterance ends that is cut short


@dataclass
class Placement:
    """Audio that starts at sample `start` of a track."""

    start: Samples
    audio: Audio

    @property
    def end(self) -> Samples:
        """The sample after its last."""
        return self.start + len(self.audio)

    def cut(self, at: Samples) -> None:
        """End it at a sample, with a 10 ms fade; a placement that starts later is emptied."""
        kept = self.audio[: max(0, at - self.start)].copy()
        fade = min(FADE, len(kept))
        if fade and len(kept) < len(self.audio):
            kept[-fade:] *= np.linspace(1.0, 0.0, fade, dtype=np.float32)
        self.audio = quantise(kept)


@dataclass
class Track:
    """Placements over silence, or over a bed that loops from `bed_start`."""

    bed: Audio | None = None
    bed_start: Samples = 0
    placements: list[Placement] = field(default_factory=list)

    def place(self, start: Samples, audio: Audio) -> Placement:
        """Put audio on the track."""
        placement = Placement(start, audio)
        self.placements.append(placement)
        return placement

    def read(self, start: Samples, length: Samples) -> Audio:
        """The samples [start, start + length), float32, on the 16-bit grid."""
        mixed = np.zeros(length, np.float64)
        for placement in self.placements:
            first, last = max(start, placement.start), min(start + length, placement.end)
            if first < last:
                mixed[first - start : last - start] += placement.audio[
                    first - placement.start : last - placement.start
                ]
        if self.bed is not None:
            mixed += excerpt(self.bed, self.bed_start + start, length)
        return quantise(mixed.astype(np.float32))
