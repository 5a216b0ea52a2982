"""What a call is held on: its tracks, the account, the voice check; and what is kept of its sound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.tools import VerifyResult
from inquesto_dag.audio.files import flac_bytes, read_flac
from inquesto_dag.audio.tracks import Track
from inquesto_dag.calls.simulate import LineTracks, Recording
from inquesto_dag.protocol.models import Account
from inquesto_dag.speech.verification import Verifier
from inquesto_dag.units import Samples

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines


@dataclass
class Scene:
    """One call's tracks and account, before anybody has spoken."""

    tracks: LineTracks
    agent_track: Track
    account: AccountState
    verifier: Verifier
    enrolled_voice: str
    first_words: tuple[Samples, Samples] | None = None  # where the caller's first utterance lies

    def note_first_words(self, start: Samples, end: Samples) -> None:
        """Keep where the caller's first utterance lies: what the verifier scores (PROTOCOL I1)."""
        self.first_words = self.first_words or (start, end)

    def verify(self, now: Samples) -> VerifyResult:
        """Compare the caller's first utterance, as far as the line had delivered it at `now` (D11)."""
        if self.first_words is None:
            return VerifyResult("not_enough_speech", None, self.verifier.threshold)
        start, end = self.first_words
        heard = self.tracks.line.read(start, min(end, now) - start)
        outcome = self.verifier.verify(heard, self.enrolled_voice)
        return VerifyResult(outcome.status, outcome.similarity, outcome.threshold)


def set_scene(
    row: Mapping[str, Any],
    account: Account,
    bed_path: Path | None,
    verifier: Mapping[str, Any],
    engines: Engines,
) -> Scene:
    """The scene of a row of `tables.POPULATION`: its line with the bed, if any, and its verifier.

    Where in the bed the call begins is drawn by the call's seed.
    """
    bed = read_flac(bed_path) if bed_path else None
    start = int(np.random.default_rng([int(row["seed"]), 7]).integers(len(bed))) if bed is not None else 0
    return Scene(
        LineTracks(Track(), Track(bed=bed, bed_start=start)),
        Track(),
        AccountState(account),
        Verifier.from_json(verifier, engines.speaker, engines.vad),
        str(row["enrolled_voice"]),
    )


def recorded_audio(recording: Recording | None) -> dict[str, bytes]:
    """`call.flac` (left caller, right agent) and `line.flac`; one sample of nothing where there is none."""
    if recording is None:
        return {
            "call.flac": flac_bytes(np.zeros((1, 2), np.float32)),
            "line.flac": flac_bytes(np.zeros(1, np.float32)),
        }
    return {
        "call.flac": flac_bytes(np.stack([recording.caller, recording.agent], axis=1)),
        "line.flac": flac_bytes(recording.line),
    }
