"""The built-in kind of agent: VAD and endpointing, recognition, brain and tools, synthesis in sequence.

What happens at an endpoint, on the virtual clock (PROTOCOL S1, DESIGN):

    endpoint --recognition--> words --brain and tools--> first sentence --synthesis--> first audio

Further sentences follow as they are ready and never before the one before them has ended. Component times
are drawn from the agent's declared model or measured on the wall clock; see `ComponentClock`. An agent that
heard nothing does not answer (PROTOCOL D12).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.brain import BrainSession, Heard, ReportingSession
from inquesto_dag.agents.config import AgentConfig, Component, declared_time
from inquesto_dag.agents.endpointing import Endpoint, Endpointer
from inquesto_dag.agents.interface import FRAME, Listened, Utterance
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.audio.tracks import Placement, Track
from inquesto_dag.speech.interfaces import Recogniser, TextToSpeech, Unsayable, VoiceActivityDetector
from inquesto_dag.speech.spoken_form import spoken_form
from inquesto_dag.units import Audio, Samples, Seconds, to_samples, to_seconds

PRE_ROLL: Samples = to_samples(0.256)  # eight frames before the VAD's start: a soft onset is heard too
POST_ROLL: Samples = to_samples(0.192)  # six frames after its end; shorter than any window, so that what is
# recognised does not depend on the window unless the caller pauses
SENTENCE_GAP: Samples = to_samples(0.15)  # between two sentences of one reply
BARGE_IN: Samples = to_samples(0.192)  # caller speech that makes an interruptible agent stop


class ComponentClock:
    """Where component times come from: the agent's declared, seeded model, or this machine's wall clock.

    Declared times depend on the call's seed, the component and its number only, so that agents which differ
    in one setting are compared on the same draws.
    """

    def __init__(self, config: AgentConfig, seed: int) -> None:
        self.config, self.seed = config, seed
        self.declared = config.timing.mode == "declared"

    def took(self, component: Component, number: int, began: float) -> Seconds:
        """Time in s of a component that began at wall-clock time `began` (`time.perf_counter`)."""
        if self.declared:
            return declared_time(self.config, component, self.seed, number)
        return time.perf_counter() - began


@dataclass
class _Reply:
    """The clock of one reply: when the brain began (virtual s), what of the wall clock was not its own."""

    number: int
    began_s: Seconds
    thinking_s: Seconds  # declared time of the brain; 0 when it is measured
    began_wall: float
    synthesis_wall: float = 0.0

    def elapsed(self, declared: bool) -> Seconds:
        """Brain time so far, tool calls of a declared reply left out."""
        if declared:
            return self.thinking_s
        return time.perf_counter() - self.began_wall - self.synthesis_wall


class CascadeAgent:
    """A cascade in one call; see the module's docstring."""

    def __init__(
        self,
        config: AgentConfig,
        session: BrainSession,
        account: AccountState,
        verify: Callable[[Samples], VerifyResult],
        *,
        vad: VoiceActivityDetector,
        recogniser: Recogniser,
        tts: TextToSpeech,
        line: Track,
        track: Track,
        seed: int,
    ) -> None:
        """`verify(sample)` compares the caller's first utterance, as far as the line delivered it by then."""
        self.config, self.session = config, session
        self.recogniser, self.tts, self.line, self.track = recogniser, tts, line, track
        self.clock = ComponentClock(config, seed)
        self.tools = ToolBox(account, lambda: verify(self._noticed), self._now, self._time_of_tool)
        self.tool_turns: list[int] = []  # for each row of `tools.rows`, the reply that made the call
        self.frames = vad.stream()
        self.endpointer = Endpointer(to_samples(config.endpointing_ms / 1000), FRAME)
        self.utterances: list[Utterance] = []
        self.listened: list[Listened] = []
        self._reply = _Reply(0, 0.0, 0.0, 0.0)
        self._noticed: Samples = 0  # when the last endpoint fired
        self._busy_until: Samples = 0  # end of the last audio placed
        self._replies = 0
        self._hang_up: Samples | None = None

    # --- the seam (agents.interface.CallAgent) ---

    def connect(self) -> None:
        """Place the greeting, if the brain has one, at the first sample."""
        sentences = [s for s in self.session.greet() if s.strip()]
        if sentences:
            placements = [self._place(self._synthesise(sentence), 0) for sentence in sentences]
            self.utterances.append(Utterance(sentences, placements, greeting=True))

    def hear(self, frame: Audio, start: Samples) -> None:
        """Take one line frame; answer when the endpointer fires."""
        endpoint = self.endpointer.step(self.frames.step(frame), start)
        now = start + FRAME
        if self.config.interruptible and self.endpointer.speaking_for(now) >= BARGE_IN:
            self._stop_talking(now)
        if endpoint is not None:
            self._answer(endpoint)

    def hung_up_at(self) -> Samples | None:
        """When the brain has ended the call: after its last audio."""
        return self._hang_up

    def trace(self) -> dict[str, Any]:
        """The cascade's settings that shaped the call."""
        told = {"brain": self.session.report()} if isinstance(self.session, ReportingSession) else {}
        return {"kind": "cascade", "endpointing_ms": self.config.endpointing_ms, **told}

    # --- inside ---

    def _answer(self, endpoint: Endpoint) -> None:
        reply, at = self._replies, to_seconds(endpoint.noticed)
        began = time.perf_counter()
        first = max(0, endpoint.start - PRE_ROLL)
        cut = self.line.read(first, min(endpoint.end + POST_ROLL, endpoint.noticed) - first)
        recognised = self.recogniser.recognise(cut)
        recognition_s = self.clock.took("recognition", reply, began)
        heard = Listened(
            to_seconds(endpoint.start),
            to_seconds(endpoint.end),
            at,
            recognised.text,
            recognised.confidence,
        )
        self.listened.append(heard)
        if not recognised.text.strip():
            return
        self._replies += 1
        self._speak_reply(heard, endpoint.noticed, recognition_s, reply)

    def _speak_reply(self, heard: Listened, noticed: Samples, recognition_s: Seconds, number: int) -> None:
        """Place the brain's sentences as they come; the components kept are those of the first."""
        began = time.perf_counter()
        thinking = self.clock.took("brain", number, began) if self.clock.declared else 0.0
        self._reply = _Reply(number, to_seconds(noticed) + recognition_s, thinking, began)
        self._noticed = noticed
        self.tools.begin_reply()
        placements: list[Placement] = []
        sentences: list[str] = []
        brain_s = synthesis_s = None
        for sentence in self._sentences(heard):
            ready = self._now() + self.tools.reply_spent_s
            synthesis_began = time.perf_counter()
            try:
                audio = self._synthesise(sentence)
            except Unsayable:  # a brain may write what no voice can read; a TTS is silent then
                continue
            synthesis = self.clock.took("synthesis", number * 100 + len(sentences), synthesis_began)
            self._reply.synthesis_wall += time.perf_counter() - synthesis_began
            if brain_s is None:
                brain_s, synthesis_s = ready - self._reply.began_s, synthesis
            placements.append(self._place(audio, to_samples(ready + synthesis)))
            sentences.append(sentence)
        if sentences:
            self.utterances.append(
                Utterance(
                    sentences,
                    placements,
                    greeting=False,
                    heard_from=heard.start_s,
                    heard_to=heard.end_s,
                    heard=heard.text,
                    endpoint_s=heard.endpoint_s,
                    recognition_s=recognition_s,
                    brain_s=brain_s,
                    synthesis_s=synthesis_s,
                )
            )
        if self.session.ended:
            self._hang_up = max(noticed, self._busy_until)

    def _sentences(self, heard: Listened) -> Iterator[str]:
        try:
            for sentence in self.session.reply(Heard(heard.text, heard.confidence), self.tools):
                if sentence.strip():
                    yield sentence.strip()
        finally:  # also when infrastructure breaks the call off: what was done before stays in the trace
            self.tool_turns += [self._reply.number] * (len(self.tools.rows) - len(self.tool_turns))

    def _now(self) -> Seconds:
        """The brain's virtual time, without the declared time of its tool calls (the toolbox adds it)."""
        lost_s = 0.0
        if not self.clock.declared and isinstance(self.session, ReportingSession):
            lost_s = self.session.lost_s  # what infrastructure cost is no slow reply (PROTOCOL D14)
        return self._reply.began_s + self._reply.elapsed(self.clock.declared) - lost_s

    def _time_of_tool(self, index: int) -> Seconds:
        """Declared time of a tool call; a measured one is already on the brain's wall clock."""
        return self.clock.took("tool", index, 0.0) if self.clock.declared else 0.0

    def _synthesise(self, sentence: str) -> Audio:
        voice = self.config.voice
        return self.tts.speak(
            spoken_form(sentence), voice=voice.name, language=voice.language, speed=voice.speed
        )

    def _place(self, audio: Audio, ready: Samples) -> Placement:
        gap = SENTENCE_GAP if self._busy_until else 0
        start = max(ready, self._busy_until + gap)
        placement = self.track.place(start, np.asarray(audio, np.float32))
        self._busy_until = placement.end
        return placement

    def _stop_talking(self, now: Samples) -> None:
        """Barge-in: end what is being said, and drop what was about to be."""
        for utterance in self.utterances:
            if utterance.placements and utterance.placements[-1].end > now:
                utterance.interrupted = True
                for placement in utterance.placements:
                    if placement.end > now:
                        placement.cut(now)
        self._busy_until = min(self._busy_until, now)
