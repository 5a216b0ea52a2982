"""What ran in the roles that language models fill, and what that makes of the citation (D15, D16)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inquesto_dag.files import write_json
from inquesto_dag.provenance.profile import PROFILES
from inquesto_dag.scoring.citation import citation
from inquesto_dag.scoring.record import _departures
from inquesto_dag.stages.record import profile_run

PINNED = PROFILES["pinned"].roles()
SPEECH = {role: {"name": PINNED[role]} for role in ("tts", "asr", "vad", "verifier")}
GEMMA, QWEN = "google/gemma-2-9b-it", "Qwen/Qwen2.5-7B-Instruct"


def cited(tmp_path: Path, judges: list[str | None], callers: list[str]) -> str:
    """The citation of a complete run of 306 measured calls whose endpoints said that they serve these."""
    for number, served in enumerate(callers):
        folder = tmp_path / "recordings" / f"call-{number}"
        write_json(folder / "trace.json", {"caller": {"served": [served]}})
    verdicts = [
        {"judge": "gemma-2-9b-instruct@1:0", "raw": json.dumps({"served": served, "reply": "{}"})}
        for served in judges
    ]
    ctx: Any = SimpleNamespace(
        profile=PROFILES["pinned"], engine_spec=None, agent="a", folder=lambda stage, agent: tmp_path
    )
    run = profile_run(ctx, verdicts)
    record = {
        "protocol": {"version": "v0.1"},
        "departures": _departures(PINNED, {**run, **SPEECH}, "measured"),
        "population": {"calls": 306, "size": 306},
        "status": {"scored": 306, "unjudged": 0, "infrastructure": 0},
        "score": {"passes": 137, "n": 306, "interval": [39.3, 50.4]},
    }
    return citation(record)


def test_D15_only_endpoints_that_serve_the_pinned_models_make_the_plain_line(tmp_path: Path) -> None:
    """By the names in their replies, whatever was asked for."""
    assert cited(tmp_path, [GEMMA] * 3, [QWEN] * 3) == "Inquesto v0.1 = 44.8% (95% CI 39.3–50.4; n = 306)"


@pytest.mark.parametrize(
    ("judges", "callers", "marks"),
    [
        (["gemma2:9b"], [QWEN], "[judge=gemma2-9b]"),
        ([GEMMA, "gemma2:27b"], [QWEN], "[judge=gemma-2-9b-instruct-and-gemma2-27b]"),
        ([GEMMA], ["test-model"], "[caller=test-model]"),
        ([None], [QWEN], "[judge=unnamed]"),
        ([GEMMA, None], [QWEN], "[judge=gemma-2-9b-instruct-and-unnamed]"),
        ([GEMMA], [], "[caller=unnamed]"),
    ],
)
def test_D16_any_other_model_makes_a_variant_that_names_it(
    tmp_path: Path, judges: list[str | None], callers: list[str], marks: str
) -> None:
    """Fewer bits, two models behind one address, and an endpoint that does not say."""
    assert cited(tmp_path, judges, callers).startswith(f"Inquesto v0.1 variant {marks} = ")
