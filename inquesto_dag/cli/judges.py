"""`inquesto-dag judges`: how often a judge is right, and how far two of them agree."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from inquesto_dag.cli.score import require_untouched
from inquesto_dag.errors import CheckFailed, InputError
from inquesto_dag.files import read_table
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.provenance.params import load_params
from inquesto_dag.provenance.profile import load_profile
from inquesto_dag.scoring.rate import Interval, Rate, rounded
from inquesto_dag.stages.context import plain_rows
from inquesto_dag.stages.verdicts import make_judge
from inquesto_dag.tables import VERDICTS
from inquesto_dag.validation.agreement import Agreement, Answers, compare_answers
from inquesto_dag.validation.labels import label_answers, read_labels, verdict_answers
from inquesto_dag.validation.sensitivity import Found, Reading, overall, read, shortfalls, tally
from inquesto_dag.validation.transcripts import plant
from inquesto_dag.validation.wordings import HELD_OUT, load_wordings


def check_judge(project: Path, names: Sequence[str], *, misses: bool) -> None:
    """Print what the profile's judge finds of planted failures; CheckFailed when that is too little."""
    if misses and any(load_wordings(name).name == HELD_OUT for name in names):
        raise InputError(
            "what a judge missed in the held-out wordings is not shown",
            where="judges check",
            field="--misses",
            remedy="rules are changed on another set, such as `--wordings development`; a set whose misses "
            "were "
            "read measures nothing any more",
        )
    params = load_params(project)
    protocol = load_protocol(project / "data" / "protocols" / params.protocol)
    judge = make_judge(load_profile(params.profile).judge, protocol)
    short: list[str] = []
    for name in names:
        wordings = load_wordings(name)
        readings = read(protocol, judge, plant(protocol, wordings))
        found = tally(protocol, readings)
        typer.echo(f"{wordings.name}: {len(readings)} transcripts, judge {judge.identity['name']}")
        _print_found(found, readings)
        if misses:
            _print_misses(found)
        short += [f"{wordings.name}: {line}" for line in shortfalls(readings)]
    if short:
        raise CheckFailed(
            "; ".join(short), where="judges check", remedy="see them with `--wordings development --misses`"
        )


def _print_found(found: Sequence[Found], readings: Sequence[Reading]) -> None:
    typer.echo(
        f"  {'':20} {'planted':>7} {'found':>6} {'sensitivity':>20} "
        f" {'clean':>5} {'alarms':>6} {'specificity':>20}"
    )
    for event in found:
        _print_rates(event.event, event.sensitivity, event.specificity)
    _print_rates("whole transcripts", *overall(readings))


def _print_rates(name: str, sensitivity: Rate, specificity: Rate) -> None:
    alarms = specificity.n - specificity.passes
    typer.echo(
        f"  {name:20} {sensitivity.n:7} {sensitivity.passes:6} {shown_rate(sensitivity):>20}  "
        f"{specificity.n:5} {alarms:6} {shown_rate(specificity):>20}"
    )


def _print_misses(found: Sequence[Found]) -> None:
    for event in found:
        for reading in event.wrong:
            typer.echo(f"\n{event.event}: {'seen where nothing is' if event.alarm(reading) else 'missed'}")
            typer.echo(str(reading.planted))


def compare_judges(project: Path, a: str, b: str, shown: int) -> None:
    """Print agreement and kappa per question, and where two judges, or a judge and labels, differ."""
    both = [source for source in (a, b) if (project / "data" / "verdicts" / source).is_dir()]
    if a != b and len(both) == 2:
        # Calls of one population have the same names, whoever was called.
        raise InputError(
            f"{a} and {b} are two agents, and their calls are not the same calls",
            where="judges compare",
            remedy="give one agent's verdicts by two judges, or its verdicts and labels; agents stand side "
            "by side on the leaderboard",
        )
    for agent in set(both):
        require_untouched(project, ("verdicts",), agent)
    first, second = answers_of_source(project, a), answers_of_source(project, b)
    compared = compare_answers(first, second)
    if not any(question.n for question in compared):
        raise InputError(
            "share no question that both answered",
            where=f"{a} and {b}",
            remedy="give two tables of verdicts, or labels, over the same calls",
        )
    typer.echo(f"A {a}\nB {b}")
    typer.echo(
        f"  {'question':20} {'calls':>5} {'agreement':>20} {'kappa':>22} {'only A':>6} {'only B':>6} "
        f"{'open':>5} {'A finds of B yes':>20} {'A spares of B no':>20}"
    )
    for question in compared:
        typer.echo(_compared_line(question))
    for question in compared:
        if question.differing:
            typer.echo(f"\n{question.question}: {len(question.differing)} calls differ")
            for call in question.differing[:shown]:
                said = "yes, no" if first[call, question.question] else "no, yes"
                typer.echo(f"  {call} (A, B: {said})")
            if len(question.differing) > shown:
                typer.echo(f"  … and {len(question.differing) - shown} more (--differing)")


def _compared_line(question: Agreement) -> str:
    limits = _limits(question.kappa_interval, 3)
    kappa = "–" if question.kappa is None else f"{question.kappa:.3f} {limits}"
    left_open = question.open_a + question.open_b
    return (
        f"  {question.question:20} {question.n:5} {shown_rate(question.rate):>20} {kappa:>22} "
        f"{question.only_a:6} {question.only_b:6} {left_open:5} {shown_rate(question.found):>20} "
        f"{shown_rate(question.spared):>20}"
    )


def shown_rate(rate: Rate) -> str:
    """`96.2 (94.1–97.6)` in percent, with the Wilson interval; a dash without calls."""
    return "–" if rate.percent is None else f"{rounded(rate.percent)} {_limits(rate.interval)}"


def _limits(interval: Interval | None, digits: int = 1) -> str:
    return "" if interval is None else f"({interval.low:.{digits}f}–{interval.high:.{digits}f})"


def answers_of_source(project: Path, source: str) -> Answers:
    """The answers of a CSV of labels, of a table of verdicts or its folder, or of an agent's verdicts.

    InputError when there is no such thing, or it is malformed.
    """
    path = Path(source)
    if path.suffix.lower() == ".csv":
        return label_answers(read_labels(path))
    if path.suffix != ".parquet":
        folder = path if path.is_dir() else project / "data" / "verdicts" / source
        path = folder / f"{VERDICTS.name}.parquet"
        if not path.is_file():
            raise InputError(
                "is no agent with verdicts, no folder of them and no CSV of labels",
                where=source,
                remedy="give an agent of params.yaml, a verdicts.parquet, or a file of labels that ends in "
                ".csv",
            )
    table = read_table(path)
    missing = {"call_id", "question", "answer"} - set(table.columns)
    if missing:
        raise InputError(
            f"has no column {', '.join(sorted(missing))}", where=path, remedy="give a table of verdicts"
        )
    return verdict_answers(plain_rows(table))
