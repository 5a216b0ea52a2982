"""The judge that is a language model (PROTOCOL T14, D8, D13, D16): one structured reply per call.

It is asked once for all questions of a call's role, without sampling, held to a JSON Schema where the
endpoint knows that and read tolerantly where not. A reply without a readable answer to each question is
shown to it and asked for again; after that what is missing stays open, and the call is unjudged. So it is
when the endpoint fails in a way that may pass: nothing that infrastructure broke becomes an answer. A
failure that every other call would meet (nothing there, a refused key, no such model) ends the run.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from string import Template
from typing import Any

from inquesto_dag.agents.chat.completing import CUT, complete
from inquesto_dag.agents.chat.endpoint import Endpoint
from inquesto_dag.agents.chat.faults import Fault
from inquesto_dag.agents.chat.roles import (
    UNNAMED,
    RoleModel,
    component_of,
    find_role_endpoint,
    lasts,
    role_error,
)
from inquesto_dag.agents.chat.stream import Completion
from inquesto_dag.files import canonical_json, sha256_bytes
from inquesto_dag.judging.case import asked_of, names_of, put_case
from inquesto_dag.judging.interfaces import JudgedCall, Verdict
from inquesto_dag.judging.replies import Answered, read_answers, reply_schema
from inquesto_dag.protocol.models import Protocol
from inquesto_dag.provenance.versions import function_version

ATTEMPTS = 3  # replies to one call, before what is missing stays open
MAX_TOKENS = 1536  # of a reply: six answers with their reasons take a third of it
TEMPERATURE = 0.0


class ModelJudge:
    """A model behind an endpoint, which is looked for when it is first needed; safe to share by threads."""

    def __init__(
        self,
        protocol: Protocol,
        model: RoleModel,
        endpoint: Endpoint | None = None,
        *,
        environment: Mapping[str, str] = os.environ,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`endpoint` is that of the environment when None is given; `sleep(s)` waits between attempts."""
        self.protocol, self.model = protocol, model
        self._endpoint, self._environment, self._sleep = endpoint, environment, sleep
        self._scenarios = {scenario.id: scenario for scenario in protocol.scenarios}
        self._structured = True  # until the endpoint refuses a schema
        self._lock = threading.Lock()

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that decides its answers: the model's name, settings, this code, and what it is told."""
        told = {
            "prompt": self.protocol.judge_prompt.model_dump(mode="json"),
            "questions": [question.model_dump(mode="json") for question in self.protocol.questions],
        }
        return {
            "name": self.model.component,
            "version": function_version("model-judge"),
            "model": self.model.model,
            "temperature": TEMPERATURE,
            "max_tokens": MAX_TOKENS,
            "attempts": ATTEMPTS,
            "told_sha256": sha256_bytes(canonical_json(told)),
        }

    def judge(self, call: JudgedCall) -> list[Verdict]:
        """An answer to each question of the call's role, None where it could not be made to answer.

        InputError without an endpoint, InfrastructureError for a failure that every other call would meet.
        """
        scenario = self._scenarios[str(call.population["scenario_id"])]
        names = names_of(asked_of(self.protocol, scenario))
        messages = [{"role": "user", "content": put_case(self.protocol, scenario, call)}]
        answers: dict[str, Answered] = {}
        problem, raw, attempts = "", "", 0
        while attempts < ATTEMPTS:
            attempts += 1
            try:
                completion = self._ask(messages, names)
            except Fault as fault:
                if lasts(fault):
                    raise role_error("judge", self.endpoint, fault) from None
                problem, answers = f"not judged, the endpoint failed: {fault.problem}", {}
                break
            raw = _raw(completion)
            answers = read_answers(completion.text, names)
            missing = [name for name in names if name not in answers]
            if not missing:
                break
            problem = _problem(completion, missing)
            again = Template(self.protocol.judge_prompt.again)
            messages = [
                messages[0],
                {"role": "assistant", "content": completion.text or "(nothing)"},
                {"role": "user", "content": again.substitute(problem=problem, names=", ".join(names))},
            ]
        known = {int(row["turn"]) for row in call.turns}
        return [_verdict(name, answers.get(name), known, problem, raw, attempts) for name in names]

    @property
    def endpoint(self) -> Endpoint:
        """Where the model is served; InputError when the environment does not say."""
        with self._lock:
            if self._endpoint is None:
                self._endpoint = find_role_endpoint("judge", self._environment)
            return self._endpoint

    def _ask(self, messages: Sequence[Mapping[str, str]], names: Sequence[str]) -> Completion:
        body: dict[str, Any] = {
            "model": self.model.model, "messages": list(messages), "temperature": TEMPERATURE,
        }  # fmt: skip
        if self._structured:
            schema = {"name": "verdicts", "strict": True, "schema": reply_schema(names)}
            held = {**body, "response_format": {"type": "json_schema", "json_schema": schema}}
            try:
                return complete(self.endpoint, held, MAX_TOKENS, sleep=self._sleep)
            except Fault as fault:
                # A server that knows no schemas refuses the request; whether it is that shows without one.
                if fault.passing or lasts(fault):
                    raise
            completion = complete(self.endpoint, body, MAX_TOKENS, sleep=self._sleep)
            self._structured = False
            return completion
        return complete(self.endpoint, body, MAX_TOKENS, sleep=self._sleep)


def served_models(verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The components that answered, as the replies in rows of `tables.VERDICTS` name them (PROTOCOL D16).

    `unnamed` stands for replies that name no model. Empty when nothing was answered.
    """
    replies = [json.loads(raw) for raw in {str(row["raw"]) for row in verdicts if row["raw"]}]
    return sorted({component_of(str(reply["served"])) if reply["served"] else UNNAMED for reply in replies})


def _raw(completion: Completion) -> str:
    """The reply as it came: its text, the model that the server names, and how it ended."""
    return canonical_json(
        {"served": completion.model, "reply": completion.text, "finish": completion.finish}
    ).decode()


def _problem(completion: Completion, missing: Sequence[str]) -> str:
    if completion.finish == CUT:
        return f"it was cut off before it answered {', '.join(missing)}"
    return f"it holds no readable answer to {', '.join(missing)}"


def _verdict(
    name: str, answered: Answered | None, known: set[int], problem: str, raw: str, attempts: int
) -> Verdict:
    if answered is None:
        return Verdict(name, None, problem, raw=raw, attempts=attempts)
    turns = tuple(turn for turn in answered.turns if turn in known)
    return Verdict(name, answered.answer, answered.reason, turns, raw=raw, attempts=attempts)
