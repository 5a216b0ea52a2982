"""The page that compares agents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.report.charts import curve, differences, p_text
from inquesto_dag.report.leaderboard import EVENTS, write_leaderboard_page
from inquesto_dag.scoring.compare import build_leaderboard
from inquesto_dag.scoring.published import configuration_of
from tests.report.conftest import Opened
from tests.report.material import PROTOCOL, make_material

AGENTS = {
    "short": (400, ("talks_over", "talks_over", "good", "good"), 0.6),
    "long": (1100, ("good", "slow", "good", "good"), 1.3),
    "none": (700, ("unjudged", "unjudged", "unjudged", "infrastructure"), 0.9),
}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Three agents that differ in their window, one of which has no scored call."""
    project = tmp_path_factory.mktemp("board")
    records, results = {}, {}
    for agent, (window, behaviours, lag) in AGENTS.items():
        made = make_material(project, agent, behaviours, lag)
        made.record["agent"]["endpointing_ms"] = window
        records[agent], results[agent] = made.record, made.results
    leaderboard = build_leaderboard(records, results, resamples=200)
    return leaderboard, write_leaderboard_page(project / "data" / "leaderboard" / "page", leaderboard)


def test_agents_stand_by_rank_with_their_citations(board: tuple[dict[str, Any], Path]) -> None:
    """The order and the citation lines are the leaderboard's; each agent links to its record's page."""
    leaderboard, page = board
    text = page.read_text()
    assert re.findall(r'data-agent="(\w+)"', text) == [agent["agent"] for agent in leaderboard["agents"]]
    for agent in leaderboard["agents"]:
        assert agent["citation"] in text and agent["views_line"] in text
        assert f'href="../../record/{agent["agent"]}/page/index.html"' in text


def test_an_agent_without_a_scored_call_has_dashes(board: tuple[dict[str, Any], Path]) -> None:
    """No rate, no difference, no latency, and no word that Python uses for nothing."""
    text = re.sub(r"<(script|style).*?</\1>", "", board[1].read_text(), flags=re.S)
    row = re.search(r'<tr data-agent="none">.*?</tr>', text, re.S)
    assert row and "no calls" in row.group() and "\u2013" in row.group()
    assert "None" not in text and "nan" not in text


def test_T13_severities_of_the_table_are_the_protocols() -> None:
    """The page's list of event types is the released taxonomy, in its order."""
    assert [(kind.name, kind.severity) for kind in load_protocol(PROTOCOL).events] == list(EVENTS)


def test_A4_windows_are_drawn_from_short_to_long(board: tuple[dict[str, Any], Path]) -> None:
    """Three curves over the windows and the paper's; an agent without a value is left out, not drawn at 0."""
    text = board[1].read_text()
    assert [text.count(f">{window} ms</text>") for window in (400, 700, 1100)] == [4, 4, 4]
    assert len(re.findall(r'<circle class="dot"', text)) == 6
    assert len(re.findall(r'<circle class="dot theirs"', text)) == 3


def test_the_papers_figures_stand_beside_ours_and_say_why_they_do_not_compare(
    board: tuple[dict[str, Any], Path],
) -> None:
    """Every quantity with both figures, the reasons in words; one of the paper's agents would get its row."""
    leaderboard, page = board
    text = page.read_text()
    notice = re.search(r'id="not-comparable">(.*?)</p>', text, re.S)
    assert notice and "other agents: long, none, short" in notice.group(1)
    table = re.search(r'id="published">(.*?)</section>', text, re.S)
    assert table and table.group(1).count("<tr><td") == len(leaderboard["published"]["quantities"]) + 1
    assert "+24.0" in table.group(1) and "0.90" in table.group(1) and "in the paper" not in text
    agents = [{**agent, "agent": "qwen2.5-7b-700"} for agent in leaderboard["agents"][:1]]
    row = {"qwen2.5-7b-700": dict(configuration_of("qwen2.5-7b-700").numbers)}  # type: ignore[union-attr]
    other = {**leaderboard, "agents": agents, "published": {**leaderboard["published"], "rows": row}}
    again = write_leaderboard_page(page.parent / "other", other).read_text()
    assert again.count('<tr class="theirs"><td class="nowrap">in the paper') == 2 and "34\u201344" in again


def test_a_difference_whose_interval_holds_zero_is_not_marked() -> None:
    """Only a pair whose interval excludes zero is drawn in the accent."""
    pair = {"a": "x", "b": "y", "n": 30, "only_a": 6, "only_b": 2, "p_value": 0.0004}
    drawn, end = differences(
        [
            {**pair, "difference": 13.3, "interval": [1.0, 26.0]},
            {**pair, "difference": 3.3, "interval": [-9.0, 16.0]},
            {**pair, "difference": None, "interval": None, "p_value": None},
        ]
    )
    assert end == 50
    assert [item.clear for item in drawn] == [True, False, False]
    assert (drawn[0].dot, drawn[0].low, drawn[0].high) == (63.3, 51.0, 76.0)
    assert (drawn[2].figures, drawn[2].dot, drawn[2].p_value) == ("\u2013", None, "\u2013")
    assert p_text(0.0004) == "< 0.001" and p_text(0.5) == "0.500"


@given(
    st.lists(st.tuples(st.integers(100, 3000), st.none() | st.floats(-5, 100)), min_size=1, max_size=12),
)
def test_every_point_lies_inside_its_chart(rows: list[tuple[int, float | None]]) -> None:
    """For any windows and values: inside the drawing area, one point per known value, ticks from 0."""
    drawn = curve("t", "u", [("a", window, value, None) for window, value in rows])
    assert len(drawn.points) == sum(value is not None for _, value in rows)
    assert all(0 <= point.x <= 300 and -0.01 <= point.y <= 150 for point in drawn.points)
    assert [label.rstrip("0").rstrip(".") or "0" for _, label in drawn.y_ticks].count("0") == 1
    assert drawn.y_ticks[0][0] == 150 and 2 <= len(drawn.y_ticks) <= 7


@pytest.mark.browser
def test_the_comparison_opens_without_a_complaint(opened: Opened, board: tuple[dict[str, Any], Path]) -> None:
    """In a browser with the network off: no error, all agents in sight."""
    opened.page.goto(board[1].as_uri())
    assert opened.page.locator("#board tbody tr").count() == 3
    assert opened.page.locator("#pairs tbody tr").count() == 3
    opened.page.click("#theme")
    assert opened.complaints == []
