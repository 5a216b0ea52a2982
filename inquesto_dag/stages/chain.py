"""The chain: every stage by name, what it writes, what it reads, and what decides its output.

The one list that `dvc.yaml`, the Dagster assets, the checks and the command line are held to. A stage's
module is `inquesto_dag.stages.NAME` and has `run(ctx: StageContext) -> None`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.load import PARTS

if TYPE_CHECKING:
    from inquesto_dag.stages.context import StageContext


@dataclass(frozen=True)
class Stage:
    """One stage: the stages it reads, its tables (`TABLE.parquet` in its folder), what it needs."""

    name: str
    group: str
    description: str
    reads: tuple[str, ...] = ()
    protocol: tuple[str, ...] = ()  # the parts of the protocol that it reads, of `protocol.load.PARTS`
    tables: tuple[str, ...] = ()
    per_agent: bool = False
    engines: bool = False  # whether it speaks, recognises, detects or embeds speech
    kinds: tuple[str, ...] = ("python", "parquet")

    def targets(self, agents: tuple[str, ...]) -> list[str]:
        """Names of its DVC stages: `NAME`, or `NAME@AGENT` for each agent."""
        return [target(self.name, agent) for agent in agents] if self.per_agent else [self.name]


CHAIN: tuple[Stage, ...] = (
    Stage(
        name="population",
        group="callers",
        description="The calls to place: scenario, condition, group and voice of each (P1-P6).",
        protocol=("head", "callers", "conditions", "voices", "scenarios"),
        tables=("population",),
    ),
    Stage(
        name="caller_audio",
        group="callers",
        description="Every line that a scripted caller can say, spoken in each of its voices.",
        reads=("population",),
        protocol=("callers", "voices", "scenarios"),
        tables=("utterances",),
        engines=True,
        kinds=("python", "onnx", "parquet"),
    ),
    Stage(
        name="line_audio",
        group="callers",
        description="The same lines as each condition's line carries them, and the babble bed (P3).",
        reads=("caller_audio",),
        protocol=("callers", "conditions"),
        tables=("lines",),
        engines=True,
        kinds=("python", "onnx", "parquet"),
    ),
    Stage(
        name="verifier",
        group="callers",
        description="Enrolment and calibration of the speaker verifier: margin, threshold (I1, I2).",
        reads=("population", "caller_audio", "line_audio"),
        protocol=("callers", "conditions", "voices"),
        tables=("verifier",),
        engines=True,
        kinds=("python", "pytorch", "parquet"),
    ),
    Stage(
        name="calls",
        group="calls",
        description="The calls in virtual time: recordings, traces, turns and tool calls (S1).",
        reads=("population", "caller_audio", "line_audio", "verifier"),
        protocol=("account", "callers", "caller_prompt", "conditions", "scenarios", "voices"),
        tables=("calls", "turns", "tool_calls"),
        per_agent=True,
        engines=True,
        kinds=("python", "onnx", "parquet"),
    ),
    Stage(
        name="annotations",
        group="measurement",
        description="Speech and words on the recordings, from the recordings alone (T12).",
        reads=("calls",),
        tables=("segments", "transcripts", "heard"),
        per_agent=True,
        engines=True,
        kinds=("python", "onnx", "parquet"),
    ),
    Stage(
        name="events",
        group="measurement",
        description="Audio, transcript and trace events with their evidence (T1-T5, T10, T11).",
        reads=("calls", "annotations"),
        protocol=("head", "scenarios", "tools", "events"),
        tables=("events",),
        per_agent=True,
    ),
    Stage(
        name="verdicts",
        group="measurement",
        description="The judge's answer to every question of the rubric (T6-T9, T14).",
        reads=("population", "calls"),
        protocol=("head", "account", "scenarios", "questions", "facts", "tools", "judge_prompt"),
        tables=("verdicts",),
        per_agent=True,
    ),
    Stage(
        name="judge_error",
        group="measurement",
        description="How often the judge is right, on transcripts that were held out (A5, T14).",
        protocol=("head", "account", "scenarios", "questions", "facts", "tools", "events"),
        tables=("judge_errors",),
    ),
    Stage(
        name="record",
        group="score",
        description="The score with its interval, views and analyses, one result a call, its page (R1-N4).",
        reads=("population", "calls", "annotations", "events", "verdicts", "judge_error"),
        protocol=tuple(PARTS),
        engines=True,
        tables=("results",),
        per_agent=True,
        kinds=("python", "json", "parquet"),
    ),
    Stage(
        name="leaderboard",
        group="score",
        description="All agents side by side, with paired differences (A4, A6).",
        reads=("record",),
        kinds=("python", "json"),
    ),
    Stage(
        name="validation",
        group="validation",
        description="Known failures planted in real calls by probe agents, and what was found (T1-T11).",
        reads=("population", "caller_audio", "line_audio", "verifier"),
        protocol=(
            "head",
            "account",
            "conditions",
            "scenarios",
            "questions",
            "facts",
            "tools",
            "events",
            "judge_prompt",
        ),
        tables=("probes",),
        engines=True,
        kinds=("python", "onnx", "parquet"),
    ),
)
STAGES: Mapping[str, Stage] = {stage.name: stage for stage in CHAIN}


def find_stage(name: str) -> Stage:
    """The stage of that name; InputError lists the known ones."""
    try:
        return STAGES[name]
    except KeyError:
        raise InputError(
            f"unknown stage {name!r}", where="stage", remedy=f"use one of {', '.join(STAGES)}"
        ) from None


def target(stage: str, agent: str | None) -> str:
    """The name of a DVC stage: `STAGE`, or `STAGE@AGENT`."""
    return f"{stage}@{agent}" if agent else stage


def load_run(stage: Stage) -> Callable[[StageContext], None]:
    """The stage's function, its module imported only now."""
    run: Callable[[StageContext], None] = import_module(f"inquesto_dag.stages.{stage.name}").run
    return run
