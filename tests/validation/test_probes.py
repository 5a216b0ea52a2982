"""Probes: what they say and do, which calls they take, how findings are counted; and real calls of some."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.tools import ToolBox, VerifyResult, VerifyStatus
from inquesto_dag.audio.files import write_flac
from inquesto_dag.callers.audio import render
from inquesto_dag.callers.script import lines_of
from inquesto_dag.callers.scripted import Say, ScriptedCaller
from inquesto_dag.calls.bank import BankEntry
from inquesto_dag.events.detect import detect_events
from inquesto_dag.events.timing import count_words
from inquesto_dag.events.trace import evaluate
from inquesto_dag.files import sha256_file
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.speech.engines import Engines, EngineSpec
from inquesto_dag.speech.fetch import models_folder
from inquesto_dag.speech.verification import enrol
from inquesto_dag.stages.annotations import read_recording
from inquesto_dag.validation.probes.catalogue import BY_ID, PROBES, Probe
from inquesto_dag.validation.probes.dialogue import (
    PADDING,
    ProbeScript,
    choose_padding,
    planted_events,
    turning_of,
)
from inquesto_dag.validation.probes.place import ProbeJob, place_probe
from inquesto_dag.validation.probes.plan import PlannedProbe, open_sets, plan_probes
from inquesto_dag.validation.probes.results import PAIRS, pair, summarise, tally
from inquesto_dag.validation.timing import TimeErrors, time_errors
from inquesto_dag.validation.transcripts import wanted_action
from inquesto_dag.validation.wordings import HELD_OUT
from tests.scoring.sample import protocol

POPULATION = plan_calls(protocol())
PLANNED = plan_probes(protocol(), POPULATION, open_sets())


def of(probe: str) -> list[PlannedProbe]:
    return [plan for plan in PLANNED if plan.probe.id == probe]


def test_T1_T11_every_event_has_a_probe_and_a_near_miss() -> None:
    """What the catalogue plants, by its own plan and by the outcome of its wordings."""
    planted = {event for plan in PLANNED for event in planted_of(plan)}
    assert planted == {event.name for event in protocol().events}
    assert {probe.near for probe in PROBES if probe.near} == planted


def planted_of(plan: PlannedProbe) -> frozenset[str]:
    turning = turning_of(plan.probe, plan.scenario, plan.wordings)
    assert turning is not None
    return planted_events(plan.probe, turning)[0]


@pytest.mark.parametrize("probe", [probe for probe in PROBES if not probe.everywhere], ids=lambda p: p.id)
def test_a_probe_takes_calls_of_every_condition_group_and_style(probe: Probe) -> None:
    """One in each; impostors speak in one style, and only some callers correct a detail."""
    rows = [plan.row for plan in of(probe.id)]
    fitting = [row for row in POPULATION if probe.befalls(scenario_of(row))]
    cells = Counter((row["condition"], row["group"]) for row in rows)
    assert set(cells) == {(row["condition"], row["group"]) for row in fitting}
    assert set(cells.values()) == {1}
    assert {row["style"] for row in rows} == {row["style"] for row in fitting}
    assert len({(row["call_id"]) for row in rows}) == len(rows)
    assert len({plan.wordings.name for plan in of(probe.id)}) > 1


def scenario_of(row: Any) -> Any:
    return next(s for s in protocol().scenarios if s.id == row["scenario_id"])


def test_the_sound_probe_takes_the_whole_population() -> None:
    """Its events are all false alarms."""
    assert [plan.row["call_id"] for plan in of("sound")] == [row["call_id"] for row in POPULATION]
    assert all(not planted_of(plan) for plan in of("sound"))


def test_no_probe_speaks_the_held_out_wordings() -> None:
    """Their misses must not be read, and a probe's recordings are listened to."""
    assert HELD_OUT not in {plan.wordings.name for plan in PLANNED}


def talk(
    plan: PlannedProbe, status: VerifyStatus | None = None
) -> tuple[ProbeScript, ToolBox, list[list[str]]]:
    """A probe's call in text: its replies, and its tools with the voice's outcome that its role has."""
    status = status or ("not_verified" if plan.scenario.role == "impostor" else "verified")
    account = protocol().account
    tools = ToolBox(AccountState(account), lambda: VerifyResult(status, 0.7, 0.6), lambda: 0.0, lambda i: 0.0)
    script = ProbeScript(
        plan.probe, plan.scenario, account, wanted_action(protocol(), plan.scenario), plan.wordings, 7
    )
    caller = ScriptedCaller(plan.scenario, 7)
    say: Any = caller.first()
    replies = []
    while not script.ended:
        replies.append(script.reply(tools, say.text, leaving=say.hang_up))
        if say.hang_up or script.ended:
            break
        say = caller.reply(" ".join(replies[-1]))
        say = say if isinstance(say, Say) else caller.silence()
    return script, tools, replies


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.id)
def test_a_probes_call_comes_about_as_it_means_it(probe: Probe) -> None:
    """The turning point is reached, the tools were called in its order, the turns are as many as planned."""
    plans = of(probe.id)
    faults = []
    for plan in plans:
        script, tools, replies = talk(plan)
        rows = [{**row, "call_id": "c"} for row in tools.rows]
        events = {e["event"] for e in evaluate(protocol(), "c", plan.scenario.role, rows)}
        by_trace = planted_of(plan) & {"unverified_action"}
        by_trace |= {"impostor_served"} if "served" in probe.kinds else frozenset()
        assert events == by_trace, (plan.row["call_id"], events)
        faults += script.faults
        if probe.of_turns and not script.faults:
            assert len(replies) == probe.of_turns, plan.row["call_id"]
        if probe.words:
            assert {sum(map(count_words, reply)) for reply in replies if reply} == {probe.words}
    assert len(faults) <= max(1, 0.05 * len(plans)), faults


def test_a_voice_that_comes_out_otherwise_is_a_fault_of_the_call() -> None:
    """A holder who is not verified makes an unverified action of what the probe meant to be none."""
    script, _, _ = talk(of("acts-verified")[0], "not_verified")
    assert any("came out as not_verified" in fault for fault in script.faults)


@pytest.mark.parametrize("words", [0, 2, 3, 17, 40, 61, 80])
def test_padding_makes_any_number_of_words(words: int) -> None:
    """Exactly, or not at all."""
    chosen = choose_padding(PADDING, words)
    assert chosen is not None and sum(map(count_words, chosen)) == words
    assert choose_padding(PADDING, 1) is None and choose_padding((), 3) is None


# --- counting ----------------------------------------------------------------------------------------------


def row(probe: str, number: int, planted: list[str], found: list[str], **more: Any) -> dict[str, Any]:
    given = {
        "probe": probe, "call_id": f"c{number}", "condition": "clean", "group": "us_male", "style": "neutral",
        "role": "goal_directed", "near": BY_ID[probe].near, "realised": True, "fault": None,
        "planted": json.dumps(planted), "open": "[]", "found": json.dumps(found),
    }  # fmt: skip
    return {**given, **more}


ROWS = [
    row("slow-3.2", 1, ["slow_turn"], ["slow_turn"]),
    row("slow-3.2", 2, ["slow_turn"], []),
    row("slow-2.8", 3, [], ["slow_turn"], condition="babble"),
    row("slow-2.8", 4, [], []),
    row("sound", 5, [], [], open=json.dumps(["slow_turn"])),
    row("slow-3.2", 6, ["slow_turn"], [], realised=False, fault="the caller left"),
]


def test_an_event_is_counted_where_it_can_be_told() -> None:
    """Planted and found, clean and silent, by condition; not where the wording leaves it open."""
    found = tally(protocol(), [r for r in ROWS if r["realised"]], "slow_turn")
    assert (found["sensitivity"]["passes"], found["sensitivity"]["n"]) == (1, 2)
    assert (found["specificity"]["passes"], found["specificity"]["n"]) == (1, 2)
    assert (found["near"]["passes"], found["near"]["n"]) == (1, 2)
    assert found["by"]["condition"]["babble"]["specificity"]["n"] == 1
    assert found["by"]["condition"]["babble"]["sensitivity"]["score"] is None


def test_a_pair_names_the_calls_on_the_wrong_side() -> None:
    """One of two below, one of two above."""
    found = pair([r for r in ROWS if r["realised"]], "slow-2.8", "slow-3.2", "slow_turn")
    assert found["right_below"]["passes"] == found["right_above"]["passes"] == 1
    assert found["wrong"] == ["slow-2.8 c3", "slow-3.2 c2"]


def test_the_report_counts_what_did_not_come_about_apart() -> None:
    """And lists each call that was read wrongly, with what was missed or seen."""
    times = {f"{r['probe']}/{r['call_id']}": TimeErrors() for r in ROWS}
    report = summarise(protocol(), ROWS, times)
    assert report["calls"] == 6 and [r["call_id"] for r in report["not_realised"]] == ["c6"]
    assert [(r["call_id"], r["events"][0]["fault"]) for r in report["wrong"]] == [
        ("c2", "missed"),
        ("c3", "false alarm"),
    ]
    assert {p["event"] for p in report["pairs"]} == {event for _, _, event in PAIRS}
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_judged_events_count_in_calls_that_the_rubric_asks_about_them() -> None:
    """Nobody asks whether an impostor was wrongly refused."""
    given = [row("withholds", 1, [], [], role="impostor"), row("informs", 2, [], [])]
    assert tally(protocol(), given, "false_reject")["specificity"]["n"] == 1
    assert tally(protocol(), given, "impostor_served")["specificity"]["n"] == 1
    assert tally(protocol(), given, "slow_turn")["specificity"]["n"] == 2


# --- times -------------------------------------------------------------------------------------------------


def turn(speaker: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "start_s": start, "end_s": end, "reply_to": None, "latency_s": None, **more}


def test_errors_of_times_are_measured_minus_known() -> None:
    """Edges, the latency between them, the overlap, what was missed and what is too much."""
    known = [turn("caller", 1.0, 3.0), turn("agent", 2.5, 5.0), turn("caller", 8.0, 9.0)]
    measured = [
        turn("caller", 1.01, 3.02, turn=0),
        turn("agent", 2.53, 5.0, turn=1, reply_to=0, latency_s=2.53 - 3.02),
        turn("agent", 20.0, 21.0, turn=2),
    ]
    found = time_errors(known, measured)
    assert (found.missed, found.extra) == (1, 1)
    assert found.errors_ms["caller_onset"] == pytest.approx([10])
    assert found.errors_ms["caller_offset"] == pytest.approx([20])
    assert found.errors_ms["agent_onset"] == pytest.approx([30])
    assert found.errors_ms["latency"] == pytest.approx([10])  # -0.49 for -0.5
    assert found.errors_ms["overlap"] == pytest.approx([-10])  # 0.49 for 0.5
    assert found.summary()["errors_ms"]["latency"] == {"n": 1, "mean": 10, "p95": 10, "worst": 10}


def test_known_turns_that_were_heard_as_one_are_held_against_it_together() -> None:
    """First onset, last offset; nothing is missed."""
    known = [turn("caller", 1.0, 2.0), turn("caller", 2.6, 4.0)]
    found = time_errors(known, [turn("caller", 1.0, 4.0, turn=0)])
    assert (found.missed, found.extra) == (0, 0)
    assert found.errors_ms["caller_onset"] == found.errors_ms["caller_offset"] == [0.0]


# --- real calls --------------------------------------------------------------------------------------------

CALL = "cancel_sub-neutral.clean.us_female"
MOVES = ("opening", "account_number", "goal_again", "detail", "nothing_else", "still_there")


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Engines:
    return Engines(EngineSpec(models_folder(), memo=tmp_path_factory.mktemp("memo")))


@pytest.fixture(scope="module")
def job(engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> ProbeJob:
    """`CALL`, with the lines that it needs; the probe is put in by each test."""
    folder = tmp_path_factory.mktemp("bank")
    planned = next(row for row in POPULATION if row["call_id"] == CALL)
    bank = {}
    for line in lines_of(protocol(), [planned]):
        if line.move in MOVES:
            said = render(line, engines.tts, protocol().caller_level_dbov)
            path = folder / f"{line.move}.flac"
            write_flac(path, said.audio)
            digest = sha256_file(path)
            bank[line.move] = BankEntry(
                line.utterance_id, line.text, path, digest, path, digest, said.onset_s, said.offset_s
            )
    scenario = scenario_of(planned)
    return ProbeJob(
        row=planned,
        scenario=scenario,
        account=protocol().account,
        action=wanted_action(protocol(), scenario),
        probe=BY_ID["sound"],
        wordings=open_sets()[0],
        bank=bank,
        bed_path=None,
        bed_sha256=None,
        verifier={
            "enrolments": {"af_heart": enrol([bank["goal_again"].load().clean], engines.speaker).tolist()},
            "threshold": 0.7,
        },
    )


@pytest.mark.engines
@pytest.mark.parametrize("probe", ["sound", "overlap-0.6", "mute"])
def test_T3_T4_a_probes_call_is_read_as_it_was_planted(
    probe: str, job: ProbeJob, engines: Engines, tmp_path: Path
) -> None:
    """Placed on the clock, annotated from its recording: the planted event alone, times within 40 ms."""
    import dataclasses

    files = place_probe(dataclasses.replace(job, probe=BY_ID[probe]), engines)
    trace = files.trace
    assert trace["agent"]["faults"] == [], trace["turns"]
    path = tmp_path / "call.flac"
    path.write_bytes(files.files["call.flac"])
    notes = json.loads(read_recording(path, engines.vad, engines.recogniser()))
    transcripts = [{"call_id": CALL, **note} for note in notes["transcripts"]]
    found = detect_events(protocol(), trace["call"], transcripts, trace["tool_calls"])
    assert {event["event"] for event in found} == BY_ID[probe].plants
    errors = time_errors(trace["turns"], transcripts)
    assert (errors.missed, errors.extra) == (0, 0)
    assert max(spread["worst"] for spread in errors.summary()["errors_ms"].values() if spread["n"]) <= 40
