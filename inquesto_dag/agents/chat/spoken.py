"""Streamed text of a model, told apart as it comes: sentences to say, thought to drop, calls to make.

What may become a tool call is held back until the completion is over, so none of it is ever spoken; a
sentence before it is not held back. What a model writes after its first call in one completion was written
before the call's result was known: it is not said. Thought (`<think>...</think>`) is dropped, also when it
never ends; a model whose chat template opens the thought itself is read with `thinking` from the start. At a
special token that ends a turn, the text is over: small models go on with the other side's part."""

from __future__ import annotations

import re

from inquesto_dag.agents.chat.sentences import split_sentences
from inquesto_dag.agents.chat.toolcalls import CallParser, Malformed, TextCall

_THOUGHT = r"think|thinking|thought|thoughts|reasoning|reflection"
_THOUGHT_OPENS = re.compile(rf"<({_THOUGHT})>", re.IGNORECASE)
_THOUGHT_CLOSES = re.compile(rf"</({_THOUGHT})>", re.IGNORECASE)
_TURN_ENDS = re.compile(
    r"<\|(?:im_end|eot_id|end|end_of_text|endoftext|end_of_turn|return)\|>|</s>|<end_of_turn>|<eos>"
    r"|<\|(?:im_start|start_header_id)\|>|<start_of_turn>|</?tool_(?:response|result|output)s?>"
)
_LONGEST_TAG = 32  # characters of a tag that may still be incomplete


class SpokenReader:
    """Reads one completion: `feed` what came, say what it returns, then `finish`."""

    def __init__(self, parser: CallParser, thinking: bool = False) -> None:
        self.calls: list[TextCall | Malformed] = []
        self.thought = 0  # characters of thought
        self.unsaid = ""  # words after a call, which are not spoken
        self._parser, self._thinking = parser, thinking
        self._buffer = ""
        self._held = ""  # from where a call may have begun
        self._over = False

    def feed(self, text: str) -> list[str]:
        """The sentences that are whole with this piece of text."""
        if self._over:
            return []
        if self._held:
            self._held += text
            return []
        self._buffer += text
        said: list[str] = []
        while self._step(said):
            pass
        return said

    def finish(self) -> list[str]:
        """The completion is over: the sentences that were left. `calls` are then what the text asked for."""
        if self._thinking:
            self.thought += len(self._buffer)
            return []
        left, self._buffer = self._buffer, ""
        held, self._held = self._held, ""
        if held:
            ends = _TURN_ENDS.search(held)
            held = _without_thought(held[: ends.start()] if ends else held)
            found = self._parser.parse(held)
            self.calls = found.calls
            if found.calls:
                self.unsaid = found.rest
            else:  # braces in prose, a fence around words: it was no call
                left = f"{left}{held.replace('```', ' ')}"
        return split_sentences(left, final=True)[0]

    def _step(self, said: list[str]) -> bool:
        """Take the next thing off the buffer; true when there may be more in it."""
        if self._thinking:
            closes = _THOUGHT_CLOSES.search(self._buffer)
            if closes is None:
                self._drop(max(0, len(self._buffer) - _LONGEST_TAG))
                return False
            self._drop(closes.end())
            self._thinking = False
            return True
        marks = [m for m in (_THOUGHT_OPENS.search(self._buffer), _TURN_ENDS.search(self._buffer)) if m]
        mark = min(marks, key=lambda match: match.start(), default=None)
        opens = self._parser.opens(self._buffer)
        if opens is not None and (mark is None or opens < mark.start()):
            self._held, self._buffer = self._buffer[opens:], self._buffer[:opens]
            # A piece of a sentence waits: if this is no call, it goes on after the brace.
            self._release(said, final=self._buffer.rstrip()[-1:] in (".", "!", "?", ":"))
            return False
        if mark is None:
            self._release(said, final=False)
            return False
        after, self._buffer = self._buffer[mark.end() :], self._buffer[: mark.start()]
        if mark.re is _TURN_ENDS:
            self._release(said, final=True)
            self._over = True
            return False
        self._release(said, final=True)
        self._thinking, self._buffer = True, after
        return True

    def _release(self, said: list[str], final: bool) -> None:
        sentences, self._buffer = split_sentences(self._buffer, final)
        said += sentences

    def _drop(self, count: int) -> None:
        self.thought += count
        self._buffer = self._buffer[count:]


def _without_thought(text: str) -> str:
    return re.sub(rf"<({_THOUGHT})>.*?(?:</\1>|$)", " ", text, flags=re.DOTALL | re.IGNORECASE)
