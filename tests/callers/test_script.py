"""What a scripted caller can say, in each style."""

from __future__ import annotations

from pathlib import Path

import pytest

from inquesto_dag.callers.script import PAUSE_S, SPEED, lines_of, style_line
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import CALLER_MOVES
from inquesto_dag.protocol.population import plan_calls, take_slice

PROTOCOL = load_protocol(Path(__file__).parents[2] / "data" / "protocols" / "v0.1")
SCENARIOS = {scenario.id: scenario for scenario in PROTOCOL.scenarios}
HESITANT = [scenario for scenario in PROTOCOL.scenarios if scenario.style == "hesitant"]


def test_the_bank_holds_every_move_of_every_caller_once() -> None:
    """Full: 24 scenarios in four voices and six in one, 16 moves each; quick: 30 callers."""
    rows = plan_calls(PROTOCOL)
    full, quick = lines_of(PROTOCOL, rows), lines_of(PROTOCOL, take_slice(rows, "quick"))
    assert len(full) == (24 * 4 + 6) * len(CALLER_MOVES)
    assert len(quick) == 30 * len(CALLER_MOVES)
    assert len({line.utterance_id for line in full}) == len(full)
    assert {line.utterance_id for line in quick} <= {line.utterance_id for line in full}


def test_the_bank_of_a_slice_has_the_voices_of_its_rows_and_no_other() -> None:
    """One row: one voice, with the language of its group."""
    row = next(row for row in plan_calls(PROTOCOL) if row["group"] == "uk_male")
    lines = lines_of(PROTOCOL, [row])
    assert {(line.voice, line.language) for line in lines} == {("bm_george", "en-gb")}
    assert lines[0].utterance_id == f"{row['scenario_id']}.opening.bm_george"


def test_P2_styles_differ_in_speed_and_pauses() -> None:
    """Fast is quicker and hesitant slower than neutral; only hesitant callers pause inside a sentence."""
    assert SPEED["hesitant"] < SPEED["neutral"] == SPEED["correcting"] < SPEED["fast"]
    for scenario in PROTOCOL.scenarios:
        for move in CALLER_MOVES:
            line = style_line(scenario, move)
            assert line.speed == SPEED[scenario.style]
            assert len(line.pauses_s) == len(line.clauses) - 1
            if scenario.style != "hesitant":
                assert all(clause[-1] in ".?!" for clause in line.clauses), line
                assert line.text == scenario.lines[move].replace(" |", "")


@pytest.mark.parametrize("scenario", HESITANT, ids=lambda scenario: scenario.id)
def test_P2_a_hesitant_caller_pauses_and_fills(scenario) -> None:  # type: ignore[no-untyped-def]
    """Every mark is a pause of 0.5 to 1.0 s, every line with one has a filler, and no word is lost."""
    for move in CALLER_MOVES:
        line, marks = style_line(scenario, move), scenario.lines[move].count("|")
        assert len(line.pauses_s) == marks
        assert all(PAUSE_S[0] <= pause <= PAUSE_S[1] for pause in line.pauses_s)
        words = [word.strip(",.?!").lower() for word in line.text.split()]
        spoken = [word for word in words if word not in ("um", "uh")]
        assert (len(words) > len(spoken)) == (marks > 0)
        assert spoken == [
            word.strip(",.?!").lower() for word in scenario.lines[move].replace("|", " ").split()
        ]
    assert style_line(scenario, "opening").pauses_s


def test_style_does_not_depend_on_the_voice() -> None:
    """All groups say the same words with the same pauses, so that V4 compares voices alone."""
    said: dict[tuple[str, str], set[object]] = {}
    for line in lines_of(PROTOCOL, plan_calls(PROTOCOL)):
        said.setdefault((line.scenario_id, line.move), set()).add(line.line)
    assert all(len(lines) == 1 for lines in said.values())


def test_I1_the_opening_is_long_enough_to_verify() -> None:
    """At least 14 words: 2.5 s at 5.6 words a second, faster than any caller speaks."""
    assert min(len(scenario.lines["opening"].split()) for scenario in PROTOCOL.scenarios) >= 14
