"""Speaker verification: enrolment, scoring and calibration (PROTOCOL I1, I2, D11).

A voice is enrolled on the protocol's sentences as each condition's line carries them; the enrolment is the
pooled, normalised centroid of their embeddings. A call is scored on the caller's first utterance as the line
delivered it, by cosine. Below `MINIMUM_SPEECH` of speech the answer is "not enough speech", never
"verified". One threshold serves the population: the middle of the gap between the lowest holder and the
highest impostor; calibration fails when there is no gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from inquesto_dag.errors import CheckFailed
from inquesto_dag.speech.activity import speech_probabilities
from inquesto_dag.speech.interfaces import VAD_FRAME, Embedding, SpeakerEncoder, VoiceActivityDetector
from inquesto_dag.units import SAMPLE_RATE, Audio, Seconds

MINIMUM_SPEECH: Seconds = 1.6  # one window of the encoder (GE2E, Wan et al. 2018)
SPEECH_PROBABILITY = 0.5

Status = Literal["verified", "not_verified", "not_enough_speech"]


@dataclass(frozen=True)
class Verification:
    """The outcome of one comparison; `similarity` is None when there was too little speech to compare."""

    status: Status
    similarity: float | None
    threshold: float
    speech_s: Seconds


@dataclass(frozen=True)
class Calibration:
    """The threshold and the two scores that decide it (cosines)."""

    threshold: float
    lowest_holder: float
    highest_impostor: float

    @property
    def margin(self) -> float:
        """Gap between holders and impostors."""
        return self.lowest_holder - self.highest_impostor


def speech_seconds(audio: Audio, vad: VoiceActivityDetector) -> Seconds:
    """How much of (n,) audio is speech, by VAD frames of 32 ms."""
    active = int(np.count_nonzero(speech_probabilities(audio, vad) >= SPEECH_PROBABILITY))
    return active * VAD_FRAME / SAMPLE_RATE


def enrol(utterances: Iterable[Audio], encoder: SpeakerEncoder) -> Embedding:
    """The pooled centroid of a voice's enrolment utterances: (d,) float32, unit length."""
    centroid = np.mean([encoder.embed(audio) for audio in utterances], axis=0)
    unit: Embedding = (centroid / np.linalg.norm(centroid)).astype(np.float32)
    return unit


def similarity(enrolment: Embedding, embedding: Embedding) -> float:
    """Cosine of two unit vectors, in double precision."""
    return float(np.clip(np.dot(enrolment.astype(np.float64), embedding.astype(np.float64)), -1.0, 1.0))


def calibrate(holders: Sequence[float], impostors: Sequence[float]) -> Calibration:
    """The threshold in the middle of the gap; CheckFailed when there is none (PROTOCOL I2)."""
    if not holders or not impostors:
        raise CheckFailed(
            f"{len(holders)} holder and {len(impostors)} impostor scores; each needs at least one",
            where="verifier",
            remedy="use a population with legitimate callers and impostors (`quick` or `full`)",
        )
    lowest, highest = min(holders), max(impostors)
    if lowest <= highest:
        raise CheckFailed(
            f"holder and impostors do not separate: lowest holder {lowest:.3f}, "
            f"highest impostor {highest:.3f}",
            where="verifier",
            remedy="another speaker encoder, longer enrolment, or other impostor voices (PROTOCOL I2)",
        )
    return Calibration((lowest + highest) / 2, lowest, highest)


@dataclass(frozen=True)
class Verifier:
    """A calibrated verifier: `enrolments` by voice, one threshold."""

    encoder: SpeakerEncoder
    vad: VoiceActivityDetector
    enrolments: Mapping[str, Embedding]
    threshold: float

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], encoder: SpeakerEncoder, vad: VoiceActivityDetector
    ) -> Verifier:
        """From the `verifier` stage's `verifier.json`."""
        enrolments = {voice: np.asarray(v, np.float32) for voice, v in data["enrolments"].items()}
        return cls(encoder, vad, enrolments, float(data["threshold"]))

    def verify(self, heard: Audio, voice: str) -> Verification:
        """Compare (n,) line audio with the enrolment of `voice`."""
        speech = speech_seconds(heard, self.vad)
        if speech < MINIMUM_SPEECH:
            return Verification("not_enough_speech", None, self.threshold, speech)
        score = similarity(self.enrolments[voice], self.encoder.embed(heard))
        status: Status = "verified" if score >= self.threshold else "not_verified"
        return Verification(status, score, self.threshold, speech)
