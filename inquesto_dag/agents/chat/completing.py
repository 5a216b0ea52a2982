"""A whole completion at once, for whoever has no ear to fill meanwhile: the judge, the caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from inquesto_dag.agents.chat.endpoint import Endpoint
from inquesto_dag.agents.chat.faults import Fault, dropped
from inquesto_dag.agents.chat.retrying import retrying
from inquesto_dag.agents.chat.stream import Completion, read_chunks

CHARACTERS_A_GENERATED_TOKEN = 8  # more than any language needs: past it, the server ignores max_tokens
CUT = "length"  # how a completion ended that reached its limit, also one that was cut off here


def complete(
    endpoint: Endpoint,
    body: Mapping[str, Any],
    max_tokens: int,
    *,
    sleep: Callable[[float], None] = time.sleep,
    told: Callable[[Fault], None] = lambda fault: None,
) -> Completion:
    """The completion of a request, made again by the endpoint's policy while a failure may pass.

    `body` is without `stream` and `max_tokens`. It is streamed all the same: a slow model keeps the line
    alive, and one that never ends is cut. Raises the last Fault when no attempt gave a whole completion.
    """
    asked = {**body, "stream": True, "max_tokens": max_tokens}
    completion: Completion = retrying(endpoint.transport, sleep, told)(_read, endpoint, asked, max_tokens)
    return completion


def _read(endpoint: Endpoint, body: Mapping[str, Any], max_tokens: int) -> Completion:
    completion = Completion()
    with closing(endpoint.stream(body)) as pieces:
        for chunk in read_chunks(pieces):
            completion.take(chunk)
            if completion.size > max_tokens * CHARACTERS_A_GENERATED_TOKEN:
                completion.finish = CUT
                break
        if completion.finish is None:
            raise dropped("it gave no reason to finish")
        if completion.finish != CUT:
            for _ in pieces:  # to the end, so that its connection serves the next request
                pass
    return completion
