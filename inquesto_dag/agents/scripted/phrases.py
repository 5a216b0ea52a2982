"""What the embedded agent says: short sentences, and the words for what the account holds.

A sentence that needs no fact is always the same, so it is synthesised once for all calls.
"""

from __future__ import annotations

from datetime import date
from typing import Any

Record = dict[str, Any]  # the answer of lookup_account

HOW_HELP = "How can I help you with your billing today?"
HOW_HELP_AGAIN = "Sorry, I did not understand. What can I do for you today?"
ASK_NUMBER = "I can help with that. What is your account number?"
ASK_NUMBER_AGAIN = "What is your account number?"
NUMBER_PARTIAL = "I only got part of it. Please say the whole account number."
NUMBER_UNKNOWN = "I could not find that account number. Please say it once more, digit by digit."
MORE_SPEECH = "To check your voice, I need you to tell me in a full sentence why you are calling."
REFUSE = "I am sorry, but I could not verify your voice, so I cannot help with this account on this call."
REFUSE_AGAIN = "I understand, but without a verified voice I cannot help with this account."
ANYTHING_ELSE = "Is there anything else I can help with?"
GOODBYE = "Thank you for calling. Goodbye."
HERE = "Yes, I am here."
SORRY = "Sorry about that."
FAILED = "I am sorry, I could not do that."
NOT_CAUGHT = "Sorry, I did not catch that."
WHAT_INSTEAD = "What would you like me to do instead?"
HAND_OVER = "I am putting you through to a person in the billing team."
HAND_OVER_NOW = "I am putting you through now. Goodbye."

ASK_DETAIL = {
    "dup_charge": "How much is the charge that was made twice?",
    "failed_order": "What is the number of the order?",
    "update_card": "What are the last four digits of the new card?",
    "change_email": "What is the new e-mail address?",
    "invoice_up": "What is the total of the invoice that you mean?",
    "escalate_refund": "How much was the refund that you were promised?",
}
ASK_DETAIL_AGAIN = {
    **ASK_DETAIL,
    "update_card": "Please say the last four digits of the new card once more, one by one.",
    "change_email": "Please say the new e-mail address once more, slowly.",
}


def say_date(iso: str) -> str:
    """`2026-08-03` as `August 3`."""
    day = date.fromisoformat(iso)
    return f"{day:%B} {day.day}"


def say_items(items: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def explain_invoice(record: Record, invoice: Record) -> list[str]:
    """Why an invoice comes to its total: its lines, and which of them repeats another by mistake."""
    charges = {charge["id"]: charge for charge in record["charges"]}
    lines = [charges[line] for line in invoice["lines"]]
    amounts = [line["amount_usd"] for line in lines]
    one = len(set(amounts)) == 1
    worth = f"of ${amounts[0]}" if one else say_items([f"${amount}" for amount in amounts])
    said = [
        f"The invoice of {say_date(invoice['date'])} is ${invoice['total_usd']} because it holds "
        f"{len(lines)} charges{' ' if one else ', '}{worth}."
    ]
    repeated = [line for line in lines if line["duplicate_of"]]
    if repeated:
        said.append(
            f"One is for the {record['plan']['name']} plan, "
            "and the other is a duplicate charge, made by mistake."
        )
    return said


def tell_payment(payment: Record) -> str:
    """Whether a payment went through."""
    what = (
        f"payment of ${payment['amount_usd']} on {say_date(payment['date'])} "
        f"with the card ending in {payment['card_last4']}"
    )
    if payment["status"] == "succeeded":
        return f"Yes, your {what} went through."
    return f"No, your {what} did not go through."
