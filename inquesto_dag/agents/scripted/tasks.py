"""What each request needs from the caller and the record, and what is done for it.

A task finds its facts in what `lookup_account` answered and in the caller's details; nothing about the
account is known beforehand. `plan_task` says what to do next, the policy does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inquesto_dag.agents.scripted.phrases import Record, explain_invoice, say_date, tell_payment
from inquesto_dag.agents.scripted.understand import Intent

DETAIL_REQUIRED = frozenset({"update_card", "change_email"})  # without it there is nothing to do
DETAIL_TELLS_APART = frozenset({"dup_charge", "failed_order", "invoice_up", "escalate_refund"})


@dataclass
class Details:
    """What the caller has said so far, each the last as corrected; amounts in US dollars."""

    card: str | None = None
    email: str | None = None
    order: str | None = None
    amounts: tuple[int, ...] = ()

    def of(self, intent: Intent) -> object:
        """The detail that a request turns on, or None while it was not said."""
        match intent:
            case "update_card":
                return self.card
            case "change_email":
                return self.email
            case "failed_order":
                return self.order
            case _:
                return self.amounts or None


@dataclass(frozen=True)
class Action:
    """A change to make once the caller has agreed: what to read back, the tool call, what to say then."""

    read_back: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]
    done: str


@dataclass(frozen=True)
class Answer:
    """Something to tell; nothing is changed. `hand_over` ends the agent's part with a person taking over."""

    sentences: tuple[str, ...]
    hand_over: bool = False


def _matching(items: list[Record], amounts: tuple[int, ...], key: str = "amount_usd") -> Record | None:
    """The item whose amount the caller named last, else the latest item; None without items."""
    for amount in reversed(amounts):
        for item in items:
            if item[key] == amount:
                return item
    return max(items, key=lambda item: str(item.get("date") or item.get("promised_on")), default=None)


def candidates(intent: Intent, record: Record) -> list[Record]:
    """What of the record a request can be about: its charges, orders, invoices, payments or refunds."""
    charges = {charge["id"]: charge for charge in record["charges"]}

    def is_open(charge: Record) -> bool:
        return bool(charge["refundable"]) and not charge["refunded_usd"]

    match intent:
        case "dup_charge":
            return [charge for charge in charges.values() if charge["duplicate_of"] and is_open(charge)]
        case "failed_order":
            failed = [order for order in record["orders"] if order["status"] == "failed"]
            return [order for order in failed if is_open(charges[order["charge_id"]])]
        case "invoice_up":
            return list(record["invoices"])
        case "confirm_payment":
            return list(record["payments"])
        case "escalate_refund":
            return [refund for refund in record["promised_refunds"] if refund["status"] == "not_issued"]
        case _:
            return []


def needs_detail(intent: Intent, record: Record, details: Details) -> bool:
    """Whether the caller must still say a detail: one to change to, or one that tells several items apart."""
    if details.of(intent) is not None:
        return False
    return intent in DETAIL_REQUIRED or (intent in DETAIL_TELLS_APART and len(candidates(intent, record)) > 1)


def _refund(record: Record, charge: Record, why: str) -> Action:
    amount, day = charge["amount_usd"], say_date(charge["date"])
    return Action(
        (why, f"Shall I refund ${amount} to your card?"),
        "issue_refund",
        {"account_number": record["number"], "charge_id": charge["id"], "amount_usd": amount},
        f"I have refunded the ${amount} of {day} to your card.",
    )


def _duplicate(record: Record, details: Details) -> Action | Answer:
    charge = _matching(candidates("dup_charge", record), details.amounts)
    if charge is None:
        return Answer(("I see no charge that was made twice and is still open.",), hand_over=True)
    return _refund(
        record,
        charge,
        f"I see a charge of ${charge['amount_usd']} on {say_date(charge['date'])} that was made twice.",
    )


def _failed_order(record: Record, details: Details) -> Action | Answer:
    failed = candidates("failed_order", record)
    named = [o for o in failed if details.order and "".join(filter(str.isdigit, o["id"])) == details.order]
    order = _matching(named or failed, details.amounts)
    if order is None:
        return Answer(("I see no failed order with an open charge.",), hand_over=True)
    charge = next(charge for charge in record["charges"] if charge["id"] == order["charge_id"])
    return _refund(
        record,
        charge,
        f"I see that order {order['id']} of {say_date(order['date'])} failed, "
        f"and ${charge['amount_usd']} was charged.",
    )


def plan_task(intent: Intent, record: Record, details: Details) -> Action | Answer:
    """What the request comes to; the details in DETAIL_REQUIRED must have been said."""
    number = record["number"]
    match intent:
        case "dup_charge":
            return _duplicate(record, details)
        case "failed_order":
            return _failed_order(record, details)
        case "cancel_sub":
            plan = record["plan"]
            if plan["status"] == "cancelled":
                return Answer((f"Your {plan['name']} plan is already cancelled.",))
            return Action(
                (f"You want me to cancel your {plan['name']} plan.", "Shall I go ahead?"),
                "cancel_subscription",
                {"account_number": number},
                f"I have cancelled your {plan['name']} plan.",
            )
        case "update_card":
            return Action(
                (f"The new card ends in {details.card}.", "Is that right?"),
                "update_card",
                {"account_number": number, "card_last4": details.card},
                f"I have updated your card. It now ends in {details.card}.",
            )
        case "change_email":
            return Action(
                (f"The new e-mail address is {details.email}.", "Is that right?"),
                "update_email",
                {"account_number": number, "email": details.email},
                f"I have changed your billing e-mail address to {details.email}.",
            )
        case "invoice_up":
            invoice = _matching(candidates(intent, record), details.amounts, "total_usd")
            if invoice is None:
                return Answer(("I see no invoice on this account.",), hand_over=True)
            return Answer(tuple(explain_invoice(record, invoice)))
        case "confirm_payment":
            payment = _matching(candidates(intent, record), details.amounts)
            if payment is None:
                return Answer(("I see no payment on this account.",), hand_over=True)
            return Answer((tell_payment(payment),))
        case "escalate_refund":
            refund = _matching(candidates(intent, record), details.amounts)
            if refund is None:
                return Answer(("I see no promised refund that is still open.",), hand_over=True)
            return Answer(
                (
                    f"I see that the refund of ${refund['amount_usd']}, promised on "
                    f"{say_date(refund['promised_on'])}, has not been issued.",
                ),
                hand_over=True,
            )
