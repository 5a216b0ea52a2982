"""The project's own protocol, and tools over its account."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.protocol.load import load_protocol
from inquesto_dag.protocol.models import Account, Protocol

PROJECT = Path(__file__).resolve().parents[2]
AGENTS = PROJECT / "data" / "agents"


def verified() -> VerifyResult:
    return VerifyResult("verified", 0.91, 0.78)


def not_verified() -> VerifyResult:
    return VerifyResult("not_verified", 0.61, 0.78)


@pytest.fixture(scope="session")
def protocol() -> Protocol:
    return load_protocol(PROJECT / "data" / "protocols" / "v0.1")


@pytest.fixture
def account(protocol: Protocol) -> Account:
    return protocol.account


@pytest.fixture
def toolbox(account: Account) -> Callable[..., ToolBox]:
    def make(verify: Callable[[], VerifyResult] = verified) -> ToolBox:
        return ToolBox(AccountState(account), verify, lambda: 10.0, lambda index: 0.05 * (index + 1))

    return make
