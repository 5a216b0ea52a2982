"""PROTOCOL D14 on the wire: each failure of infrastructure, before and in mid-completion, and its end."""

from __future__ import annotations

import json
import pickle
import socket
import time
import traceback
from collections.abc import Callable
from email.utils import formatdate

import pytest

from inquesto_dag.agents.chat.faults import retry_after
from inquesto_dag.errors import InfrastructureError
from tests.agents.chat.conftest import KEY, Dial, brain_on
from tests.agents.chat.server import Play, Wire, calls, says, serving, status, stream

LOOKUP = ("lookup_account", {"account_number": "4471"})
BEGINS = "Well "  # of a completion, before its first sentence is whole
SPOKEN = "One moment. I "  # and after that
YES = says("Yes.")


def _error(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, **more}})


def _sends(text: str, *after: Callable[[Wire], object]) -> Play:
    return stream(lambda w: w.text(text) if text else None, *after)


def _trickles(wire: Wire) -> None:
    """Alive, and never done: comments, as gateways send them while a model is busy."""
    while not wire.stopping.wait(0.05):
        wire.raw(": busy\n\n")


MID_STREAM: list[tuple[str, Callable[[Wire], object], str]] = [
    ("dropped", Wire.drop, "ended in mid-completion"),
    ("ends without a finish", lambda w: w.end(None, done=False), "gave no reason to finish"),
    ("is done without a finish", lambda w: w.end(None), "gave no reason to finish"),
    ("ends within an event", lambda w: (w.raw('data: {"choi'), w.close()), "within a piece"),
    ("malformed JSON", lambda w: (w.raw('data: {"choices": [}\n\n'), w.end()), "is no JSON"),
    ("no object", lambda w: (w.raw("data: 17\n\n"), w.end()), "is no object"),
    ("no choices", lambda w: (w.event({"hello": 1}), w.end()), "has no choices"),
    ("hangs", Wire.hang, "nothing came from the endpoint for 0.4 s"),
    ("never ends", _trickles, "was not over after 0.8 s"),
    ("an error object", lambda w: (w.event(json.loads(_error("out of memory"))), w.end()), "out of memory"),
    (
        "an error with a code",
        lambda w: (w.raw(_error("overloaded", code=503) + "\n"), w.end()),
        "failed (503: overl",
    ),
]
BEFORE: list[tuple[str, Play, str]] = [
    ("429", status(429, _error("slow down")), "rate limit was reached (429: slow down)"),
    ("500", status(500, _error("oops")), "the endpoint failed (500: oops)"),
    (
        "503 with a page",
        status(503, "<html>busy</html>", "text/html"),
        "the endpoint failed (503: a page in HTML)",
    ),
    ("hangs without a status", lambda w, _: w.hang(), "nothing came from the endpoint"),
    ("drops without a status", lambda w, _: w.drop(), "ended in mid-completion"),
]
PERMANENT: list[tuple[str, Play, str, str]] = [
    (
        "400",
        status(400, _error("context length exceeded")),
        "refused the request (400: context",
        "brain.settings",
    ),
    (
        "401",
        status(401, _error("no such key")),
        "refused the key (401: no such key)",
        "brain.transport.api_key_env",
    ),
    ("403", status(403, "no"), "refused the key (403: no)", "brain.transport.api_key_env"),
    ("404", status(404, _error("no such model")), "no model 'test-model'", "brain.settings.model"),
    (
        "a web page",
        status(200, "<html></html>", "text/html"),
        "content type is 'text/html'",
        "brain.transport.base_url_env",
    ),
    (
        "an error object",
        stream(lambda w: w.event(json.loads(_error("bad key", code="401")))),
        "refused the key",
        "brain.transport.api_key_env",
    ),
    (
        "sent elsewhere",
        status(302, Location="https://example.com/"),
        "refused the request (302)",
        "brain.settings",
    ),
]
FAST = {"read_s": 0.4, "completion_s": 0.8}


@pytest.mark.parametrize(
    ("play", "problem"),
    [(play, problem) for _, play, problem in BEFORE]
    + [(_sends(text, step), problem) for _, step, problem in MID_STREAM for text in ("", BEGINS)],
)
def test_D14_what_may_pass_is_tried_again_while_nothing_was_spoken(
    dial: Dial, play: Play, problem: str
) -> None:
    """Twice it fails, the third attempt counts, each word is said once, and the failures are reported."""
    with serving(play, play, YES) as server:
        line = dial(server, transport=FAST)
        assert line.say() == ["Yes."]
    assert line.waits == [0.5, 1.0] and len(server.requests) == 3
    faults = line.turns[0]["faults"]
    assert len(faults) == 2 and all(problem in fault for fault in faults)
    assert server.requests[0].body == server.requests[2].body


@pytest.mark.parametrize(
    ("play", "problem"),
    [(play, problem) for _, play, problem in BEFORE]
    + [(_sends(BEGINS, step), problem) for _, step, problem in MID_STREAM],
)
def test_D14_what_does_not_pass_is_an_infrastructure_error(dial: Dial, play: Play, problem: str) -> None:
    """With the endpoint's address, what to do, and how often it was tried."""
    with serving(play) as server:
        line = dial(server, transport={**FAST, "attempts": 2})
        with pytest.raises(InfrastructureError) as caught:
            line.say()
        assert caught.value.where == server.url
    assert problem in caught.value.problem and caught.value.problem.endswith("(2 attempts)")
    assert caught.value.remedy and len(server.requests) == 2


@pytest.mark.parametrize(("step", "problem"), [m[1:] for m in MID_STREAM], ids=[m[0] for m in MID_STREAM])
def test_once_a_sentence_was_spoken_nothing_is_tried_again(
    dial: Dial, step: Callable[[Wire], object], problem: str
) -> None:
    """The caller has heard it: the call is given up."""
    with serving(_sends(SPOKEN, step), YES) as server:
        line = dial(server, transport=FAST)
        said: list[str] = []
        with pytest.raises(InfrastructureError) as caught:
            for sentence in line.session.reply(_heard(), line.tools):
                said.append(sentence)
    assert said == ["One moment."] and len(server.requests) == 1 and line.waits == []
    assert problem in caught.value.problem


def _heard():  # type: ignore[no-untyped-def]
    from inquesto_dag.agents.brain import Heard

    return Heard("Hello", 0.9)


@pytest.mark.parametrize(
    ("play", "problem", "field"), [p[1:] for p in PERMANENT], ids=[p[0] for p in PERMANENT]
)
def test_what_cannot_pass_is_not_tried_again(dial: Dial, play: Play, problem: str, field: str) -> None:
    """The field of the agent's file that is to be mended is named."""
    with serving(play, YES) as server:
        line = dial(server)
        with pytest.raises(InfrastructureError) as caught:
            line.say()
    assert problem in caught.value.problem and caught.value.field == field
    assert len(server.requests) == 1 and caught.value.remedy


def test_a_refused_connection() -> None:
    """Nobody listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    brain = brain_on(f"http://127.0.0.1:{port}/v1", transport={"attempts": 2})
    with pytest.raises(InfrastructureError, match="no connection to the endpoint") as caught:
        list(brain.start(1).reply(_heard(), None))  # type: ignore[arg-type]
    assert caught.value.field == "brain.transport.base_url_env"


def test_a_wrong_model_name(dial: Dial) -> None:
    """The server knows its models."""
    with (
        serving(YES, models=("another",)) as server,
        pytest.raises(InfrastructureError, match="has no model") as caught,
    ):
        dial(server).say()
    assert "inquesto-dag agents check" in caught.value.remedy


def test_calls_that_were_made_are_not_made_again(dial: Dial) -> None:
    """A second completion that fails is asked for again with the results that stand."""
    with serving(calls(LOOKUP), status(500), _sends(BEGINS, Wire.drop), YES) as server:
        line = dial(server)
        assert line.say() == ["Yes."]
    assert line.called == [("lookup_account", True)]
    assert server.requests[1].body == server.requests[3].body


def test_a_call_that_breaks_off_is_not_executed(dial: Dial) -> None:
    """Half of its arguments came."""

    def half(wire: Wire) -> None:
        wire.delta(
            tool_calls=[{"index": 0, "id": "a", "function": {"name": "lookup_account", "arguments": '{"acc'}}]
        )
        wire.drop()

    with serving(stream(half), YES) as server:
        line = dial(server)
        assert line.say() == ["Yes."]
    assert line.called == []


def test_the_server_says_how_long_to_wait(dial: Dial) -> None:
    """Retry-After as a number; one that is too long is not waited for."""
    with serving(status(429, Retry_After="7"), status(503, Retry_After="2.5"), YES) as server:
        line = dial(server)
        assert line.say() == ["Yes."]
    assert line.waits == [7.0, 2.5]
    with (
        serving(status(429, Retry_After="3600")) as server,
        pytest.raises(InfrastructureError, match="rate limit"),
    ):
        dial(server).say()
    assert len(server.requests) == 1


def test_waits_grow_to_their_limit(dial: Dial) -> None:
    """Doubled from attempt to attempt."""
    with serving(status(500)) as server, pytest.raises(InfrastructureError, match="6 attempts"):
        line = dial(server, transport={"attempts": 6, "first_wait_s": 1.0, "longest_wait_s": 5.0})
        line.say()
    assert line.waits == [1.0, 2.0, 4.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("12", 12.0), ("-3", 0.0), (formatdate(1_000_030, usegmt=True), 30.0), ("soon", None), (None, None)],
)
def test_retry_after_is_a_number_or_a_date(value: str | None, seconds: float | None) -> None:
    """RFC 9110, 10.2.3."""
    assert retry_after({} if value is None else {"retry-after": value}, 1_000_000.0) == seconds


def test_time_that_infrastructure_cost_is_not_the_agents(dial: Dial) -> None:
    """A failed attempt of 0.4 s and its wait leave no trace in the times of the turn."""
    with serving(stream(Wire.hang), YES) as server:
        line = dial(server, transport=FAST)
        began = time.perf_counter()
        assert line.say() == ["Yes."]
        took = time.perf_counter() - began
    turn = line.turns[0]
    assert took > 0.4 and turn["lost_s"] > 0.39 and line.session.lost_s == turn["lost_s"]
    assert 0 < turn["first_token_s"] <= turn["first_sentence_s"] < took - turn["lost_s"] + 0.01


def test_the_key_is_in_one_header_and_nowhere_else(
    dial: Dial, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in messages (though the server repeats it), tracebacks, logs, reprs, reports or what goes to a
    worker.
    """
    caplog.set_level(0)
    with serving(YES, key="another") as server:
        line = dial(server)
        with pytest.raises(InfrastructureError, match=r"Incorrect API key: \[key\]") as caught:
            line.say()
    [request] = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}" and KEY not in json.dumps(request.body)
    error = caught.value
    brain = line.session._brain
    seen = [
        "".join(traceback.format_exception(error)),
        str(pickle.dumps(error)),
        repr(brain.endpoint),
        repr(vars(brain)),
        json.dumps(brain.identity),
        json.dumps(line.session.report()),
        caplog.text,
        *capfd.readouterr(),
    ]
    assert caplog.text  # the libraries did log
    assert [text for text in seen if KEY in text] == []
