"""A probe on the line: it knows when the caller will have finished, and begins to the tenth of a second.

An agent under test hears the line; a probe is told the caller's words and times, because what is tested here
is the measurement. Everything else of its calls is as it is in any call: caller, line, voices, tracks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.config import VoiceConfig
from inquesto_dag.agents.interface import FRAME, Listened, Utterance
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.audio.levels import speech_bounds
from inquesto_dag.audio.tracks import Placement, Track
from inquesto_dag.calls.caller import CallerClock, Spoken
from inquesto_dag.speech.interfaces import TextToSpeech
from inquesto_dag.speech.spoken_form import spoken_form
from inquesto_dag.units import Audio, Samples, Seconds, to_samples, to_seconds
from inquesto_dag.validation.probes.dialogue import ProbeScript

VOICE = VoiceConfig(name="af_bella", language="en-us")
GAP: Samples = to_samples(0.15)  # between two sentences of one reply
LEAD: Seconds = 0.4  # of the caller's own speech, at least, before a probe talks over it


class ProbeAgent:
    """One probe in one call (agents.interface.TracedAgent). `planned` has a row a reply, with its latency."""

    def __init__(
        self,
        script: ProbeScript,
        caller: CallerClock,
        account: AccountState,
        verify: Callable[[Samples], VerifyResult],
        tts: TextToSpeech,
        track: Track,
    ) -> None:
        self.script, self.probe, self.caller, self.tts, self.track = script, script.probe, caller, tts, track
        self.tools = ToolBox(
            account, lambda: verify(self._asked_at), lambda: to_seconds(self._asked_at), _no_time
        )
        self.tool_turns: list[int] = []
        self.utterances: list[Utterance] = []
        self.listened: list[Listened] = []
        self.planned: list[dict[str, Any]] = []
        self._random = np.random.default_rng([script.seed, 13])
        self._taken = 0  # utterances of the caller that it has dealt with
        self._asked_at: Samples = 0  # end of the caller's utterance under way
        self._busy_until: Samples = 0

    def connect(self) -> None:
        """A probe does not greet."""

    def hear(self, frame: Audio, start: Samples) -> None:
        """Answer what the caller has begun to say, ahead of its end where the probe is to talk over it."""
        for spoken in self.caller.spoken[self._taken :]:
            self._taken += 1
            if not self.script.ended:
                self._answer(spoken, start + FRAME)

    def hung_up_at(self) -> Samples | None:
        """After its last word."""
        return self._busy_until if self.script.ended else None

    def trace(self) -> dict[str, Any]:
        """What was planned, and what did not come about."""
        return {"kind": "probe", "probe": self.probe.id, "replies": self.planned, "faults": self.faults()}

    def faults(self) -> list[str]:
        """Why the call does not hold what the probe plants; empty when it does."""
        faults = list(self.script.faults)
        odd = sum(row["odd"] for row in self.planned)
        if (wanted := self._odd_wanted) != odd:
            faults.append(f"{odd} of {wanted} odd turns came about")
        if not self.script.turned:
            faults.append("the turning point was not reached")
        turns = sum(not row["mute"] for row in self.planned)
        if self.probe.of_turns not in (None, turns):
            faults.append(f"it took {turns} turns, not {self.probe.of_turns}")
        return faults

    # --- inside ---

    @property
    def _odd_wanted(self) -> int:
        return self.probe.odd_turns if self.probe.mute or self.probe.odd_latency_s is not None else 0

    def _answer(self, spoken: Spoken, now: Samples) -> None:
        begins = to_seconds(spoken.start) + spoken.line.onset_s
        ends = to_seconds(spoken.start) + spoken.line.offset_s
        odd = self._is_odd(ends - begins)
        latency = (
            self.probe.odd_latency_s if odd and self.probe.odd_latency_s is not None else self.probe.latency_s
        )
        mute = odd and self.probe.mute
        self.planned.append({"latency_s": None if mute else latency, "odd": odd, "mute": mute})
        if mute:
            return
        self._asked_at = spoken.end
        self.tools.begin_reply()
        sentences = self.script.reply(self.tools, spoken.line.text, leaving=spoken.say.hang_up)
        self.tool_turns += [len(self.utterances)] * (len(self.tools.rows) - len(self.tool_turns))
        if not sentences:
            self._busy_until = max(self._busy_until, spoken.end)
            return
        placements = self._place([self._say(sentence) for sentence in sentences], ends + latency, now)
        self.utterances.append(
            Utterance(
                sentences,
                placements,
                greeting=False,
                heard_from=begins,
                heard_to=ends,
                heard=spoken.line.text,
            )
        )

    def _is_odd(self, speech_s: Seconds) -> bool:
        """Whether this reply is one of the odd ones, drawn evenly from those that are still to come."""
        due = self._odd_wanted - sum(row["odd"] for row in self.planned)
        left = self.script.replies_before_end
        if not due or not left or speech_s < LEAD - min(0.0, self.probe.odd_latency_s or 0.0):
            return False
        return bool(self._random.random() < due / left)

    def _say(self, sentence: str) -> Audio:
        return self.tts.speak(
            spoken_form(sentence), voice=VOICE.name, language=VOICE.language, speed=VOICE.speed
        )

    def _place(self, pieces: Sequence[Audio], onset_s: Seconds, now: Samples) -> list[Placement]:
        """One after the other, the speech of the first beginning at `onset_s`."""
        placements: list[Placement] = []
        start = to_samples(onset_s - speech_bounds(pieces[0])[0])
        for piece in pieces:
            placement = self.track.place(max(start, now), np.asarray(piece, np.float32))
            placements.append(placement)
            start = placement.end + GAP
        self._busy_until = placements[-1].end
        return placements


def _no_time(index: int) -> Seconds:
    """A probe's tools take no time: when it speaks is its own plan."""
    return 0.0
