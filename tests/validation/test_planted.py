"""What the rule judge finds of planted failures, on wordings that its rules were written on and on others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import inquesto_dag.judging
from inquesto_dag.agents.account import diff, value_at
from inquesto_dag.errors import InputError
from inquesto_dag.judging.interfaces import JudgedCall, Verdict
from inquesto_dag.judging.outcomes import questions_for
from inquesto_dag.judging.rules import RuleJudge
from inquesto_dag.validation.sensitivity import Reading, overall, read, shortfalls, tally
from inquesto_dag.validation.transcripts import Planted, plant
from inquesto_dag.validation.wordings import FOLDER, HELD_OUT, KINDS, list_sets, load_wordings
from tests.scoring.sample import protocol

READ = [name for name in list_sets() if name != HELD_OUT]


@cache
def corpus(name: str, copies: int) -> list[Planted]:
    return plant(protocol(), load_wordings(name), copies)


@cache
def readings(name: str, copies: int) -> list[Reading]:
    return read(protocol(), RuleJudge(protocol()), corpus(name, copies))


def test_T14_the_rule_judge_finds_planted_failures_in_wordings_that_were_held_out() -> None:
    """At least 0.95 of at least 400 planted ones, silent on at least 0.98 of at least 400 clean ones.

    The figures when the set was fresh: 456 of 474 and 628 of 630. A single event has fewer transcripts, so
    its floor leaves room for a few wordings.
    """
    given = readings(HELD_OUT, 3)
    found, spared = overall(given)
    assert found.n >= 400 and spared.n >= 400
    assert shortfalls(given) == []
    for event in tally(protocol(), given):
        assert event.sensitivity.percent is not None and event.sensitivity.percent >= 90, event.event
        assert event.specificity.percent is not None and event.specificity.percent >= 98, event.event
        assert event.near_specificity.percent is not None and event.near_specificity.percent >= 95, (
            event.event
        )


@pytest.mark.parametrize("name", READ)
def test_T14_nothing_that_was_learnt_is_forgotten(name: str) -> None:
    """Rules were changed on these sets until they fitted; a rule that breaks one is seen here."""
    found, spared = overall(readings(name, 1))
    wrong = {r.planted.wording for e in tally(protocol(), readings(name, 1)) for r in e.wrong}
    assert found.percent is not None and found.percent >= 99, wrong
    assert spared.percent is not None and spared.percent >= 99, wrong


def test_every_event_family_role_and_style_is_planted() -> None:
    """In the held-out set as in the others."""
    for name in list_sets():
        planted = corpus(name, 3 if name == HELD_OUT else 1)
        events = {event for case in planted for event in case.events}
        assert events == {
            "context_loss", "false_reject", "wrong_information", "promised_not_done", "impostor_served",
        }  # fmt: skip
        assert {case.kind for case in planted} == set(KINDS)
        for field in ("family", "style", "role"):
            every = {getattr(scenario, field) for scenario in protocol().scenarios}
            assert {getattr(case.scenario, field) for case in planted} == every


def test_no_wording_of_one_set_stands_in_another() -> None:
    """Held-out wordings are held out."""
    seen: dict[str, str] = {}
    for name in list_sets():
        wordings = load_wordings(name)
        for text in {t for kind in KINDS for texts in wordings.of(kind).values() for t in texts}:
            plain = re.sub(r"\W+", " ", text.lower()).strip()
            if len(plain.split()) > 6:
                assert seen.setdefault(plain, name) == name, text


def test_no_wording_is_written_into_the_judge() -> None:
    """The rules know words and forms, and no sentence that an agent says."""
    code = "".join(path.read_text() for path in Path(inquesto_dag.judging.__file__).parent.glob("*.py"))
    for name in list_sets():
        wordings = load_wordings(name)
        for text in {t for kind in KINDS for texts in wordings.of(kind).values() for t in texts}:
            for piece in re.split(r"\{[^}]*\}|\|\||[.!?]", text):
                assert len(piece.split()) < 6 or piece.strip().lower() not in code.lower(), piece


class _Constant:
    """A judge that gives one answer to everything."""

    def __init__(self, answer: bool | None) -> None:
        self.answer = answer

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"name": "constant", "version": str(self.answer)}

    def judge(self, call: JudgedCall) -> list[Verdict]:
        role = str(call.population["role"])
        asked = questions_for(protocol(), role)  # type: ignore[arg-type]
        return [Verdict(question, self.answer, "always") for question in asked]


@pytest.mark.parametrize(("answer", "found", "spared"), [(True, 100.0, 0.0), (False, 0.0, 100.0)])
def test_a_judge_that_does_not_read_is_seen(answer: bool, found: float, spared: float) -> None:
    """Always yes finds everything and spares nothing; always no the reverse; both fall short."""
    given = read(protocol(), _Constant(answer), corpus("development", 1))
    for event in tally(protocol(), given):
        if event.event != "promised_not_done":
            assert (event.sensitivity.percent, event.specificity.percent) == (found, spared)
    # Where the change was made, a claim of it breaks no promise: the trace knows (T9).
    (promised,) = (e for e in tally(protocol(), given) if e.event == "promised_not_done")
    assert promised.sensitivity.percent == found
    assert promised.specificity.percent == 100 or (answer and 0 < (promised.specificity.percent or 0) < 100)
    assert len(shortfalls(given)) == 1


def test_a_judge_that_gives_no_answer_finds_nothing() -> None:
    """And raises nothing: an unanswered question is no event (PROTOCOL D13)."""
    found, spared = overall(read(protocol(), _Constant(None), corpus("development", 1)))
    assert found.passes == 0 and spared.passes == spared.n


def test_labels_agree_with_the_account_and_the_trace() -> None:
    """A change that was made stands in both; where none was made the account is as it was."""
    for case in corpus("development", 1):
        call, changed = case.call, diff(case.call.account_before, case.call.account_after)
        acted = [row for row in call.tool_calls if row["tool"] in protocol().tools.change]
        assert all(row["ok"] for row in call.tool_calls) and bool(acted) == bool(changed)
        if case.goal and case.scenario.role != "impostor":
            wanted = case.scenario.final_state
            assert {p: value_at(call.account_after, p) for p in wanted} == dict(wanted)
        if case.kind == "served":
            assert changed and case.scenario.role == "impostor"
        if "promised_not_done" in case.events:
            assert not changed
        assert [turn["turn"] for turn in call.turns] == list(range(len(call.turns)))
        assert not re.search(r"[{}]|\|\|", " ".join(turn["said"] for turn in call.turns))


def test_a_corpus_is_the_same_each_time_and_a_new_wording_changes_no_other() -> None:
    """Every draw comes from what a transcript is made of."""
    wordings = load_wordings("development")
    first = {case.call.call_id: case.call for case in plant(protocol(), wordings, 1)}
    assert first == {case.call.call_id: case.call for case in plant(protocol(), wordings, 1)}
    more = {**wordings.wrong, "any": (*wordings.wrong["any"], "Your account number is {number:wrong}.")}
    second = {
        case.call.call_id: case.call
        for case in plant(protocol(), wordings.model_copy(update={"wrong": more}), 1)
    }
    assert {call: second[call] for call in first} == first and len(second) == len(first) + 1


def test_a_set_that_is_malformed_is_refused(tmp_path: Path) -> None:
    """An unknown set, broken YAML, an unknown kind, a value that means nothing: each is named."""
    with pytest.raises(InputError, match="use one of development"):
        load_wordings("nothing")
    path = tmp_path / "mine.yaml"
    path.write_text("name: [")
    with pytest.raises(InputError, match="not valid YAML"):
        load_wordings(str(path))
    given = yaml.safe_load((FOLDER / "development.yaml").read_text())
    path.write_text(yaml.safe_dump({**given, "insults": {"any": ["You fool."]}}))
    with pytest.raises(InputError, match="insults"):
        load_wordings(str(path))
    path.write_text(yaml.safe_dump({**given, "wrong": {"any": ["It is {usd:much}."]}}))
    with pytest.raises(InputError, match=r"usd:much.* means nothing"):
        plant(protocol(), load_wordings(str(path)), 1)
