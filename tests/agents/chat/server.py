"""A server that speaks the OpenAI protocol and plays what it is told to, one play a request.

A play writes one reply on the wire, byte by byte if it must: completions in every form, and every failure.
The last play is repeated. `PerfectModel` is a play that never fails: the embedded policy behind the protocol.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
MODEL = "test-model"


@dataclass(frozen=True)
class Request:
    """What a client asked for; names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json


class Wire:
    """One reply under way."""

    def __init__(self, handler: BaseHTTPRequestHandler, stopping: threading.Event) -> None:
        self._handler, self.stopping, self._chunked = handler, stopping, False

    def head(self, status: int = 200, media: str | None = "text/event-stream", **headers: str) -> None:
        """Status and headers of a reply in chunks."""
        self._handler.send_response(status)
        if media is not None:
            self._handler.send_header("Content-Type", media)
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def raw(self, data: bytes | str) -> None:
        """Bytes of the body, at once."""
        data = data.encode() if isinstance(data, str) else data
        self._handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self._handler.wfile.flush()

    def event(self, value: Json) -> None:
        """One server-sent event."""
        self.raw(f"data: {json.dumps(value)}\n\n")

    def delta(self, finish: str | None = None, **delta: Any) -> None:
        """One chunk of a completion."""
        self.event({"model": MODEL, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def text(self, text: str, size: int = 5) -> None:
        """Text in pieces of this many characters."""
        for at in range(0, len(text), size):
            self.delta(content=text[at : at + size])

    def end(self, finish: str | None = "stop", usage: Json | None = None, done: bool = True) -> None:
        """The end of a whole completion."""
        if finish:
            self.delta(finish)
        if usage:
            self.event({"model": MODEL, "choices": [], "usage": usage})
        if done:
            self.raw("data: [DONE]\n\n")
        self.close()

    def close(self) -> None:
        """The end of the body, as the protocol wants it."""
        self._handler.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """The connection is gone."""
        self._handler.close_connection = True
        self._handler.wfile.flush()
        self._handler.connection.shutdown(socket.SHUT_RDWR)

    def hang(self) -> None:
        """Nothing more comes, until the server is stopped."""
        self.stopping.wait()
        self._handler.close_connection = True


Play = Callable[[Wire, Json], None]


def says(text: str, *, size: int = 5, finish: str = "stop", usage: Json | None = None) -> Play:
    """A completion of words, or of calls written as words."""

    def play(wire: Wire, body: Json) -> None:
        wire.head()
        wire.text(text, size)
        wire.end(finish, usage)

    return play


def calls(*wanted: tuple[str, object], text: str = "", size: int = 7) -> Play:
    """A completion with calls in the protocol's own field; arguments that are text are sent as they are."""

    def play(wire: Wire, body: Json) -> None:
        wire.head()
        wire.text(text)
        for index, (name, arguments) in enumerate(wanted):
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            head = {"index": index, "id": f"id-{len(body['messages'])}-{index}", "type": "function"}
            wire.delta(tool_calls=[{**head, "function": {"name": name, "arguments": ""}}])
            for at in range(0, len(written), size):
                wire.delta(tool_calls=[{"index": index, "function": {"arguments": written[at : at + size]}}])
        wire.end("tool_calls")

    return play


def status(code: int, body: str = "", media: str = "application/json", **headers: str) -> Play:
    """A refusal."""

    def play(wire: Wire, _: Json) -> None:
        wire.head(code, media, **headers)
        if body:
            wire.raw(body)
        wire.close()

    return play


def stream(*steps: Callable[[Wire], object]) -> Play:
    """A reply that begins well and then does these things."""

    def play(wire: Wire, _: Json) -> None:
        wire.head()
        for step in steps:
            step(wire)

    return play


def whole(body: str, media: str = "application/json") -> Play:
    """One document instead of a stream."""
    return status(200, body, media)


class ChatServer:
    """Serves on a free port of this machine; `requests` are those for completions, in order."""

    def __init__(self, plays: Sequence[Play], models: Sequence[str], key: str | None) -> None:
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._plays, self._lock = list(plays), threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # or each small piece waits 40 ms for the last one's receipt

            def do_GET(self) -> None:
                wire = Wire(self, outer.stopping)
                if key and self.headers.get("Authorization") != f"Bearer {key}":
                    status(401, json.dumps({"error": {"message": "wrong key"}}))(wire, {})
                elif self.path != "/v1/models":
                    status(404, "no such page", "text/plain")(wire, {})
                else:
                    whole(json.dumps({"data": [{"id": model} for model in models]}))(wire, {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                wire = Wire(self, outer.stopping)
                headers = {name.lower(): value for name, value in self.headers.items()}
                with outer._lock:
                    number = len(outer.requests)
                    outer.requests.append(Request(self.path, headers, body))
                if key and self.headers.get("Authorization") != f"Bearer {key}":
                    sent = self.headers.get("Authorization", "none").removeprefix("Bearer ")
                    status(401, json.dumps({"error": {"message": f"Incorrect API key: {sent}"}}))(wire, body)
                    return
                if models and body["model"] not in models:
                    message = f"The model `{body['model']}` does not exist"
                    status(404, json.dumps({"error": {"message": message}}))(wire, body)
                    return
                try:
                    outer._plays[min(number, len(outer._plays) - 1)](wire, body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True  # the client had enough

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The address up to `/v1`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(*plays: Play, models: Sequence[str] = (MODEL,), key: str | None = None) -> Iterator[ChatServer]:
    """A server for the block."""
    server = ChatServer(plays, models, key)
    server.start()
    try:
        yield server
    finally:
        server.stop()


# --- a model that makes no mistake --------------------------------------------------------------------------


class _Wanted(Exception):
    """The policy calls a tool whose result has not come yet."""


@dataclass
class _Replay:
    """Tools that give the results of a dialogue again, and stop at the first call without one."""

    results: list[Json]
    made: int = 0
    call_wanted: tuple[str, Json] | None = field(default=None)

    def call(self, name: str, arguments: Json) -> Any:
        from inquesto_dag.agents.tools import ToolResult

        if self.made == len(self.results):
            self.call_wanted = (name, arguments)
            raise _Wanted
        content = self.results[self.made]
        self.made += 1
        return ToolResult("error" not in content, content)


class PerfectModel:
    """The embedded policy as a model: it reads the messages of each request and goes on where they end.

    `write` puts a call into text, as a model does whose server knows no calls; None for the protocol's field.
    """

    def __init__(self, write: Callable[[str, Json], str] | None = None) -> None:
        self.write = write

    def __call__(self, wire: Wire, body: Json) -> None:
        words, call = self._go_on(body["messages"])
        if call is None:
            says(words)(wire, body)
        elif self.write is None:
            calls(call, text=words)(wire, body)
        else:
            says(f"{words}\n{self.write(*call)}" if words else self.write(*call))(wire, body)

    def _go_on(self, messages: Sequence[Json]) -> tuple[str, tuple[str, Json] | None]:
        from inquesto_dag.agents.brain import Heard
        from inquesto_dag.agents.program import BILLING
        from inquesto_dag.agents.scripted.policy import ScriptedBrain

        tools = _Replay(_results(messages))
        session = ScriptedBrain(None, BILLING).start(0)
        said: list[str] = []
        for message in messages:
            if message["role"] == "user" and not message["content"].startswith("<tool_response>"):
                said = []
                try:
                    # type: ignore[arg-type]
                    said.extend(session.reply(Heard(message["content"], 0.9), tools))
                except _Wanted:
                    break
        before = _words_of_turn(messages)
        words = " ".join(said)
        assert words.startswith(before), (before, words)
        return words[len(before) :].strip(), tools.call_wanted


def _results(messages: Sequence[Json]) -> list[Json]:
    found = []
    for message in messages:
        if message["role"] == "tool":
            found.append(json.loads(message["content"]))
        elif message["role"] == "user" and message["content"].startswith("<tool_response>"):
            pieces = message["content"].split("<tool_response>\n")[1:]
            found += [json.loads(piece.split("\n</tool_response>")[0]) for piece in pieces]
    return found


def _words_of_turn(messages: Sequence[Json]) -> str:
    """What the agent has said since the caller last spoke."""
    words: list[str] = []
    for message in messages:
        if message["role"] == "user" and not message["content"].startswith("<tool_response>"):
            words = []
        elif message["role"] == "assistant" and message["content"]:
            words.append(message["content"].split("<tool_call>")[0].strip())
    return " ".join(word for word in words if word)
