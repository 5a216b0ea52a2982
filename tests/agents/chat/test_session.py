"""The dialogue with a model on a real HTTP server: words, calls, caps, context, and what is the model's own
fault.
"""

from __future__ import annotations

import json
import threading
import time

import pytest

from inquesto_dag.agents.brain import Heard, ReportingSession
from inquesto_dag.agents.chat.history import History
from inquesto_dag.agents.chat.prompt import NO_MORE_CALLS
from tests.agents.chat.conftest import KEY, Dial
from tests.agents.chat.server import MODEL, Wire, calls, says, serving, stream, whole

NUMBER = {"account_number": "4471"}
LOOKUP = ("lookup_account", NUMBER)
VERIFY = ("verify_voice", NUMBER)


def test_words_come_sentence_by_sentence(dial: Dial) -> None:
    """Served as text, given out as sentences; the request is what the protocol wants."""
    with serving(says("Sure, $49.00 it is. Which account, Mr. Ruiz?", size=1)) as server:
        line = dial(server, temperature=0.3, max_tokens=99, extra={"reasoning_effort": "low"})
        assert isinstance(line.session, ReportingSession)
        assert line.say("I want a refund.") == ["Sure, $49.00 it is.", "Which account, Mr. Ruiz?"]
        assert line.say("4471.") == ["Sure, $49.00 it is.", "Which account, Mr. Ruiz?"]
    first, second = server.requests
    assert first.path == "/v1/chat/completions"
    sent = {k: v for k, v in first.body.items() if k not in ("messages", "tools")}
    assert sent == {
        "model": MODEL, "stream": True, "stream_options": {"include_usage": True},
        "temperature": 0.3, "max_tokens": 99, "seed": 11, "reasoning_effort": "low",
    }  # fmt: skip
    assert [message["role"] for message in second.body["messages"]] == ["system", "user", "assistant", "user"]
    assert second.body["messages"][2]["content"] == "Sure, $49.00 it is. Which account, Mr. Ruiz?"
    names = [tool["function"]["name"] for tool in first.body["tools"]]
    assert names[:2] == ["lookup_account", "verify_voice"] and len(names) == 6


def test_the_first_sentence_is_out_while_the_rest_is_written(dial: Dial) -> None:
    """So that the TTS can begin: the server waits until the sentence has arrived."""
    arrived = threading.Event()

    def waits(wire: Wire) -> None:
        assert arrived.wait(5)

    play = stream(
        lambda w: w.text("One moment. I a"), waits, lambda w: w.text("m looking."), lambda w: w.end()
    )
    with serving(play) as server:
        line = dial(server, transport={"read_s": 5.0})
        sentences = line.session.reply(Heard("Hello", 0.9), line.tools)
        assert next(sentences) == "One moment."
        arrived.set()
        assert list(sentences) == ["I am looking."]
    turn = line.turns[0]
    assert 0 < turn["first_token_s"] <= turn["first_sentence_s"] < 2


def test_calls_are_executed_and_their_results_told(dial: Dial) -> None:
    """Two calls in one completion, with words before them, then an answer."""
    with serving(calls(LOOKUP, VERIFY, text="One moment. "), says("It went through.")) as server:
        line = dial(server)
        assert line.say() == ["One moment.", "It went through."]
    assert line.called == [("lookup_account", True), ("verify_voice", True)]
    told = server.requests[1].body["messages"][2:]
    assert [message["role"] for message in told] == ["assistant", "tool", "tool"]
    assert told[0]["content"] == "One moment."
    assert [call["id"] for call in told[0]["tool_calls"]] == [message["tool_call_id"] for message in told[1:]]
    assert json.loads(told[1]["content"])["holder_name"] == "Maria Ruiz"
    assert json.loads(told[2]["content"])["status"] == "verified"


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (("lookup_account", '{"account_number": "44'), "could not be read"),
        (("lookup_account", {"account_number": 4471}), "valid string"),
        (("lookup_account", {"number": "4471"}), "account_number: Field required"),
        (("lookup_account", ""), "Field required"),
        (("transfer_call", {"to": "billing"}), "there is no tool 'transfer_call'"),
        (("lookup_account", {"account_number": "9999"}), "there is no account 9999"),
    ],
)
def test_D14_bad_calls_are_the_models_own_and_it_is_told(
    dial: Dial, wanted: tuple[str, object], problem: str
) -> None:
    """An error comes back, the call stands in the trace as refused, and the next one may be right."""
    with serving(calls(wanted), calls(LOOKUP), says("Found it.")) as server:
        line = dial(server)
        assert line.say() == ["Found it."]
    assert line.called == [(wanted[0], False), ("lookup_account", True)]
    result = server.requests[1].body["messages"][-1]
    assert result["role"] == "tool" and problem in json.loads(result["content"])["error"]
    arguments = server.requests[1].body["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(arguments), dict)  # endpoints read it
    assert line.waits == []


@pytest.mark.parametrize("tool_format", ["native", "text"])
def test_calls_in_the_text_are_executed_and_never_spoken(dial: Dial, tool_format: str) -> None:
    """Whether or not the endpoint was given the tools."""
    text = (
        f"Let me look. <tool_call>{json.dumps({'name': 'lookup_account', 'arguments': NUMBER})}</tool_call>"
    )
    with serving(says(text), says('lookup_account("4471'), says("You are Maria Ruiz.")) as server:
        line = dial(server, tool_format=tool_format)
        assert line.say() == ["Let me look.", "You are Maria Ruiz."]
    assert line.called == [("lookup_account", True), ("lookup_account", False)]
    first, second, _ = (request.body for request in server.requests)
    if tool_format == "native":
        assert second["messages"][-2]["tool_calls"][0]["function"]["name"] == "lookup_account"
        assert len(second["messages"][-1]["tool_call_id"]) == 9  # what Mistral's endpoints demand
    else:
        assert "tools" not in first and "<tool_call>" in first["messages"][0]["content"]
        assert "issue_refund" in first["messages"][0]["content"]
        assert second["messages"][-2]["content"].startswith("Let me look.\n<tool_call>")
        assert second["messages"][-1]["role"] == "user"
        assert second["messages"][-1]["content"].startswith("<tool_response>\n{")


@pytest.mark.parametrize("tool_format", ["native", "text"])
def test_D14_calls_without_end_are_capped(dial: Dial, tool_format: str) -> None:
    """The model is told to answer; if it calls again, the turn is over."""
    play = calls(LOOKUP, LOOKUP) if tool_format == "native" else says('lookup_account("4471")\n' * 2)
    with serving(play) as server:
        line = dial(server, max_tool_calls=3, tool_format=tool_format)
        assert line.say() == []
    assert len(line.called) == 3 and len(server.requests) == 3
    assert line.turns[0]["refused_calls"] == 3
    last = server.requests[2].body
    assert NO_MORE_CALLS in last["messages"][-1]["content"]
    assert last.get("tool_choice") == ("none" if tool_format == "native" else None)


def test_the_cap_is_for_a_turn(dial: Dial) -> None:
    """The next turn may call again."""
    with serving(calls(LOOKUP), says("One."), calls(LOOKUP), says("Two.")) as server:
        line = dial(server, max_tool_calls=1)
        assert line.say() == ["One."] and line.say() == ["Two."]


def test_D14_an_empty_completion_is_asked_for_once_more_and_then_is_silence(dial: Dial) -> None:
    """The model's own: no error, no reply; what the caller says next joins what was left open."""
    with serving(says(""), says(""), says("Yes?")) as server:
        line = dial(server)
        assert line.say("Hello.") == []
        assert line.turns[0]["empty"] == 2
        assert line.say("Are you there?") == ["Yes?"]
    assert server.requests[2].body["messages"][1:] == [{"role": "user", "content": "Hello. Are you there?"}]
    assert line.waits == []


def test_thought_alone_is_an_empty_completion(dial: Dial) -> None:
    """Nothing of it is spoken, in the text or in a field of its own."""
    thinks = stream(lambda w: w.delta(reasoning_content="The caller wants. A refund. "), lambda w: w.end())
    with serving(says("<think>Hm. A refund.</think>"), thinks, says("Which one?")) as server:
        line = dial(server)
        assert line.say() == [] and line.say() == ["Which one?"]
    assert line.turns[0]["thought_characters"] > 0 and len(server.requests) == 3


def test_D14_talking_to_the_token_limit_is_the_models_own(dial: Dial) -> None:
    """A server that stops it, and one that lets it go on for ever: it is cut, and what was said counts."""

    def endless(wire: Wire) -> None:
        while not wire.stopping.is_set():
            wire.text("And so on. ")

    with serving(says("And so on. And", finish="length"), stream(endless)) as server:
        line = dial(server, max_tokens=16)
        assert line.say() == ["And so on.", "And"]
        said = line.say()
    assert set(said[:-1]) == {"And so on."} and 10 <= len(said) <= 14
    assert [turn["finishes"] for turn in line.turns] == [["length"], ["cut"]]
    assert line.turns[1]["faults"] == []


def test_what_servers_send_for_the_same_thing(dial: Dial) -> None:
    """Whole calls, arguments as objects, no index, parts, one document, no [DONE], bare line ends."""
    ollama = stream(
        lambda w: w.delta(
            tool_calls=[{"function": {"name": n, "arguments": a}} for n, a in (LOOKUP, VERIFY)]
        ),
        lambda w: w.end("stop"),
    )
    legacy = stream(
        lambda w: w.delta(function_call={"name": "lookup_account", "arguments": ""}),
        lambda w: w.delta(function_call={"arguments": json.dumps(NUMBER)}),
        lambda w: w.end("function_call"),
    )
    parts = stream(
        lambda w: w.delta(content=[{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "Parts."}]),
        lambda w: w.end(done=False),
    )
    document = whole(
        json.dumps({"choices": [{"message": {"content": "Whole. Yes."}, "finish_reason": "stop"}]})
    )
    odd = stream(
        lambda w: w.raw(b": ping\r\n\r\ndata:" + json.dumps(_chunk("Caf\u00e9. ")).encode()[:-5]),
        lambda w: w.raw(json.dumps(_chunk("Caf\u00e9. ")).encode()[-5:] + b"\r\n\r\n"),
        lambda w: w.raw(f"event: x\ndata: {json.dumps(_chunk('Good.', 'stop'))}"),
        lambda w: w.close(),
    )
    with serving(ollama, legacy, parts, document, odd) as server:
        line = dial(server)
        assert line.say() == ["Parts."]
        assert line.say() == ["Whole.", "Yes."]
        assert line.say() == ["Caf\u00e9.", "Good."]
    assert line.called == [("lookup_account", True), ("verify_voice", True), ("lookup_account", True)]


def _chunk(text: str, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


def test_connections_are_used_again(dial: Dial) -> None:
    """A hosted endpoint's handshake is no part of a reply."""
    ports: list[int] = []

    def play(wire: Wire, body: dict[str, object]) -> None:
        ports.append(wire._handler.client_address[1])
        says("Yes.")(wire, body)

    with serving(play) as server:
        line = dial(server)
        for _ in range(4):
            line.say()
    assert len(set(ports)) == 1


def test_the_oldest_turns_are_left_out_whole_and_it_is_recorded(dial: Dial) -> None:
    """Results stay with their calls, the system's message and the turn under way stay always."""
    with serving(calls(LOOKUP), says("It holds two charges. " * 10)) as server:
        line = dial(server, context_tokens=3000, max_tokens=100)
        for number in range(12):
            line.say(f"Question {number}. " + "Tell me more about it. " * 10)
    left_out = [turn["turns_left_out"] for turn in line.turns]
    assert left_out[0] == 0 and left_out[-1] > 3 and left_out == sorted(left_out)
    last = server.requests[-1].body["messages"]
    assert last[0]["role"] == "system" and last[1]["role"] == "user" and "Question 11" in last[-1]["content"]
    assert last[1]["content"].startswith(f"Question {left_out[-1]}.")


def test_a_turn_that_is_too_long_alone_is_sent_all_the_same(dial: Dial) -> None:
    """The endpoint decides."""
    with serving(says("Yes.")) as server:
        line = dial(server, context_tokens=1024, max_tokens=512)
        assert line.say("word " * 2000) == ["Yes."]
    assert [message["role"] for message in server.requests[0].body["messages"]] == ["system", "user"]


def test_a_servers_count_corrects_the_estimate() -> None:
    """Tokens per character differ from model to model."""
    history = History("system")
    history.hear("word " * 100)
    messages, _ = history.fit(10_000)
    before = history.tokens(messages)
    history.counted(messages, 0, 2 * before)
    assert history.tokens(messages) == pytest.approx(2 * before, rel=0.02)


def test_usage_and_the_served_model_stand_in_the_report(dial: Dial) -> None:
    """What was asked for and what answered are two things (PROTOCOL D16)."""
    with serving(says("Yes.", usage={"prompt_tokens": 700, "completion_tokens": 3})) as server:
        line = dial(server)
        line.say()
    report = line.session.report()
    assert report["model"] == MODEL and report["served"] == {"model": MODEL}
    assert report["turns"][0]["prompt_tokens"] == [700] and report["turns"][0]["completion_tokens"] == [3]
    assert KEY not in json.dumps(report)


def test_a_session_that_is_left_early_closes_its_connection(dial: Dial) -> None:
    """A caller who hangs up in mid-reply leaves no stream behind."""
    broken = threading.Event()

    def talks_on(wire: Wire) -> None:
        try:
            while not wire.stopping.is_set():
                wire.text("And so on. ")
                time.sleep(0.01)
        except OSError:
            broken.set()
            raise

    with serving(stream(talks_on)) as server:
        line = dial(server, max_tokens=30_000)
        sentences = line.session.reply(Heard("Hello", 0.9), line.tools)
        next(sentences)
        sentences.close()  # type: ignore[attr-defined]
        assert broken.wait(3)
