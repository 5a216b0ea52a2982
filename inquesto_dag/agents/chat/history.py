"""The dialogue as a model is shown it, and what is left out when it no longer fits.

A *turn* begins with what the caller said and holds everything up to the next thing that the caller said: the
agent's words, its tool calls and their results. Whole turns are left out, the oldest first, so that a result
is never without its call; the system's message and the turn under way always stay. What is left out is
counted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]
# less than English prose (4) and about what JSON and digits need: counts rather too many
CHARACTERS_A_TOKEN = 3.0
TOKENS_A_MESSAGE = 6  # role and separators of a chat template


@dataclass
class History:
    """The turns of a call so far."""

    system: str
    turns: list[list[Message]] = field(default_factory=list)
    scale: float = 1.0  # of the estimate, once a server has counted

    def hear(self, text: str) -> None:
        """The caller said this; what the agent left without any answer stays in one message with it."""
        if self.turns and self.turns[-1][-1]["role"] == "user" and len(self.turns[-1]) == 1:
            self.turns[-1][0]["content"] += f" {text}"
        else:
            self.turns.append([{"role": "user", "content": text}])

    def add(self, *messages: Message) -> None:
        """Messages of the turn under way."""
        self.turns[-1].extend(messages)

    def fit(self, room: int) -> tuple[list[Message], int]:
        """All messages that fit into `room` tokens by estimate, and how many turns were left out."""
        system: Message = {"role": "system", "content": self.system}
        left = room - self.tokens([system])
        kept = 0
        for turn in reversed(self.turns):
            left -= self.tokens(turn)
            if left < 0 and kept:
                break
            kept += 1
        shown = self.turns[len(self.turns) - kept :]
        return [system, *(message for turn in shown for message in turn)], len(self.turns) - kept

    def tokens(self, messages: list[Message]) -> int:
        """Tokens of messages by estimate: JSON at three characters a token, by the server's own scale."""
        size = sum(len(json.dumps(message, ensure_ascii=False)) for message in messages)
        return int(self.scale * (size / CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE * len(messages))) + 1

    def counted(self, messages: list[Message], extra: int, prompt_tokens: int) -> None:
        """The server counted a prompt of these messages and `extra` estimated tokens: scale by it from now
        on.
        """
        estimate = (self.tokens(messages) + extra) / self.scale
        self.scale = min(4.0, max(0.25, prompt_tokens / estimate))
