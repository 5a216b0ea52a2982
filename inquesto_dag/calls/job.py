"""One call as a job: everything that decides it, its key, and what it leaves (PROTOCOL D17).

A finished call is kept in the memo as one archive of `call.flac` (left caller, right agent), `line.flac` and
`trace.json`; the rows of the stage's tables stand in the trace.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.brain import make_brain
from inquesto_dag.agents.cascade import CascadeAgent
from inquesto_dag.agents.config import AgentConfig, deciding_settings
from inquesto_dag.callers.check import CallerFault, caller_faults, problem_of
from inquesto_dag.callers.model import ModelCaller, put_brief
from inquesto_dag.callers.scripted import ScriptedCaller
from inquesto_dag.calls.bank import BankEntry, SpokenLine
from inquesto_dag.calls.caller import CallerClock, CallerPolicy
from inquesto_dag.calls.rows import call_rows
from inquesto_dag.calls.scene import recorded_audio, set_scene
from inquesto_dag.calls.simulate import place_call
from inquesto_dag.calls.simulated import SimulatedCaller
from inquesto_dag.errors import InfrastructureError
from inquesto_dag.files import canonical_json, sha256_bytes, write_bytes
from inquesto_dag.protocol.models import Account, Scenario

if TYPE_CHECKING:
    from inquesto_dag.speech.engines import Engines

CALL_KIND = "call"
FILES = ("call.flac", "line.flac", "trace.json")


@dataclass(frozen=True)
class CallJob:
    """A call to place. `bank` holds this caller's moves; `bed` is the noise under the call, if any."""

    row: Mapping[str, Any]  # of tables.POPULATION
    scenario: Scenario
    account: Account
    agent: AgentConfig
    bank: Mapping[str, BankEntry]
    bed_path: Path | None
    bed_sha256: str | None
    verifier: Mapping[str, Any]  # verifier.json
    simulated: SimulatedCaller | None = None  # a model that plays the caller; None: the scripted one

    @property
    def call_id(self) -> str:
        """The call's id."""
        return str(self.row["call_id"])

    def parts(self, engines: Engines) -> dict[str, Any]:
        """Everything that decides the call, for its key."""
        return {
            **({"caller": self.simulated.parts()} if self.simulated else {}),
            "row": dict(self.row),
            "scenario": self.scenario.model_dump(mode="json"),
            "account": self.account.model_dump(mode="json"),
            "agent": deciding_settings(self.agent),
            "bank": {move: entry.digests() for move, entry in self.bank.items()},
            "bed": self.bed_sha256,
            "verifier": {
                "threshold": self.verifier["threshold"],
                "enrolment": self.verifier["enrolments"].get(self.row["enrolled_voice"]),
            },
            "engines": {
                "tts": engines.tts.identity_for(self.agent.voice.name),
                "vad": engines.vad.identity,
                "asr": engines.recogniser(self.agent.recogniser).identity,
                "speaker": engines.speaker.identity,
            },
        }


@dataclass(frozen=True)
class CallFiles:
    """What a call leaves: three files as bytes, and the trace parsed."""

    files: Mapping[str, bytes]

    @property
    def trace(self) -> dict[str, Any]:
        """The parsed trace."""
        trace: dict[str, Any] = json.loads(self.files["trace.json"])
        return trace

    def archive(self) -> bytes:
        """The three files as one uncompressed archive; the same files give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for name in FILES:
                archive.writestr(zipfile.ZipInfo(name), self.files[name])
        return buffer.getvalue()

    @classmethod
    def from_archive(cls, data: bytes) -> CallFiles:
        """The inverse of `archive`."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return cls({name: archive.read(name) for name in FILES})

    def write(self, folder: Path) -> None:
        """Lay the files out in the call's folder."""
        for name, data in self.files.items():
            write_bytes(folder / name, data)


def run_job(job: CallJob, engines: Engines) -> CallFiles:
    """Place the call or take it from the memo; one that infrastructure broke is not kept (PROTOCOL D14)."""
    if engines.memo is None or job.agent.timing.mode == "measured":
        return place(job, engines)
    broken: list[CallFiles] = []

    def compute() -> bytes:
        files = place(job, engines)
        if files.trace["call"]["infrastructure_error"]:
            broken.append(files)
            raise _Broken
        return files.archive()

    try:
        archive = engines.through_memo("call", CALL_KIND, job.parts(engines), compute)
    except _Broken:
        return broken[0]
    return CallFiles.from_archive(archive)


class _Broken(Exception):
    """Leaves the memo without storing."""


def place(job: CallJob, engines: Engines) -> CallFiles:
    """Place the call, whatever the memo holds."""
    seed = int(job.row["seed"])
    scene = set_scene(job.row, job.account, job.bed_path, job.verifier, engines)
    session = make_brain(job.agent).start(seed)
    agent = CascadeAgent(
        job.agent,
        session,
        scene.account,
        scene.verify,
        vad=engines.vad,
        recogniser=engines.recogniser(job.agent.recogniser),
        tts=engines.tts,
        line=scene.tracks.line,
        track=scene.agent_track,
        seed=seed,
    )
    policy: CallerPolicy = ScriptedCaller(job.scenario, seed)
    if job.simulated:
        policy = job.simulated.policy(job.scenario, seed)
    caller = CallerClock(policy, seed)

    def lookup(move: str, text: str) -> SpokenLine:
        if job.simulated:
            return job.simulated.speak(job.scenario, move, text, engines)
        return job.bank[move].load()

    error: InfrastructureError | None = None
    try:
        recording = place_call(
            caller, agent, scene.tracks, scene.agent_track, lookup, on_first_words=scene.note_first_words
        )
    except InfrastructureError as failure:
        error = failure
        recording = None
    audio = recorded_audio(recording)
    digests = {name: sha256_bytes(data) for name, data in audio.items()}
    trace = call_rows(
        job.row,
        job.agent.id,
        job.agent.timing.mode,
        caller,
        agent,
        scene.account.current,
        recording,
        error,
        digests,
    )
    if isinstance(policy, ModelCaller):
        mark_caller(trace, job.scenario, policy)
    return CallFiles({**audio, "trace.json": canonical_json(trace)})


def mark_caller(trace: dict[str, Any], scenario: Scenario, caller: ModelCaller) -> None:
    """Note what played the caller, and whether it played its part: a call in which it did not is not the
    agent's, and is kept apart as one that infrastructure broke is (PROTOCOL D14).
    """
    call = trace["call"]
    faults: list[CallerFault] = []
    if not call["infrastructure_error"]:
        brief = put_brief(scenario, caller.prompt)
        faults = caller_faults(scenario, brief, trace["turns"], call["ended_by"], caller.other_side)
    trace["caller"] = {**caller.report(), "ended_by": call["ended_by"], "faults": [asdict(f) for f in faults]}
    if faults:
        call["infrastructure_error"], call["ended_by"] = problem_of(faults), "infrastructure"
