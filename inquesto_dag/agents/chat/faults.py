"""Whose failure it is: what goes wrong between an agent's program and its model (PROTOCOL D14).

*Infrastructure*, never scored: no connection, a refused key, an unknown model, a rate limit, a server's
error, a time-out, a connection that drops, a stream that is not the protocol's, an error object in it, a
completion that takes longer than `completion_s`. It is tried again while none of the completion has been
spoken and while trying again can help (`passing`), then the call is given up as an infrastructure error. The
time that failed attempts and the waits between them took is not the agent's.

*The model's own*, scored like anything that it does: a completion that ends well and is empty (asked once
more, then the agent is silent), an unknown tool, arguments that are wrong or unreadable (the model is told),
more tool calls in a turn than the program allows (it is told to answer), and talking until the token limit
(it is cut there, also when the server goes on)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from inquesto_dag.errors import InfrastructureError
from inquesto_dag.units import Seconds

if TYPE_CHECKING:
    import httpx

PASSING = frozenset([408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529])
_SHOWN = 240  # characters of a server's message


class Fault(Exception):
    """A failure of infrastructure: what, at which part of the agent's file, and what to do next.

    `passing` when the same request may succeed later, `wait_s` when the server said how much later.
    """

    def __init__(
        self,
        problem: str,
        *,
        field: str = "",
        remedy: str = "",
        passing: bool = False,
        wait_s: Seconds | None = None,
    ) -> None:
        super().__init__(problem)
        self.problem, self.field, self.remedy = problem, field, remedy
        self.passing, self.wait_s = passing, wait_s

    def error(self, where: str, attempts: int) -> InfrastructureError:
        """The same for whoever runs the agent."""
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        return InfrastructureError(
            f"{self.problem}{tried}",
            where=where,
            field=self.field,
            remedy=self.remedy or "see whether the endpoint is well, then place these calls again",
        )


def dropped(detail: str) -> Fault:
    """The connection ended before the completion did."""
    return Fault(f"the connection ended in mid-completion ({detail})", passing=True)


def not_the_protocol(detail: str, *, passing: bool = True) -> Fault:
    """What came is no stream of chat completions."""
    return Fault(
        f"the reply is not a stream of chat completions: {detail}",
        field="brain.transport.base_url_env",
        remedy="see whether the address is that of an OpenAI-compatible endpoint, usually ending in /v1",
        passing=passing,
    )


def of_transport(error: httpx.HTTPError, connect_s: Seconds, read_s: Seconds) -> Fault:
    """What httpx reports, said for the reader of a page."""
    import httpx

    at = "brain.transport.base_url_env"
    if isinstance(error, httpx.ConnectTimeout):
        return Fault(
            f"no connection to the endpoint within {connect_s:g} s",
            field=at,
            remedy="start the endpoint",
            passing=True,
        )
    if isinstance(error, httpx.ConnectError):
        return Fault(
            f"no connection to the endpoint ({error})",
            field=at,
            remedy="start the endpoint, or mend its address",
            passing=True,
        )
    if isinstance(error, httpx.TimeoutException):
        return Fault(
            f"nothing came from the endpoint for {read_s:g} s",
            field="brain.transport.read_s",
            remedy="allow more time if the model is slow to load, or look at the server",
            passing=True,
        )
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError):
        return dropped(str(error) or type(error).__name__)
    return Fault(
        f"the request failed ({type(error).__name__})", passing=isinstance(error, httpx.TransportError)
    )


def of_status(status: int, headers: Mapping[str, str], body: bytes, model: str, now: float) -> Fault:
    """A reply that is an error by its status; `now` is the time in s since the epoch, for Retry-After."""
    said = server_message(body)
    told = f": {said}" if said else ""
    if status in (401, 403):
        return Fault(
            f"the endpoint refused the key ({status}{told})",
            field="brain.transport.api_key_env",
            remedy="put a valid key into the variable that this field names",
        )
    if status == 404:
        return Fault(
            f"the endpoint has no model {model!r}, or no chat completions at this address (404{told})",
            field="brain.settings.model",
            remedy="compare with the models that `inquesto-dag agents check` lists",
        )
    wait_s = retry_after(headers, now)
    if status == 429:
        return Fault(
            f"the endpoint's rate limit was reached (429{told})",
            remedy="lower INQUESTO_WORKERS, or raise brain.transport.attempts and longest_wait_s",
            passing=True,
            wait_s=wait_s,
        )
    if status in PASSING:
        return Fault(f"the endpoint failed ({status}{told})", passing=True, wait_s=wait_s)
    return Fault(
        f"the endpoint refused the request ({status}{told})",
        field="brain.settings",
        remedy="see what the endpoint's message says of the settings",
    )


def of_error_object(error: object, model: str) -> Fault:
    """An `error` where a piece of a completion was due; its code, if any, says of what kind."""
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    body = json.dumps({"error": error}).encode()
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return of_status(code, {}, body, model, 0.0)
    return Fault(f"the endpoint failed in mid-completion: {server_message(body)}", passing=True)


def retry_after(headers: Mapping[str, str], now: float) -> Seconds | None:
    """Seconds that `Retry-After` asks for, a number or a date (RFC 9110, 10.2.3); None without it."""
    value = next((v for k, v in headers.items() if k.lower() == "retry-after"), None)
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError):
        return None


def server_message(body: bytes) -> str:
    """What a server says of its error, on one line; of a page in HTML only that it is one."""
    text = body.decode("utf-8", "replace").strip()
    if text[:1] == "<":
        return "a page in HTML"
    with suppress(ValueError):  # not every server's error is JSON
        text = _message(json.loads(text)) or text
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


def _message(value: Any) -> str | None:
    if isinstance(value, dict):
        for key in ("error", "message", "detail", "msg"):
            if key in value:
                return _message(value[key])
        return None
    if isinstance(value, list):
        return _message(value[0]) if value else None
    return value if isinstance(value, str) else None
