"""`inquesto-dag label`: walk an agent's calls in the terminal and write a person's answers to the rubric."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from inquesto_dag.agents.account import diff
from inquesto_dag.agents.config import load_agent
from inquesto_dag.errors import InputError
from inquesto_dag.files import read_table
from inquesto_dag.judging.outcomes import questions_for
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Account, Protocol
from inquesto_dag.provenance.params import load_params
from inquesto_dag.stages.context import plain_rows, rows_by_call
from inquesto_dag.validation.labels import Label, read_labels, write_labels

KEYS = {"y": "yes", "n": "no", "u": "unsure", "yes": "yes", "no": "no", "unsure": "unsure"}
HELP = (
    "y yes · n no · u unsure (a note may follow: `n it was the other card`) · r repeat · s skip the "
    "call · q stop"
)


def label_calls(
    project: Path, agent: str, path: Path | None, questions: Sequence[str], labeller: str | None
) -> None:
    """Ask for every answer that the file does not hold yet; each is written as soon as it is given.

    The judge's own answers are not shown, so that labels are independent of it.
    """
    params = load_params(project)
    load_agent(project / "data" / "agents", agent)
    protocol = load_protocol(project / "data" / "protocols" / params.protocol)
    known = [question.id for question in protocol.questions]
    unknown = [question for question in questions if question not in known]
    if unknown:
        raise InputError(
            f"is no question of the rubric: {unknown[0]}",
            where="--question",
            remedy=f"use {', '.join(known)}",
        )
    path = path or project / "labels" / f"{agent}.csv"
    labels = read_labels(path) if path.exists() else []
    walk = _Walk(project, agent, protocol)
    done = {(label.call_id, label.question) for label in labels}
    due = {
        call: [q for q in walk.asked(call) if (not questions or q in questions) and (call, q) not in done]
        for call in walk.call_ids
    }
    left = sum(map(len, due.values()))
    typer.echo(f"{path}: {len(labels)} answers, {left} to give\n{HELP}")
    name = labeller if labeller is not None else getpass.getuser()
    for call, open_questions in due.items():
        if open_questions and not _label_call(walk, call, open_questions, labels, path, name):
            break
    typer.echo(f"\n{path}: {len(labels)} answers; the same command goes on from there")


def _label_call(
    walk: _Walk, call: str, questions: Sequence[str], labels: list[Label], path: Path, name: str
) -> bool:
    """Ask the open questions of one call; False when the person stops."""
    walk.show(call)
    texts = {question.id: question.text for question in walk.protocol.questions}
    for question in questions:
        typer.echo(f"\n{question}: {texts[question]}")
        while True:
            try:
                said = typer.prompt("answer", prompt_suffix="> ").strip()
            except (typer.Abort, EOFError):
                return False
            key, _, note = said.partition(" ")
            if key.lower() in KEYS:
                labels.append(Label(call, question, KEYS[key.lower()], name, note.strip()))
                write_labels(path, labels)
                break
            if key == "q":
                return False
            if key == "s":
                return True
            if key == "r":
                walk.show(call)
            else:
                typer.echo(HELP)
    return True


class _Walk:
    """An agent's calls as a person is shown them."""

    def __init__(self, project: Path, agent: str, protocol: Protocol) -> None:
        self.protocol = protocol
        self.folder = project / "data" / "calls" / agent
        self.calls = {row["call_id"]: row for row in _rows(self.folder / "calls.parquet")}
        self.turns = rows_by_call(_rows(self.folder / "turns.parquet"))
        self.tool_calls = rows_by_call(_rows(self.folder / "tool_calls.parquet"))
        population = _rows(project / "data" / "population" / "population.parquet")
        self.plan = {row["call_id"]: row for row in population}
        self._scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
        # A call that infrastructure broke is not judged (PROTOCOL D14).
        self.call_ids = [call for call, row in self.calls.items() if not row["infrastructure_error"]]

    def asked(self, call: str) -> tuple[str, ...]:
        """The questions of a call's role."""
        return questions_for(self.protocol, self._scenarios[self.plan[call]["scenario_id"]].role)

    def show(self, call: str) -> None:
        """Print who calls for what, what was said and done, what changed, and where to listen."""
        for line in self.lines(call):
            typer.echo(line)

    def lines(self, call: str) -> Iterator[str]:
        """The call as text."""
        row, scenario = self.calls[call], self._scenarios[self.plan[call]["scenario_id"]]
        yield f"\n── {call} ({scenario.role.replace('_', ' ')}) ──"
        yield f"wants: {scenario.goal}"
        if scenario.corrects:
            yield f"corrects: {scenario.corrects.first} to {scenario.corrects.corrected}"
        yield f"listen: {self.folder / 'recordings' / call / 'call.flac'}"
        for turn in self.turns.get(call, []):
            yield f"  {turn['start_s']:6.1f} s {turn['speaker']:>6}: {turn['said']}"
        for tool in self.tool_calls.get(call, []):
            yield f"  {tool['time_s']:6.1f} s   tool: {tool['tool']} {tool['arguments']} -> {_result(tool)}"
        after = Account.model_validate_json(row["account_after"])
        changed = diff(self.protocol.account, after)
        yield f"  account: {json.dumps(changed) if changed else 'unchanged'}; ended by {row['ended_by']}"


def _result(tool: dict[str, Any]) -> str:
    text = str(tool["result"])
    short = text if len(text) <= 90 else text[:87] + "…"
    return f"{'ok' if tool['ok'] else 'refused'} {short}"


def _rows(path: Path) -> list[dict[str, Any]]:
    return plain_rows(read_table(path))
