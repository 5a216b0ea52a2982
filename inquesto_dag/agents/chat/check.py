"""What an agent with a language model lacks before it can take calls: address, key, model, one tried turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from inquesto_dag.agents.account import AccountState
from inquesto_dag.agents.brain import Heard
from inquesto_dag.agents.chat.endpoint import Endpoint, find_endpoint
from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.session import ChatBrain
from inquesto_dag.agents.chat.settings import read_settings, read_transport
from inquesto_dag.agents.config import AgentConfig
from inquesto_dag.agents.program import BILLING
from inquesto_dag.agents.tools import ToolBox, VerifyResult
from inquesto_dag.errors import InfrastructureError, InputError
from inquesto_dag.protocol.models import Account

SHOWN_MODELS = 8


@dataclass(frozen=True)
class Finding:
    """One part of an agent; `ok` is None where that could not be told, `remedy` is the next step."""

    part: str
    ok: bool | None
    text: str
    remedy: str = ""


def check_chat(config: AgentConfig, account: Account, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Each part in turn, as it is found; ends at the first that makes the rest pointless.

    The turn is tried once, without the attempts that a call would have, over a copy of the account.
    """
    settings = read_settings(config.id, config.brain.settings)
    transport = read_transport(config.id, config.brain.transport)
    try:
        endpoint = find_endpoint(config.id, transport.model_copy(update={"attempts": 1}), environment)
    except InputError as lack:
        part = "key" if lack.field.endswith("api_key_env") else "address"
        yield Finding(part, False, lack.problem, lack.remedy)
        return
    yield Finding("address", True, f"{endpoint.shown} (${transport.base_url_env})")
    try:
        yield _find_model(endpoint, settings.model)
    except Fault as fault:
        part = "key" if fault.field.endswith("api_key_env") else "reached"
        if part == "key" or "no connection" in fault.problem:
            yield Finding(part, False, fault.problem, fault.remedy)
            return
        yield Finding("model", None, f"the endpoint lists no models: {fault.problem}")
    yield _try_turn(ChatBrain(settings, endpoint, BILLING, config.greeting, measured=True), account)


def check_local(config: AgentConfig, account: Account) -> Iterator[Finding]:
    """A model in this process: whether its files are here, and one turn; fetches nothing."""
    from inquesto_dag.agents.brain import make_brain
    from inquesto_dag.agents.chat.local_settings import read_local

    settings, _ = read_local(config.id, config.brain.settings, config.brain.transport)
    timing = config.timing.model_copy(update={"mode": "measured"})
    try:
        brain = make_brain(config.model_copy(update={"timing": timing}))
    except InputError as lack:
        yield Finding("model", False, f"{lack.where}: {lack.problem}", lack.remedy)
        return
    yield Finding("model", True, f"{settings.model} is here, {settings.device}, {settings.dtype}")
    if isinstance(brain, ChatBrain):
        yield _try_turn(brain, account)


def _find_model(endpoint: Endpoint, model: str) -> Finding:
    served = endpoint.models()
    if model in served:
        return Finding("model", True, f"{model} is served")
    near = get_close_matches(model, served, SHOWN_MODELS, 0.4) or served[:SHOWN_MODELS]
    listed = f"it lists {len(served)}, such as {', '.join(near)}" if served else "it lists none"
    # Some endpoints serve names that they do not list, so the turn is tried all the same.
    return Finding(
        "model", False, f"{model} is not among the endpoint's models: {listed}", "mend settings.model"
    )


def _try_turn(brain: ChatBrain, account: Account) -> Finding:
    tools = ToolBox(
        AccountState(account), lambda: VerifyResult("verified", 1.0, 0.0), lambda: 0.0, lambda index: 0.0
    )
    session = brain.start(1)
    heard = f"Hello, did this month's payment go through? My account number is {account.number}."
    try:
        said = " ".join(session.reply(Heard(heard, 1.0), tools))
    except InfrastructureError as error:
        return Finding("turn", False, error.problem, error.remedy)
    turn = session.report()["turns"][0]
    called = ", ".join(f"{row['tool']}{'' if row['ok'] else ' (refused)'}" for row in tools.rows)
    text = f"said {said!r}" if said else "said nothing"
    text += f", called {called}" if called else ", called no tool"
    times = [
        f"{what} after {turn[key]:.2f} s"
        for what, key in (("first token", "first_token_s"), ("first sentence", "first_sentence_s"))
        if turn[key] is not None
    ]
    return Finding("turn", bool(said), "; ".join([text, *times]), "" if said else "try another tool_format")
