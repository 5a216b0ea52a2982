"""Tokens and money: what a server counted, by dated prices; what nobody counted is unknown, never zero."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from inquesto_dag.agents.config import AgentConfig, Prices, fingerprint, load_agent
from inquesto_dag.agents.cost import Usage, total, usage_of
from inquesto_dag.cli.app import app
from inquesto_dag.report.brain import describe_brain, reply_times
from tests.agents.conftest import AGENTS, PROJECT

PRICES = Prices(dated="2026-08-01", input_per_million=0.4, output_per_million=1.6, source="a list")


def trace(*counts: tuple[int | None, int | None], **more: Any) -> dict[str, Any]:
    turns = [
        {"prompt_tokens": [into], "completion_tokens": [out], "faults": ["503"], "empty": 0,
         "turns_left_out": 0, "refused_calls": 0, **more}
        for into, out in counts
    ]  # fmt: skip
    heard = [{"endpoint_s": 3.0 + n, "text": "x"} for n in range(len(turns))]
    heard.insert(0, {"endpoint_s": 1.5, "text": ""})
    brain = {"model": "m", "served": {"model": "m-1"}, "turns": turns}
    return {"agent": {"brain": brain}, "listened": heard}


def test_tokens_are_summed_and_priced_and_one_that_is_unknown_leaves_the_sum_unknown() -> None:
    """Zero is only what nobody asked for."""
    counted, partly = usage_of(trace((1000, 50), (2000, 100))), usage_of(trace((1000, 50), (None, 100)))
    assert counted == Usage(3000, 150) and partly == Usage(None, 150)
    assert counted.money(PRICES) == pytest.approx((3000 * 0.4 + 150 * 1.6) / 1e6)
    assert counted.money(None) is None and partly.money(PRICES) is None
    assert total([counted, partly]) == Usage(None, 300) and total([]) == Usage(0, 0)
    assert usage_of({"agent": {"kind": "cascade"}}) is None and usage_of(trace()) == Usage(0, 0)


def test_a_calls_page_shows_tokens_money_and_the_models_times() -> None:
    """Times belong to the reply of the same endpoint; what the agent did not answer is passed over."""
    shown = describe_brain(trace((10, 5), (10, None)), PRICES)
    assert shown is not None and shown["tokens_in"] == 20 and shown["tokens_out"] is None
    assert shown["money"] is None and shown["served"] == "m-1" and shown["faults"] == ["503", "503"]
    times = reply_times(trace((1, 1), (1, 1), first_token_s=0.2, first_sentence_s=0.4))
    assert times == {at: {"first_token_s": 0.2, "first_sentence_s": 0.4} for at in (3.0, 4.0)}
    assert reply_times({"agent": {}}) == {} and describe_brain({}, PRICES) is None


def test_prices_decide_no_result() -> None:
    """The fingerprint is the same with and without them."""
    plain = load_agent(AGENTS, "gpt-4.1-mini-700")
    priced = AgentConfig.model_validate({**plain.model_dump(), "prices": PRICES.model_dump()})
    assert fingerprint(priced) == fingerprint(plain)


def test_the_command_sums_placed_calls(tmp_path: Path) -> None:
    """Priced, without prices, and for an agent that no call was placed to."""
    shutil.copytree(AGENTS, tmp_path / "data" / "agents")
    shutil.copy(PROJECT / "dvc.yaml", tmp_path)
    shutil.copy(PROJECT / "params.yaml", tmp_path)
    path = tmp_path / "data" / "agents" / "gpt-4.1-mini-700.yaml"
    path.write_text(f"{path.read_text()}\nprices: {json.dumps(PRICES.model_dump())}\n")
    assert yaml.safe_load(path.read_text())["prices"]["dated"] == "2026-08-01"
    for agent in ("gpt-4.1-mini-700", "qwen2.5-7b-700"):
        for call in ("a", "b"):
            folder = tmp_path / "data" / "calls" / agent / "recordings" / call
            folder.mkdir(parents=True)
            (folder / "trace.json").write_text(json.dumps(trace((1000, 50))))
    names = ("gpt-4.1-mini-700", "qwen2.5-7b-700", "embedded-700")
    shown = CliRunner().invoke(app, ["agents", "cost", *names, "--project", str(tmp_path)])
    assert shown.output.splitlines() == [
        "gpt-4.1-mini-700: 2 calls, tokens in 2000, out 100, cost USD 0.0010 (prices of 2026-08-01)",
        "qwen2.5-7b-700: 2 calls, tokens in 2000, out 100, cost unknown (its file holds no prices)",
        "embedded-700: no call of it was placed",
    ], shown.output
