"""One completion: asked for, read as it comes, and asked for again while nothing of it was spoken.

An attempt counts as begun to be spoken with its first whole sentence. Until then a failure that may pass is
tried again with growing waits, or after the time that the endpoint asks for; afterwards any failure ends the
call. A completion that only calls tools is tried again to its end, since its calls are executed when it is
whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from inquesto_dag.agents.chat.endpoint import ChatSource
from inquesto_dag.agents.chat.faults import Fault, dropped
from inquesto_dag.agents.chat.retrying import retrying
from inquesto_dag.agents.chat.settings import ChatSettings
from inquesto_dag.agents.chat.spoken import SpokenReader
from inquesto_dag.agents.chat.stream import Completion, read_chunks
from inquesto_dag.agents.chat.toolcalls import CallParser
from inquesto_dag.units import Seconds

CHARACTERS_A_GENERATED_TOKEN = 8  # more than any language needs: past it, the server ignores max_tokens


@dataclass
class Stopwatch:
    """The wall clock of one turn, failed attempts and their waits taken out (PROTOCOL D14); times in s."""

    began: float = field(default_factory=time.perf_counter)
    lost_s: Seconds = 0.0
    first_token_s: Seconds | None = None
    first_sentence_s: Seconds | None = None
    faults: list[str] = field(default_factory=list)  # that trying again got over

    def now(self) -> Seconds:
        """The agent's own time since the turn began."""
        return time.perf_counter() - self.began - self.lost_s


@dataclass(frozen=True)
class Answer:
    """A whole completion: what was said of it, and what it holds beside that."""

    completion: Completion
    reader: SpokenReader
    said: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Neither words nor calls."""
        return not (self.said or self.completion.calls or self.reader.calls)


_Items = Generator[str | Answer, None, None]


class Asker:
    """Asks an endpoint for completions; `sleep(s)` waits between attempts."""

    def __init__(
        self, endpoint: ChatSource, settings: ChatSettings, parser: CallParser, sleep: Callable[[float], None]
    ) -> None:
        self.endpoint, self.settings, self.parser, self.sleep = endpoint, settings, parser, sleep

    def ask(self, body: Mapping[str, Any], watch: Stopwatch) -> Generator[str, None, Answer]:
        """The sentences of a completion as they come, then the whole; InfrastructureError without one."""
        attempts: list[float] = []
        again = retrying(self.endpoint.transport, self.sleep, lambda fault: watch.faults.append(str(fault)))
        said: list[str] = []
        try:
            item, items = again(self._begin, body, watch, attempts)
            with closing(items):
                while isinstance(item, str):
                    if watch.first_sentence_s is None:
                        watch.first_sentence_s = watch.now()
                    said.append(item)
                    yield item
                    item = next(items)
        except Fault as fault:
            raise fault.error(self.endpoint.shown, len(attempts)) from None
        return Answer(item.completion, item.reader, tuple(said))

    def _begin(
        self, body: Mapping[str, Any], watch: Stopwatch, attempts: list[float]
    ) -> tuple[str | Answer, _Items]:
        """One attempt up to its first sentence or its end."""
        now = time.perf_counter()
        if attempts:
            watch.lost_s += now - attempts[-1]
        attempts.append(now)
        items = self._listen(body, watch)
        return next(items), items

    def _listen(self, body: Mapping[str, Any], watch: Stopwatch) -> _Items:
        completion = Completion()
        reader = SpokenReader(self.parser, self.settings.thinking_prefilled)
        most = self.settings.max_tokens * CHARACTERS_A_GENERATED_TOKEN
        first_token_s: Seconds | None = None
        with closing(self.endpoint.stream(body)) as pieces:
            for chunk in read_chunks(pieces):
                text = completion.take(chunk)
                if completion.size and first_token_s is None:
                    first_token_s = watch.now()
                for sentence in reader.feed(text):
                    watch.first_token_s = watch.first_token_s or first_token_s
                    yield sentence
                if completion.size > most:
                    completion.finish = "cut"
                    break
            if completion.finish is None:
                raise dropped("it gave no reason to finish")
            watch.first_token_s = watch.first_token_s or first_token_s
            yield from reader.finish()
            if completion.finish != "cut":
                _read_out(pieces)
        yield Answer(completion, reader, ())


def _read_out(pieces: Generator[bytes, None, None]) -> None:
    """Read to the end of the reply, so that its connection serves the next request."""
    try:
        for _ in pieces:
            pass
    except Fault:
        pass  # the completion is whole
