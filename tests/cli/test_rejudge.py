"""`rejudge` on a project of two calls, with a model on a server of the test's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.files import read_table, write_table
from inquesto_dag.judging.outcomes import questions_for
from inquesto_dag.tables import EVENTS
from tests.agents.chat.server import MODEL, Json, Wire, says, serving, status
from tests.cli.test_judges import AGENT, SAID, project, run  # noqa: F401  # a fixture
from tests.scoring.sample import protocol

KEY = "sk-rejudge-91b7"


def doubts(wire: Wire, body: Json) -> None:
    """Reads the impostor's call as the rules do, and finds a fault in the other."""
    names = body["response_format"]["json_schema"]["schema"]["required"]
    good = "impostor_served" in names
    yes = {"goal_reached"} if good else {"wrong_information"}
    answers = {q: {"reason": "read", "answer": "yes" if q in yes else "no", "turns": []} for q in names}
    says(json.dumps(answers), size=80)(wire, body)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INQUESTO_JUDGE_KEY", KEY)
    monkeypatch.delenv("INQUESTO_MEMO", raising=False)


def test_A5_another_judge_reads_the_same_calls(
    project: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Verdicts of its own, agreement and both scores; the agent's verdicts stay, a second run asks nobody."""
    write_table(project / "data" / "events" / AGENT / "events.parquet", EVENTS.conform([]))
    kept = (project / "data" / "verdicts" / AGENT / "verdicts.parquet").read_bytes()
    with serving(doubts, key=KEY) as server:
        monkeypatch.setenv("INQUESTO_JUDGE_URL", server.url)
        shown = run(project, "rejudge", AGENT, "--judge", f"openai:{MODEL}")
        assert shown.exit_code == 0, shown.output
        again = run(project, "rejudge", AGENT, "--judge", f"openai:{MODEL}")
        assert len(server.requests) == len(SAID)
    assert again.output.splitlines()[1:] == shown.output.splitlines()[1:] and KEY not in shown.output
    table = read_table(project / "rejudged" / MODEL / AGENT / "verdicts.parquet")
    asked = [questions_for(protocol(), role) for role in ("goal_directed", "impostor")]
    assert len(table) == sum(map(len, asked)) and table["answer"].notna().all()
    assert "wrong_information: 1 calls differ" in shown.output
    assert "score  A 100.0" in shown.output and "B 50.0" in shown.output
    assert (project / "data" / "verdicts" / AGENT / "verdicts.parquet").read_bytes() == kept
    files = [path for path in project.rglob("*") if path.is_file()]
    assert not any(KEY.encode() in path.read_bytes() for path in files)


def test_rejudge_tells_what_is_open_and_what_it_lacks(
    project: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unjudged calls are counted; a missing address, a refused key and an unknown judge are named."""
    monkeypatch.delenv("INQUESTO_JUDGE_URL", raising=False)
    lacking = run(project, "rejudge", "--judge", "gemma-2-9b-instruct", AGENT)
    assert isinstance(lacking.exception, InputError) and "$INQUESTO_JUDGE_URL" in str(lacking.exception)
    unknown = run(project, "rejudge", "--judge", "oracle", AGENT)
    assert isinstance(unknown.exception, InputError) and "'oracle'" in str(unknown.exception)
    with serving(status(401), key="other") as server:
        monkeypatch.setenv("INQUESTO_JUDGE_URL", server.url)
        refused = run(project, "rejudge", "--judge", f"openai:{MODEL}", AGENT)
    assert isinstance(refused.exception, InfrastructureError) and KEY not in str(refused.exception)
    with serving(says("no idea"), key=KEY) as server:
        monkeypatch.setenv("INQUESTO_JUDGE_URL", server.url)
        shown = run(project, "rejudge", "--judge", f"openai:{MODEL}", AGENT)
    assert "2 of them unjudged" in shown.output
