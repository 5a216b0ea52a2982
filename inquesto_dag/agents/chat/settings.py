"""The `brain` section of an agent whose brain is `openai`: what decides answers, and how it is reached.

`settings` are in the agent's fingerprint with their defaults; `transport` is not (PROTOCOL D17). Addresses
and keys are never in a file: the file names the environment variables that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, JsonValue, ValidationError, field_validator

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import Frozen
from inquesto_dag.units import Seconds

_GOVERNED = frozenset(
    ["model", "messages", "stream", "stream_options", "tools", "tool_choice", "temperature", "top_p", "seed",
     "max_tokens", "max_completion_tokens", "n", "functions", "function_call"]
)  # fmt: skip
_Model = TypeVar("_Model", bound=Frozen)
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]


class ChatSettings(Frozen):
    """What decides a model's answers. None for a sampling setting leaves it to the server."""

    model: Annotated[str, Field(min_length=1)]  # as the endpoint names it
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = 0.0
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    seed: bool = True  # whether the call's seed is sent; not every endpoint takes one
    max_tokens: Annotated[int, Field(ge=16, le=32_768)] = 512  # of one completion, thought included
    # newer endpoints renamed it
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tool_format: Literal["native", "text"] = "native"  # text: the prompt says how calls are written
    # the model's chat template opens the thought, so only its end is streamed
    thinking_prefilled: bool = False
    max_tool_calls: Annotated[int, Field(ge=1, le=50)] = 8  # in one turn
    context_tokens: Annotated[int, Field(ge=1024)] = 8192  # of prompt and completion together
    extra: dict[str, JsonValue] = Field(default_factory=dict)  # sent as it is, such as reasoning_effort

    @field_validator("extra")
    @classmethod
    def _governs_nothing_else(cls, extra: dict[str, JsonValue]) -> dict[str, JsonValue]:
        governed = sorted(_GOVERNED & extra.keys())
        if governed:
            raise ValueError(f"{', '.join(governed)} has a setting of its own or is not yours to set")
        return extra


class ChatTransport(Frozen):
    """How the endpoint is reached; times in s. Nothing of it decides an answer."""

    base_url_env: Variable  # the variable that holds the address, such as http://127.0.0.1:11434/v1
    api_key_env: Variable | None = None  # the variable that holds the key; None for an endpoint without one
    ask_usage: bool = True  # ask for token counts; an endpoint that knows no stream_options refuses that
    connect_s: Annotated[Seconds, Field(gt=0, le=120)] = 10.0
    # without a single byte; a cold model loads meanwhile
    read_s: Annotated[Seconds, Field(gt=0, le=1200)] = 60.0
    completion_s: Annotated[Seconds, Field(gt=0, le=3600)] = 180.0  # of one completion from request to end
    attempts: Annotated[int, Field(ge=1, le=20)] = 4  # of one completion, while none of it has been spoken
    longest_wait_s: Annotated[Seconds, Field(ge=0, le=600)] = 60.0  # between attempts, also on Retry-After
    first_wait_s: Annotated[Seconds, Field(ge=0, le=60)] = 0.5  # doubled from attempt to attempt


def read_settings(agent: str, settings: Mapping[str, Any]) -> ChatSettings:
    """The settings of an agent's brain; InputError names the field."""
    return read_section(agent, "brain.settings", ChatSettings, settings)


def read_transport(agent: str, transport: Mapping[str, Any]) -> ChatTransport:
    """The transport of an agent's brain; InputError names the field and never shows a value, which may be a
    key.
    """
    for name in transport:
        if name.lower() in (
            "api_key",
            "key",
            "token",
            "authorization",
            "password",
            "base_url",
            "url",
            "host",
        ):
            what = "base_url_env" if "url" in name.lower() or name.lower() == "host" else "api_key_env"
            raise InputError(
                "an address or key is never stored in an agent's file",
                where=agent,
                field=f"brain.transport.{name}",
                remedy=f"put it into an environment variable and name that variable in `{what}`",
            )
    return read_section(agent, "brain.transport", ChatTransport, transport)


def read_section(agent: str, section: str, model: type[_Model], values: Mapping[str, Any]) -> _Model:
    """A section of an agent's file; InputError names the field and shows no value."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        field = ".".join([section, *(str(part) for part in first["loc"])])
        known = ", ".join(model.model_fields)
        if first["type"] == "extra_forbidden":
            raise InputError("is unknown", where=agent, field=field, remedy=f"use one of: {known}") from None
        problem = "is missing" if first["type"] == "missing" else first["msg"]
        raise InputError(
            problem, where=agent, field=field, remedy=_REMEDIES.get(field, "mend the field")
        ) from None


_REMEDIES = {
    "brain.settings.model": "name the model as the endpoint's /v1/models lists it",
    "brain.transport.base_url_env": "name the environment variable that holds the endpoint's address",
    "brain.transport.api_key_env": "name the environment variable that holds the key, not the key",
}
