"""A caller that a language model plays, on a server of the test's own, and the check on its playing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import SecretStr

from inquesto_dag.agents.chat.endpoint import Endpoint
from inquesto_dag.agents.chat.roles import find_model
from inquesto_dag.agents.chat.settings import ChatTransport
from inquesto_dag.callers.check import caller_faults, problem_of
from inquesto_dag.callers.model import GOODBYE, ModelCaller, put_brief, read_line
from inquesto_dag.callers.scripted import PATIENCE, Say, Wait
from inquesto_dag.errors import InfrastructureError
from tests.agents.chat.conftest import Waits
from tests.agents.chat.server import MODEL, Play, says, serving, status
from tests.scoring.sample import protocol, scenario

KEY = "sk-caller-08f2"
SCENARIO = "cancel_sub-neutral"


def line(say: str, hang_up: str = "no") -> Play:
    return says(json.dumps({"say": say, "hang_up": hang_up}), size=30)


def caller_on(url: str, scenario_id: str = SCENARIO, seed: int = 7) -> ModelCaller:
    transport = ChatTransport(
        base_url_env="TEST_URL", ask_usage=False, connect_s=1, read_s=5, completion_s=20
    )
    return ModelCaller(
        scenario(scenario_id), protocol().caller_prompt, find_model("caller", f"openai:{MODEL}", {}),
        Endpoint(url, SecretStr(KEY), transport), seed, sleep=Waits(),
    )  # fmt: skip


def test_S1_a_model_plays_goal_and_style_and_hangs_up() -> None:
    """It is told its part once, hears the agent's words alone, waits when it says nothing, ends the call."""
    lines = line("Cancel my plan, please."), line(""), line("Thanks, bye.", "goal_met")
    with serving(*lines, key=KEY) as server:
        caller = caller_on(server.url)
        assert caller.first() == Say("opening", "Cancel my plan, please.")
        assert caller.reply("One moment, please.") == Wait()
        assert caller.reply("It is cancelled.") == Say("reply", "Thanks, bye.", True, "goal_met")
        assert caller.reply("Goodbye.") == Wait() and len(server.requests) == 3
    bodies = [request.body for request in server.requests]
    assert [m["role"] for m in bodies[2]["messages"]] == ["system", *["user", "assistant"] * 2, "user"]
    assert scenario(SCENARIO).goal in bodies[0]["messages"][0]["content"]
    assert bodies[2]["messages"][-1]["content"] == "It is cancelled."
    assert {body["seed"] for body in bodies} == {7} and bodies[0]["temperature"] == 0.7
    report = caller.report()
    assert (report["served"], report["seed"], report["temperature"]) == ([MODEL], 7, 0.7)
    assert report["replies"] == len(report["wrote"]) == 3
    assert KEY not in json.dumps(report) and server.url not in json.dumps(report)


def test_P2_D7_styles_and_corrections_are_in_the_brief() -> None:
    """Each style has its own words; who corrects is told both forms of the detail."""
    briefs = {}
    for played in protocol().scenarios:
        brief = briefs[played.id] = put_brief(played, protocol().caller_prompt)
        assert protocol().caller_prompt.styles[played.style] in brief
        assert re.search(r"\$[a-z]", brief) is None
        if played.corrects is not None:
            assert f'"{played.corrects.first}"' in brief and f'"{played.corrects.corrected}"' in brief
    assert "pretend to be" in briefs["cancel_sub-impostor"] and "4471" in briefs[SCENARIO]


@pytest.mark.parametrize(
    ("text", "say", "hang_up", "other_side"),
    [
        ('```json\n{"say": "Hello.", "hang_up": "no"}\n```', "Hello.", None, False),
        ("{'say': 'Hello.', 'hang_up': 'gave_up'}", "Hello.", "gave_up", False),
        ("Caller: Hello, (sighs) cancel it.", "Hello, cancel it.", None, False),
        ('{"say": "Cancel it. Agent: It is done.", "hang_up": "perhaps"}', "Cancel it.", None, True),
        ('{"say": "Hello, I wo', "", None, False),
        ("", "", None, False),
    ],
)
def test_lines_are_read_in_the_forms_that_models_write(
    text: str, say: str, hang_up: str | None, other_side: bool
) -> None:
    """Neither labels nor stage directions nor the agent's part are spoken; half an object is nothing."""
    found = read_line(text)
    assert (found.say, found.hang_up, found.other_side) == (say, hang_up, other_side)


def test_every_call_ends_though_the_model_does_not() -> None:
    """By patience, and by silence: once whether anybody is there, then goodbye, without asking the model."""
    with serving(line("And then?")) as server:
        caller = caller_on(server.url)
        caller.first()
        said = [caller.reply("Well.") for _ in range(PATIENCE[1])]
        ended = [one for one in said if isinstance(one, Say) and one.hang_up]
        assert ended == [Say("goodbye", GOODBYE, True, "gave_up")]
        other = caller_on(server.url)
        other.first()
        assert other.silence() == Say("still_there", "And then?")
        asked = len(server.requests)
        assert other.silence() == Say("goodbye", GOODBYE, True, "silence") and len(server.requests) == asked


def test_D14_an_endpoint_that_fails_is_infrastructure() -> None:
    """After the attempts of the policy; a schema that is refused is asked without."""
    with (
        serving(status(503)) as server,
        pytest.raises(InfrastructureError, match=r"the endpoint failed \(503\)") as failed,
    ):
        caller_on(server.url).first()
    assert KEY not in str(failed.value) and str(failed.value).startswith("caller,")
    with serving(status(400, "no schemas"), line("Hello.")) as server:
        assert caller_on(server.url).first().text == "Hello."
    assert ["response_format" in request.body for request in server.requests] == [True, False]


def turns(*said: str) -> list[dict[str, Any]]:
    names = {"C": "caller", "A": "agent"}
    return [{"speaker": names[words[0]], "said": words[3:]} for words in said]


NUMBER = "C: It is four four seven one."


@pytest.mark.parametrize(
    ("said", "ended_by", "kinds"),
    [
        (("C: Cancel my plan.", "A: Your number?", NUMBER, "A: It is done.", "C: Bye."), "goal_met", []),
        (("C: How can I help you today?", "A: What?", "C: Bye."), "gave_up", ["left_role"]),
        (("C: As an AI, I want to cancel.", "A: What?", "C: Bye."), "gave_up", ["left_role"]),
        (("C: Please call cancel_subscription.", "A: Yes.", "C: Bye."), "goal_met", ["gave_away"]),
        (
            ("C: I must tell details when I am asked: tell details when you are asked for them.", "A: Yes."),
            "goal_met", ["gave_away"],
        ),
        (("C: Cancel my plan. Goodbye.",), "gave_up", ["hung_up_early"]),
        (("C: Cancel it.", "A: Your number?", f"{NUMBER} Thanks, bye."), "goal_met", ["hung_up_early"]),
        (("C: Cancel it.", "A: I cannot help.", "C: Bye."), "refused", []),
        (("C: Cancel it.", "A: It is done.", "C: Bye."), "goal_met", []),
        (("C: Cancel it. Goodbye.",), "silence", []),
    ],
)  # fmt: skip
def test_a_caller_that_does_not_play_its_part_is_found_out(
    said: tuple[str, ...], ended_by: str, kinds: list[str]
) -> None:
    """And one that is refused, deceived or left alone is not blamed."""
    played = scenario(SCENARIO)
    brief = put_brief(played, protocol().caller_prompt)
    found = caller_faults(played, brief, turns(*said), ended_by, other_side=0)
    assert [fault.kind for fault in found] == kinds
    if kinds:
        assert problem_of(found).startswith(f"caller fault: {kinds[0]} (")


def test_scripted_callers_pass_the_check_on_every_line() -> None:
    """What a scenario itself says is never a fault: no line of any caller."""
    for played in protocol().scenarios:
        brief = put_brief(played, protocol().caller_prompt)
        lines = [text.replace("|", "") for text in played.lines.values()]
        held = [row for text in lines for row in turns(f"C: {text}", "A: Yes.")]
        assert caller_faults(played, brief, held, "refused", other_side=0) == [], played.id


def test_an_impostor_that_admits_it_gave_itself_away() -> None:
    """The goal of an impostor is not to be known; writing the agent's part is noticed in any role."""
    played = scenario("cancel_sub-impostor")
    brief = put_brief(played, protocol().caller_prompt)
    held = turns("C: I am not the account holder, but cancel it.", "A: No.", "C: Bye.")
    assert [f.kind for f in caller_faults(played, brief, held, "refused", 1)] == ["left_role", "gave_away"]
