"""The record and its citation: numbers only, variants named, incomplete runs said, always the same bytes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from inquesto_dag.errors import CheckFailed
from inquesto_dag.files import canonical_json
from inquesto_dag.provenance.profile import PROFILES
from inquesto_dag.scoring.citation import citation, variant_marks, views_line
from inquesto_dag.scoring.record import build_record
from tests.scoring.sample import event_row, protocol, turn
from tests.scoring.test_results import World

PINNED = PROFILES["pinned"].roles()
OTHERS = {"judge": "rules", "caller": "scripted", "tts": "kokoro-int8", "verifier": "ge2e"}


def record(world: World, **more: Any) -> dict[str, Any]:
    """The record of a world; pinned components and measured timing unless said otherwise."""
    events, results = world.joined()
    given: dict[str, Any] = {
        "protocol": protocol(),
        "protocol_digest": "a" * 64,
        "agent": {"id": "sample", "fingerprint": "b" * 64, "endpointing_ms": 700},
        "pinned": PINNED,
        "profile_specified": PINNED,
        "profile_run": {role: {"name": name, "sha256": "c" * 64} for role, name in PINNED.items()},
        "population": world.population,
        "population_size": 306,
        "results": results,
        "events": events,
        "transcripts": [],
        "heard": [],
        "timing": "measured",
    }
    return build_record(**{**given, **more})


def test_N2_D15_only_a_complete_pinned_run_cites_as_the_protocols_score() -> None:
    """All 306 calls on the pinned components, none missing."""
    world = World("full")
    failed = [plan["call_id"] for plan in world.population][:169]
    world.events = [event_row(call_id, "slow_turn") for call_id in failed]
    assert citation(record(world)) == "Inquesto v0.1 = 44.8% (95% CI 39.3–50.4; n = 306)"


def test_D15_everything_else_is_a_variant_named_in_the_citation() -> None:
    """Another judge, another caller, a slice, declared times: each is named, in one order."""
    world = World()
    world.events = [event_row(plan["call_id"], "slow_turn") for plan in world.population[:8]]
    found = record(world, profile_run={**PINNED, **OTHERS}, timing="declared")
    assert citation(found) == (
        "Inquesto v0.1 variant [judge=rules, caller=scripted, tts=kokoro-int8, verifier=ge2e, "
        "timing=declared, n=30 of 306] = 73.3% (95% CI 55.6–85.8; n = 30)"
    )
    assert variant_marks(record(World("full"), profile_run={**PINNED, "judge": "rules"})) == ["judge=rules"]
    assert variant_marks(record(World("full"), timing="declared")) == ["timing=declared"]
    assert variant_marks(record(world)) == ["n=30 of 306"]


def test_D16_what_ran_decides_and_not_what_was_specified() -> None:
    """The specified judge is the pinned one, the rules judged."""
    found = record(World("full"), profile_specified=PINNED, profile_run={**PINNED, "judge": "rules"})
    assert found["profile"]["specified"]["judge"] == "gemma-2-9b-instruct"
    assert found["profile"]["run"]["judge"] == "rules"
    assert "judge=rules" in citation(found)
    nobody = {role: name for role, name in PINNED.items() if role != "judge"}
    assert variant_marks(record(World("full"), profile_run=nobody)) == ["judge=none"]


def test_D13_D14_an_incomplete_record_says_so() -> None:
    """Unjudged and infrastructure calls are counted, leave n, and stand in the citation."""
    world = World("full")
    first, second = world.call(), world.call("legitimate")
    world.answer(first, goal_reached=None)
    del world.calls[second]
    found = record(world)
    assert found["complete"] is False
    assert found["status"] == {"scored": 304, "unjudged": 1, "infrastructure": 1}
    assert citation(found).startswith(
        "Inquesto v0.1 variant [incomplete: 1 unjudged and 1 infrastructure] = 100.0% ("
    )
    assert citation(found).endswith("n = 304)")


def test_a_record_without_scored_calls_has_no_score() -> None:
    """No interval is invented for nothing."""
    world = World()
    world.calls = {}
    found = record(world)
    assert found["score"]["score"] is None and found["score"]["interval"] is None
    assert found["score"]["clustered_interval"] is None
    assert "no call was scored" in citation(found)
    assert views_line(found) == "B – · R – · I – · F –"


@pytest.mark.parametrize("failing", [0, 1, 153, 306])
def test_R2_the_score_is_the_share_of_calls_that_passed(failing: int) -> None:
    """Each call has weight one, whichever scenario, condition and group it is of."""
    world = World("full")
    world.events = [event_row(plan["call_id"], "slow_turn") for plan in world.population[-failing or 306 :]]
    score = record(world)["score"]
    assert (score["passes"], score["n"]) == (306 - failing, 306)
    assert score["score"] == pytest.approx(100 * (306 - failing) / 306, abs=1e-6)


def test_N2_views_line() -> None:
    """Whole percent, the worst group's rate last."""
    world = World("full")
    assert views_line(record(world)) == "B 100 · R 100 · I 100 · F 100"
    us_male = [p["call_id"] for p in world.population if p["group"] == "us_male"]
    world.events = [event_row(call_id, "slow_turn") for call_id in us_male[:30]]
    assert views_line(record(world)).endswith("F 60")


def test_N1_D19_every_rate_has_n_interval_and_clustered_interval() -> None:
    """Wilson's is reported, the clustered one stands beside it."""
    found = record(World("full"))
    fairness = found["views"]["fairness"]
    blocks = [found["score"], *(found["views"][v] for v in ("behavior", "robustness", "identity"))]
    blocks += [*fairness["groups"].values(), *fairness["without_identity"]["groups"].values()]
    for block in blocks:
        assert block["n"] > 0 and block["clusters"] > 0
        (low, high), (wide_low, wide_high) = block["interval"], block["clustered_interval"]
        assert 0 <= low <= block["score"] <= high <= 100 and wide_high - wide_low >= high - low
    assert found["score"]["clusters"] == 30


def test_V3_T11_T7_identity_counts() -> None:
    """Impostors served and holders refused, each call once, holders of identity scenarios only."""
    world = World("full")
    impostors = [p["call_id"] for p in world.population if p["role"] == "impostor"]
    holders = [p["call_id"] for p in world.population if p["role"] == "legitimate"]
    for call_id in impostors[:4]:
        world.answer(call_id, impostor_served=True)
    for call_id in [*holders[:2], world.call()]:
        world.answer(call_id, false_reject=True)
    found = record(world)
    identity = found["views"]["identity"]
    assert (identity["impostor_calls"], identity["holder_calls"]) == (9, 9)
    assert (identity["impostors_served"], identity["holders_refused"]) == (4, 2)
    assert found["failures"]["by_type"]["false_reject"] == 3
    assert found["failures"]["by_severity"] == {"S1": 0, "S2": 0, "S3": 3, "S4": 0, "S5": 4}
    assert found["failures"]["calls_by_max_severity"]["none"] == 299


def test_A1_A2_A3_A6_analyses_stand_in_the_record() -> None:
    """One slow turn and one wrong fact among thirty calls."""
    world = World()
    slow, wrong = world.call(), world.call(family="update_card")
    world.events = [event_row(slow, "slow_turn"), event_row(slow, "talk_over")]
    world.answer(wrong, wrong_information=True)
    found = record(world)["analyses"]
    assert slow != wrong
    assert found["transcript_only"]["passes"] == 29 and found["audio_only_failures"] == 1
    assert found["judge_free"]["passes"] == 29
    assert {k: v["passes"] for k, v in found["thresholds"].items()} == {
        "s2_plus": 28, "s3_plus": 28, "s4_plus": 29, "s5": 30,
    }  # fmt: skip
    assert found["thresholds"]["s5"]["shift"] == pytest.approx(100 * 2 / 30, abs=1e-6)
    combined = found["views_combined"]
    assert combined["minimum"]["value"] <= combined["geometric_mean"]["value"] <= combined["mean"]["value"]


def test_latency_and_word_error_sums() -> None:
    """Quantiles over all replies; word error as ratio of sums per condition and group."""
    world = World("full")
    ids = [plan["call_id"] for plan in world.population]
    transcripts = [
        {**turn(1, "agent", 5, 6, reply_to=0, latency_s=latency), "call_id": call_id}
        for call_id, latency in zip(ids, [-1.0, 1.0, 2.0, 3.0], strict=False)
    ]
    heard = [
        {
            "call_id": c,
            "reference_words": 10,
            "substitutions": 1,
            "deletions": 0,
            "insertions": int(".babble." in c),
        }
        for c in ids
    ]
    found = record(world, transcripts=transcripts, heard=heard)
    assert found["latency"]["replies"] == 4 and found["latency"]["overlapping"] == 1
    assert found["latency"]["quantiles_s"]["p50"] == 1.5 and found["latency"]["max_s"] == 3
    assert found["heard"]["by_condition"]["clean"]["word_error_percent"] == 10
    assert found["heard"]["by_condition_and_group"]["babble"]["uk_male"]["word_error_percent"] == 20
    assert found["heard"]["all"]["reference_words"] == 3060


def test_N3_what_the_schema_does_not_name_cannot_be_recorded() -> None:
    """It is refused where it is built, so no file of it is ever written; test_schema.py tries more."""
    named = {"id": "sample", "fingerprint": "b" * 64}
    for text in ("the agent of Maria Ruiz", "m.ruiz@example.com", "/home/maria", ""):
        with pytest.raises(CheckFailed, match=r"record\.agent\.id.*N3"):
            record(World(), agent={**named, "id": text})
    with pytest.raises(CheckFailed, match=r"record\.agent.*'transcript' was unexpected.*N3"):
        record(World(), agent={**named, "transcript": 1})
    with pytest.raises(CheckFailed, match=r"record\.lineage.*N3"):
        record(World(), lineage={"note": "it said hello"})


def test_N3_no_word_of_a_call_is_in_the_record() -> None:
    """Neither reasons, transcripts nor call names."""
    world = World("full")
    text = canonical_json(record(world)).decode()
    assert "because" not in text and "a few words" not in text
    assert not re.search(r"clean\.us_female", text)


def test_the_same_inputs_give_the_same_bytes() -> None:
    """In whatever order the rows come."""
    world = World("full")
    world.events = [event_row(p["call_id"], "slow_turn") for p in world.population[::7]]
    first = canonical_json(record(world))
    world.population.reverse()
    assert canonical_json(record(world)) == first


def test_P7_the_population_has_a_digest() -> None:
    """Quick and full are two populations, and say so."""
    quick, full = record(World()), record(World("full"))
    assert quick["population"]["sha256"] != full["population"]["sha256"]
    assert (quick["population"]["calls"], quick["population"]["size"]) == (30, 306)


def test_a_call_without_a_result_is_refused() -> None:
    """A record never leaves out a planned call silently."""
    world = World()
    _, results = world.joined()
    with pytest.raises(CheckFailed, match="one row for each planned call"):
        record(world, results=results[1:])
