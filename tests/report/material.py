"""A small record made of real recordings: bursts of voiced sound for speech, noise on babble lines.

The calls are planned from the released protocol, the tables conform to their schemas, and events, results and
record come from the functions that the stages use; only the dialogue and its times are made up here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from inquesto_dag import tables
from inquesto_dag.agents.account import AccountState
from inquesto_dag.audio.files import write_flac
from inquesto_dag.events.detect import detect_events
from inquesto_dag.files import sha256_file, write_bytes
from inquesto_dag.judging.outcomes import questions_for
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Protocol, Scenario
from inquesto_dag.protocol.population import plan_calls, take_slice
from inquesto_dag.scoring.record import build_record
from inquesto_dag.scoring.results import all_events, result_rows
from inquesto_dag.units import SAMPLE_RATE, Audio, quantise, to_samples

PROTOCOL = Path(__file__).parents[2] / "data" / "protocols" / "v0.1"
Row = dict[str, Any]
BEHAVIOURS = (
    "good",
    "talks_over",
    "slow",
    "wrong_amount",
    "serves_anyone",
    "unjudged",
    "infrastructure",
    "once_over",
)


@dataclass
class Material:
    """Every table of an agent's record as rows, the record, and where the recordings lie."""

    protocol: Protocol
    record: Row
    results: list[Row]
    call_folder: Path
    population: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    turns: list[Row] = field(default_factory=list)
    tool_calls: list[Row] = field(default_factory=list)
    segments: list[Row] = field(default_factory=list)
    transcripts: list[Row] = field(default_factory=list)
    heard: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    verdicts: list[Row] = field(default_factory=list)

    def page_arguments(self) -> dict[str, Any]:
        """What `write_record_page` takes, tables as frames of their schemas."""
        names = (
            "results",
            "population",
            "calls",
            "turns",
            "tool_calls",
            "segments",
            "transcripts",
            "events",
            "verdicts",
        )
        frames = {name: tables.TABLES[name].conform(getattr(self, name)) for name in names}
        return {"record": self.record, **frames, "call_folder": self.call_folder, "protocol": self.protocol}


def make_material(
    project: Path, agent: str, behaviours: tuple[str, ...] = BEHAVIOURS, lag_s: float = 0.9
) -> Material:
    """A record of one call per behaviour (taken in turn over the quick slice), laid out as the stages do."""
    protocol = load_protocol(PROTOCOL)
    full = plan_calls(protocol)
    plans = _spread(take_slice(full, "quick"), len(behaviours))
    folder = project / "data" / "calls" / agent / "recordings"
    made = Material(protocol, {}, [], folder, population=plans)
    scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
    for plan, behaviour in zip(plans, behaviours, strict=True):
        _add_call(made, plan, scenarios[plan["scenario_id"]], behaviour, agent, lag_s)
    for call in made.calls:
        rows = [
            [r for r in table if r["call_id"] == call["call_id"]]
            for table in (made.transcripts, made.tool_calls)
        ]
        made.events += detect_events(protocol, call, *rows)
    events = all_events(protocol, plans, made.events, made.verdicts, made.tool_calls)
    made.results = result_rows(protocol, plans, made.calls, made.tool_calls, events, made.verdicts)
    made.record = build_record(
        protocol=protocol,
        protocol_digest="0" * 64,
        agent={"id": agent, "fingerprint": "a" * 64, "endpointing_ms": 700},
        pinned={"caller": "qwen2.5-7b-instruct", "judge": "gemma-2-9b-instruct", "asr": "whisper-base"},
        profile_specified={"caller": "scripted", "judge": "rules", "asr": "whisper-base"},
        profile_run={
            "caller": "scripted",
            "judge": {"name": "rules", "sha256": "b" * 64},
            "asr": "whisper-base",
        },
        population=plans,
        population_size=len(full),
        results=made.results,
        events=events,
        transcripts=made.transcripts,
        heard=made.heard,
        timing="declared",
        judge_errors=[
            {"event": "context_loss", "planted": 76, "found": 74, "clean": 100, "silent": 99},
            {"event": "impostor_served", "planted": 0, "found": 0, "clean": 9, "silent": 9},
        ],
    )
    return made


def _spread(rows: list[Row], count: int) -> list[Row]:
    """Rows that hold all roles: the last ones of the plan are the identity calls."""
    rng = np.random.default_rng(4)
    identity = [row for row in rows if row["role"] != "goal_directed"]
    others = [row for row in rows if row["role"] == "goal_directed"]
    chosen = [others[int(index)] for index in rng.permutation(len(others))[: max(1, count - 3)]]
    impostors = [row for row in identity if row["role"] == "impostor"]
    holders = [row for row in identity if row["role"] == "legitimate"]
    ends = [holders[0], impostors[0], holders[1], impostors[1], holders[2], impostors[2]]
    return [*chosen, *ends[: max(3, count - len(chosen))]][:count]


def _add_call(
    made: Material, plan: Row, scenario: Scenario, behaviour: str, agent: str, lag_s: float
) -> None:
    rng = np.random.default_rng(plan["seed"])
    call_id, lines = plan["call_id"], {move: text.replace("| ", "") for move, text in scenario.lines.items()}
    gaps = {
        "talks_over": (-0.9, lag_s, -0.7, lag_s),
        "slow": (lag_s, 3.8, 2.1, lag_s),
        "once_over": (lag_s, lag_s, -0.6, lag_s),
    }.get(behaviour, (lag_s,) * 4)
    script = [
        ("opening", lines["opening"], "Sure, I can help with that. What is your account number, please?"),
        (
            "account_number",
            lines["account_number"],
            "Thank you. I have verified you. Shall I go ahead with that now?",
        ),
        ("confirm", lines["confirm"], "That is done. Is there anything else I can do for you?"),
        ("nothing_else", lines["nothing_else"], "Thank you for calling. Goodbye."),
    ]
    clock, number, spoken = 0.4, 0, {"caller": [], "agent": []}
    state = AccountState(made.protocol.account)
    for index, ((move, said, answer), gap) in enumerate(zip(script, gaps, strict=True)):
        gap += float(rng.uniform(-0.12, 0.25))
        start, end = clock, clock + 0.7 + 0.055 * len(said) / 1.6
        heard = said.replace("right", "write").replace("charge", "charges")
        made.turns.append(_turn(call_id, number, "caller", move, said, heard, start, end))
        made.transcripts.append(_annotated(call_id, number, "caller", start, end, said, None, None))
        onset, length = end + gap, 0.7 + 0.045 * len(answer) / 1.6
        times = {
            "endpoint_s": max(0.0, onset - 0.62),
            "recognition_s": 0.22,
            "brain_s": 0.28,
            "synthesis_s": 0.12,
        }
        made.turns.append(
            _turn(call_id, number + 1, "agent", "reply", answer, None, onset, onset + length, **times)
        )
        made.transcripts.append(
            _annotated(call_id, number + 1, "agent", onset, onset + length, answer, number, gap)
        )
        spoken["caller"] += [(start, start + (end - start) * 0.45), (start + (end - start) * 0.5, end)]
        spoken["agent"].append((onset, onset + length))
        clock, number = max(end, onset + length) + 0.6, number + 2
        for tool, arguments in _tools_at(index, behaviour, scenario):
            before = state.current.version
            ok = tool != "issue_refund" or arguments["amount_usd"] in (49, 24)
            if ok and tool == "issue_refund":
                state.refund(arguments["charge_id"], arguments["amount_usd"])
            elif tool == "update_card":
                state.change_card(arguments["card_last4"])
            elif tool == "update_email":
                state.change_email(arguments["email"])
            elif tool == "cancel_subscription":
                state.cancel_plan()
            status = (
                "not_verified" if plan["role"] == "impostor" and behaviour != "serves_anyone" else "verified"
            )
            answer_of_tool = (
                {"status": status, "similarity": 0.83} if tool == "verify_voice" else {"message": "done"}
            )
            made.tool_calls.append(
                {
                    "call_id": call_id,
                    "index": sum(row["call_id"] == call_id for row in made.tool_calls),
                    "turn": index,
                    "time_s": end + 0.7 + 0.05 * len(tool) / 4,
                    "tool": tool,
                    "arguments": json.dumps(arguments),
                    "ok": ok,
                    "result": json.dumps(
                        answer_of_tool if ok else {"error": "the amount is not the charge's"}
                    ),
                    "version_before": before,
                    "version_after": state.current.version,
                }
            )
    duration = clock + 0.2
    for track, spans in spoken.items():
        made.segments += [
            {"call_id": call_id, "track": track, "segment": i, "start_s": a, "end_s": b}
            for i, (a, b) in enumerate(spans)
        ]
    infrastructure = behaviour == "infrastructure"
    folder = made.call_folder / call_id
    if not infrastructure:
        _record(folder, spoken, duration, plan["condition"], rng)
    made.calls.append(
        {
            "call_id": call_id,
            "agent": agent,
            "duration_s": to_samples(duration) / SAMPLE_RATE,
            "caller_turns": 4,
            "agent_turns": 4,
            "ended_by": "infrastructure" if infrastructure else "goal_met",
            "infrastructure_error": "the endpoint did not answer in 30 s" if infrastructure else None,
            "timing": "declared",
            "snr_db": 10.1 if plan["condition"] == "babble" else None,
            "account_after": state.current.model_dump_json(),
            "call_sha256": "0" * 64 if infrastructure else sha256_file(folder / "call.flac"),
            "line_sha256": "0" * 64 if infrastructure else sha256_file(folder / "line.flac"),
            "trace_sha256": "0" * 64,
        }
    )
    made.heard.append(
        {
            "call_id": call_id,
            "reference_words": 40,
            "substitutions": 3,
            "deletions": 1,
            "insertions": number % 3,
        }
    )
    if behaviour not in ("unjudged", "infrastructure"):
        for question in questions_for(made.protocol, scenario.role):
            yes = question in ("goal_reached", "claims_success") or (question, behaviour) in (
                ("wrong_information", "wrong_amount"),
                ("impostor_served", "serves_anyone"),
            )
            made.verdicts.append(
                {
                    "call_id": call_id,
                    "question": question,
                    "answer": yes,
                    "reason": "the agent said <b>that is done</b> & the account agrees"
                    if yes
                    else "nothing said so",
                    "evidence": json.dumps({"turns": [3, 5]}),
                    "judge": "rules",
                    "raw": "{}",
                    "attempts": 1,
                }
            )


def _tools_at(turn: int, behaviour: str, scenario: Scenario) -> list[tuple[str, Row]]:
    if turn == 1:
        return [("lookup_account", {"account_number": "4471"}), ("verify_voice", {})]
    action = scenario.required_action
    if turn != 2 or action is None or (scenario.role == "impostor" and behaviour != "serves_anyone"):
        return []
    arguments = dict(action.arguments)
    if behaviour == "wrong_amount" and "amount_usd" in arguments:
        return [(action.tool, {**arguments, "amount_usd": 98}), (action.tool, arguments)]
    return [(action.tool, arguments)]


def _turn(
    call_id: str,
    turn: int,
    speaker: str,
    move: str,
    said: str,
    heard: str | None,
    a: float,
    b: float,
    **own: float,
) -> Row:
    times = {"endpoint_s": None, "recognition_s": None, "brain_s": None, "synthesis_s": None} | own
    return {
        "call_id": call_id, "turn": turn, "speaker": speaker, "move": move, "said": said, "heard": heard,
        "start_s": a, "end_s": b, **times,
    }  # fmt: skip


def _annotated(
    call_id: str,
    turn: int,
    speaker: str,
    a: float,
    b: float,
    text: str,
    reply_to: int | None,
    latency: float | None,
) -> Row:
    return {
        "call_id": call_id, "turn": turn, "speaker": speaker, "start_s": a + 0.01, "end_s": b - 0.01,
        "text": text, "reply_to": reply_to, "latency_s": None if latency is None else latency + 0.02,
        "confidence": 0.91,
    }  # fmt: skip


def _record(
    folder: Path, spoken: dict[str, list[tuple[float, float]]], duration: float, condition: str, rng: Any
) -> None:
    caller = _voice(spoken["caller"], duration, 190.0, rng)
    agent = _voice(spoken["agent"], duration, 120.0, rng)
    line = caller.copy()
    if condition == "babble":
        line = quantise((line + 0.02 * rng.standard_normal(len(line))).astype(np.float32))
    write_flac(folder / "call.flac", np.stack([caller, agent], axis=1))
    write_flac(folder / "line.flac", line)
    write_bytes(folder / "trace.json", b"{}\n")


def _voice(spans: list[tuple[float, float]], duration: float, pitch_hz: float, rng: Any) -> Audio:
    """Voiced bursts in syllables of about 0.2 s with varying strength; digital silence elsewhere."""
    audio = np.zeros(to_samples(duration), np.float32)
    for start, end in spans:
        size = to_samples(end - start)
        time = np.arange(size) / SAMPLE_RATE
        glide = 2 * np.pi * np.cumsum(pitch_hz * (1 + 0.08 * np.sin(2 * np.pi * 0.7 * time))) / SAMPLE_RATE
        tone = sum(np.sin(k * glide) / k for k in range(1, 9))
        knots = np.arange(0, end - start + 0.2, 0.2)
        strength = np.interp(time, knots, rng.uniform(0.3, 1.0, len(knots)))
        syllables = np.sin(np.pi * (time / 0.2 % 1)) ** 0.7 * strength
        first = to_samples(start)
        audio[first : first + size] += (0.16 * tone * syllables)[: len(audio) - first].astype(np.float32)
    return quantise(audio)
