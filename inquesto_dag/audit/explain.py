"""From a number to its sound: one call walked back from its result to the scenario, with digests.

The steps follow the chain backwards: result, events, the stretch of recording that shows each, what was
recognised there, tool calls, the line, the caller's utterances, the scenario.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inquesto_dag.audio.files import read_flac, write_flac
from inquesto_dag.audit.recompute import recorded_context
from inquesto_dag.errors import InputError
from inquesto_dag.files import make_folder, sha256_bytes, sha256_file
from inquesto_dag.stages.context import StageContext
from inquesto_dag.units import Seconds, to_samples

BEFORE_S, AFTER_S = 2.0, 4.0  # s of recording around an event
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One step back: what it is called, what stands there, the file or table it is from, and its digest."""

    title: str
    lines: tuple[str, ...]
    source: str
    digest: str


@dataclass(frozen=True)
class Clip:
    """The stretch of a recording that shows an event: [start_s, end_s) of `path`."""

    event: str
    path: Path
    start_s: Seconds
    end_s: Seconds


@dataclass(frozen=True)
class Trail:
    """One call walked back."""

    call_id: str
    steps: tuple[Step, ...]
    clips: tuple[Clip, ...]


def explain(project: Path, record: Mapping[str, Any], call_id: str) -> Trail:
    """Walk one call of a record back; InputError for a call that the record's population does not hold."""
    ctx = recorded_context(project, record)
    planned = {row["call_id"]: row for row in ctx.rows("population", "population")}
    if call_id not in planned:
        near = [name for name in planned if call_id.split(".")[0] in name][:4]
        raise InputError(
            f"no call {call_id!r}",
            where="explain",
            field="CALL",
            remedy=f"use a call id, such as {', '.join(near or list(planned)[:3])}",
        )
    outputs = {
        out: digest
        for entry in record["lineage"]["stages"].values()
        for out, digest in entry["outputs"].items()
    }
    walk = _Walk(ctx, planned[call_id], outputs)
    events = walk.of_call("events", "events")
    return Trail(
        call_id,
        (
            walk.result(record),
            *walk.events(events),
            walk.verdicts(),
            walk.turns(),
            walk.tool_calls(),
            walk.line(),
            *walk.utterances(),
            walk.scenario(),
        ),
        tuple(walk.clips(events)),
    )


def export_clips(trail: Trail, folder: Path) -> list[Path]:
    """Write each event's stretch of recording, left caller and right agent, as FLAC; returns the files."""
    make_folder(folder)
    written = []
    for clip in trail.clips:
        audio = read_flac(clip.path)
        path = folder / f"{trail.call_id}.{clip.event}.flac"
        write_flac(path, audio[to_samples(clip.start_s) : to_samples(clip.end_s)])
        written.append(path)
    return written


class _Walk:
    """The tables of one call, and each step as it is told."""

    def __init__(self, ctx: StageContext, row: Row, outputs: Mapping[str, str]) -> None:
        self.ctx, self.row, self.outputs = ctx, row, outputs
        self.call_id = str(row["call_id"])
        self.recordings = ctx.folder("calls", ctx.agent) / "recordings" / self.call_id

    def of_call(self, table: str, stage: str) -> list[dict[str, Any]]:
        rows = self.ctx.rows(table, stage, self.ctx.agent)
        return [row for row in rows if row["call_id"] == self.call_id]

    def step(self, title: str, lines: list[str], stage: str, table: str) -> Step:
        folder = self.ctx.folder(stage, self.ctx.agent if stage not in SHARED else None)
        path = (folder / f"{table}.parquet").relative_to(self.ctx.project)
        out = folder.relative_to(self.ctx.project).as_posix()
        digest = self.outputs.get(out)
        return Step(title, tuple(lines), path.as_posix(), f"md5 {digest}" if digest else "not in the lineage")

    def result(self, record: Mapping[str, Any]) -> Step:
        (result,) = self.of_call("results", "record")
        path = self.ctx.folder("record", self.ctx.agent) / "results.parquet"
        verdict = {True: "passed", False: "failed", None: str(result["status"])}[result["passed"]]
        score = record["score"]
        lines = [
            f"{verdict}: {result['why']}",
            f"one of {score['n']} scored calls, of which {score['passes']} passed",
        ]
        source = path.relative_to(self.ctx.project).as_posix()
        return Step("result", tuple(lines), source, f"sha256 {sha256_file(path)}")

    def events(self, events: list[dict[str, Any]]) -> list[Step]:
        if not events:
            return [self.step("events", ["none was detected"], "events", "events")]
        return [
            self.step(
                f"event {event['event']} ({event['severity']}, from the {event['source']})",
                [_measured(event), f"evidence: {event['evidence']}"],
                "events",
                "events",
            )
            for event in events
        ]

    def verdicts(self) -> Step:
        lines = [
            f"{row['question']}: {_answer(row['answer'])}. {row['reason']}"
            for row in self.of_call("verdicts", "verdicts")
        ]
        return self.step("judge", lines or ["was not asked"], "verdicts", "verdicts")

    def turns(self) -> Step:
        lines = []
        for turn in self.of_call("transcripts", "annotations"):
            latency = f", {turn['latency_s']:.2f} s after the caller" if turn["latency_s"] is not None else ""
            span = f"{turn['start_s']:7.2f} to {turn['end_s']:7.2f} s"
            lines.append(f"{span} {turn['speaker']:6}{latency}: {turn['text']}")
        for turn in self.of_call("turns", "calls"):
            if turn["speaker"] == "caller" and turn["heard"] is not None and turn["heard"] != turn["said"]:
                lines.append(f"the agent heard {turn['heard']!r} where {turn['said']!r} was said")
        return self.step("turns on the recording", lines, "annotations", "transcripts")

    def tool_calls(self) -> Step:
        lines = [
            f"{tool['time_s']:7.2f} s {tool['tool']}({tool['arguments']}): "
            f"{'done' if tool['ok'] else 'refused'}, account {tool['version_before']} -> "
            f"{tool['version_after']}"
            for tool in self.of_call("tool_calls", "calls")
        ]
        return self.step("tool calls", lines or ["none"], "calls", "tool_calls")

    def line(self) -> Step:
        (call,) = self.of_call("calls", "calls")
        snr = f", {call['snr_db']:.2f} dB against the babble" if call["snr_db"] is not None else ""
        path = self.recordings / "call.flac"
        lines = (
            f"condition {self.row['condition']}{snr}; {call['duration_s']:.1f} s; ended: {call['ended_by']}",
            f"what the agent heard: line.flac, sha256 {call['line_sha256']}",
        )
        source = path.relative_to(self.ctx.project).as_posix()
        digest = sha256_file(path) if path.is_file() else "not here; `dvc pull` brings it"
        return Step("recording", lines, source, f"sha256 {digest}")

    def utterances(self) -> list[Step]:
        said = [turn["move"] for turn in self.of_call("turns", "calls") if turn["speaker"] == "caller"]
        of_bank = {
            row["move"]: row
            for row in self.ctx.rows("utterances", "caller_audio")
            if row["scenario_id"] == self.row["scenario_id"] and row["voice"] == self.row["voice"]
        }
        return [
            Step(
                f"utterance {row['utterance_id']}",
                (f"{row['text']!r}, {row['duration_s']:.2f} s at {row['active_level_dbov']:.1f} dBov",),
                f"data/caller_audio/{row['path']}",
                f"sha256 {row['sha256']}",
            )
            for move in dict.fromkeys(said)
            if (row := of_bank.get(move)) is not None
        ]

    def scenario(self) -> Step:
        scenario = next(s for s in self.ctx.protocol.scenarios if s.id == self.row["scenario_id"])
        action = scenario.required_action
        wanted = f"{action.tool}({json.dumps(dict(action.arguments))})" if action else "no change"
        lines = (
            f"{scenario.style} {scenario.role} caller of family {scenario.family}: {scenario.goal}",
            f"demands {wanted}; account afterwards {json.dumps(dict(scenario.final_state))}",
        )
        path = self.ctx.protocol_folder / "scenarios" / f"{scenario.family}.yaml"
        return Step(
            f"scenario {scenario.id}",
            lines,
            path.relative_to(self.ctx.project).as_posix(),
            f"sha256 {sha256_bytes(path.read_bytes())}",
        )

    def clips(self, events: list[dict[str, Any]]) -> list[Clip]:
        path = self.recordings / "call.flac"
        return [
            Clip(str(event["event"]), path, max(0.0, event["time_s"] - BEFORE_S), event["time_s"] + AFTER_S)
            for event in events
            if event["time_s"] is not None and path.is_file()
        ]


SHARED = ("population", "caller_audio", "line_audio", "verifier")


def _measured(event: Row) -> str:
    at = f"at {event['time_s']:.2f} s" if event["time_s"] is not None else "in the call as a whole"
    if event["value"] is None:
        return at
    return f"{at}: {event['value']:.3f} {event['unit'] or ''} against a threshold of {event['threshold']}"


def _answer(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: "unjudged"}[answer]
