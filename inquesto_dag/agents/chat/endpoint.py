"""An OpenAI-compatible endpoint: where it is, its key, and the two requests that are made of it.

The key is held in a wrapper that shows nothing, stands in one header of a request, and is struck out of
whatever a server sends back, so that it reaches no message, log, trace or record."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from inquesto_dag.agents.chat.faults import Fault, not_the_protocol, of_status, of_transport
from inquesto_dag.agents.chat.settings import ChatTransport
from inquesto_dag.errors import InputError

if TYPE_CHECKING:
    import httpx

MEDIA_TYPES = ("text/event-stream", "application/json", "application/x-ndjson", "text/plain", "")
LARGEST_ERROR = 65_536  # bytes of an error page that are read


class ChatSource(Protocol):
    """Whatever answers requests for completions: an endpoint, or a model in this process."""

    @property
    def transport(self) -> ChatTransport: ...

    @property
    def shown(self) -> str:
        """It for messages."""
        ...

    def stream(self, body: Mapping[str, Any]) -> Generator[bytes, None, None]:
        """A completion's reply in pieces as they come; raises Fault."""
        ...


@dataclass(frozen=True)
class Endpoint:
    """Where to send requests; `url` ends before `/chat/completions`."""

    url: str
    key: SecretStr | None
    transport: ChatTransport

    @property
    def shown(self) -> str:
        """The address for messages: scheme, host and path, nothing else."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def stream(self, body: Mapping[str, Any]) -> Generator[bytes, None, None]:
        """Send a completion's request; its reply in pieces as they come.

        Raises Fault for everything that is not a reply with status 200, and when a piece comes after
        `completion_s`.
        """
        import httpx

        limits = self.transport
        began = time.perf_counter()
        try:
            with self._client.stream(
                "POST", f"{self.url}/chat/completions", json=dict(body), headers=self._headers
            ) as reply:
                if reply.status_code != 200:
                    raise self._refusal(reply, str(body["model"]))
                media = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
                if media not in MEDIA_TYPES:
                    raise not_the_protocol(f"its content type is {media!r:.60}", passing=False)
                for piece in reply.iter_bytes():
                    if time.perf_counter() - began > limits.completion_s:
                        raise Fault(
                            f"the completion was not over after {limits.completion_s:g} s",
                            field="brain.transport.completion_s",
                            remedy="allow more time if the model is slow, or look at the server",
                            passing=True,
                        )
                    yield piece
        except httpx.HTTPError as error:
            raise self._struck(of_transport(error, limits.connect_s, limits.read_s)) from None

    def models(self) -> list[str]:
        """The models that the endpoint says it serves (`/v1/models`); Fault when it does not answer that."""
        import httpx

        try:
            reply = self._client.get(f"{self.url}/models", headers=self._headers)
        except httpx.HTTPError as error:
            raise self._struck(of_transport(error, self.transport.connect_s, self.transport.read_s)) from None
        if reply.status_code != 200:
            raise self._refused(reply.status_code, reply.headers, reply.content, "")
        try:
            return sorted(str(model["id"]) for model in reply.json()["data"])
        except (ValueError, KeyError, TypeError):
            raise not_the_protocol("its list of models is not one", passing=False) from None

    def strike(self, text: str) -> str:
        """A text from outside without the key."""
        return text.replace(self.key.get_secret_value(), "[key]") if self.key else text

    # --- inside ---

    @property
    def _client(self) -> httpx.Client:
        return _client_for(self.transport.connect_s, self.transport.read_s)

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key.get_secret_value()}"} if self.key else {}

    def _refusal(self, reply: httpx.Response, model: str) -> Fault:
        body = b""
        for piece in reply.iter_bytes():
            body += piece
            if len(body) > LARGEST_ERROR:
                break
        return self._refused(reply.status_code, reply.headers, body, model)

    def _refused(self, status: int, headers: Mapping[str, str], body: bytes, model: str) -> Fault:
        body = self.strike(body.decode("utf-8", "replace")).encode()
        return of_status(status, headers, body, model, time.time())

    def _struck(self, fault: Fault) -> Fault:
        fault.problem = self.strike(fault.problem)
        return fault


@lru_cache(maxsize=16)
def _client_for(connect_s: float, read_s: float) -> httpx.Client:
    """One client for a process: its connections and its certificates serve every call."""
    import httpx

    return httpx.Client(timeout=httpx.Timeout(read_s, connect=connect_s), follow_redirects=False)


def find_endpoint(agent: str, transport: ChatTransport, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint that an agent's variables name; InputError for one that is unset or cannot be used."""
    name = transport.base_url_env
    url = environment.get(name, "").strip()
    if not url:
        raise InputError(
            f"${name}, which should hold the endpoint's address, is not set",
            where=agent,
            field="brain.transport.base_url_env",
            remedy=f"export {name}=http://HOST:PORT/v1",
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not _has_port(parts):
        raise _bad_address(agent, name, "is no http or https address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise _bad_address(agent, name, "holds more than an address, perhaps a key")
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return Endpoint(
        f"{parts.scheme}://{parts.netloc}{path}", _find_key(agent, transport, environment), transport
    )


def _has_port(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


def _find_key(agent: str, transport: ChatTransport, environment: Mapping[str, str]) -> SecretStr | None:
    name = transport.api_key_env
    if name is None:
        return None
    key = environment.get(name, "").strip()
    problem = "" if key else f"${name}, which should hold the endpoint's key, is not set"
    if any(not 0x21 <= ord(character) <= 0x7E for character in key):
        problem = f"${name} holds characters that no key has"
    if problem:
        raise InputError(
            problem,
            where=agent,
            field="brain.transport.api_key_env",
            remedy=f"export {name} with the key, or remove the field if the endpoint needs none",
        )
    return SecretStr(key)


def _bad_address(agent: str, name: str, problem: str) -> InputError:
    return InputError(
        f"${name} {problem}",
        where=agent,
        field="brain.transport.base_url_env",
        remedy=f"export {name}=http://HOST:PORT/v1, and the key in a variable of its own",
    )
