"""`judges check`, `judges compare` and `label`: what they print and write, and how they stop and go on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from inquesto_dag.cli.app import app
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.files import write_table
from inquesto_dag.judging.interfaces import JudgedCall, verdict_rows
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.protocol.population import plan_calls
from inquesto_dag.tables import CALLS, POPULATION, TOOL_CALLS, TURNS, VERDICTS
from inquesto_dag.validation.labels import COLUMNS, Label, read_labels, write_labels
from inquesto_dag.validation.wordings import KINDS
from tests.scoring.sample import call_row, perfect_trace, protocol

ROOT = Path(__file__).parents[2]
AGENT = "embedded-700"
SAID = {
    "update_card-neutral.clean.us_female": "I have put the card ending in 9021 on file.",
    "cancel_sub-impostor.clean.uk_female": "I could not verify your voice, so I cannot help.",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of two calls that were held and judged; their recordings are not needed."""
    for name in ("data/protocols", "data/agents"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    plans = [row for row in plan_calls(protocol()) if row["call_id"] in SAID]
    calls: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for plan in plans:
        call_id = plan["call_id"]
        trace, after = perfect_trace(plan)
        calls.append(call_row(call_id, after))
        said = [("caller", "opening", "Hello, please help me."), ("agent", "reply", SAID[call_id])]
        mine = [
            {column.name: None for column in TURNS.columns}
            | {"call_id": call_id, "turn": n, "speaker": who, "move": move, "said": words}
            | {"start_s": 5.0 * n, "end_s": 5.0 * n + 4}
            for n, (who, move, words) in enumerate(said)
        ]
        turns, tools = turns + mine, tools + trace
        given = JudgedCall(plan, mine, trace, protocol().account, after)
        verdicts += verdict_rows(RuleJudge(protocol()), given)
    for folder, table, rows in (
        ("population", POPULATION, plans),
        (f"calls/{AGENT}", CALLS, calls),
        (f"calls/{AGENT}", TURNS, turns),
        (f"calls/{AGENT}", TOOL_CALLS, tools),
        (f"verdicts/{AGENT}", VERDICTS, verdicts),
    ):
        write_table(tmp_path / "data" / folder / f"{table.name}.parquet", table.conform(rows))
    return tmp_path


def run(project: Path, *arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, [*arguments, "--project", str(project)], input=given)


def test_label_shows_a_call_and_writes_each_answer_at_once(project: Path) -> None:
    """Words, tools, account and where to listen; not what the judge says of it."""
    shown = run(project, "label", AGENT, "--labeller", "Ada", given="y\nn it kept its word\nq\n")
    assert shown.exit_code == 0, shown.output
    text = shown.output
    assert "recordings/cancel_sub-impostor.clean.uk_female/call.flac" in text.replace("\n", "")
    for expected in ("Hello, please help me.", "verify_voice", "account: unchanged", "Did the caller get"):
        assert expected in text
    assert "nothing was changed and nothing disclosed" not in text
    labels = read_labels(project / "labels" / f"{AGENT}.csv")
    assert [(label.answer, label.labeller, label.note) for label in labels] == [
        ("yes", "Ada", ""),
        ("no", "Ada", "it kept its word"),
    ]


def test_label_goes_on_where_it_stopped_and_asks_nothing_twice(project: Path) -> None:
    """After q, after the end of input, and after a word that it does not know."""
    path = project / "mine.csv"
    run(project, "label", AGENT, "--labels", str(path), given="y\n")
    first = read_labels(path)
    assert len(first) == 1
    shown = run(project, "label", AGENT, "--labels", str(path), given="what\nr\nu\n" + "n\n" * 20)
    labels = read_labels(path)
    assert labels[0] == first[0] and labels[1].answer == "unsure"
    keys = [(label.call_id, label.question) for label in labels]
    assert len(keys) == len(set(keys)) and {call for call, _ in keys} == set(SAID)
    assert "y yes" in shown.output
    assert "0 to give" in run(project, "label", AGENT, "--labels", str(path)).output


def test_label_of_one_question_and_skipped_calls(project: Path) -> None:
    """Only what was asked for; a skipped call is asked about again the next time."""
    path = project / "mine.csv"
    options = ("label", AGENT, "--labels", str(path), "--question", "claims_success")
    run(project, *options, given="s\ny\n")
    assert [label.question for label in read_labels(path)] == ["claims_success"]
    assert "1 to give" in run(project, *options, given="q\n").output
    wrong = run(project, "label", AGENT, "--question", "was_it_polite")
    assert isinstance(wrong.exception, InputError) and "was_it_polite" in str(wrong.exception)
    unknown = run(project, "label", "nobody")
    assert isinstance(unknown.exception, InputError)


def test_A5_compare_a_judge_with_labels(project: Path) -> None:
    """Where they differ is named, with who said what; a judge agrees with itself."""
    path = project / "labels.csv"
    write_labels(
        path,
        [
            Label("update_card-neutral.clean.us_female", "goal_reached", "yes"),
            Label("cancel_sub-impostor.clean.uk_female", "goal_reached", "no"),
            Label("cancel_sub-impostor.clean.uk_female", "impostor_served", "unsure"),
        ],
    )
    shown = run(project, "judges", "compare", AGENT, str(path)).output
    assert "goal_reached: 1 calls differ" in shown
    assert "cancel_sub-impostor.clean.uk_female (A, B: yes, no)" in shown
    (line,) = (line for line in shown.splitlines() if line.startswith("  goal_reached "))
    assert line.split()[1:3] == ["2", "50.0"]
    table = project / "data" / "verdicts" / AGENT / "verdicts.parquet"
    same = run(project, "judges", "compare", AGENT, str(table))
    assert same.exit_code == 0 and "differ" not in same.output and "100.0" in same.output


@pytest.mark.parametrize(
    ("other", "match"),
    [
        ("nobody", "is no agent with verdicts"),
        ("none.csv", "does not exist"),
        ("embedded-400", "are two agents"),
        ("empty.csv", "share no question"),
        ("bad.csv", "has the header"),
        ("calls.parquet", "has no column answer, question"),
    ],
)
def test_compare_refuses_what_it_cannot_compare(project: Path, other: str, match: str) -> None:
    """By name, with what to give instead."""
    shutil.copytree(project / "data" / "verdicts" / AGENT, project / "data" / "verdicts" / "embedded-400")
    (project / "empty.csv").write_text(",".join(COLUMNS) + "\n")
    (project / "bad.csv").write_text("a,b\n")
    shutil.copy(project / "data" / "calls" / AGENT / "calls.parquet", project / "calls.parquet")
    name = str(project / other) if "." in other else other
    failed = run(project, "judges", "compare", AGENT, name)
    assert isinstance(failed.exception, InputError) and match in str(failed.exception)


def test_check_prints_what_is_found_and_fails_when_it_is_too_little(project: Path, tmp_path: Path) -> None:
    """With its misses, but never those of the held-out set."""
    few = {
        "name": "few",
        "forms": {"usd": ["${n}"]},
        **{key: ["Hello."] for key in ("greet", "ask_number", "thanks", "goodbye")},
        "ask_detail": {family: ["Which one?"] for family in sorted({s.family for s in protocol().scenarios})},
        **{kind: {} for kind in KINDS},
    }
    few["wrong"] = {"invoice_up": ["Your invoice came to {usd:wrong}."]}
    few["right"] = {"invoice_up": ["Your invoice came to {usd:98}."]}
    path = tmp_path / "few.yaml"
    path.write_text(json.dumps(few))
    good = run(project, "judges", "check", "--wordings", str(path), "--misses")
    assert good.exit_code == 0 and "wrong_information" in good.output and "missed" not in good.output
    few["wrong"] = {"invoice_up": ["The weather is {usd:98} today."]}
    path.write_text(json.dumps(few))
    bad = run(project, "judges", "check", "--wordings", str(path), "--misses")
    assert isinstance(bad.exception, CheckFailed) and "sensitivity 0.0 %" in str(bad.exception)
    assert "wrong_information: missed" in bad.output and "The weather is" in bad.output
    refused = run(project, "judges", "check", "--misses")
    assert isinstance(refused.exception, InputError) and "held-out" in str(refused.exception)
