"""One call of a probe: the same line, clock and caller as in every call; only the agent is a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.callers.scripted import ScriptedCaller
from inquesto_dag.calls.bank import BankEntry, SpokenLine
from inquesto_dag.calls.caller import CallerClock
from inquesto_dag.calls.job import CallFiles
from inquesto_dag.calls.rows import call_rows
from inquesto_dag.calls.scene import recorded_audio, set_scene
from inquesto_dag.calls.simulate import place_call
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.protocol.models import Account, Scenario
from inquesto_dag.validation.probes.agent import VOICE, ProbeAgent
from inquesto_dag.validation.probes.catalogue import Probe
from inquesto_dag.validation.probes.dialogue import ProbeScript
from inquesto_dag.validation.transcripts import Action
from inquesto_dag.validation.wordings import WordingSet

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

PROBE_KIND = "probe"
MODE = "declared"  # a probe's times are its plan


@dataclass(frozen=True)
class ProbeJob:
    """A call to place to a probe; the fields of `calls.job.CallJob` that it shares mean the same."""

    row: Mapping[str, Any]  # of tables.POPULATION
    scenario: Scenario
    account: Account
    action: Action | None  # the change that the caller wants, if any
    probe: Probe
    wordings: WordingSet
    bank: Mapping[str, BankEntry]
    bed_path: Path | None
    bed_sha256: str | None
    verifier: Mapping[str, Any]

    @property
    def call_id(self) -> str:
        """The call's id in the population."""
        return str(self.row["call_id"])

    @property
    def seed(self) -> int:
        """Of the probe's own draws: a caller meets each probe with other words."""
        return int(sha256_bytes(f"{self.probe.id}:{self.row['seed']}".encode())[:12], 16)

    def parts(self, engines: Engines) -> dict[str, Any]:
        """Everything that decides the call, for its key (PROTOCOL D17)."""
        probe = asdict(self.probe)
        return {
            "row": dict(self.row),
            "scenario": self.scenario.model_dump(mode="json"),
            "account": self.account.model_dump(mode="json"),
            "action": list(self.action) if self.action else None,
            "probe": {**probe, "plants": sorted(self.probe.plants)},
            "wordings": self.wordings.model_dump(mode="json"),
            "bank": {move: entry.digests() for move, entry in self.bank.items()},
            "bed": self.bed_sha256,
            "verifier": {
                "threshold": self.verifier["threshold"],
                "enrolment": self.verifier["enrolments"].get(self.row["enrolled_voice"]),
            },
            "engines": {
                "tts": engines.tts.identity_for(VOICE.name),
                "vad": engines.vad.identity,
                "speaker": engines.speaker.identity,
            },
        }


def run_probe(job: ProbeJob, engines: Engines) -> CallFiles:
    """Place the call or take it from the memo."""
    if engines.memo is None:
        return place_probe(job, engines)
    archive = engines.through_memo(
        "probe", PROBE_KIND, job.parts(engines), lambda: place_probe(job, engines).archive()
    )
    return CallFiles.from_archive(archive)


def place_probe(job: ProbeJob, engines: Engines) -> CallFiles:
    """Place the call, whatever the memo holds."""
    seed = int(job.row["seed"])
    scene = set_scene(job.row, job.account, job.bed_path, job.verifier, engines)
    caller = CallerClock(ScriptedCaller(job.scenario, seed), seed)
    script = ProbeScript(job.probe, job.scenario, job.account, job.action, job.wordings, job.seed)
    agent = ProbeAgent(script, caller, scene.account, scene.verify, engines.tts, scene.agent_track)

    def lookup(move: str, text: str) -> SpokenLine:
        return job.bank[move].load()

    recording = place_call(
        caller, agent, scene.tracks, scene.agent_track, lookup, on_first_words=scene.note_first_words
    )
    audio = recorded_audio(recording)
    digests = {name: sha256_bytes(data) for name, data in audio.items()}
    trace = call_rows(
        job.row, job.probe.id, MODE, caller, agent, scene.account.current, recording, None, digests
    )
    return CallFiles({**audio, "trace.json": canonical_json(trace)})
