"""Tool calls in a model's text: every form that models use, and what is no call."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inquesto_dag.agents.chat.tolerant_json import Unreadable, read_arguments, read_object
from inquesto_dag.agents.chat.toolcalls import CallParser, Malformed, TextCall
from inquesto_dag.agents.tools import tool_specs

PARSER = CallParser(tool_specs())
LOOKUP = TextCall("lookup_account", {"account_number": "4471"})
VERIFY = TextCall("verify_voice", {"account_number": "4471"})
REFUND = TextCall("issue_refund", {"account_number": "4471", "charge_id": "CH-102", "amount_usd": 49})
LOOKUP_JSON = '{"name": "lookup_account", "arguments": {"account_number": "4471"}}'
VERIFY_JSON = '{"name": "verify_voice", "arguments": {"account_number": "4471"}}'

FORMS: list[tuple[str, str, list[TextCall]]] = [
    ("hermes", f"<tool_call>\n{LOOKUP_JSON}\n</tool_call>", [LOOKUP]),
    ("hermes, never closed", f"<tool_call>\n{LOOKUP_JSON}", [LOOKUP]),
    ("hermes, on one line", f"<tool_call>{LOOKUP_JSON}</tool_call>", [LOOKUP]),
    (
        "hermes, two",
        f"<tool_call>{LOOKUP_JSON}</tool_call>\n<tool_call>{VERIFY_JSON}</tool_call>",
        [LOOKUP, VERIFY],
    ),
    ("hermes, two in one tag", f"<tool_call>\n{LOOKUP_JSON}\n{VERIFY_JSON}\n</tool_call>", [LOOKUP, VERIFY]),
    ("hermes, nested tags", f"<tool_calls><tool_call>{LOOKUP_JSON}</tool_call></tool_calls>", [LOOKUP]),
    ("hermes, a list", f"<tool_call>[{LOOKUP_JSON}, {VERIFY_JSON}]</tool_call>", [LOOKUP, VERIFY]),
    ("hermes, doubled braces", f"<tool_call>{{{LOOKUP_JSON}}}</tool_call>", [LOOKUP]),
    (
        "llama, python tag",
        '<|python_tag|>{"name": "lookup_account", "parameters": {"account_number": "4471"}}<|eom_id|>',
        [LOOKUP],
    ),
    (
        "llama, python tag and a Python call",
        '<|python_tag|>lookup_account.call(account_number="4471")'.replace(".call", ""),
        [LOOKUP],
    ),
    (
        "llama, bare",
        '{"name": "lookup_account", "parameters": {"account_number": "4471"}}',
        [LOOKUP],
    ),
    (
        "llama, bare with a type",
        '{"type": "function", "name": "lookup_account", "parameters": {"account_number": "4471"}}',
        [LOOKUP],
    ),
    (
        "llama, two with a semicolon",
        '{"name": "lookup_account", "parameters": {"account_number": "4471"}}; '
        '{"name": "verify_voice", "parameters": {"account_number": "4471"}}',
        [LOOKUP, VERIFY],
    ),
    (
        "llama, an element of the tool",
        '<function=lookup_account>{"account_number": "4471"}</function>',
        [LOOKUP],
    ),
    ("llama, the element left open", '<function=lookup_account>{"account_number": "4471"}', [LOOKUP]),
    (
        "llama 4, a list of Python calls",
        '[lookup_account(account_number="4471"), verify_voice(account_number="4471")]',
        [LOOKUP, VERIFY],
    ),
    ("mistral", f"[TOOL_CALLS] [{LOOKUP_JSON}]", [LOOKUP]),
    ("mistral, two", f"[TOOL_CALLS][{LOOKUP_JSON}, {VERIFY_JSON}]", [LOOKUP, VERIFY]),
    ("mistral, newer", '[TOOL_CALLS]lookup_account[ARGS]{"account_number": "4471"}', [LOOKUP]),
    ("mistral, newer without a mark", '[TOOL_CALLS]lookup_account{"account_number": "4471"}', [LOOKUP]),
    ("fence", f"```json\n{LOOKUP_JSON}\n```", [LOOKUP]),
    ("fence without a language", f"```\n{LOOKUP_JSON}\n```", [LOOKUP]),
    ("fence, never closed", f"```json\n{LOOKUP_JSON}", [LOOKUP]),
    ("fence, a list", f"```json\n[\n  {LOOKUP_JSON},\n  {VERIFY_JSON}\n]\n```", [LOOKUP, VERIFY]),
    (
        "gemma",
        '```tool_code\nprint(default_api.lookup_account(account_number="4471"))\n```',
        [LOOKUP],
    ),
    (
        "qwen coder",
        "<tool_call>\n<function=issue_refund>\n<parameter=account_number>\n4471\n</parameter>\n"
        "<parameter=charge_id>\nCH-102\n</parameter>\n<parameter=amount_usd>\n49\n</parameter>\n"
        "</function>\n</tool_call>",
        [REFUND],
    ),
    (
        "invoke elements",
        '<function_calls>\n<invoke name="lookup_account">\n<parameter name="account_number">4471'
        "</parameter>\n</invoke>\n</function_calls>",
        [LOOKUP],
    ),
    (
        "deepseek",
        "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function"
        '<\uff5ctool\u2581sep\uff5c>lookup_account\n```json\n{"account_number": "4471"}\n```'
        "<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>",
        [LOOKUP],
    ),
    (
        "liquid",
        '<|tool_call_start|>[lookup_account(account_number="4471")]<|tool_call_end|>Looking it up.',
        [LOOKUP],
    ),
    ("granite", f"<|tool_call|>[{LOOKUP_JSON}]", [LOOKUP]),
    ("phi", f"functools[{LOOKUP_JSON}]", [LOOKUP]),
    ("react", 'Action: lookup_account\nAction Input: {"account_number": "4471"}', [LOOKUP]),
    ("name and object", 'lookup_account {"account_number": "4471"}', [LOOKUP]),
    ("name, colon and object", 'lookup_account: {"account_number": "4471"}', [LOOKUP]),
    ("name and wrapped arguments", 'lookup_account {"arguments": {"account_number": "4471"}}', [LOOKUP]),
    ("python", 'lookup_account(account_number="4471")', [LOOKUP]),
    ("python, positional", 'issue_refund("4471", "CH-102", 49)', [REFUND]),
    ("python, an object", 'lookup_account({"account_number": "4471"})', [LOOKUP]),
    (
        "python, over lines",
        'issue_refund(\n  account_number="4471",\n  charge_id="CH-102",\n  amount_usd=49,\n)',
        [REFUND],
    ),
    ("python, colons", 'lookup_account(account_number: "4471")', [LOOKUP]),
    (
        "python, a bracket in a string",
        'update_email(account_number="4471", email="a)b")',
        [TextCall("update_email", {"account_number": "4471", "email": "a)b"})],
    ),
    ("tool as the key", '{"lookup_account": {"account_number": "4471"}}', [LOOKUP]),
    ("flat arguments", '{"name": "lookup_account", "account_number": "4471"}', [LOOKUP]),
    ("flat arguments, tool", '{"tool": "lookup_account", "account_number": "4471"}', [LOOKUP]),
    (
        "action and input",
        '{"action": "lookup_account", "action_input": {"account_number": "4471"}}',
        [LOOKUP],
    ),
    (
        "openai's own shape",
        f'{{"tool_calls": [{{"type": "function", "function": {LOOKUP_JSON}}}]}}',
        [LOOKUP],
    ),
    (
        "arguments as a string",
        '{"name": "lookup_account", "arguments": "{\\"account_number\\": \\"4471\\"}"}',
        [LOOKUP],
    ),
    (
        "parallel use",
        '{"tool_uses": [{"recipient_name": "functions.lookup_account", '
        '"parameters": {"account_number": "4471"}}]}',
        [LOOKUP],
    ),
    ("name with hyphens", LOOKUP_JSON.replace("lookup_account", "Lookup-Account"), [LOOKUP]),
    # half broken
    ("a brace short", LOOKUP_JSON[:-1], [LOOKUP]),
    ("two braces short", LOOKUP_JSON[:-2], [LOOKUP]),
    ("a brace too many", LOOKUP_JSON + "}", [LOOKUP]),
    ("single quotes", LOOKUP_JSON.replace('"', "'"), [LOOKUP]),
    ("typographic quotes", "{“name”: “lookup_account”, “arguments”: {“account_number”: “4471”}}", [LOOKUP]),
    ("keys without quotes", '{name: "lookup_account", arguments: {account_number: "4471"}}', [LOOKUP]),
    ("trailing commas", '{"name": "lookup_account", "arguments": {"account_number": "4471",},}', [LOOKUP]),
    ("no comma", '{"name": "lookup_account" "arguments": {"account_number": "4471"}}', [LOOKUP]),
    (
        "a comment",
        '{"name": "lookup_account", // the tool\n "arguments": {"account_number": "4471"}}',
        [LOOKUP],
    ),
    ("no arguments", '{"name": "lookup_account"}', [TextCall("lookup_account", {})]),
    ("null arguments", '{"name": "lookup_account", "arguments": null}', [TextCall("lookup_account", {})]),
    (
        "unknown tool",
        '{"name": "transfer_call", "arguments": {"to": "agent"}}',
        [TextCall("transfer_call", {"to": "agent"})],
    ),
]


@pytest.mark.parametrize(("text", "calls"), [f[1:] for f in FORMS], ids=[f[0] for f in FORMS])
def test_every_form_of_a_call_is_read(text: str, calls: list[TextCall]) -> None:
    """The same calls from every form, and the place where one begins is seen at its first character."""
    found = PARSER.parse(text)
    assert found.calls == calls
    assert PARSER.opens(text) == 0


@pytest.mark.parametrize(("text", "calls"), [f[1:] for f in FORMS], ids=[f[0] for f in FORMS])
def test_words_before_a_call_are_told_apart(text: str, calls: list[TextCall]) -> None:
    """Words, then a call on its own line."""
    whole = f"Let me look that up.\n{text}"
    assert PARSER.opens(whole) == len("Let me look that up.\n")
    found = PARSER.parse(whole)
    assert found.calls == calls
    assert found.rest.startswith("Let me look that up.")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>{"name": "lookup_account", "arguments": {"account_number": "44', "lookup_account"),
        ('{"name": "issue_refund", "arguments": {"account_number": "4471", "amount_usd": 4', "issue_refund"),
        ('issue_refund(account_number="4471", charge_id="CH-102", amount_usd=4', "issue_refund"),
        ("lookup_account(account_number=the_number)", "lookup_account"),
        ("lookup_account(4471, 2, 3)", "lookup_account"),
        ("<tool_call>lookup_account</tool_call>", None),
        ("<tool_call>\nI will look it up\n</tool_call>", None),
        ("<tool_call>\nI will look it up", None),
        ('{"name": "lookup_account", "arguments": "4471"}', "lookup_account"),
        ('{"name": "lookup_account", "arguments": ["4471"]}', "lookup_account"),
        ('{"name" "lookup_account" {"account_number" "4471"}}', "lookup_account"),
        ('{"query": "lookup_account"}', "lookup_account"),
        ("<function=issue_refund><parameter=amount_usd>49</function>", "issue_refund"),
        (
            '{"name": "lookup_account", "parameters": {"type": "object", "properties": {"number": {}}}}',
            "lookup_account",
        ),
    ],
)
def test_a_call_that_was_begun_and_cannot_be_read_is_malformed(text: str, name: str | None) -> None:
    """Never a call with half an argument, and never text."""
    found = PARSER.parse(text)
    assert [type(call) for call in found.calls] == [Malformed]
    assert found.calls[0].name == name
    assert PARSER.opens(text) == 0


@pytest.mark.parametrize(
    "text",
    [
        "Your plan is Pro at $49 a month.",
        "I looked up your account (number 4471).",
        "The set {a, b} has two members.",
        "Press [1] for billing.",
        "Write to m.ruiz@example.com: it is open.",
        "I can look up an account, or verify a voice.",
    ],
)
def test_plain_words_are_no_call(text: str) -> None:
    """They come back as they were."""
    found = PARSER.parse(text)
    assert (found.calls, found.rest) == ([], text)


def test_words_after_a_call_are_kept_apart() -> None:
    """They were written before the result was known."""
    found = PARSER.parse(f"<tool_call>{LOOKUP_JSON}</tool_call>\nYour account is verified.")
    assert (found.calls, found.rest) == ([LOOKUP], "Your account is verified.")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4))
def test_valid_json_is_read_as_json(value: dict[str, Any]) -> None:
    """Tolerance changes nothing where none is needed."""
    import json

    text = json.dumps(value)
    assert read_object(f"x{text} tail", 1) == (value, len(text) + 1)


@settings(deadline=None)
@given(st.text(alphabet="{}[]\"',:=ab1 \\\n", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No other error, and no endless loop."""
    with suppress(Unreadable):
        read_object("{" + text, 0)
    PARSER.parse(text)
    PARSER.parse(f"lookup_account({text}")
    PARSER.parse(f'<tool_call>{{"name": "lookup_account"{text}')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 'it is', b=2, c: True, d: None}", {"a": "it is", "b": 2, "c": True, "d": None}),
        ('{"a": 0447, "b": -1.5, "c": 1e2}', {"a": "0447", "b": -1.5, "c": 100.0}),
        ('{"a": "x\\n\\u0041\\q"}', {"a": "x\nAq"}),
        ('{"a": [1, [2], {"b": 3}', {"a": [1, [2], {"b": 3}]}),
    ],
)
def test_what_models_write_instead_of_json(text: str, value: dict[str, Any]) -> None:
    """Values keep their types; a number with a leading zero is digits."""
    assert read_object(text)[0] == value


@pytest.mark.parametrize(
    "text", ['{"a": "44', '{"a": 44', '{"a": tru', '{"a"', '{"a" "b"}', "{" * 50, '{"a": b}']
)
def test_what_breaks_off_is_refused(text: str) -> None:
    """Half a value is no value."""
    with pytest.raises(Unreadable):
        read_object(text)


def test_arguments_alone() -> None:
    """As they stand between a call's brackets."""
    assert read_arguments('account_number="4471", amount_usd=49') == {
        "account_number": "4471",
        "amount_usd": 49,
    }
    with pytest.raises(Unreadable, match="text after"):
        read_arguments('a="1"} and {')
