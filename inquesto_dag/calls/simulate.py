"""Place one call in virtual time (DESIGN): caller, line and agent advance together, 32 ms at a step.

At each step the caller decides from what it could have heard by then, the line carries what it says, the
agent hears one frame of the line and may place audio at or after the frame's end. Nobody reads the future,
and the clock is not the wall's: the same inputs give the same call on every machine (declared timing).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inquesto_dag.agents.interface import FRAME, CallAgent
from inquesto_dag.audio.measure import snr_db
from inquesto_dag.audio.tracks import Track
from inquesto_dag.calls.bank import SpokenLine
from inquesto_dag.calls.caller import CallerClock
from inquesto_dag.units import SAMPLE_RATE, Audio, Samples, Seconds, to_samples

TIME_LIMIT: Seconds = 240.0


@dataclass(frozen=True)
class Recording:
    """A finished call: three tracks of one length, 16 kHz float32 on the 16-bit grid."""

    caller: Audio
    line: Audio
    agent: Audio
    ended_by: str
    snr_db: float | None

    @property
    def duration_s(self) -> Seconds:
        """Length in s."""
        return len(self.caller) / SAMPLE_RATE


@dataclass
class LineTracks:
    """The caller's side of a call: what it says clean, and the same as the line carries it."""

    caller: Track
    line: Track

    def place(self, start: Samples, spoken: SpokenLine) -> Samples:
        """Put an utterance on both tracks; returns the sample after its last."""
        self.caller.place(start, spoken.clean)
        return self.line.place(start, spoken.carried).end


def place_call(
    caller: CallerClock,
    agent: CallAgent,
    tracks: LineTracks,
    agent_track: Track,
    lookup: Callable[[str, str], SpokenLine],
    *,
    on_first_words: Callable[[Samples, Samples], None],
    time_limit: Seconds = TIME_LIMIT,
) -> Recording:
    """Run the clock until somebody ends the call.

    `lookup(move, text)` gives the caller's audio; `on_first_words(start, end)` tells the platform where the
    caller's first utterance lies, which is what the speaker verifier scores (PROTOCOL I1).
    """
    agent.connect()
    now, limit, ended_by = 0, to_samples(time_limit), "time_limit"
    while now < limit:
        say = caller.decide(now, agent.utterances)
        if say is not None:
            spoken = lookup(say.move, say.text)
            end = tracks.place(now, spoken)
            if not caller.spoken:
                on_first_words(now, end)
            caller.started(say, now, end, spoken)
        agent.hear(tracks.line.read(now, FRAME), now)
        now += FRAME
        gone = agent.hung_up_at()
        if gone is not None and now >= gone + to_samples(0.2):
            ended_by = "agent"
            break
        if caller.hangs_up(now, agent.utterances):
            ended_by = caller.spoken[-1].say.ended_by or "gave_up"
            break
    if ended_by == "agent" and caller.spoken and caller.spoken[-1].say.ended_by:
        ended_by = caller.spoken[-1].say.ended_by  # both said goodbye; the caller's reason is the call's
    return _record(tracks, agent_track, now, ended_by)


def _record(tracks: LineTracks, agent_track: Track, length: Samples, ended_by: str) -> Recording:
    for placement in agent_track.placements:
        if placement.end > length:
            placement.cut(length)
    line = tracks.line
    snr = None
    if line.bed is not None:
        speech = Track(placements=line.placements).read(0, length)
        bed = Track(bed=line.bed, bed_start=line.bed_start).read(0, length)
        snr = float(snr_db(speech, bed)) if np.any(speech) else None
    return Recording(
        caller=tracks.caller.read(0, length),
        line=line.read(0, length),
        agent=agent_track.read(0, length),
        ended_by=ended_by,
        snr_db=snr,
    )
