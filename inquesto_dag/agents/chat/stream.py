"""A streamed chat completion: server-sent events in, pieces of text and of tool calls out.

Servers differ in what they send for the same thing; what is accepted here was seen of Ollama, vLLM, llama.cpp
and gateways: calls whole or in pieces, with or without index and id, arguments as text or as an object, text
as a list of parts, one JSON document instead of a stream, no `[DONE]`. Thought in a field of its own is not
text."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from inquesto_dag.agents.chat.faults import dropped, not_the_protocol, of_error_object

LARGEST_EVENT = 4_000_000  # characters of one event or document


@dataclass
class NativeCall:
    """A tool call as the protocol's own field gave it; `arguments` is JSON text, or should be."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Completion:
    """What has come of a completion: its text so far, calls, why it ended, what the server says of itself."""

    text: str = ""
    calls: list[NativeCall] = field(default_factory=list)
    finish: str | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    size: int = 0  # characters of everything that was generated, thought included
    _at: dict[Any, NativeCall] = field(default_factory=dict, repr=False)

    def take(self, chunk: dict[str, Any]) -> str:
        """Take one chunk; returns its text. Raises Fault for an error object and for what is no chunk."""
        if chunk.get("error"):
            raise of_error_object(chunk["error"], self.model or "")
        self.model = chunk.get("model") or self.model
        self.system_fingerprint = chunk.get("system_fingerprint") or self.system_fingerprint
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens")) or self.prompt_tokens
            self.completion_tokens = _count(usage.get("completion_tokens")) or self.completion_tokens
        choices = chunk.get("choices")
        if choices is None and usage is None:
            raise not_the_protocol(f"a piece has no choices: {json.dumps(chunk)[:80]}")
        if not choices:
            return ""
        if not isinstance(choices, list) or not isinstance(choices[0], dict):
            raise not_the_protocol("its choices are no list of objects")
        self.finish = choices[0].get("finish_reason") or self.finish
        delta = choices[0].get("delta") or choices[0].get("message") or {}
        return self._take_delta(delta)

    def _take_delta(self, delta: dict[str, Any]) -> str:
        text = _text_of(delta.get("content")) or _text_of(delta.get("refusal"))
        self.text += text
        thought = _text_of(delta.get("reasoning_content")) or _text_of(delta.get("reasoning"))
        self.size += len(text) + len(thought)
        calls = delta.get("tool_calls") or []
        if isinstance(delta.get("function_call"), dict):
            calls = [*calls, {"index": 0, "function": delta["function_call"]}]
        for piece in calls:
            if isinstance(piece, dict):
                self._take_call(piece)
        return text

    def _take_call(self, piece: dict[str, Any]) -> None:
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        index, call_id, name = piece.get("index"), piece.get("id") or "", function.get("name") or ""
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        call = self._at.get(index)
        other_id = call is not None and call_id and call.id and call_id != call.id
        begins_again = call is not None and name and call.name and _is_whole(call.arguments)
        if call is None or other_id or begins_again:
            call = self._at[index] = NativeCall()
            self.calls.append(call)
        call.id = call.id or str(call_id)
        if name and name != call.name:
            call.name += str(name)
        call.arguments += arguments or ""
        self.size += len(arguments or "") + len(name)


def read_chunks(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The chunks of a reply that comes in pieces of bytes.

    Raises Fault for what is not JSON. A stream ends with `[DONE]` or with the connection: whether the
    completion was whole is told by its `finish`.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    buffer, data, first = "", [], True
    document = False
    for piece in pieces:
        buffer += decoder.decode(piece)
        if first and buffer.strip():
            document, first = buffer.lstrip()[0] == "{", False  # no stream begins with a brace
        if len(buffer) > LARGEST_EVENT:
            raise not_the_protocol("a piece of it has no end")
        if document:
            continue
        *lines, buffer = buffer.split("\n")
        for line in lines:
            line = line.rstrip("\r")
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                event, data = "\n".join(data), []
                if event.strip() == "[DONE]":
                    return
                yield _chunk(event)
            elif line.startswith("{"):  # an error object without its `data:`
                yield _chunk(line)
    if document:
        yield from (_chunk(line) for line in _documents(buffer))
    elif data or buffer.startswith("data:"):
        event = "\n".join([*data, buffer.removeprefix("data:").strip()]).strip()
        if event and event != "[DONE]":
            try:
                yield json.loads(event)
            except ValueError:
                raise dropped("within a piece") from None


def _documents(text: str) -> list[str]:
    """One JSON document, or one on each line."""
    try:
        json.loads(text)
        return [text]
    except ValueError:
        return [line for line in text.splitlines() if line.strip()]


def _chunk(event: str) -> dict[str, Any]:
    try:
        chunk = json.loads(event)
    except ValueError:
        raise not_the_protocol(f"a piece of it is no JSON: {event[:80]!r}") from None
    if not isinstance(chunk, dict):
        raise not_the_protocol(f"a piece of it is no object: {event[:80]!r}")
    return chunk


def _text_of(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type", "text") == "text"]
        return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _is_whole(arguments: str) -> bool:
    try:
        json.loads(arguments)
    except ValueError:
        return False
    return True
