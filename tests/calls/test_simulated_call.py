"""A real call of a caller that a model plays: lines are spoken on demand, its faults are kept apart."""

from __future__ import annotations

import dataclasses
import json

import pytest

from inquesto_dag.agents.chat.roles import find_model
from inquesto_dag.calls.job import CallJob, run_job
from inquesto_dag.calls.simulated import SimulatedCaller
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.scoring.results import result_rows
from inquesto_dag.speech.engines import Engines
from tests.agents.chat.server import MODEL, Json, Wire, says, serving
from tests.calls.test_chat_call import ROOT, engines, job, key  # noqa: F401  # fixtures

pytestmark = pytest.mark.engines

PROTOCOL = load_protocol(ROOT / "data" / "protocols" / "v0.1")
CALLER = SimulatedCaller(
    find_model("caller", f"openai:{MODEL}", {}), PROTOCOL.caller_prompt, PROTOCOL.caller_level_dbov,
    "af_heart", "en-us", "g711_mu",
)  # fmt: skip


def plays(goodbye: str) -> object:
    """One model for both sides: the caller's requests are those that are held to a schema."""

    def play(wire: Wire, body: Json) -> None:
        if "response_format" not in body:
            says("Your payment of $98 went through.")(wire, body)
            return
        first = len(body["messages"]) == 2
        line = {"say": "Did my payment go through?", "hang_up": "no"} if first else {"say": goodbye}
        says(json.dumps({"hang_up": "goal_met", **line}))(wire, body)

    return play


def test_S1_a_models_lines_are_spoken_carried_and_kept(
    job: CallJob,  # noqa: F811
    engines: Engines,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Heard as said, over the condition's line, in the memo under the model's name, named in the trace."""
    simulated = dataclasses.replace(job, simulated=CALLER)
    with serving(plays("Good. Thank you, goodbye.")) as server:  # type: ignore[arg-type]
        for name in ("CALL_URL", "INQUESTO_CALLER_URL"):
            monkeypatch.setenv(name, server.url)
        placed = run_job(simulated, engines)
        asked = len(server.requests)
        assert run_job(simulated, engines).files == placed.files and len(server.requests) == asked
        trace = placed.trace
        assert trace["call"]["ended_by"] == "goal_met" and trace["call"]["infrastructure_error"] is None
        assert "payment" in trace["listened"][0]["text"].lower()
        said = [turn["said"] for turn in trace["turns"] if turn["speaker"] == "caller"]
        assert said == ["Did my payment go through?", "Good. Thank you, goodbye."]
        assert trace["caller"]["served"] == [MODEL] and trace["caller"]["faults"] == []
        assert "caller" not in job.parts(engines) and server.url not in str(simulated.parts(engines))

        blamed = dataclasses.replace(simulated, row={**job.row, "seed": int(job.row["seed"]) + 1})
        server._plays[0] = plays("Is there anything else I can do for you?")  # type: ignore[call-overload]
        trace = run_job(blamed, engines).trace
    assert trace["call"]["ended_by"] == "infrastructure" and trace["caller"]["ended_by"] == "goal_met"
    assert trace["call"]["infrastructure_error"].startswith("caller fault: left_role (")
    call = {**trace["call"], "trace_sha256": "0" * 64}
    (result,) = result_rows(PROTOCOL, [dict(job.row)], [call], [], [], [])
    assert result["status"] == "caller" and "left_role" in result["why"] and result["passed"] is None
