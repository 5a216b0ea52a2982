"""What a run of a stage looks like: one chart or small table for each stage that has something to show.

Everything is read from what the stage has left in `data/`; nothing is computed that decides anything.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assets.previews import cell_text, markdown_table
from assets.svg import (
    ACCENT,
    BAD,
    SEVERITY,
    WARN,
    Mark,
    as_markdown,
    draw_bars,
    draw_curve,
    draw_histogram,
    draw_strips,
    stack,
)
from inquesto_dag.files import read_json, read_table
from inquesto_dag.report.charts import curve
from inquesto_dag.report.figures import Bar, bar_of, latency_histogram, number_text, words

Pictures = Mapping[str, str]
ERRORS = ("substitutions", "deletions", "insertions")
FAILED_SHOWN = 20


def draw_stage(project: Path, stage: str, agent: str | None) -> Pictures:
    """Markdown by name for a stage's output as it lies on disk; nothing for a stage without a picture."""
    draw = PICTURES.get(stage)
    return draw(project, project / "data" / stage / (agent or ""), agent) if draw else {}


def _population(project: Path, folder: Path, agent: str | None) -> Pictures:
    frame = read_table(folder / "population.parquet")
    groups = sorted(frame["group"].unique())
    counts = frame.groupby(["condition", "group"]).size()
    rows = [
        [condition, *(int(counts.get((condition, group), 0)) for group in groups), int(total)]
        for condition, total in frame.groupby("condition").size().items()
    ]
    return {"calls_by_line_and_group": markdown_table(["line", *map(words, groups), "all"], rows)}


def _verifier(project: Path, folder: Path, agent: str | None) -> Pictures:
    frame = read_table(folder / "verifier.parquet")
    calibrated = read_json(folder / "verifier.json")
    frame = frame[frame["speech_s"] >= calibrated["minimum_speech_s"]]
    colours = {"holder": ACCENT, "impostor": BAD}
    rows = [
        (f"{condition}, {kind}", [Mark(float(value), colours[str(kind)]) for value in group["similarity"]])
        for (condition, kind), group in frame.groupby(["condition", "kind"], sort=False)
    ]
    report = read_json(folder / "report.json") if (folder / "report.json").exists() else None
    alike: dict[str, list[Mark]] = {}
    for score in report["alike_scores"] if report else []:
        alike.setdefault(score["condition"], []).append(Mark(float(score["similarity"]), WARN))
    rows += [(f"{condition}, alike", marks) for condition, marks in alike.items()]
    values = [mark.value for _, marks in rows for mark in marks]
    low = math.floor(10 * min([calibrated["threshold"], *values])) / 10
    svg = draw_strips(rows, low, 1.0, float(calibrated["threshold"]), "threshold")
    pictures = {"similarities": as_markdown(svg, "Similarity of holders and impostors to the enrolment")}
    return pictures | ({"calibration": _calibration(report)} if report else {})


def _calibration(report: Mapping[str, Any]) -> str:
    """Margin and equal error by line, and how many impostors of the holder's sex and accent get through."""

    def row(name: str, block: Mapping[str, Any]) -> list[str]:
        numbers = [number_text(block[key], 3) for key in ("lowest_holder", "highest_impostor", "margin")]
        errors = [
            number_text(100 * block[key]["rate"] if block[key] else None)
            for key in ("equal_error", "equal_error_alike")
        ]
        return [name, *numbers, *errors, f"{block['alike_accepted']} of {block['alike']}"]

    columns = [
        "line", "lowest holder", "highest impostor", "margin", "equal error, %",
        "with same sex and accent, %", "of those accepted",
    ]  # fmt: skip
    blocks = [*report["by_condition"].items(), ("all", report["all"])]
    return markdown_table(columns, [row(name, block) for name, block in blocks])


def _calls(project: Path, folder: Path, agent: str | None) -> Pictures:
    counts = read_table(folder / "calls.parquet")["ended_by"].value_counts()
    bars = [(words(str(name)), int(count)) for name, count in counts.items()]
    return {"how_calls_ended": _draw_counts(bars, "How the calls ended")}


def _annotations(project: Path, folder: Path, agent: str | None) -> Pictures:
    from inquesto_dag.report.overview import limits_of

    latencies = read_table(folder / "transcripts.parquet")["latency_s"].dropna()
    histogram = latency_histogram([float(value) for value in latencies], limits_of(_protocol(project)))
    return {
        "reply_latencies": as_markdown(draw_histogram(histogram), "Reply latencies"),
        "word_error_by_line": as_markdown(_word_error(project, folder), "Word error by line"),
    }


def _word_error(project: Path, folder: Path) -> str:
    heard = read_table(folder / "heard.parquet")
    planned = read_table(project / "data" / "population" / "population.parquet")
    sums = heard.merge(planned[["call_id", "condition"]], on="call_id").groupby("condition", sort=False)[
        ["reference_words", *ERRORS]
    ]
    bars = []
    for condition, row in sums.sum().iterrows():
        said, wrong = int(row["reference_words"]), int(sum(row[name] for name in ERRORS))
        rate = 100 * wrong / said if said else None
        bars.append(
            Bar(words(str(condition)), "", number_text(rate), f"{wrong} of {said} words", rate, None, None)
        )
    return draw_bars(bars, top=max([20.0, *(bar.value or 0.0 for bar in bars)]))


def _events(project: Path, folder: Path, agent: str | None) -> Pictures:
    counts = read_table(folder / "events.parquet")["event"].value_counts()
    # The judge's types are counted in the record; here they have no row rather than a zero.
    kinds = [kind for kind in _protocol(project).events if set(kind.source) - {"judge"}]
    bars = [(f"{kind.severity} {words(kind.name)}", int(counts.get(kind.name, 0))) for kind in kinds]
    colours = [SEVERITY[kind.severity] for kind in kinds]
    return {"events_by_type": _draw_counts(bars, "Calls with each event", colours)}


def _verdicts(project: Path, folder: Path, agent: str | None) -> Pictures:
    frame = read_table(folder / "verdicts.parquet")
    rows = [
        [
            question,
            int((group["answer"] == True).sum()),  # noqa: E712  a nullable column
            int((group["answer"] == False).sum()),  # noqa: E712
            int(group["answer"].isna().sum()),
        ]
        for question, group in frame.groupby("question", sort=False)
    ]
    return {"answers": markdown_table(["question", "yes", "no", "unjudged"], rows)}


def _record(project: Path, folder: Path, agent: str | None) -> Pictures:
    from inquesto_dag.report.overview import view_bars

    record = read_json(folder / "record.json")
    protocol = _protocol(project)
    counts = record["failures"]["by_type"]
    events = [(f"{kind.severity} {words(kind.name)}", int(counts[kind.name])) for kind in protocol.events]
    return {
        "score_and_views": as_markdown(
            draw_bars([bar_of("Score", record["score"]), *view_bars(record)]),
            "Score and views, 95 % intervals",
        ),
        "failures_by_type": _draw_counts(
            events, "Calls with each event", [SEVERITY[kind.severity] for kind in protocol.events]
        ),
        "failed_calls": _failed_calls(folder, str(agent)),
    }


def _failed_calls(folder: Path, agent: str) -> str:
    """Why each scored call failed, and the command that walks it back to its sound."""
    from inquesto_dag.report.call import explain_command

    results = read_table(folder / "results.parquet")
    failed = results[(results["status"] == "scored") & ~results["passed"].fillna(False).astype(bool)]
    rows = [
        [f"`{explain_command(agent, call)}`", cell_text(why)]
        for call, why in failed[["call_id", "why"]].head(FAILED_SHOWN).itertuples(index=False, name=None)
    ]
    lines = ["| walk it back | why it failed |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows)]
    left = len(failed) - len(rows)
    return "\n".join(lines) + (f"\n\n{left} more" if left else "")


def _leaderboard(project: Path, folder: Path, agent: str | None) -> Pictures:
    board = read_json(folder / "leaderboard.json")
    bars = [bar_of(entry["agent"], entry["score"]) for entry in board["agents"]]
    pictures = {"side_by_side": as_markdown(draw_bars(bars), "Scores, 95 % intervals")}
    windows = [
        draw_curve(
            curve(
                "Score", "percent",
                [(a["agent"], a["endpointing_ms"], a["score"], a["interval"]) for a in table["agents"]],
                ceiling=100.0,
            )
        )
        for table in board["endpointing"]
    ]  # fmt: skip
    if windows:
        pictures["score_by_window"] = stack(windows, "Score against the endpointing window")
    pairs = [
        [pair["a"], pair["b"], number_text(pair["difference"]), pair["only_a"], pair["only_b"], pair["n"]]
        for pair in board["pairs"]
    ]
    if pairs:
        columns = ["agent", "against", "points", "only the first passed", "only the second", "calls"]
        pictures["paired_differences"] = markdown_table(columns, pairs)
    return pictures


def _validation(project: Path, folder: Path, agent: str | None) -> Pictures:
    report = read_json(folder / "validation.json")
    pictures = {
        name: as_markdown(
            draw_bars([bar_of(words(row["event"]), row[name]) for row in report["events"]]),
            f"{name.capitalize()} by event, 95 % intervals",
        )
        for name in ("sensitivity", "specificity")
    }
    times = [
        [words(name), found["n"], found["mean"], found["p95"], found["worst"]]
        for name, found in report["timing"]["all"]["errors_ms"].items()
    ]
    pictures["timing_errors_ms"] = markdown_table(
        ["measured minus known", "n", "mean", "95 %", "worst"], times
    )
    return pictures


def _draw_counts(rows: Sequence[tuple[str, int]], title: str, colours: Sequence[str] = ()) -> str:
    top = max([1, *(count for _, count in rows)])
    bars = [Bar(name, "", str(count), "", float(count), None, None) for name, count in rows]
    return as_markdown(draw_bars(bars, colours, top=float(top), unit=""), title)


def _protocol(project: Path) -> Any:
    from inquesto_dag.protocol.load import load_protocol
    from inquesto_dag.provenance.params import load_params

    return load_protocol(project / "data" / "protocols" / load_params(project).protocol)


PICTURES: Mapping[str, Callable[[Path, Path, str | None], Pictures]] = {
    "population": _population,
    "verifier": _verifier,
    "calls": _calls,
    "annotations": _annotations,
    "events": _events,
    "verdicts": _verdicts,
    "record": _record,
    "leaderboard": _leaderboard,
    "validation": _validation,
}
