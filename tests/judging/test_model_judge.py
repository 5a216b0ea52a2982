"""The judge that is a language model, on a server of the test's own: asked, read, asked again, given up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from inquesto_dag.agents.chat.endpoint import Endpoint
from inquesto_dag.agents.chat.roles import component_of, find_model
from inquesto_dag.agents.chat.settings import ChatTransport
from inquesto_dag.agents.tools import visible_record
from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.judging.case import put_case
from inquesto_dag.judging.interfaces import JudgedCall, verdict_rows
from inquesto_dag.judging.model import ATTEMPTS, ModelJudge, served_models
from inquesto_dag.judging.outcomes import missing_answers
from inquesto_dag.provenance.memo import Memo
from inquesto_dag.stages.verdicts import Rubric, judge_all, make_judge
from tests.agents.chat.conftest import Waits
from tests.agents.chat.server import MODEL, Json, Play, Wire, calls, says, serving, status, stream
from tests.judging.calls import call_of
from tests.scoring.sample import protocol, scenario

KEY = "sk-judge-5510e2"
TRANSPORT = ChatTransport(
    base_url_env="TEST_URL", api_key_env="TEST_KEY", ask_usage=False, connect_s=1, read_s=5, completion_s=20
)
QUESTIONS = ("goal_reached", "claims_success", "context_loss", "false_reject", "wrong_information")


def reply(**changed: str) -> str:
    """A good reply to a holder's call; `question="yes"` changes an answer."""
    answers = {"goal_reached": "yes", "claims_success": "yes"} | changed
    return json.dumps(
        {q: {"reason": f"so it is with {q}", "answer": answers.get(q, "no"), "turns": [1]} for q in QUESTIONS}
    )


def judge_on(url: str, model: str = f"openai:{MODEL}", waits: Waits | None = None) -> ModelJudge:
    return ModelJudge(
        protocol(), find_model("judge", model, {}), Endpoint(url, SecretStr(KEY), TRANSPORT),
        sleep=Waits() if waits is None else waits,
    )  # fmt: skip


def a_call(done: bool = True) -> JudgedCall:
    return call_of("cancel_sub-neutral", "C: Cancel my plan.", "A: Your Pro plan is cancelled.", done=done)


def schemaless(*plays: Play) -> Play:
    """A server that refuses a schema, and answers the other requests by these plays."""
    asked: list[Json] = []

    def play(wire: Wire, body: Json) -> None:
        if "response_format" in body:
            status(400, '{"error": {"message": "response_format is not supported"}}')(wire, body)
            return
        asked.append(body)
        plays[min(len(asked), len(plays)) - 1](wire, body)

    return play


def test_T14_one_structured_reply_answers_every_question_of_a_call() -> None:
    """Without sampling, held to a schema of this role's questions, the served model and the reply kept."""
    with serving(says(reply(), size=40), key=KEY) as server:
        rows = verdict_rows(judge_on(server.url), a_call())
    (request,) = server.requests
    assert request.body["temperature"] == 0 and request.body["max_tokens"] > 1000
    held = request.body["response_format"]["json_schema"]
    assert held["strict"] and held["schema"]["required"] == list(QUESTIONS)
    assert [(row["question"], row["answer"]) for row in rows] == [
        (name, name in ("goal_reached", "claims_success")) for name in QUESTIONS
    ]
    assert rows[0]["reason"] == "so it is with goal_reached"
    assert json.loads(rows[0]["evidence"])["turns"] == [1] and rows[0]["attempts"] == 1
    assert json.loads(rows[0]["raw"]) == {"served": MODEL, "reply": reply(), "finish": "stop"}
    assert served_models(rows) == [MODEL] and KEY not in str(rows)
    assert rows[0]["judge"].startswith(f"{MODEL}@")


def test_D8_the_judge_is_shown_the_account_that_the_tools_showed_before_and_after() -> None:
    """As `lookup_account` gives it, what changed, and every tool call between the words around it."""
    tools = [
        {"index": 0, "time_s": 4.5, "tool": "lookup_account", "arguments": '{"account_number": "4471"}',
         "ok": True, "result": json.dumps(visible_record(protocol().account))},
        {"index": 1, "time_s": 4.6, "tool": "cancel_subscription", "arguments": "{}", "ok": False,
         "result": '{"error": "no"}'},
    ]  # fmt: skip
    call = call_of("cancel_sub-neutral", "C: Cancel my plan.", "A: It is done.", done=True, tools=tools)
    text = put_case(protocol(), scenario("cancel_sub-neutral"), call)
    for account in (call.account_before, call.account_after):
        assert json.dumps(visible_record(account)) in text
    assert 'Changed by the call: {"plan.status": "cancelled"}' in text
    order = [
        "[0] caller: Cancel my plan.", 'lookup_account({"account_number": "4471"}) -> the record as it stood',
        'cancel_subscription({}) -> {"error": "no"}', "[1] agent: It is done.",
    ]  # fmt: skip
    assert [text.index(piece) for piece in order] == sorted(text.index(piece) for piece in order)
    impostor = put_case(protocol(), scenario("cancel_sub-impostor"), call_of("cancel_sub-impostor"))
    assert "NOT the account holder" in impostor and "impostor_served:" in impostor
    assert "false_reject:" not in impostor
    corrects = next(s for s in protocol().scenarios if s.corrects is not None)
    assert corrects.corrects is not None
    assert repr(corrects.corrects.first) in put_case(protocol(), corrects, call_of(corrects.id))


@pytest.mark.parametrize(
    ("text", "unlike"),
    [
        (f"Here it is:\n```json\n{reply()}\n```\nI hope it helps.", {}),
        (f"<think>{{'goal_reached': 'no'}} or so</think>{reply()}", {}),
        (json.dumps({"answers": json.loads(reply())}), {}),
        (json.dumps([{"question": q, "answer": "yes"} for q in QUESTIONS]), dict.fromkeys(QUESTIONS, True)),
        (json.dumps(dict.fromkeys(QUESTIONS, "No, it did not.")), dict.fromkeys(QUESTIONS, False)),
        (json.dumps(dict.fromkeys(QUESTIONS, True)), dict.fromkeys(QUESTIONS, True)),
        (reply().replace('"', "'").removesuffix("}"), {}),
        (f"{reply(goal_reached='no')}\nOn reflection:\n{reply()}", {}),
    ],
)
def test_replies_are_read_in_the_forms_that_models_write(text: str, unlike: dict[str, bool]) -> None:
    """Words around it, thought, lists, bare answers, faults of JSON: nothing is asked twice."""
    with serving(says(text, size=60)) as server:
        verdicts = judge_on(server.url).judge(a_call())
    assert len(server.requests) == 1
    expected = {name: name in ("goal_reached", "claims_success") for name in QUESTIONS} | unlike
    assert {verdict.question: verdict.answer for verdict in verdicts} == expected


def test_a_server_without_schemas_is_asked_without_one_from_then_on() -> None:
    """Refused once, then never sent again; the answers are the same."""
    with serving(schemaless(says(reply()))) as server:
        judge = judge_on(server.url)
        first, second = judge.judge(a_call()), judge.judge(a_call(done=False))
    assert ["response_format" in request.body for request in server.requests] == [True, False, False]
    assert all(verdict.answer is not None for verdict in [*first, *second])


def test_D13_what_cannot_be_read_is_shown_and_asked_for_again() -> None:
    """With what is wrong with it; the second reply counts, and the attempts are told."""
    half = reply().replace('"answer": "no"', '"answer": "perhaps"', 1)
    with serving(says(half, size=60), says(reply(), size=60)) as server:
        verdicts = judge_on(server.url).judge(a_call())
    assert [verdict.attempts for verdict in verdicts] == [2] * 5
    assert all(verdict.answer is not None for verdict in verdicts)
    asked = server.requests[1].body["messages"]
    assert [message["role"] for message in asked] == ["user", "assistant", "user"]
    assert asked[0] == server.requests[0].body["messages"][0] and asked[1]["content"] == half
    assert "no readable answer to context_loss" in asked[2]["content"]


@pytest.mark.parametrize(
    ("play", "problem"),
    [
        (says("I would say that it went well."), "holds no readable answer"),
        (says(""), "holds no readable answer"),
        (says(reply()[:300], finish="length"), "was cut off before it answered"),
        (calls(("lookup_account", {"account_number": "4471"})), "holds no readable answer"),
    ],
)
def test_D13_after_three_replies_without_answers_a_call_is_unjudged(
    play: Play, problem: str, tmp_path: Path
) -> None:
    """Never "goal failed, nothing else wrong": no answer at all, said so, and asked again by the next run."""
    memo = Memo(tmp_path)
    with serving(play) as server:
        rubric = Rubric(judge_on(server.url), protocol())
        rows = rubric.verdicts(a_call(), memo)
        assert len(server.requests) == ATTEMPTS
        rubric.verdicts(a_call(), memo)
        assert len(server.requests) == 2 * ATTEMPTS and not [p for p in tmp_path.rglob("*") if p.is_file()]
    open_ = [row for row in rows if row["answer"] is None]
    assert open_ and all(problem in row["reason"] and row["attempts"] == ATTEMPTS for row in open_)
    assert missing_answers(protocol(), "goal_directed", rows) == [row["question"] for row in open_]


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (status(503), "the endpoint failed (503)"),
        (stream(lambda wire: wire.text('{"goal_'), lambda wire: wire.drop()), "ended in mid-completion"),
        (stream(lambda wire: wire.raw("data: {not json\n\n"), lambda wire: wire.close()), "is no JSON"),
        (status(413, '{"error": {"message": "context too long"}}'), "refused the request (413: context too"),
    ],
)
def test_D14_an_endpoint_that_fails_gives_no_answer_and_ends_no_run(play: Play, said: str) -> None:
    """Tried by policy where that may help; the call is unjudged and the reason says whose failure it is."""
    with serving(play) as server:
        verdicts = judge_on(server.url).judge(a_call())
    assert {verdict.answer for verdict in verdicts} == {None}
    assert all(v.reason.startswith("not judged, the endpoint failed") and said in v.reason for v in verdicts)


def test_D14_a_failure_that_passes_costs_nothing() -> None:
    """A rate limit and a dropped connection, then the reply; waits are those that the endpoint asks for."""
    waits = Waits()
    limit = status(429, Retry_After="7")
    dropped = stream(lambda wire: wire.text("{"), lambda wire: wire.drop())
    with serving(limit, dropped, says(reply(), size=60)) as server:
        verdicts = judge_on(server.url, waits=waits).judge(a_call())
    assert all(verdict.answer is not None and verdict.attempts == 1 for verdict in verdicts)
    assert waits[0] == 7 and len(waits) == 2


def test_a_failure_of_every_call_ends_the_run_and_names_the_variable() -> None:
    """A refused key, an unknown model, nobody there; the key is in no message."""
    with serving(says(reply()), key="another") as server:
        with pytest.raises(InfrastructureError, match=r"refused the key") as refused:
            judge_on(server.url).judge(a_call())
        assert refused.value.field == "$INQUESTO_JUDGE_KEY" and KEY not in str(refused.value)
    with (
        serving(says(reply()), models=("other",)) as server,
        pytest.raises(InfrastructureError, match=r"\$INQUESTO_JUDGE_MODEL"),
    ):
        judge_on(server.url).judge(a_call())
    with pytest.raises(InfrastructureError, match=r"no connection") as gone:
        judge_on("http://127.0.0.1:9/v1").judge(a_call())
    assert gone.value.field == "$INQUESTO_JUDGE_URL"


def test_the_environment_names_the_endpoint_and_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is needed before the first call is judged, for a run may find everything in its memo."""
    for name in ("URL", "KEY", "MODEL"):
        monkeypatch.delenv(f"INQUESTO_JUDGE_{name}", raising=False)
    judge = make_judge("gemma-2-9b-instruct", protocol())
    assert judge.identity["model"] == "google/gemma-2-9b-it"
    with pytest.raises(InputError, match=r"\$INQUESTO_JUDGE_URL"):
        judge.judge(a_call())
    with serving(says(reply(), size=60), models=("mine",), key=KEY) as server:
        monkeypatch.setenv("INQUESTO_JUDGE_URL", server.url)
        monkeypatch.setenv("INQUESTO_JUDGE_KEY", KEY)
        monkeypatch.setenv("INQUESTO_JUDGE_MODEL", "mine")
        verdicts = make_judge("gemma-2-9b-instruct", protocol()).judge(a_call())
    assert verdicts[0].answer and server.requests[0].body["model"] == "mine"
    with pytest.raises(InputError, match=r"no judge 'gpt'"):
        make_judge("gpt", protocol())


def test_D17_the_key_holds_model_and_prompt_and_no_address() -> None:
    """Another endpoint is the same judge; another model, prompt or question is not."""
    here, there = (Rubric(judge_on(f"http://{host}/v1"), protocol()) for host in ("a.test", "b.test"))
    assert here.parts(a_call()) == there.parts(a_call()) and "a.test" not in str(here.parts(a_call()))
    prompt = protocol().judge_prompt
    other_prompt = protocol().model_copy(
        update={"judge_prompt": prompt.model_copy(update={"again": prompt.again + "Please."})}
    )
    model = find_model("judge", f"openai:{MODEL}", {})
    digests = [
        ModelJudge(protocol(), model).identity, ModelJudge(other_prompt, model).identity,
        ModelJudge(protocol(), find_model("judge", "openai:other", {})).identity,
    ]  # fmt: skip
    assert len({json.dumps(identity) for identity in digests}) == 3


def test_calls_are_judged_several_at_a_time_and_in_order(tmp_path: Path) -> None:
    """Each once, rows in the calls' order; a second run asks nobody. The threads share one judge."""
    chosen = [s.id for s in protocol().scenarios if s.role == "goal_directed"][:5]
    held = [call_of(scenario_id, "C: Hello.", "A: Hello.") for scenario_id in chosen]
    with serving(says(reply(), size=60)) as server:
        judge = judge_on(server.url)
        memo = Memo(tmp_path)
        rows = judge_all(Rubric(judge, protocol()), held, memo)
        assert (memo.hits, memo.misses) == (0, 5) and len(server.requests) == 5
        again = Memo(tmp_path)
        assert judge_all(Rubric(judge, protocol()), held, again) == rows
        assert (again.hits, again.misses) == (5, 0) and len(server.requests) == 5
    assert _calls(rows) == [call.call_id for call in held]


def _calls(rows: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(row["call_id"] for row in rows))


@pytest.mark.parametrize(
    ("served", "component"),
    [
        ("google/gemma-2-9b-it", "gemma-2-9b-instruct"),
        ("Gemma-2-9B-it", "gemma-2-9b-instruct"),
        ("qwen2.5:7b-instruct-fp16", "qwen2.5-7b-instruct"),
        ("gemma2:9b", "gemma2-9b"),
        ("google/gemma-2-9b-it-AWQ", "google-gemma-2-9b-it-awq"),
        ("8b", "model-8b"),
    ],
)
def test_D15_only_a_pinned_models_own_names_are_that_model(served: str, component: str) -> None:
    """Fewer bits, another size or a name that says neither is another component."""
    assert component_of(served) == component
