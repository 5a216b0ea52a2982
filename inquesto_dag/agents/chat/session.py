"""The dialogue with a model: what was heard goes in, sentences come out while they are written, tools are
called.

A turn is one or more completions: each says something, asks for tool calls, or both. Calls are executed in
their order and their results go into the next completion, until one asks for none; `faults` says whose
failure is whose. This brain never hangs up: the program has no tool for it, and callers end their calls."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from inquesto_dag.agents.brain import Heard
from inquesto_dag.agents.chat.asking import Answer, Asker, Stopwatch
from inquesto_dag.agents.chat.endpoint import ChatSource
from inquesto_dag.agents.chat.history import CHARACTERS_A_TOKEN, History, Message
from inquesto_dag.agents.chat.prompt import NO_MORE_CALLS, UNREADABLE, system_prompt
from inquesto_dag.agents.chat.settings import ChatSettings
from inquesto_dag.agents.chat.tolerant_json import Unreadable, read_object
from inquesto_dag.agents.chat.toolcalls import CallParser, Malformed
from inquesto_dag.agents.program import Program
from inquesto_dag.agents.tools import ToolBox, ToolResult, tool_specs
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.provenance.versions import function_version
from inquesto_dag.units import Seconds

EMPTY_ATTEMPTS = 2  # completions in a row that hold neither words nor calls, before the agent stays silent
SEEDS = 2**31  # some endpoints take 32 bits
NAMELESS = "unreadable"  # the tool's name in the trace, for a call that does not tell it


@dataclass
class _Turn:
    """What the trace keeps of one turn, beside its times."""

    watch: Stopwatch = field(default_factory=Stopwatch)
    prompt_tokens: list[int | None] = field(default_factory=list)  # of each completion, as the server counted
    completion_tokens: list[int | None] = field(default_factory=list)
    finishes: list[str | None] = field(default_factory=list)
    left_out: int = 0  # earlier turns that no longer fitted
    empty: int = 0  # completions
    thought: int = 0  # characters
    unsaid: list[str] = field(default_factory=list)  # words that were written after a call
    refused_calls: int = 0  # over the program's cap, not executed


@dataclass(frozen=True)
class _Call:
    """A call to execute, or why it cannot be: then `written` is how it was written."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str | None = None
    written: str = ""


def identity_of(
    settings: ChatSettings, program: Program, greeting: str | None, kind: str = "openai"
) -> dict[str, Any]:
    """All that decides a model's answers (PROTOCOL D17): settings, this code's version, what it is told."""
    told = {"prompt": system_prompt(program, greeting, _specs_in_text(settings)), "tools": tool_specs()}
    return {
        "kind": kind,
        "settings": settings.model_dump(mode="json"),
        "version": function_version("chat"),
        "told_sha256": sha256_bytes(canonical_json(told)),
    }


def _specs_in_text(settings: ChatSettings) -> list[dict[str, Any]] | None:
    return tool_specs() if settings.tool_format == "text" else None


class ChatBrain:
    """A model behind an endpoint or in this process.

    `measured`: whether the trace keeps wall-clock times; `sleep(s)` waits between attempts.
    """

    def __init__(
        self,
        settings: ChatSettings,
        endpoint: ChatSource,
        program: Program,
        greeting: str | None = None,
        *,
        measured: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings, self.endpoint, self.program, self.greeting = settings, endpoint, program, greeting
        self.measured, self.sleep = measured, sleep

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers; where the endpoint is does not."""
        return identity_of(self.settings, self.program, self.greeting)

    def start(self, seed: int) -> ChatSession:
        """A fresh call; its seed is sent with every request, if the settings say so."""
        return ChatSession(self, seed)


class ChatSession:
    """One call of a model; see the module's docstring."""

    def __init__(self, brain: ChatBrain, seed: int) -> None:
        self.ended = False
        self._brain, self._settings, self._seed = brain, brain.settings, seed % SEEDS
        self._parser = CallParser(tool_specs())
        self._asker = Asker(brain.endpoint, brain.settings, self._parser, brain.sleep)
        self._history = History(system_prompt(brain.program, brain.greeting, _specs_in_text(brain.settings)))
        functions = [{"type": "function", "function": spec} for spec in tool_specs()]
        self._tools = functions if brain.settings.tool_format == "native" else None
        self._tools_tokens = int(len(json.dumps(self._tools)) / CHARACTERS_A_TOKEN) if self._tools else 0
        self._turns: list[_Turn] = []
        self._served: dict[str, str] = {}
        self._ids: set[str] = set()

    def greet(self) -> Iterator[str]:
        """The agent's greeting, if its file has one; no model is asked."""
        if self._brain.greeting:
            yield self._brain.greeting

    def reply(self, heard: Heard, tools: ToolBox) -> Iterator[str]:
        """Sentences in answer to an utterance, each as soon as it is whole; InfrastructureError (see
        `faults`).
        """
        turn = _Turn()
        self._turns.append(turn)
        self._history.hear(heard.text)
        left = self._settings.max_tool_calls
        while True:
            answer = yield from self._complete(turn, may_call=left > 0)
            calls = self._calls_of(answer)
            if not calls or left <= 0:
                turn.refused_calls += len(calls)
                if answer.said:
                    self._history.add({"role": "assistant", "content": " ".join(answer.said)})
                return
            results = [self._execute(call, tools) for call in calls[:left]]
            turn.refused_calls += len(calls) - len(results)
            left -= len(results)
            self._history.add(*self._told(answer.said, calls, results, last=left <= 0))

    @property
    def lost_s(self) -> Seconds:
        """Wall time in s of the turn under way that failed attempts took: not the agent's (PROTOCOL D14)."""
        return self._turns[-1].watch.lost_s if self._turns else 0.0

    def report(self) -> dict[str, Any]:
        """For the trace: the model that was asked for, the one that answered, and what each turn took."""
        return {
            "model": self._settings.model,
            "served": self._served,
            "turns": [self._reported(t) for t in self._turns],
        }

    # --- completions ---------------------------------------------------------------------------------------

    def _complete(self, turn: _Turn, may_call: bool) -> Generator[str, None, Answer]:
        """One completion that holds something, or the last empty one."""
        room = self._settings.context_tokens - self._settings.max_tokens - self._tools_tokens
        while True:
            messages, turn.left_out = self._history.fit(room)
            answer = yield from self._asker.ask(self._body(messages, may_call), turn.watch)
            self._note(turn, answer, messages)
            turn.empty += answer.empty
            if not answer.empty or turn.empty >= EMPTY_ATTEMPTS:
                return answer

    def _body(self, messages: list[Message], may_call: bool) -> dict[str, Any]:
        settings = self._settings
        body: dict[str, Any] = {
            **settings.extra,
            "model": settings.model,
            "messages": messages,
            "stream": True,
            settings.max_tokens_name: settings.max_tokens,
        }
        if self._brain.endpoint.transport.ask_usage:
            body["stream_options"] = {"include_usage": True}
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.top_p is not None:
            body["top_p"] = settings.top_p
        if settings.seed:
            body["seed"] = self._seed
        if self._tools:
            body["tools"] = self._tools
            if not may_call:
                body["tool_choice"] = "none"
        return body

    def _note(self, turn: _Turn, answer: Answer, messages: list[Message]) -> None:
        completion = answer.completion
        turn.prompt_tokens.append(completion.prompt_tokens)
        turn.completion_tokens.append(completion.completion_tokens)
        turn.finishes.append(completion.finish)
        turn.thought += answer.reader.thought
        if answer.reader.unsaid:
            turn.unsaid.append(answer.reader.unsaid)
        if completion.model:
            self._served["model"] = completion.model
        if completion.system_fingerprint:
            self._served["system_fingerprint"] = completion.system_fingerprint
        if completion.prompt_tokens:
            self._history.counted(messages, self._tools_tokens, completion.prompt_tokens)

    # --- calls ---------------------------------------------------------------------------------------------

    def _calls_of(self, answer: Answer) -> list[_Call]:
        """The calls of a completion: those of the protocol's own field, else those of its text."""
        if not answer.completion.calls:
            return [self._written_call(call) for call in answer.reader.calls]
        calls = []
        for native in answer.completion.calls:
            name = self._parser.known(native.name) or native.name
            try:
                text = native.arguments.strip()
                arguments, problem = (read_object(text)[0] if text not in ("", "null") else {}), None
            except Unreadable as unreadable:
                arguments, problem = {}, UNREADABLE.format(problem=unreadable)
            calls.append(
                _Call(self._fresh_id(native.id), name or NAMELESS, arguments, problem, native.arguments)
            )
        return calls

    def _written_call(self, call: Any) -> _Call:
        if isinstance(call, Malformed):
            problem = UNREADABLE.format(problem=call.problem)
            return _Call(self._fresh_id(""), call.name or NAMELESS, {}, problem, call.text)
        return _Call(self._fresh_id(""), call.name, call.arguments)

    def _fresh_id(self, wanted: str) -> str:
        """The endpoint's own id if it is another one; else nine letters and digits, as Mistral demands."""
        call_id = wanted if wanted and wanted not in self._ids else f"call{len(self._ids):05d}"
        self._ids.add(call_id)
        return call_id

    def _execute(self, call: _Call, tools: ToolBox) -> ToolResult:
        if call.problem is not None:
            return tools.refuse(call.name, call.written, call.problem)
        return tools.call(call.name, call.arguments)

    def _told(
        self, said: tuple[str, ...], calls: list[_Call], results: list[ToolResult], last: bool
    ) -> list[Message]:
        """The model's calls and their results as messages; those over the cap have a refusal for a result."""
        words = " ".join(said)
        contents = [_as_json(result.content) for result in results]
        contents += [json.dumps({"error": NO_MORE_CALLS})] * (len(calls) - len(results))
        if self._tools is None:
            written = [
                f"<tool_call>\n{_as_json({'name': c.name, 'arguments': c.arguments})}\n</tool_call>"
                if c.problem is None
                else c.written
                for c in calls
            ]
            answers = [f"<tool_response>\n{content}\n</tool_response>" for content in contents]
            return [
                {"role": "assistant", "content": "\n".join([words, *written] if words else written)},
                {"role": "user", "content": "\n".join([*answers, NO_MORE_CALLS] if last else answers)},
            ]
        functions = [
            {
                "id": call.id,
                "type": "function",
                # Endpoints read this text as JSON, so a call that is none is shown without arguments.
                "function": {"name": call.name, "arguments": _as_json(call.arguments)},
            }
            for call in calls
        ]
        return [
            {"role": "assistant", "content": words or None, "tool_calls": functions},
            *(
                {"role": "tool", "tool_call_id": call.id, "content": content}
                for call, content in zip(calls, contents, strict=True)
            ),
        ]

    def _reported(self, turn: _Turn) -> dict[str, Any]:
        watch = turn.watch
        times = {
            "first_token_s": watch.first_token_s,
            "first_sentence_s": watch.first_sentence_s,
            "lost_s": watch.lost_s,
        }
        return {
            **(times if self._brain.measured else {}),  # a declared call leaves the same trace on every run
            "prompt_tokens": turn.prompt_tokens,
            "completion_tokens": turn.completion_tokens,
            "finishes": turn.finishes,
            "turns_left_out": turn.left_out,
            "empty": turn.empty,
            "thought_characters": turn.thought,
            "unsaid": turn.unsaid,
            "refused_calls": turn.refused_calls,
            "faults": watch.faults,
        }


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
