"""The paper's figures beside ours: the right rows, the same quantity, and what keeps them apart said."""

from __future__ import annotations

import pytest

from inquesto_dag.agents.config import list_agents, load_agent
from inquesto_dag.scoring.compare import build_leaderboard
from inquesto_dag.scoring.published import configuration_of, configurations, figures, why_not
from tests.scoring.test_compare import board
from tests.scoring.test_rate import PUBLISHED

AGENTS = PUBLISHED.parents[2] / "data" / "agents"


def test_each_row_has_the_name_of_its_agent_file() -> None:
    """The thirteen files of data/agents/ and the rows are one to one, windows included."""
    files = {a.id: a.endpointing_ms for a in (load_agent(AGENTS, name) for name in list_agents(AGENTS))
             if a.brain.kind == "openai"}  # fmt: skip
    assert {row.agent: row.endpointing_ms for row in configurations()} == files
    hosted = configuration_of("llama-3.1-8b-hosted-700")
    assert hosted is not None and (hosted.numbers["score"], hosted.numbers["s2_plus"]) == (20, 8)
    assert configuration_of("embedded-700") is None


def test_the_papers_figures_follow_from_its_tables() -> None:
    """A1 and A2 in the text are means over the rows that we show, so text and rows are of one thing."""
    rows = configurations()

    def mean(name: str) -> float:
        return sum(row.numbers[name] - row.numbers["score"] for row in rows) / len(rows)

    stated = figures()
    assert mean("transcript_only_score") == pytest.approx(stated["transcript_only_minus_score"], abs=0.6)
    for name, text in (("s2_plus", "s2"), ("s4_plus", "s4"), ("s5", "s5")):
        assert mean(name) == pytest.approx(stated[f"threshold_{text}_shift"], abs=0.3)
    assert sum(row.numbers["audio_only_failures"] for row in rows) / sum(
        306 * (100 - row.numbers["score"]) / 100 for row in rows
    ) == pytest.approx(stated["failed_only_on_audio_events"] / 100, abs=0.01)


def test_ours_are_of_the_same_quantity_and_not_called_comparable() -> None:
    """Shifts of the board, counts of the records; agents that the paper has not are named as the reason."""
    records, results = board()
    found = build_leaderboard(records, results)
    ours = {row["label"]: row["ours"] for row in found["published"]["quantities"]}
    assert ours["Without audio events the score is"] == found["shifts"]["transcript_only"]
    assert ours["Without the judge"] == found["judge_free"]["mean_shift"]
    failed = sum(r["score"]["n"] - r["score"]["passes"] for r in records.values())
    audio = sum(r["analyses"]["audio_only_failures"] for r in records.values())
    assert audio and ours["Failed calls that failed on audio alone"] == pytest.approx(100 * audio / failed)
    assert found["published"]["why_not"][0] == "other agents: sample-1100, sample-400, sample-700"
    assert [row["score"] for row in found["published"]["windows"]] == [24, 39, 45]
    assert found["published"]["rows"] == {}


def test_only_the_papers_own_agents_on_its_own_set_up_compare() -> None:
    """One of its agents gets its row; the other twelve are said to be absent; a variant says so."""
    records, results = board()
    one = next(iter(records))
    found = build_leaderboard({"qwen2.5-7b-400": records[one]}, {"qwen2.5-7b-400": results[one]})
    assert found["published"]["rows"]["qwen2.5-7b-400"]["score"] == 24
    reasons = found["published"]["why_not"]
    assert reasons[-1] == "12 of the paper's 13 configurations were not run"
    pinned = {
        **records[one],
        "departures": {},
        "population": {"calls": 306, "size": 306},
        "status": {"unjudged": 0, "infrastructure": 0},
    }
    every = {row.agent: pinned for row in configurations()}
    assert why_not(every) == []
    every["qwen2.5-3b-700"] = {**every["qwen2.5-3b-700"], "departures": {"judge": "rules"}}
    assert why_not(every) == ["another set-up: judge=rules"]
