"""A language model in this process, by `transformers`: it sends what an endpoint would, chunk by chunk.

So everything around a model is the same for both: the reading of calls and sentences, the history, the caps.
A chunk is generated when it is asked for, token by token, and what is spoken meanwhile takes no time of it.
The system's message is read once for all calls of a process, always by itself, and what follows once for
each completion: the same call gives the same numbers whatever was computed before.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.local_settings import LocalSettings, files_of
from inquesto_dag.agents.chat.session import ChatBrain, identity_of
from inquesto_dag.agents.chat.settings import ChatTransport
from inquesto_dag.agents.program import Program
from inquesto_dag.provenance.versions import deciding_code

if TYPE_CHECKING:
    import torch

# Nothing is reached over a wire, so nothing is tried again; the name only fills the field.
IN_PROCESS = ChatTransport(base_url_env="IN_PROCESS", attempts=1)


@dataclass
class Loaded:
    """Weights and tokenizer on a device, the ids that end a reply, the system's message as read before."""

    model: Any
    tokenizer: Any
    ends: frozenset[int]
    longest: int  # tokens of prompt and completion together
    read: dict[tuple[int, ...], Any] = field(default_factory=dict)


class LocalModel:
    """A model of `settings`; weights are loaded with the first request and shared by the process."""

    transport = IN_PROCESS

    def __init__(self, settings: LocalSettings, folder: Path) -> None:
        """`folder` holds the model's files, whose digests were checked."""
        self.settings, self.folder = settings, folder

    @property
    def shown(self) -> str:
        """The model for messages."""
        return f"{self.settings.model} in this process"

    def stream(self, body: Mapping[str, Any]) -> Generator[bytes, None, None]:
        """A completion as server-sent events; Fault for a prompt that the model or its template refuses."""
        loaded = load(self.folder, self.settings.device, self.settings.dtype)
        prompt, fixed = self._prompt(loaded, body)
        most = int(body["max_tokens"])
        if len(prompt) + most > loaded.longest:
            raise Fault(
                f"a prompt of {len(prompt)} tokens and {most} of a reply do not fit into {loaded.longest}",
                field="brain.settings.context_tokens",
                remedy=f"set context_tokens to at most {loaded.longest}",
            )
        head = {"model": self.settings.model, "system_fingerprint": self.settings.digest[:16]}
        ids: list[int] = []
        shown, finish = "", "length"
        for token in self._generate(loaded, prompt, fixed, body, most):
            if token in loaded.ends:
                finish = "stop"
                break
            ids.append(token)
            text = loaded.tokenizer.decode(ids, skip_special_tokens=False)
            if not text.endswith("\ufffd") and len(text) > len(shown):  # half a letter waits for the rest
                yield _event({**head, "choices": [_choice({"content": text[len(shown) :]})]})
                shown = text
        usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids)}
        yield _event({**head, "choices": [_choice({}, finish)]})
        yield _event({**head, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    # --- inside ---

    def _prompt(self, loaded: Loaded, body: Mapping[str, Any]) -> tuple[list[int], int]:
        """The prompt's ids, and how many of them are those of the system's message alone."""
        messages = [_for_template(message) for message in body["messages"]]
        tools = body.get("tools")
        prompt = _render(loaded, messages, tools, reply=True)
        if tools and prompt == _render(loaded, messages, None, reply=True):
            raise Fault(
                "the model's chat template shows it no tools",
                field="brain.settings.tool_format",
                remedy="set `tool_format: text`, which describes them in the prompt",
            )
        try:
            fixed = _render(loaded, messages[:1], tools, reply=False)
        except Fault:  # a template that wants a user's message
            return prompt, 0
        return prompt, len(fixed) if prompt[: len(fixed)] == fixed else 0

    def _generate(
        self, loaded: Loaded, prompt: list[int], fixed: int, body: Mapping[str, Any], most: int
    ) -> Iterator[int]:
        """Token after token, the ending one included; torch's thread count is this model's only meanwhile."""
        import torch

        device = self.settings.device
        random = torch.Generator(device).manual_seed(int(body.get("seed", 0)))
        temperature, top_p = float(body.get("temperature") or 0.0), float(body.get("top_p") or 1.0)
        with _threads(self.settings.threads), torch.inference_mode():
            cache = _read_once(loaded, tuple(prompt[:fixed]), device)
            waiting = torch.tensor([prompt[fixed:]], device=device)
        for _ in range(most):
            # A generator that is left waiting must not leave its modes behind, so each step has its own.
            with _threads(self.settings.threads), torch.inference_mode():
                out = loaded.model(input_ids=waiting, cache=cache, use_cache=True, logits_to_keep=1)
                token = _choose(out.logits[0, -1].float(), temperature, top_p, random)
                cache = out.cache
                waiting = torch.tensor([[token]], device=device)
            yield token


class LocalBrain(ChatBrain):
    """A chat brain on a model in this process; its identity holds the model's files and the libraries."""

    settings: LocalSettings

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that decides its answers; where the files lie does not."""
        return local_identity(self.settings, self.program, self.greeting)


def local_identity(settings: LocalSettings, program: Program, greeting: str | None) -> dict[str, Any]:
    """All that decides the answers of a model in this process (PROTOCOL D17)."""
    return {
        **identity_of(settings, program, greeting, "transformers"),
        "model_sha256": settings.digest,
        "code": deciding_code("local-chat"),
    }


@lru_cache(maxsize=2)
def load(folder: Path, device: str, dtype: str) -> Loaded:
    """The model of a folder, a GGUF file or what `save_pretrained` writes, on `cpu` or `cuda`."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    if device == "cuda" and not torch.cuda.is_available():
        raise Fault("there is no GPU here", field="brain.settings.device", remedy="set `device: cpu`")
    quiet: Any = logging  # without types of its own
    quiet.set_verbosity_error()
    quiet.disable_progress_bar()
    packed = next((path.name for path in files_of(folder) if path.suffix == ".gguf"), None)
    source: dict[str, Any] = {"gguf_file": packed} if packed else {}
    with redirect_stderr(StringIO()):  # the progress of unpacking, which no setting of the library stops
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, **source)
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, dtype=getattr(torch, dtype), **source
        )
    model.to(device).eval()
    ends: set[int] = set()
    for given in (model.generation_config.eos_token_id, model.config.eos_token_id, tokenizer.eos_token_id):
        ends |= {given} if isinstance(given, int) else set(given or ())
    return Loaded(model, tokenizer, frozenset(ends), int(model.config.max_position_embeddings))


def _render(loaded: Loaded, messages: list[dict[str, Any]], tools: object, *, reply: bool) -> list[int]:
    from jinja2 import TemplateError

    try:
        ids = loaded.tokenizer.apply_chat_template(
            messages, tools=tools, add_generation_prompt=reply, tokenize=True, return_dict=False
        )
    except (TemplateError, ValueError) as error:
        raise Fault(
            f"the model's chat template refuses the dialogue: {' '.join(str(error).split())[:160]}",
            field="brain.settings.model",
            remedy="use a model that is tuned for chat",
        ) from None
    return [int(token) for token in ids]


def _read_once(loaded: Loaded, ids: tuple[int, ...], device: str) -> Any:
    """What the model keeps of these tokens, computed once and copied; None for none."""
    import torch

    if not ids:
        return None
    if ids not in loaded.read:
        out = loaded.model(input_ids=torch.tensor([ids], device=device), use_cache=True, logits_to_keep=1)
        loaded.read = {ids: out.cache}  # one program, one prompt: another one takes its place
    return copy.deepcopy(loaded.read[ids])


def _choose(logits: torch.Tensor, temperature: float, top_p: float, random: torch.Generator) -> int:
    """The likeliest token, or one drawn from the likeliest that together hold `top_p`."""
    import torch

    if temperature <= 0.0:
        return int(logits.argmax())
    ranked, order = torch.softmax(logits / temperature, dim=-1).sort(descending=True)
    ranked[ranked.cumsum(0) - ranked >= top_p] = 0.0  # the first always stays
    return int(order[torch.multinomial(ranked, 1, generator=random)])


class _threads:
    """Torch on this many threads for the block, on as many as before afterwards."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        import torch

        self.before = torch.get_num_threads()
        torch.set_num_threads(self.count)

    def __exit__(self, *_: object) -> None:
        import torch

        torch.set_num_threads(self.before)


def _for_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as chat templates want it: text for content, arguments as objects."""
    shaped = {**message, "content": message.get("content") or ""}
    if "tool_calls" in shaped:
        shaped["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
            for call in shaped["tool_calls"]
        ]
    return shaped


def _choice(delta: Mapping[str, str], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": dict(delta), "finish_reason": finish}


def _event(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
