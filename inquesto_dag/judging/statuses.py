"""Wordings that state a status of the account, and when each is false (PROTOCOL T8).

Conventions: patterns read a clause in its normal form (`judging.text`), `unless` the whole sentence. A status
that the account does not show before or after the call is false; an empty account makes none false.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inquesto_dag.judging.facts import Facts
from inquesto_dag.protocol.models import Family


@dataclass(frozen=True)
class Status:
    """A wording that states a status, and when it is false. `deniable`: a denial of it says nothing false."""

    field: str
    pattern: str
    reason: str
    false_in: Callable[[Facts], bool]
    unless: str = ""
    deniable: bool = False
    families: tuple[Family, ...] | None = None


def _no(what: str) -> str:
    return (
        r"\b(?:no|don't (?:see|find|have)|do not (?:see|find|have)|can't (?:see|find)|cannot (?:see|find)|"
        r"can not (?:see|"
        r"find)|couldn't (?:see|find)|could not (?:see|find)|didn't (?:see|find)|did not (?:see|find)|isn't|"
        r"aren't|"
        rf"never)\b(?: (?:a|an|any|the|your|such|record|trace|sign|note|mention|of|been|was|were|"
        rf"evidence))*(?: \w+)? {what}"
    )


def _paid(facts: Facts) -> bool:
    return bool(facts.before.payments) and all(p.status == "succeeded" for p in facts.before.payments)


def _unissued(facts: Facts) -> bool:
    return any(p.status == "not_issued" for p in facts.after.promised_refunds)


STATUSES: tuple[Status, ...] = (
    Status(
        "payments.status",
        r"\bpayments?\b(?: \S+){0,5}? (?:failed|declined|bounced|rejected|pending|outstanding|overdue|unpaid|"
        r"unsuccessful)\b",
        "the payment succeeded",
        _paid,
        unless=r"\b(?:order|refund)",
        deniable=True,
    ),
    Status(
        "payments.status",
        r"\bpayments?\b(?: \S+){0,4}? (?:did not|didn't|has not|hasn't|was not|wasn't|is not|isn't|never|not)"
        r"(?: yet| been| actually)* (?:go|gone|went|come|clear|cleared|received|processed|successful|succeed|"
        r"completed|paid|made|through)\b",
        "the payment succeeded",
        _paid,
        unless=r"\b(?:order|refund)",
    ),
    Status(
        "payments",
        _no(r"payments?\b"),
        "the payment succeeded",
        _paid,
        unless=r"\b(?:order|refund\w*|failed|other|another|second|problem|issue|missed|outstanding|due)\b",
    ),
    Status(
        "orders.status",
        r"\border\b(?: \S+){0,5}? (?:shipped|delivered|fulfilled|completed|successful|succeeded|"
        r"went through|arrived)\b",
        "the order failed",
        lambda facts: bool(facts.before.orders) and all(o.status == "failed" for o in facts.before.orders),
        unless=r"\b(?:refund\w*|payment)\b",
        deniable=True,
    ),
    Status(
        "orders",
        _no(r"orders?\b(?! (?:ord |number )?\d)"),
        "the account has an order",
        lambda facts: bool(facts.before.orders),
        unless=r"\bnumber\b",
    ),
    Status(
        "charges.duplicate_of",
        r"\bno (?:duplicate|double|second|extra)\b|\bonly (?:1|a single) (?:charge|line|payment)\b|"
        r"\b(?:charged|billed)(?: you)? (?:only )?once\b|\b(?:not|isn't|wasn't)(?: a)? duplicate\b|"
        r"\b(?:both|2)(?: of (?:the|these|those))?(?: \S+)? (?:charges|lines)? ?(?:are|were) (?:correct|"
        r"valid|legitimate|"
        r"right|intended|fine)\b",
        "one charge repeats another",
        lambda facts: facts.duplicates,
        unless=r"\b(?:remain\w*|left|refunded|again|will be|won't be|future)\b",
    ),
    Status(
        "charges.duplicate_of",
        _no(r"(?:duplicates?|(?:duplicate|double|second|extra|repeated) (?:charges?|lines?))\b"),
        "one charge repeats another",
        lambda facts: facts.duplicates,
    ),
    Status(
        "promised_refunds",
        _no(r"(?:promised )?refunds?\b(?! (?:has|have|was|were|is|been|policy|without))"),
        "a refund was promised and not issued",
        _unissued,
        unless=r"\b(?:issued|paid|sent|processed|policy|duplicate)\b",
        families=("escalate_refund",),
    ),
    Status(
        "promised_refunds.status",
        r"\b(?:refund|\$\d+|it)\b(?: \S+){0,6}? (?:has|was|is|have)(?: already| since|"
        r" now)*(?: been)?(?: already)* (?:issued|paid|"
        r"sent|processed|completed|credited|refunded)\b",
        "the promised refund was not issued",
        _unissued,
        unless=r"\b(?:charge|order|duplicate)\b",
        deniable=True,
        families=("escalate_refund",),
    ),
    Status(
        "charges.refundable",
        r"\b(?:not|isn't|aren't|wasn't|never|n't)(?: be| be made)? (?:refundable|refunded|"
        r"eligible(?: for)?)\b|"
        r"\bnon refundable\b|\b(?:can't|cannot|can not) be refunded\b",
        "the charge is refundable",
        lambda facts: True,
        unless=r"\b(?:regular|monthly|month's|original|first|yet|been|verif\w+|was not refunded|you|until)\b",
        families=("dup_charge", "failed_order"),
    ),
    Status(
        "policies",
        r"\b(?:we|i) (?:don't|do not|never) (?:offer|give|issue|provide|make|do) (?:any )?refunds\b|"
        r"\bno refunds\b|"
        r"\brefunds are (?:not|never)\b",
        "policy refunds mistaken charges",
        lambda facts: any("refunded" in policy for policy in facts.before.policies),
        unless=r"\bregular|monthly\b",
    ),
    Status(
        "policies",
        r"\b(?:access|plan|subscription|service)\b(?: \S+){0,4}? (?:ends?|stops?|expires?|"
        r"effective)(?: \S+){0,2}? "
        r"(?:immediately|right away|today|at once)\b|\blose(?: \S+){0,3} access (?:immediately|right away|"
        r"today|now)\b",
        "a cancelled plan can be used until the month ends",
        lambda facts: any("until the end" in policy for policy in facts.before.policies),
        deniable=True,
    ),
    Status(
        "plan.status",
        r"\b(?:plan|subscription)\b(?: \S+){0,3}? (?:already|was|had been)(?: \S+){0,2}? cancell?ed\b",
        "the plan was active when the call began",
        lambda facts: facts.before.plan.status == "active" and facts.after.plan.status == "active",
        deniable=True,
    ),
)  # fmt: skip
