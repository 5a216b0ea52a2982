"""An agent's file: what it is made of, how long it waits, and how long its parts take.

Everything in the file but `id`, `description`, `prices` and `brain.transport` decides results and is
therefore in the fingerprint. Times are in s unless a name says ms. A declared time is a log-normal draw whose
seed is the call's, never the agent's, so two agents that differ in one setting are paired draw by draw.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, JsonValue, ValidationError

from inquesto_dag.agents.program import BILLING
from inquesto_dag.errors import InputError
from inquesto_dag.files import canonical_json, read_yaml, sha256_bytes
from inquesto_dag.protocol.models import Frozen
from inquesto_dag.provenance.versions import function_version
from inquesto_dag.units import Seconds

Component = Literal["recognition", "brain", "tool", "synthesis"]
COMPONENTS: tuple[Component, ...] = ("recognition", "brain", "tool", "synthesis")


class BrainConfig(Frozen):
    """Which brain: its kind, what decides its answers, and how it is reached.

    `transport` (host, time-outs, retries, concurrency) decides no answer and stays out of the fingerprint.
    """

    kind: str
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    transport: dict[str, JsonValue] = Field(default_factory=dict)


class VoiceConfig(Frozen):
    """The agent's TTS voice; `speed` is relative to the voice's own."""

    name: str
    language: Literal["en-us", "en-gb"]
    speed: Annotated[float, Field(ge=0.5, le=2.0)] = 1.0


class LatencyModel(Frozen):
    """Log-normal time of one component: median in s, sigma of its natural logarithm."""

    median_s: Annotated[float, Field(ge=0.0, le=60.0)]
    sigma: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0


class Timing(Frozen):
    """How component times come about: `declared` draws them, `measured` takes this run's wall clock."""

    mode: Literal["declared", "measured"]
    recognition: LatencyModel
    brain: LatencyModel
    tool: LatencyModel  # of each tool call
    synthesis: LatencyModel  # to the first audio


class Prices(Frozen):
    """What a hosted model's tokens cost, as of a day; prices decide no result."""

    dated: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    input_per_million: Annotated[float, Field(ge=0.0)]
    output_per_million: Annotated[float, Field(ge=0.0)]
    source: Annotated[str, Field(min_length=1)]  # whose list


class AgentConfig(Frozen):
    """One agent under test, as its file in `data/agents/` describes it (DESIGN, Agents)."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    description: str
    kind: Literal["cascade"]
    brain: BrainConfig
    endpointing_ms: Annotated[int, Field(ge=32, le=5000)]  # silence after which a caller counts as finished
    interruptible: bool  # whether the agent stops when the caller speaks
    greeting: str | None = None  # said before the caller speaks
    recogniser: str
    voice: VoiceConfig
    timing: Timing
    prices: Prices | None = None  # of its model's tokens; None: not known


def list_agents(folder: Path) -> list[str]:
    """Ids of the agents in a folder, sorted: the names of its `.yaml` files."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def load_agent(folder: Path, agent: str) -> AgentConfig:
    """The agent's file as a typed config.

    Raises InputError for an agent without a file (naming those that have one), a file that is not YAML, an
    unknown, missing or impossible field, and an id that is not the file's name.
    """
    path = folder / f"{agent}.yaml"
    known = list_agents(folder)
    if agent not in known:
        names = ", ".join(known) or f"none in {folder}"
        raise InputError(f"unknown agent {agent!r}", where=folder, remedy=f"choose one of: {names}")
    try:
        config = AgentConfig.model_validate(read_yaml(path, missing="restore the agent's file"))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{first['msg']} (got {first.get('input')!r})"[:300],
            where=path,
            field=field,
            remedy="compare the field with another agent's file in the same folder",
        ) from error
    if config.id != agent:
        raise InputError(
            f"is {config.id!r}, not the file's name", where=path, field="id", remedy=f"set `id: {agent}`"
        )
    if config.brain.kind == "openai":
        from inquesto_dag.agents.chat.settings import read_settings, read_transport

        read_settings(str(path), config.brain.settings)
        read_transport(str(path), config.brain.transport)
    if config.brain.kind == "transformers":
        from inquesto_dag.agents.chat.local_settings import read_local

        read_local(str(path), config.brain.settings, config.brain.transport)
    return config


def deciding_settings(config: AgentConfig) -> dict[str, Any]:
    """Everything of an agent that decides results, as JSON values; the program's version included."""
    settings = config.model_dump(mode="json", exclude={"id": True, "description": True, "prices": True})
    settings["brain"].pop("transport")
    settings["program"] = asdict(BILLING)
    if config.timing.mode == "measured":  # then nothing is drawn, and the medians decide nothing
        settings["timing"] = {"mode": "measured"}
    if config.brain.kind == "scripted":
        settings["brain"]["version"] = function_version("policy")
    if config.brain.kind == "openai":
        from inquesto_dag.agents.chat.session import identity_of
        from inquesto_dag.agents.chat.settings import read_settings

        chat = read_settings(config.id, config.brain.settings)
        settings["brain"] = identity_of(chat, BILLING, config.greeting)
    if config.brain.kind == "transformers":
        from inquesto_dag.agents.chat.local import local_identity
        from inquesto_dag.agents.chat.local_settings import read_local

        local, _ = read_local(config.id, config.brain.settings, config.brain.transport)
        settings["brain"] = local_identity(local, BILLING, config.greeting)
    return settings


def fingerprint(config: AgentConfig) -> str:
    """SHA-256 of all that decides the agent's results (PROTOCOL D17, N3).

    Two files that differ only in id, description, prices or transport have the same fingerprint.
    """
    return sha256_bytes(canonical_json(deciding_settings(config)))


def declared_time(config: AgentConfig, component: Component, seed: int, turn: int) -> Seconds:
    """The time in s that a component takes in a reply, drawn from the agent's latency model.

    `seed` is the call's (not negative), `turn` counts replies, and for `tool` it counts tool calls. The
    underlying normal draw depends on component, seed and turn alone.
    """
    model: LatencyModel = getattr(config.timing, component)
    draw = np.random.default_rng([seed, COMPONENTS.index(component), turn]).standard_normal()
    return float(model.median_s * np.exp(model.sigma * draw))
