"""The protocol as typed, frozen data: what a version's folder under `data/protocols/` must hold.

Every model refuses unknown fields. Money is whole US dollars. The account is state: tools read and change
copies of `Account`, and the judge is given the same state (PROTOCOL D8).
"""

from __future__ import annotations

from collections.abc import Callable
from string import Template
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Style = Literal["neutral", "fast", "hesitant", "correcting"]
Role = Literal["goal_directed", "legitimate", "impostor"]
Family = Literal[
    "dup_charge",
    "failed_order",
    "cancel_sub",
    "update_card",
    "change_email",
    "invoice_up",
    "confirm_payment",
    "escalate_refund",
]
Group = Literal["us_female", "us_male", "uk_female", "uk_male"]
ConditionId = Literal["clean", "telephone", "babble"]
Severity = Literal["S1", "S2", "S3", "S4", "S5"]
Source = Literal["audio", "transcript", "trace", "judge"]
Scalar = str | int | bool | None
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Frozen(BaseModel):
    """Base of every boundary model: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- the account behind every scenario (PROTOCOL D8) -------------------------------------------------


class Plan(Frozen):
    """The subscription: name, price in USD a month, status."""

    name: str
    price_usd: int
    status: Literal["active", "cancelled"]


class Charge(Frozen):
    """One charge on the account's card; `refundable` says whether policy lets an agent refund it."""

    id: str
    date: str  # ISO date
    description: str
    amount_usd: int
    duplicate_of: str | None = None  # the charge that this one repeats by mistake
    order_id: str | None = None
    refundable: bool
    refunded_usd: int = 0


class Invoice(Frozen):
    """An invoice: its lines are charge ids, and its total is their sum."""

    id: str
    date: str
    total_usd: int
    lines: tuple[str, ...]


class Order(Frozen):
    """A one-off order outside the plan; a failed one can still have been charged."""

    id: str
    date: str
    description: str
    amount_usd: int
    status: Literal["failed", "fulfilled"]
    charge_id: str


class Payment(Frozen):
    """A payment of an invoice."""

    id: str
    date: str
    invoice_id: str
    amount_usd: int
    card_last4: str
    status: Literal["succeeded", "failed"]


class PromisedRefund(Frozen):
    """A refund that was promised to the holder and has, or has not, been paid out."""

    id: str
    promised_on: str
    amount_usd: int
    reason: str
    status: Literal["not_issued", "issued"]


class Account(Frozen):
    """The one account state; `version` counts changes, so each tool call names the state it saw."""

    number: str
    holder_name: str
    today: str  # ISO date on which every call takes place
    plan: Plan
    card_last4: str
    billing_email: str
    charges: tuple[Charge, ...]
    invoices: tuple[Invoice, ...]
    orders: tuple[Order, ...]
    payments: tuple[Payment, ...]
    promised_refunds: tuple[PromisedRefund, ...]
    policies: tuple[str, ...]  # sentences that an agent may state as policy
    version: int = 0


# --- scenarios (PROTOCOL P1, P2, P5, D7) -------------------------------------------------------------


class RequiredAction(Frozen):
    """The tool call that must stand in the trace, with the arguments it must carry (PROTOCOL D9)."""

    tool: str
    arguments: dict[str, Scalar]


class Correction(Frozen):
    """What a correcting caller says first, and what they correct it to (PROTOCOL D7)."""

    detail: str  # a key of Scenario.knows
    first: str
    corrected: str


class Scenario(Frozen):
    """One caller with one goal.

    `lines` maps a caller move (see `CALLER_MOVES`) to what this caller says for it. A `|` in a line marks a
    clause boundary, at which a hesitant caller pauses for 0.5-1.0 s. `final_state` maps dotted paths of the
    account (`card_last4`, `plan.status`, `charges.CH-102.refunded_usd`) to the values that the goal demands;
    every other field must stand as it was. For an impostor, nothing may change and nothing be disclosed.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9_]+-[a-z0-9_]+$")]
    family: Family
    style: Style
    role: Role
    goal: str
    required_action: RequiredAction | None
    final_state: dict[str, Scalar]
    must_be_told: tuple[str, ...] = ()  # ids of facts (`Protocol.facts`) that an information goal needs
    knows: dict[str, str]
    corrects: Correction | None = None
    voice: str | None = None  # identity scenarios only: the fixed voice (PROTOCOL P5)
    lines: dict[str, str]


CALLER_MOVES = (
    "opening",  # greets and states the goal; the caller speaks first
    "account_number",
    "name",
    "detail",  # the detail that the request needs; a correcting caller says it wrong, then corrects it
    "detail_again",  # the detail as it stands, said plainly: after a wrong read-back or a repeat question
    "confirm",  # yes, go ahead
    "deny",  # no, that is not right, followed by the right detail
    "goal_again",  # the goal in other words: after "how can I help" or a misunderstanding
    "unknown",  # does not have what was asked for
    "push_back",  # once, after a refusal
    "accept_refusal",  # ends the call after a refusal
    "accept_handover",  # agrees to be put through to a person
    "wait",  # agrees to wait
    "still_there",  # once, after 10 s of silence
    "nothing_else",  # the goal is met: thanks, that is all, goodbye; ends the call
    "goodbye",  # ends the call otherwise
)


# --- the rest of a version ---------------------------------------------------------------------------


class Condition(Frozen):
    """What a line does to the caller's speech before the agent hears it (PROTOCOL P3)."""

    id: ConditionId
    description: str
    band_hz: tuple[int, int] | None = None
    rate_hz: int | None = None
    codec: Literal["g711_mu"] | None = None
    snr_db: float | None = None  # against active speech level (PROTOCOL D4)


class Voice(Frozen):
    """A speaker group and the TTS voice that stands for it (PROTOCOL P4)."""

    group: Group
    voice: str
    language: Literal["en-us", "en-gb"]
    reference: bool = False


class EventType(Frozen):
    """A failure event: its id in the protocol, name, severity (PROTOCOL T13) and threshold, if it has one."""

    id: Annotated[str, Field(pattern=r"^T\d+$")]
    name: str
    severity: Severity
    source: tuple[Source, ...]
    definition: str
    threshold: float | None = None
    unit: str | None = None
    minimum_count: int | None = None


JUDGE_NAMES = (
    "account_after", "account_before", "caller", "changes", "demands", "goal", "happened", "questions",
    "shape",
)  # fmt: skip


def _has_names(*names: str) -> Callable[[str], str]:
    """A check that a text has exactly these `$names`."""

    def check(text: str) -> str:
        template = Template(text)
        if not template.is_valid() or sorted(template.get_identifiers()) != sorted(names):
            raise ValueError(f"needs exactly these names: {', '.join(f'${name}' for name in sorted(names))}")
        return text

    return check


class Question(Frozen):
    """A question that the judge answers with yes or no for every call."""

    id: str
    text: str
    event: str | None = None  # name of the event that a `yes` raises
    roles: tuple[Role, ...] = ("goal_directed", "legitimate", "impostor")


class JudgePrompt(Frozen):
    """How the rubric is put to a language model that judges (PROTOCOL T14): its texts, `$names` to be filled.

    `callers` says for each role who calls, `ask` is the whole message, `again` follows an unreadable reply.
    """

    callers: dict[Role, str]
    ask: Annotated[str, AfterValidator(_has_names(*JUDGE_NAMES))]
    again: Annotated[str, AfterValidator(_has_names("problem", "names"))]


class CallerPrompt(Frozen):
    """How a scenario is put to a language model that plays its caller (PROTOCOL S1, P2, D7)."""

    roles: dict[Role, str]
    styles: dict[Style, str]
    corrects: Annotated[str, AfterValidator(_has_names("corrected", "detail", "first"))]
    brief: Annotated[str, AfterValidator(_has_names("corrects", "goal", "knows", "role", "style"))]
    begin: str  # said to it when the line is connected
    silence: str  # and when nobody has spoken for 10 s


class Fact(Frozen):
    """A fact of the account that can be told: `any_of` are the surface forms, normalised, that state it.

    `account` maps dotted paths of the account to the values that make the fact true there (PROTOCOL D8).
    """

    id: str
    text: str
    any_of: tuple[str, ...]
    account: dict[str, Scalar] = {}


class Tools(Frozen):
    """Which tools an agent has, and what each is for (PROTOCOL D18)."""

    lookup: tuple[str, ...]
    verification: tuple[str, ...]
    change: tuple[str, ...]


class Protocol(Frozen):
    """A whole protocol version, loaded from `data/protocols/VERSION/`."""

    version: str
    source: str
    fail_severity: Severity  # a call with an event at or above it fails (PROTOCOL R1, R4)
    caller_level_dbov: float  # active speech level of every caller utterance (ITU-T P.56)
    enrolled_voice: str
    enrolment_texts: tuple[str, ...]  # what a holder says to enrol (PROTOCOL I1); no caller line repeats them
    account: Account
    scenarios: tuple[Scenario, ...]
    conditions: tuple[Condition, ...]
    voices: tuple[Voice, ...]
    events: tuple[EventType, ...]
    questions: tuple[Question, ...]
    facts: tuple[Fact, ...]
    tools: Tools
    judge_prompt: JudgePrompt
    caller_prompt: CallerPrompt
