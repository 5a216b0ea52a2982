"""Tool calls that a model wrote into its text, in whatever form, told from what it wants to say.

Models without a server that knows their format write calls as Hermes and Qwen do (`<tool_call>{...}`), as
Llama does (`<|python_tag|>`, bare JSON with `parameters`, `<function=...>`), as Mistral (`[TOOL_CALLS]`),
DeepSeek, Gemma (fenced Python) or ReAct prompts do; small ones write something in between. One scan serves
all: brackets and tags around calls are skipped, and what is read is an object that names a tool, a tool's
name with an object after it, a Python call of a tool, or a tool's element with a parameter in each child. A
call that was begun and cannot be read is reported as malformed, so that the model is told; it is never text.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inquesto_dag.agents.chat.tolerant_json import Unreadable, read_arguments, read_object

_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "kwargs",
    "input",
    "action_input",
    "tool_input",
)
_LIST_KEYS = ("tool_calls", "tool_uses", "calls", "function_calls")
_ASIDE_KEYS = frozenset(["id", "type", "call_id", "index", "thought", "description"])
_PREFIXES = ("functions.", "default_api.", "tools.", "function.", "api.")
_TAGS = (
    r"</?(?:tool_calls?|tools?|function_calls?|functions?|tool_code)>"
    r"|<\|/?(?:python_tag|tool_calls?(?:_start|_end)?|eom_id)\|>"
    r"|<\uff5c[^\uff5c]*\uff5c>|\[/?TOOL_CALLS?\]|\bfunctools(?=\s*\[)|```(?:[a-z_]+\b)?"
)
_LETTERED = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class TextCall:
    """A call found in text; the name as the tool's own where it is recognisably that."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Malformed:
    """A call that was begun and cannot be read: the tool's name, when that much is clear, and why."""

    text: str
    problem: str
    name: str | None = None


@dataclass
class Found:
    """What a text holds: calls and malformed ones in the order written, and the words around them."""

    calls: list[TextCall | Malformed] = field(default_factory=list)
    rest: str = ""


class CallParser:
    """Finds calls of the tools of `specs` (name, and JSON Schema as `parameters`) in text."""

    def __init__(self, specs: Sequence[Mapping[str, Any]]) -> None:
        self.properties: dict[str, Mapping[str, Any]] = {
            spec["name"]: spec["parameters"].get("properties", {}) for spec in specs
        }
        names = "|".join(re.escape(name) for name in sorted(self.properties, key=len, reverse=True))
        name = rf"(?<![\w-])(?:{'|'.join(re.escape(p) for p in _PREFIXES)})?(?P<{{0}}>{names})"
        self._start = re.compile(
            rf"(?P<tag>{_TAGS})"
            r"|<(?:function=|invoke name=|tool=|function name=)[\"']?(?P<element>[\w.-]+)[\"']?\s*>"
            rf"|{name.format('python')}(?=\()"
            rf"|[\"'`*]*{name.format('named')}[\"'`*]*(?=(?:\s*(?:\[ARGS\]|```(?:json)?|Action Input:|"
            r"[Aa]rguments:|[Pp]arameters:|[Ii]nput:|:|=>|=))?\s*\{)"
            r"|(?P<object>\{)"
        )
        self._opens = re.compile(
            rf"{_TAGS}|<(?:function|invoke|tool)\b|\[\s*(?=[\[{{])|\{{"
            rf"|(?:\[\s*)?{name.format('a')}[\"'`*]*\s*(?:[(\[{{]|=>|:\s*\{{)"
            rf"|^[ \t>*\"'`\[-]*(?:(?:Action|Tool|Function|Call)\s*:\s*)?{name.format('b')}\b"
            r"|^[ \t]*Action\s*:",
            re.MULTILINE,
        )

    def opens(self, text: str) -> int | None:
        """Where text begins that is, or may become, a tool call; None when all of it can be spoken."""
        match = self._opens.search(text)
        return match.start() if match else None

    def parse(self, text: str) -> Found:
        """Every call of a text. Text without a call comes back whole as `rest`."""
        found = Found()
        around: list[str] = []
        tagged: int | None = None  # where a tag opened in which no call has been found yet
        at = 0
        while match := self._start.search(text, at):
            around.append(text[at : match.start()])
            if match["tag"]:
                kind = _kind_of_tag(match["tag"])
                if kind == "opens":
                    tagged = match.start()
                elif kind == "closes" and tagged is not None:
                    found.calls.append(_unreadable(text[tagged : match.end()]))
                    tagged = None
                at = match.end()
                continue
            calls, end = self._read(text, match)
            if calls:
                found.calls += calls
                tagged = None
            else:
                around.append(text[match.start() : end])
            at = max(end, match.end())
        around.append(text[at:])
        if tagged is not None and _LETTERED.search(text[tagged:]):
            found.calls.append(_unreadable(text[tagged:]))
            around = []
        found.rest = text if not found.calls else _words(around)
        return found

    # --- one call ----------------------------------------------------------------------------------------

    def _read(self, text: str, match: re.Match[str]) -> tuple[list[TextCall | Malformed], int]:
        """The calls that begin at a match, none when it is no call, and the index after them."""
        if match["element"]:
            return self._element(text, match)
        if match["python"]:
            return self._python(text, match)
        at = text.index("{", match.end() if match["named"] else match.start())
        try:
            value, end = read_object(text, at)
        except Unreadable as problem:
            end, _ = _balanced(text, at, "{}")
            name = match["named"] or self._mentioned(text[at:end])
            if name or re.search(r"[\"'](?:name|function|arguments|parameters)[\"']\s*[:=]", text[at:end]):
                return [Malformed(text[match.start() : end], str(problem), name)], end
            return [], at + 1
        if match["named"]:
            return [self._call(match["named"], _only_arguments(value))], end
        calls = list(self._calls_of(value))
        if not calls and (mentioned := self._mentioned(text[at:end])):
            return [Malformed(text[at:end], "it names a tool and is no call", mentioned)], end
        return calls, end

    def _calls_of(self, value: Mapping[str, Any]) -> Iterator[TextCall | Malformed]:
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list):
                for member in value[key]:
                    if isinstance(member, dict):
                        yield from self._calls_of(member)
                return
        inner = value.get("function")
        if isinstance(inner, dict):
            yield from self._calls_of(inner)
            return
        name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
        if name is None:
            known = [key for key in value if self.known(key)]
            if len(known) == 1 and isinstance(value[known[0]], dict):
                yield self._call(known[0], value[known[0]])
            return
        given = next((key for key in _ARGUMENT_KEYS if key in value), None)
        if given is not None:
            yield self._call(name, value[given])
        elif self.known(name):
            yield self._call(name, {k: v for k, v in value.items() if k not in (*_NAME_KEYS, *_ASIDE_KEYS)})

    def _call(self, name: str, arguments: object) -> TextCall | Malformed:
        known = self.known(name) or name
        if arguments is None or arguments == "" or arguments == []:
            arguments = {}
        if isinstance(arguments, str):
            written = arguments
            try:
                arguments = read_object(written, written.index("{"))[0]
            except ValueError:
                return Malformed(written, "the arguments are no object", known)
        if not isinstance(arguments, dict):
            return Malformed(json.dumps(arguments), "the arguments are no object", known)
        if isinstance(arguments.get("properties"), dict) and "type" in arguments:
            return Malformed(json.dumps(arguments), "this repeats the tool's description", known)
        return TextCall(known, arguments)

    def _python(self, text: str, match: re.Match[str]) -> tuple[list[TextCall | Malformed], int]:
        name = match["python"]
        end, closed = _balanced(text, match.end(), "()")
        inner = text[match.end() + 1 : end].removesuffix(")" if closed else "")
        try:
            if not closed and re.search(r"[\w.]\s*$", inner):
                raise Unreadable("the text ends in a value")
            return [TextCall(name, self._arguments(name, inner))], end
        except (ValueError, SyntaxError, Unreadable):
            return [Malformed(text[match.start() : end], "the arguments cannot be read", name)], end

    def _arguments(self, name: str, inner: str) -> dict[str, Any]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a model's backslashes are not the project's code
                call = ast.parse(f"f({inner})", mode="eval").body
            if not isinstance(call, ast.Call):
                raise ValueError("is no call")
            values = [ast.literal_eval(argument) for argument in call.args]
            if len(values) == 1 and isinstance(values[0], dict) and not call.keywords:
                return values[0]
            if len(values) > len(self.properties[name]):
                raise ValueError("more arguments than the tool has")
            given = dict(zip(self.properties[name], values, strict=False))
            for keyword in call.keywords:
                if keyword.arg is None:
                    raise ValueError("** is no argument")
                given[keyword.arg] = ast.literal_eval(keyword.value)
            return given
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return read_arguments(inner)

    def _element(self, text: str, match: re.Match[str]) -> tuple[list[TextCall | Malformed], int]:
        closing = re.compile(r"</(?:function|invoke|tool)>").search(text, match.end())
        body = text[match.end() : closing.start() if closing else len(text)]
        end = closing.end() if closing else len(text)
        name = self.known(match["element"]) or match["element"]
        children = re.findall(
            r"<parameter(?:=| name=)[\"']?([\w.-]+)[\"']?[^>]*>\s*(.*?)\s*</parameter>", body, re.DOTALL
        )
        if children:
            schema = self.properties.get(name, {})
            return [TextCall(name, {key: _typed(value, schema.get(key, {})) for key, value in children})], end
        if "<parameter" in body:
            return [Malformed(text[match.start() : end], "a parameter does not end", name)], end
        return [self._call(name, body.strip())], end

    def known(self, name: str) -> str | None:
        """The tool that a name means, None for no tool: prefixes, case and hyphens are forgiven."""
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        plain = re.sub(r"[\s-]+", "_", name.strip()).lower()
        return plain if plain in self.properties else None

    def _mentioned(self, text: str) -> str | None:
        return next((name for name in self.properties if name in text), None)


def _unreadable(text: str) -> Malformed:
    return Malformed(text, "there is no call in it")


def _only_arguments(value: dict[str, Any]) -> object:
    """`lookup_account {"arguments": {...}}` means the same as `lookup_account {...}`."""
    if len(value) == 1 and (key := next(iter(value))) in _ARGUMENT_KEYS:
        return value[key]
    return value


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    """Text of an element as the schema wants it; what does not fit stays text, and the tool refuses it."""
    if schema.get("type") == "integer" and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value


def _kind_of_tag(tag: str) -> str:
    """`opens` or `closes` a place where a call is due; `neither` for fences and separators."""
    if tag.startswith("```") or "sep" in tag:
        return "neither"
    return "closes" if re.match(r"</|\[/|<\|/", tag) or "end" in tag or "eom" in tag else "opens"


def _balanced(text: str, start: int, pair: str) -> tuple[int, bool]:
    """The index after the bracket that closes the one at `start`, and whether there is one."""
    depth, quote, at = 0, "", start
    while at < len(text):
        character = text[at]
        if quote:
            at += character == "\\"
            quote = "" if character == quote else quote
        elif character == '"' or (character == "'" and pair == "()"):
            quote = character
        elif character == pair[0]:
            depth += 1
        elif character == pair[1]:
            depth -= 1
            if depth == 0:
                return at + 1, True
        at += 1
    return len(text), False


def _words(around: Sequence[str]) -> str:
    """What was written around calls: pieces of brackets, commas and labels left out."""
    pieces = [
        re.sub(r"^\s*(?:Action(?: Input)?|Tool|Function|Call)\s*:\s*$", "", p, flags=re.M) for p in around
    ]
    return "\n".join(piece.strip() for piece in pieces if _LETTERED.search(piece))
