"""A language model in a role of the set-up, judge or caller: which one is asked for, and where it is served.

The environment says both (`INQUESTO_JUDGE_URL`, `..._KEY`, `..._MODEL`, and the same for `CALLER`): an
address or a key is never in a file, and what an endpoint calls a model is the endpoint's own affair. What
answered is known from its replies alone, and `component_of` says whether that is a pinned model (PROTOCOL
D15, D16).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inquesto_dag.agents.chat.endpoint import Endpoint, find_endpoint
from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.settings import ChatTransport
from inquesto_dag.errors import InfrastructureError, InputError

Role = Literal["judge", "caller"]
OTHER = "openai:"  # before the name of a model that no profile pins
# Names under which servers offer the weights of a pinned model, unchanged: the hub's, shortened, and Ollama's
# for 16 bits. A name for fewer bits is another model.
SERVED_AS: Mapping[str, tuple[str, ...]] = {
    "gemma-2-9b-instruct": (
        "google/gemma-2-9b-it", "gemma-2-9b-it", "gemma-2-9b-instruct", "gemma2:9b-instruct-fp16",
    ),
    "qwen2.5-7b-instruct": (
        "Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b-instruct", "qwen2.5:7b-instruct-fp16",
    ),
}  # fmt: skip
UNNAMED = "unnamed"  # the component of an endpoint that does not say what it serves
_LONGEST_NAME = 64  # characters of a component's name in a record


@dataclass(frozen=True)
class RoleModel:
    """The model of a role: its name in profiles and records, and the name that an endpoint is asked for."""

    role: Role
    component: str
    model: str


def is_model(component: str) -> bool:
    """Whether a profile's component is a language model behind an endpoint."""
    return component in SERVED_AS or component.startswith(OTHER)


def find_model(role: Role, component: str, environment: Mapping[str, str]) -> RoleModel:
    """The model of a role: `openai:MODEL` names it, and for a pinned one the environment may give its
    endpoint's name for it. InputError for any other component.
    """
    if component.startswith(OTHER) and component != OTHER:
        model = component.removeprefix(OTHER)
        return RoleModel(role, slug(model), model)
    if component not in SERVED_AS:
        raise InputError(
            f"{component!r} is no model that can be a {role}",
            where=role,
            remedy=f"use one of {', '.join(SERVED_AS)}, or {OTHER}MODEL with the endpoint's name for a model",
        )
    own = environment.get(_variable(role, "MODEL"), "").strip()
    return RoleModel(role, component, own or SERVED_AS[component][0])


def find_role_endpoint(role: Role, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint of a role; InputError names the variable that is unset or cannot be used."""
    key = _variable(role, "KEY")
    transport = ChatTransport(
        base_url_env=_variable(role, "URL"),
        api_key_env=key if environment.get(key) else None,
        ask_usage=False,
    )
    try:
        return find_endpoint(role, transport, environment)
    except InputError as lack:
        raise InputError(
            lack.problem, where=f"the {role}'s endpoint", remedy=lack.remedy.partition(", or remove")[0]
        ) from None


def role_error(role: Role, endpoint: Endpoint, fault: Fault) -> InfrastructureError:
    """A fault for whoever runs the pipeline: the fields of agents' files become the role's variables."""
    variables = {
        "brain.transport.base_url_env": "URL",
        "brain.transport.api_key_env": "KEY",
        "brain.settings.model": "MODEL",
    }
    name = variables.get(fault.field)
    remedy = {
        "URL": "start the endpoint, or mend its address; what was finished is kept",
        "KEY": "put a valid key into this variable",
        "MODEL": "set it to the endpoint's own name for the model (its /v1/models lists them)",
    }.get(name or "", "see whether the endpoint is well, then run the same command again")
    return InfrastructureError(
        fault.problem,
        where=f"{role}, {endpoint.shown}",
        field=f"${_variable(role, name)}" if name else "",
        remedy=remedy,
    )


def lasts(fault: Fault) -> bool:
    """Whether a fault would meet every other request too: nothing there, a refused key, no such model."""
    if fault.field == "brain.transport.base_url_env":
        return not fault.passing or fault.problem.startswith("no connection")
    return fault.field in ("brain.transport.api_key_env", "brain.settings.model")


def component_of(served: str) -> str:
    """The component that a server's name for a model is: a pinned one, or the name in a record's letters."""
    for component, names in SERVED_AS.items():
        if served.strip().lower() in {name.lower() for name in names}:
            return component
    return slug(served)


def slug(name: str) -> str:
    """A model's name in the letters of a component: `google/gemma-2-9b-it` is `google-gemma-2-9b-it`."""
    plain = "-".join(re.findall(r"[a-z0-9]+(?:[._][a-z0-9]+)*", name.lower()))[:_LONGEST_NAME].rstrip("-._")
    return plain if plain[:1].isalpha() else f"model-{plain}"[:_LONGEST_NAME].rstrip("-._")


def _variable(role: Role, what: str) -> str:
    return f"INQUESTO_{role.upper()}_{what}"
