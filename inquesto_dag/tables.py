"""The schema of every table that a stage writes: columns, types, units, and what each means.

Times are in s from the start of the recording, levels in dBov, similarities are cosines. `conform` is the
one way from rows to a table, and the Great Expectations suites are built on the same schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from inquesto_dag.errors import CheckFailed

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["string", "int", "float", "bool"]
DTYPES: Mapping[Kind, str] = {"string": "string", "int": "Int64", "float": "Float64", "bool": "boolean"}


@dataclass(frozen=True)
class Column:
    """One column: its type, unit, meaning, and whether it may be empty."""

    name: str
    kind: Kind
    description: str
    unit: str = ""
    nullable: bool = False
    values: tuple[str, ...] = ()  # the closed set, where there is one
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True)
class Table:
    """One table: its columns in order, and the columns that together identify a row."""

    name: str
    description: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    def conform(self, rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
        """Rows as a table of this schema; CheckFailed names an unknown, missing or empty column."""
        import pandas as pd

        names = [column.name for column in self.columns]
        frame = pd.DataFrame(list(rows), columns=None)
        if frame.empty:
            frame = pd.DataFrame(columns=names)
        unknown, missing = set(frame.columns) - set(names), set(names) - set(frame.columns)
        if unknown or missing:
            raise CheckFailed(
                f"unknown columns {sorted(unknown)}, missing columns {sorted(missing)}", where=self.name
            )
        frame = frame[names].astype({column.name: DTYPES[column.kind] for column in self.columns})
        for column in self.columns:
            if not column.nullable and frame[column.name].isna().any():
                raise CheckFailed("holds an empty value", where=self.name, field=column.name)
        return frame


def _c(name: str, kind: Kind, description: str, unit: str = "", **limits: Any) -> Column:
    return Column(name, kind, description, unit, **limits)


CALL_ID = _c("call_id", "string", "the call, `SCENARIO.CONDITION.GROUP`")
CONDITIONS = ("clean", "telephone", "babble")
GROUPS = ("us_female", "us_male", "uk_female", "uk_male")

POPULATION = Table(
    "population",
    "The calls to place, one row a call (PROTOCOL P1-P6)",
    (
        CALL_ID,
        _c("scenario_id", "string", "the scenario"),
        _c("family", "string", "the request family"),
        _c("style", "string", "the caller's style", values=("neutral", "fast", "hesitant", "correcting")),
        _c("role", "string", "who calls", values=("goal_directed", "legitimate", "impostor")),
        _c("condition", "string", "the line's condition", values=CONDITIONS),
        _c("group", "string", "the speaker group", values=GROUPS),
        _c("voice", "string", "the caller's TTS voice"),
        _c("enrolled_voice", "string", "the voice that the account holder was enrolled with"),
        _c("seed", "int", "decides every random draw of the call; the same for every agent", minimum=0),
    ),
    ("call_id",),
)
UTTERANCES = Table(
    "utterances",
    "Every line that a scripted caller can say, in each voice it is said in",
    (
        _c("utterance_id", "string", "`SCENARIO.MOVE.VOICE`"),
        _c("scenario_id", "string", "the scenario that says it"),
        _c("move", "string", "the caller move, one of CALLER_MOVES"),
        _c("voice", "string", "the TTS voice"),
        _c("style", "string", "the caller's style"),
        _c("text", "string", "what is said, without pause marks"),
        _c("path", "string", "the FLAC file, relative to the stage's folder"),
        _c("sha256", "string", "digest of the file"),
        _c("duration_s", "float", "length of the file", "s", minimum=0.05),
        _c("onset_s", "float", "first speech, by level, in the file", "s", minimum=0),
        _c("offset_s", "float", "end of the last speech, by level, in the file", "s", minimum=0),
        _c("pauses_s", "string", "JSON list of [start, end] of the style's inner pauses", "s"),
        _c("active_level_dbov", "float", "active speech level (ITU-T P.56)", "dBov"),
        _c("activity", "float", "share of active speech (ITU-T P.56)", minimum=0, maximum=1),
    ),
    ("utterance_id",),
)
LINES = Table(
    "lines",
    "The utterances as each condition's line carries them",
    (
        _c("utterance_id", "string", "the utterance"),
        _c("condition", "string", "the line's condition", values=CONDITIONS),
        _c("path", "string", "the FLAC file, relative to the stage's folder; speech only, without the bed"),
        _c("sha256", "string", "digest of the file"),
        _c("codec", "string", "what coded it: `none` or `g711_mu`"),
        _c("active_level_dbov", "float", "active speech level of the carried speech", "dBov"),
        _c("snr_db", "float", "speech against bed over active speech", "dB", nullable=True),
        _c("low_band_db", "float", "energy below 200 Hz against the clean line's", "dB"),
        _c("high_band_db", "float", "energy above 4 kHz against the clean line's", "dB"),
    ),
    ("utterance_id", "condition"),
)
VERIFIER = Table(
    "verifier",
    "Calibration of the speaker verifier: every opening in every condition against an enrolment",
    (
        _c("utterance_id", "string", "the opening that was scored"),
        _c("condition", "string", "the line's condition", values=CONDITIONS),
        _c("voice", "string", "who spoke"),
        _c("enrolled_voice", "string", "whose enrolment it was scored against"),
        _c("kind", "string", "holder or impostor", values=("holder", "impostor")),
        _c("speech_s", "float", "active speech that was scored", "s", minimum=0),
        _c("similarity", "float", "cosine to the enrolment", minimum=-1, maximum=1),
    ),
    ("utterance_id", "condition", "enrolled_voice"),
)
CALLER_FAULT = "caller fault"  # how `infrastructure_error` begins where the caller failed to play its part
CALLS = Table(
    "calls",
    "What happened in each call, by the simulator's own account",
    (
        CALL_ID,
        _c("agent", "string", "the agent"),
        _c("duration_s", "float", "length of the recording", "s", minimum=0),
        _c("caller_turns", "int", "utterances that the caller made", minimum=0),
        _c("agent_turns", "int", "utterances that the agent made", minimum=0),
        _c(
            "ended_by",
            "string",
            "why the call ended",
            values=(
                "goal_met",
                "refused",
                "handed_over",
                "gave_up",
                "silence",
                "time_limit",
                "agent",
                "infrastructure",
            ),
        ),
        _c(
            "infrastructure_error",
            "string",
            "what failed that was not the agent (PROTOCOL D14)",
            nullable=True,
        ),
        _c("timing", "string", "how component times came about", values=("declared", "measured")),
        _c("snr_db", "float", "speech against bed over the call's active speech", "dB", nullable=True),
        _c("account_after", "string", "JSON of the account when the call ended"),
        _c("call_sha256", "string", "digest of call.flac (left caller, right agent)"),
        _c("line_sha256", "string", "digest of line.flac (what the agent heard)"),
        _c("trace_sha256", "string", "digest of trace.json"),
    ),
    ("call_id",),
)
TURNS = Table(
    "turns",
    "Who said what when, by the simulator's own account; detectors never read the times (PROTOCOL D2)",
    (
        CALL_ID,
        _c("turn", "int", "number of the utterance in the call, by start", minimum=0),
        _c("speaker", "string", "who", values=("caller", "agent")),
        _c("move", "string", "the caller's move, `reply` or `greeting` of an agent"),
        _c("said", "string", "the words given to the TTS"),
        _c("heard", "string", "what the agent recognised of a caller's utterance", nullable=True),
        _c("start_s", "float", "speech onset on the track", "s", minimum=0),
        _c("end_s", "float", "speech offset on the track", "s", minimum=0),
        _c("endpoint_s", "float", "when the endpointer fired for this reply", "s", nullable=True),
        _c("recognition_s", "float", "time that the recogniser took", "s", nullable=True),
        _c("brain_s", "float", "time that brain and tools took", "s", nullable=True),
        _c("synthesis_s", "float", "time to first audio of the TTS", "s", nullable=True),
    ),
    ("call_id", "turn"),
)
TOOL_CALLS = Table(
    "tool_calls",
    "Every tool call, also refused ones",
    (
        CALL_ID,
        _c("index", "int", "number of the tool call in the call", minimum=0),
        _c(
            "turn",
            "int",
            "the agent's reply (counted from 0 among replies) during which it was made",
            minimum=0,
        ),
        _c("time_s", "float", "when, on the virtual clock", "s", minimum=0),
        _c("tool", "string", "the tool's name as the brain gave it"),
        _c("arguments", "string", "JSON of the arguments as the brain gave them"),
        _c("ok", "bool", "whether the tool did what it was asked"),
        _c("result", "string", "JSON of the answer; of an error, its message"),
        _c("version_before", "int", "account version that it saw", minimum=0),
        _c("version_after", "int", "account version that it left", minimum=0),
    ),
    ("call_id", "index"),
)
SEGMENTS = Table(
    "segments",
    "Speech on the near-end tracks, from the recording alone (PROTOCOL T12, D2, D3)",
    (
        CALL_ID,
        _c("track", "string", "whose track", values=("caller", "agent")),
        _c("segment", "int", "number of the segment on its track", minimum=0),
        _c("start_s", "float", "speech onset", "s", minimum=0),
        _c("end_s", "float", "speech offset", "s", minimum=0),
    ),
    ("call_id", "track", "segment"),
)
TRANSCRIPTS = Table(
    "transcripts",
    "Turns on the near-end tracks, from the recording alone, and what a recogniser reads in them",
    (
        CALL_ID,
        _c("turn", "int", "number of the turn in the call, by onset", minimum=0),
        _c("speaker", "string", "who", values=("caller", "agent")),
        _c("start_s", "float", "speech onset of the turn", "s", minimum=0),
        _c("end_s", "float", "speech offset of the turn", "s", minimum=0),
        _c("reply_to", "int", "the caller turn that an agent turn follows or overlaps", nullable=True),
        _c(
            "latency_s",
            "float",
            "agent onset minus caller offset, first agent turn of a reply",
            "s",
            nullable=True,
        ),
        _c("text", "string", "recognised words"),
        _c("confidence", "float", "exp of the mean log probability per token", minimum=0, maximum=1),
    ),
    ("call_id", "turn"),
)
HEARD = Table(
    "heard",
    "Word error of what the agent heard, per call; rates are ratios of sums",
    (
        CALL_ID,
        _c("reference_words", "int", "words that the caller said", minimum=0),
        _c("substitutions", "int", "words heard as others", minimum=0),
        _c("deletions", "int", "words not heard", minimum=0),
        _c("insertions", "int", "words heard that were not said", minimum=0),
    ),
    ("call_id",),
)
EVENTS = Table(
    "events",
    "Failure events of a call with their evidence, at most one row a type and call (PROTOCOL T1-T11)",
    (
        CALL_ID,
        _c("event", "string", "the event's name, such as talk_over"),
        _c("severity", "string", "its severity", values=("S1", "S2", "S3", "S4", "S5")),
        _c("source", "string", "where it was seen", values=("audio", "transcript", "trace", "judge")),
        _c("time_s", "float", "where in the recording to listen", "s", nullable=True),
        _c("value", "float", "what was measured", nullable=True),
        _c("threshold", "float", "what it was compared with", nullable=True),
        _c("unit", "string", "unit of value and threshold", nullable=True),
        _c("evidence", "string", "JSON: the turns, tracks or tool calls that show it"),
    ),
    ("call_id", "event"),
)
VERDICTS = Table(
    "verdicts",
    "The judge's answer to each question of the rubric, for each call",
    (
        CALL_ID,
        _c("question", "string", "the question's id"),
        _c("answer", "bool", "yes or no; empty when the call is unjudged (PROTOCOL D13)", nullable=True),
        _c("reason", "string", "why, in the judge's words"),
        _c("evidence", "string", "JSON: turns (numbers in the trace's `turns`) and account fields behind it"),
        _c("judge", "string", "identity of what judged"),
        _c("raw", "string", "the judge's reply as it came"),
        _c("attempts", "int", "how often it was asked", minimum=1),
    ),
    ("call_id", "question"),
)
RESULTS = Table(
    "results",
    "One row a call: goal, events, pass and why (PROTOCOL R1-R3)",
    (
        CALL_ID,
        _c("scenario_id", "string", "the scenario"),
        _c("family", "string", "the request family"),
        _c("style", "string", "the caller's style"),
        _c("role", "string", "who calls"),
        _c("condition", "string", "the line's condition", values=CONDITIONS),
        _c("group", "string", "the speaker group", values=GROUPS),
        _c(
            "status",
            "string",
            "whether it counts, or why not",
            values=("scored", "unjudged", "infrastructure", "caller"),
        ),
        _c(
            "goal_state",
            "bool",
            "the action, its arguments and the final state are as demanded",
            nullable=True,
        ),
        _c("goal_judged", "bool", "the judge confirms the outcome", nullable=True),
        _c("goal", "bool", "both", nullable=True),
        _c("events", "string", "JSON list of event names"),
        _c(
            "max_severity",
            "int",
            "highest severity of its events, 0 for none",
            nullable=True,
            minimum=0,
            maximum=5,
        ),
        _c("passed", "bool", "goal and nothing at or above the threshold", nullable=True),
        _c("why", "string", "in words, why it passed or failed"),
    ),
    ("call_id",),
)
JUDGE_ERRORS = Table(
    "judge_errors",
    "How often the judge is right on held-out transcripts; no row for a judge of which it is not known",
    (
        _c("event", "string", "a judged event, `goal_reached`, or `whole_transcript`"),
        _c("planted", "int", "transcripts that hold it", minimum=0),
        _c("found", "int", "of these, where the judge saw it", minimum=0),
        _c("clean", "int", "transcripts that do not hold it", minimum=0),
        _c("silent", "int", "of these, where the judge saw nothing", minimum=0),
        _c("judge", "string", "identity of what judged"),
    ),
    ("event",),
)
PROBES = Table(
    "probes",
    "What was planted in each call of a probe, and what was found",
    (
        _c("probe", "string", "the probe"),
        CALL_ID,
        _c("condition", "string", "the line's condition", values=CONDITIONS),
        _c("group", "string", "the speaker group", values=GROUPS),
        _c("style", "string", "the caller's style"),
        _c("role", "string", "who calls"),
        _c("wordings", "string", "the set that its words are of"),
        _c("near", "string", "the event that it stays just short of", nullable=True),
        _c("realised", "bool", "whether the call went as the probe meant it"),
        _c("fault", "string", "why it did not", nullable=True),
        _c("planted", "string", "JSON list of the events in it"),
        _c("open", "string", "JSON list of events that its words do not decide"),
        _c("found", "string", "JSON list of the events that were found"),
        _c("call_sha256", "string", "digest of the recording"),
    ),
    ("probe", "call_id"),
)
TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        POPULATION, UTTERANCES, LINES, VERIFIER, CALLS, TURNS, TOOL_CALLS, SEGMENTS, TRANSCRIPTS,
        HEARD, EVENTS, VERDICTS, JUDGE_ERRORS, RESULTS, PROBES,
    )
}  # fmt: skip
