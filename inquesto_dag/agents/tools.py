"""The six tools of the billing program over one account state (PROTOCOL D8, D9, D18).

A tool checks that a request is valid, not that it is wise: acting before lookup and verification is possible,
and is what T10 detects. Whatever is wrong with a request comes back as an error that the brain reads.
Amounts are whole US dollars, times are s on the call's virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inquesto_dag.agents.account import AccountState, ChangeRefused
from inquesto_dag.files import canonical_json
from inquesto_dag.protocol.models import Account
from inquesto_dag.units import Seconds

VerifyStatus = Literal["verified", "not_verified", "not_enough_speech"]


@dataclass(frozen=True)
class VerifyResult:
    """Outcome of a voice verification; `similarity` is None after too little speech (PROTOCOL D11)."""

    status: VerifyStatus
    similarity: float | None
    threshold: float


@dataclass(frozen=True)
class ToolResult:
    """What a tool answers: `content` holds the answer, or `error` with a message when not `ok`."""

    ok: bool
    content: dict[str, Any]


class _Arguments(BaseModel):
    # Strict: the goal predicate compares arguments as given, so "49" must not pass for 49.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    account_number: Annotated[
        str, Field(pattern=r"^\d{3,12}$", description="The account number, digits only, as a string")
    ]


class LookupAccount(_Arguments):
    """Read the account: plan, card, billing e-mail, charges, invoices, orders, payments, promised refunds."""


class VerifyVoice(_Arguments):
    """Compare the caller's voice with the account holder's; answers verified, not_verified or
    not_enough_speech."""


class IssueRefund(_Arguments):
    """Refund one charge in full to the card on file."""

    charge_id: Annotated[str, Field(min_length=1, description="Id of the charge, as lookup_account gives it")]
    amount_usd: Annotated[int, Field(gt=0, description="The charge's amount in whole US dollars")]


class UpdateCard(_Arguments):
    """Put another card on file."""

    card_last4: Annotated[str, Field(pattern=r"^\d{4}$", description="Last four digits of the new card")]


class UpdateEmail(_Arguments):
    """Set another billing e-mail address."""

    email: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}$",
            description="The new address, such as name@host.com",
        ),
    ]


class CancelSubscription(_Arguments):
    """Cancel the account's plan."""


ARGUMENTS: Mapping[str, type[_Arguments]] = {
    "lookup_account": LookupAccount,
    "verify_voice": VerifyVoice,
    "issue_refund": IssueRefund,
    "update_card": UpdateCard,
    "update_email": UpdateEmail,
    "cancel_subscription": CancelSubscription,
}


def tool_specs() -> list[dict[str, Any]]:
    """Name, description and JSON Schema of the arguments of every tool, in the program's order."""
    specs = []
    for name, model in ARGUMENTS.items():
        schema = model.model_json_schema()
        description = " ".join(str(schema.pop("description")).split())
        schema.pop("title")
        for parameter in schema["properties"].values():
            parameter.pop("title")
        specs.append({"name": name, "description": description, "parameters": schema})
    return specs


def visible_record(account: Account) -> dict[str, Any]:
    """The account as lookup_account shows it to an agent, and as the judge sees it (PROTOCOL T14, D8)."""
    return account.model_dump(mode="json", exclude={"version"})


class ToolBox:
    """The tools of one call.

    `verify` compares the caller's voice; `clock` is the time in s without what this reply's tools have taken,
    which is `reply_spent_s`; `time_of_tool(index)` is how many s tool call `index` (from 0) takes.
    `begin_reply` starts a reply. `rows` are the rows of `tables.TOOL_CALLS` without `call_id` and `turn`.
    """

    def __init__(
        self,
        state: AccountState,
        verify: Callable[[], VerifyResult],
        clock: Callable[[], Seconds],
        time_of_tool: Callable[[int], Seconds],
    ) -> None:
        self.state = state
        self.rows: list[dict[str, Any]] = []
        self.reply_spent_s = 0.0
        self._verify, self._clock, self._time_of_tool = verify, clock, time_of_tool

    @property
    def specs(self) -> list[dict[str, Any]]:
        """Name, description and JSON Schema of every tool."""
        return tool_specs()

    def begin_reply(self) -> None:
        """Start counting the tool time of a new reply."""
        self.reply_spent_s = 0.0

    def call(self, name: str, arguments: dict[str, Any]) -> ToolResult:
        """Do what is asked, or say why not; it is recorded, and a brain's mistake raises nothing."""
        before = self.state.current.version
        time_s = self._clock() + self.reply_spent_s
        try:
            result = ToolResult(True, self._do(name, arguments))
        except ChangeRefused as refusal:
            result = ToolResult(False, {"error": str(refusal)})
        return self._keep(name, arguments, result, time_s, before)

    def refuse(self, name: str, written: str, problem: str) -> ToolResult:
        """Record a call that was made so that it cannot be executed, `written` as it was, and answer why."""
        time_s = self._clock() + self.reply_spent_s
        return self._keep(
            name, written, ToolResult(False, {"error": problem}), time_s, self.state.current.version
        )

    def _keep(
        self, name: str, arguments: object, result: ToolResult, time_s: Seconds, before: int
    ) -> ToolResult:
        index = len(self.rows)
        self.reply_spent_s += self._time_of_tool(index)
        self.rows.append(
            {
                "index": index,
                "time_s": time_s,
                "tool": name,
                "arguments": _json(arguments),
                "ok": result.ok,
                "result": _json(result.content),
                "version_before": before,
                "version_after": self.state.current.version,
            }
        )
        return result

    def _do(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        given = _check(name, arguments)
        if given.account_number != self.state.current.number:
            raise ChangeRefused(
                f"there is no account {given.account_number}; ask the caller to repeat the account number"
            )
        match given:
            case LookupAccount():
                return visible_record(self.state.current)
            case VerifyVoice():
                outcome = self._verify()
                return {
                    "status": outcome.status,
                    "similarity": outcome.similarity,
                    "threshold": outcome.threshold,
                }
            case IssueRefund():
                self.state.refund(given.charge_id, given.amount_usd)
                return {"refunded_usd": given.amount_usd, "charge_id": given.charge_id}
            case UpdateCard():
                return {"card_last4": self.state.change_card(given.card_last4).card_last4}
            case UpdateEmail():
                return {"billing_email": self.state.change_email(given.email).billing_email}
            case _:
                plan = self.state.cancel_plan().plan
                return {"plan": plan.name, "status": plan.status}


def _check(name: str, arguments: object) -> _Arguments:
    model = ARGUMENTS.get(name)
    if model is None:
        raise ChangeRefused(f"there is no tool {name!r}; the tools are {', '.join(ARGUMENTS)}")
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            field = ".".join(str(part) for part in fault["loc"]) or "arguments"
            hint = model.model_fields[field].description if field in model.model_fields else None
            faults.append(f"{field}: {fault['msg']}" + (f" ({hint})" if hint else ""))
        raise ChangeRefused(f"{name} was not called: " + "; ".join(faults)) from error


def _json(value: object) -> str:
    try:
        return canonical_json(value).decode()
    except (TypeError, ValueError):  # a brain may hand over what JSON cannot hold; the trace still shows it
        return canonical_json(repr(value)).decode()
