"""The first rows of a table as Markdown, in the columns that a reader looks at first."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inquesto_dag.report.figures import DASH

if TYPE_CHECKING:
    import pandas as pd

ROWS = 6
LONGEST = 72  # characters of a cell
# For each table of `inquesto_dag.tables`.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "population": ("call_id", "role", "style", "condition", "group", "voice"),
    "utterances": ("utterance_id", "text", "duration_s", "active_level_dbov"),
    "lines": ("utterance_id", "condition", "codec", "snr_db", "low_band_db", "high_band_db"),
    "verifier": ("utterance_id", "condition", "kind", "speech_s", "similarity"),
    "calls": ("call_id", "duration_s", "caller_turns", "agent_turns", "ended_by", "infrastructure_error"),
    "turns": ("call_id", "turn", "speaker", "said", "heard", "start_s"),
    "tool_calls": ("call_id", "tool", "arguments", "ok", "result"),
    "segments": ("call_id", "track", "segment", "start_s", "end_s"),
    "transcripts": ("call_id", "turn", "speaker", "latency_s", "text", "confidence"),
    "heard": ("call_id", "reference_words", "substitutions", "deletions", "insertions"),
    "events": ("call_id", "event", "severity", "source", "time_s", "value", "threshold", "unit"),
    "verdicts": ("call_id", "question", "answer", "reason"),
    "judge_errors": ("event", "planted", "found", "clean", "silent"),
    "probes": ("probe", "call_id", "planted", "found", "realised"),
    "results": ("call_id", "status", "goal", "max_severity", "passed", "why"),
}


def preview_table(name: str, frame: "pd.DataFrame", rows: int = ROWS) -> str:
    """The first rows of a table, and of how many; a column that the table lacks is left out."""
    columns = [column for column in COLUMNS[name] if column in frame.columns]
    head = frame[columns].head(rows).astype(object).itertuples(index=False, name=None)
    text = markdown_table(columns, head)
    left = len(frame) - min(rows, len(frame))
    return f"{text}\n\n{left} more rows" if left else text


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as a Markdown table; numbers with three decimals, what is empty as an en dash."""
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(cell_text(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def cell_text(cell: Any) -> str:
    """A cell on one line, short, with nothing in it that Markdown would read as its own."""
    import pandas as pd

    if pd.api.types.is_scalar(cell) and pd.isna(cell):
        return DASH
    if isinstance(cell, float):
        return f"{cell:.3f}".rstrip("0").rstrip(".")
    text = " ".join(str(cell).split())
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return re.sub(r"([\\`*<>|\[\]~$&])", r"\\\1", text)
