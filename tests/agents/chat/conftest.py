"""Chat brains on a server of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.brain import Heard
from inquesto_dag.agents.chat.endpoint import Endpoint
from inquesto_dag.agents.chat.session import ChatBrain, ChatSession
from inquesto_dag.agents.chat.settings import ChatSettings, ChatTransport
from inquesto_dag.agents.program import BILLING
from inquesto_dag.agents.tools import ToolBox
from inquesto_dag.protocol.models import Account
from tests.agents.chat.server import MODEL, ChatServer
from tests.agents.conftest import verified

KEY = "sk-test-3f9c2a71d8"
TRANSPORT = ChatTransport(
    base_url_env="TEST_URL", api_key_env="TEST_KEY", connect_s=1, read_s=5, completion_s=20
)


class Waits(list[float]):
    """Takes the place of `time.sleep`, and keeps what was asked of it."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


class Line:
    """A session with its tools: `say` an utterance, read what is answered."""

    def __init__(self, session: ChatSession, tools: ToolBox, waits: Waits) -> None:
        self.session, self.tools, self.waits = session, tools, waits

    def say(self, text: str = "Did my payment go through?") -> list[str]:
        self.tools.begin_reply()
        return list(self.session.reply(Heard(text, 0.9), self.tools))

    @property
    def turns(self) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = self.session.report()["turns"]
        return turns

    @property
    def called(self) -> list[tuple[str, bool]]:
        return [(row["tool"], row["ok"]) for row in self.tools.rows]


def brain_on(
    url: str, waits: Waits | None = None, transport: dict[str, Any] | None = None, **settings: Any
) -> ChatBrain:
    """A brain for the server at an address."""
    limits = ChatTransport.model_validate({**TRANSPORT.model_dump(), **(transport or {})})
    endpoint = Endpoint(url, SecretStr(KEY), limits)
    sleep = Waits() if waits is None else waits
    return ChatBrain(ChatSettings(model=MODEL, **settings), endpoint, BILLING, measured=True, sleep=sleep)


Dial = Callable[..., Line]


@pytest.fixture
def dial(account: Account) -> Dial:
    """A line to a server: `dial(server, transport={...}, **settings)`."""

    def make(server: ChatServer | str, transport: dict[str, Any] | None = None, **settings: Any) -> Line:
        waits = Waits()
        url = server if isinstance(server, str) else server.url
        tools = ToolBox(AccountState(account), verified, lambda: 0.0, lambda index: 0.0)
        return Line(brain_on(url, waits, transport, **settings).start(11), tools, waits)

    return make
