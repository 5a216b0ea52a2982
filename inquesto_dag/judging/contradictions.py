"""What an agent states that contradicts the account (PROTOCOL T8).

Conventions: a fact is right when it holds in the account before the call, after it, or in between, since a
call may change it. Only statements count: a question, a read-back of the caller's words, a condition and a
denial state nothing. What the record does not speak of cannot contradict it, but an amount, a past date, a
card, an order or an address that is told as a fact of the account and is not in it does. A claim to have made
the very change that the caller asked for is T9's matter and not repeated here.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from inquesto_dag.judging.changes import CHANGE_OF, Change, done_claims, done_in, promises
from inquesto_dag.judging.claims import Place, Talk, conditional, stated
from inquesto_dag.judging.corrections import puts_aside
from inquesto_dag.judging.facts import Facts
from inquesto_dag.judging.statuses import STATUSES
from inquesto_dag.judging.text import (
    AMOUNT,
    DATE,
    EMAIL,
    HYPOTHETICAL,
    Sentence,
    date_token,
    negated,
    normalise,
    values,
)
from inquesto_dag.protocol.models import Correction, Family


@dataclass(frozen=True)
class Finding:
    """One statement: where, the sentence, what it is about (a path of the account) and what is wrong."""

    place: Place
    sentence: str
    field: str
    reason: str


_FACTUAL = re.compile(
    r"\b(?:i (?:can )?see|i(?:'ve)? found|there (?:is|are|was|were)|shows?|on (?:file|record|your account)|"
    r"is|was|are|were|'s|refunded|charged|billed|paid|record|collected|cost|costs)\b"
)
# What the agent has written down is what the caller said.
_NOTED = re.compile(
    r"\b(?:my notes?|i (?:had|noted|wrote|jotted|put|typed|entered|took)|noted|written "
    r"down|down as)\b"
)
_TAKES_BACK = re.compile(
    r"\b(?:i mean|i meant|misread\w*|correction|my mistake|i was wrong|scratch that|no wait|let me correct|"
    r"i misspoke|sorry (?:i|no|it)|"
    r"oops|sorry that's)\b"
)
_CARD_TALK = re.compile(
    r"\b(?:cards?|ending|ends|last (?:4|four)|(?:last|final) digits|mastercard|visa|"
    r"charging)\b"
)
_CARD = re.compile(r"(?<![\w$<@.-])((?!20[12]\d)\d{4})(?![\w@>.-])")
_NUMBER_OF = re.compile(r"\b(?:account|order|invoice|ord)(?: number| no)?(?: is| as| in| ord)* $")
_ACCOUNT = re.compile(
    r"\baccount(?: number| no)?(?: is| ending(?: in)?| as| with(?: the)? number| number| under)* (\d{3,8})\b"
)
_ORDER = re.compile(r"\b(?:order|ord)(?: number| no| ord)* (\d{3,6})\b")
_DAYS = re.compile(r"\b(\d+)(?: (?:to|or|and) (\d+))? (?:business |working )?(hour|day|week|month)s?\b")
_ARRIVES = re.compile(
    r"\b(?:takes?|within|reach\w*|arriv\w*|hit|shows?|land|see|get|receive|back|until|process\w*|expect|"
    r"appear\w*|up to|"
    r"after|allow|in)\b"
)
_WAITED = re.compile(r"\b(?:ago|been|waiting|waited|since|promised|late|overdue|already)\b")
_MONEY_BACK = re.compile(r"\b(?:refund\w*|money|credit\w*|amount|reimburse\w*)\b|\$\d")
_LINK = (
    r"(?: (?:of|for|from|on|dated|is|was|were|came to|comes to|came|comes|total|totals|totaled|totalled|"
    r"amount|"
    r"amounts to|in|a|an|last|the|your|which|that|made|placed|went through|received|issued|charged|cost|"
    r"costs|at|only|"
    r"just|merely|exactly|about|stands|now|currently|over|been|has|have|it|and|to|with|worth|sum|price|"
    r"simply|also|"
    r"<\d\d-\d\d>))*"
)


# How a clause ties an amount to an entry of the account; AMOUNT stands for the amount in question.
_AMOUNT_OF = (
    (
        r"\b(?:plan|subscription|pro|rate|fee)(?: (?:is|costs|for|at|of|price|comes to|was|now|currently|"
        r"runs|goes|up|to|"
        r"went|has|gone|pro|plan|you|monthly))+ AMOUNT",
        "plan.price_usd",
    ),
    (r"AMOUNT (?:per|a|each|every|/) month\b|AMOUNT monthly\b", "plan.price_usd"),
    (rf"\b(?:invoice|bill)\b{_LINK} AMOUNT(?! (?:charge|line|each|more|higher|too))", "invoices.total_usd"),
    (rf"\border\b(?: ord)?(?: \d+)?{_LINK} AMOUNT", "orders.amount_usd"),
    (
        r"AMOUNT(?: (?:was|is|charge|charged|were|that|which))* (?:for|from) (?:the |your |that "
        r")?(?:failed )?"
        r"(?:order|ord)\b",
        "orders.amount_usd",
    ),
    (r"\bpromised(?: \w+){0,3} AMOUNT", "promised_refunds.amount_usd"),
    (rf"\bpayment\b{_LINK} AMOUNT", "payments.amount_usd"),
)


def contradictions(
    talk: Talk, family: Family, facts: Facts, corrected: Correction | None = None
) -> list[Finding]:
    """Statements of the agent that contradict the account, in order.

    A detail in its first form, beside the form to which the caller corrected it, is only put aside (T6).
    """
    own = CHANGE_OF.get(family)
    found: list[Finding] = []
    for place, sentence in talk.agent():
        heard = values(talk.caller_before(place.turn))
        # The details of the change that was asked for are told before they stand in the account.
        asked = own is not None and (done_in(sentence, own) or promises(sentence, own))
        turn = next(t for t in talk.turns if t.number == place.turn)
        for clause in stated(sentence):
            if corrected is not None and puts_aside(turn, clause, corrected):
                continue
            for field, reason in _faults(clause, sentence, facts, heard, family, asked):
                found.append(Finding(place, sentence.text, field, reason))
    return sorted([*found, *_false_changes(talk, own, facts)], key=lambda finding: finding.place)


def _faults(
    clause: str, sentence: Sentence, facts: Facts, heard: frozenset[str], family: Family, asked: bool
) -> Iterator[tuple[str, str]]:
    supposed = bool(HYPOTHETICAL.search(clause)) or conditional(clause, sentence)
    whole = clause == sentence.norm and len(sentence.clauses) > 1
    if not supposed:
        yield from _amounts(clause, sentence, facts, heard, whole)
        yield from _dates(clause, facts, heard, whole)
        yield from _identifiers(clause, sentence, facts, heard, asked)
    if whole:
        return
    yield from _durations(clause, sentence, facts)
    if family == "cancel_sub" and not supposed:
        yield from _access(clause, facts)
    for status in STATUSES:
        if supposed and not (
            status.policy
            and not re.search(
                r"\b(?:would|had|could|"
                r"might)\b",
                sentence.norm,
            )
        ):
            continue
        if (status.families is None or family in status.families) and status.false_in(facts):
            match = re.search(status.pattern, clause)
            excluded = status.unless and re.search(status.unless, sentence.norm)
            reach = len(match.group().split()) + 3 if match else 0
            denied = match and status.deniable and negated(clause, match.end(), reach)
            if match and not excluded and not denied:
                yield status.field, status.reason


def _amounts(
    clause: str, sentence: Sentence, facts: Facts, heard: frozenset[str], whole: bool
) -> Iterator[tuple[str, str]]:
    # An amount that is taken back in the same breath is none that was told.
    if _TAKES_BACK.search(sentence.norm) and len(AMOUNT.findall(sentence.norm)) > 1:
        return
    for match in AMOUNT.finditer(clause):
        value, text = float(match[1]), match.group()
        if negated(clause, match.start()):
            continue
        echo = text in heard and (_NOTED.search(clause) or not _FACTUAL.search(clause))
        if value not in facts.amounts:
            if not echo and not whole:
                yield "amounts", f"{text} is no amount of the account"
            continue
        for pattern, field in _AMOUNT_OF:
            right = facts.amounts_of(field)
            if value not in right and right and re.search(pattern.replace("AMOUNT", re.escape(text)), clause):
                yield field, f"{text} is not the {field.split('.')[0]}'s amount"


def _dates(clause: str, facts: Facts, heard: frozenset[str], whole: bool) -> Iterator[tuple[str, str]]:
    a = facts.before
    for match in DATE.finditer(clause):
        text = match.group()
        if negated(clause, match.start()) or whole:
            continue
        if match[1] not in facts.dates and match[1] <= date_token(a.today):
            if text not in heard or _FACTUAL.search(clause):
                yield "dates", f"{match[1]} is no date of the account"
            continue
        for noun, field, right in (
            ("invoice", "invoices.date", {date_token(i.date) for i in a.invoices}),
            ("payment", "payments.date", {date_token(p.date) for p in a.payments}),
            (r"order(?: ord)?(?: \d+)?", "orders.date", {date_token(o.date) for o in a.orders}),
            (
                "promised",
                "promised_refunds.promised_on",
                {date_token(p.promised_on) for p in a.promised_refunds},
            ),
        ):
            if re.search(rf"\b{noun}\b{_LINK} {text}", clause) and right and match[1] not in right:
                yield field, f"{match[1]} is not the date of the {field.split('.')[0]}"


def _identifiers(
    clause: str, sentence: Sentence, facts: Facts, heard: frozenset[str], asked: bool
) -> Iterator[tuple[str, str]]:
    on_file = re.search(r"\b(?:on file|current|currently|have (?:here|on)|old)\b", clause) and not asked
    for match in _CARD.finditer(clause) if _CARD_TALK.search(sentence.norm) else ():
        digits, start = match[1], match.start()
        told = digits not in heard or on_file
        if _NUMBER_OF.search(clause[:start]) or digits == facts.before.number or digits in facts.orders:
            continue
        if digits not in facts.cards and told and not negated(clause, start):
            yield "card_last4", f"no card of the account ends in {digits}"
    for match in EMAIL.finditer(clause):
        told = match.group() not in heard or on_file
        part = any(email.endswith(match.group().lower()) for email in facts.emails)
        known = part or match.group().lower() in facts.emails
        if told and not known and not negated(clause, match.start()):
            yield "billing_email", f"{match.group()} is no address of the account"
    for match in _ACCOUNT.finditer(clause):
        if match[1] not in {facts.before.number, *heard} and not negated(clause, match.start()):
            yield "number", f"{match[1]} is not the account's number"
    for match in _ORDER.finditer(clause):
        if match[1] not in facts.orders | heard and not negated(clause, match.start()):
            yield "orders.id", f"the account has no order {match[1]}"
    plan = re.search(
        r"\b(basic|starter|free|standard|plus|premium|business|enterprise|team|pro|family|gold|silver|lite|"
        r"ultimate|advanced|deluxe|individual|student|essential|max) plan\b",
        clause,
    )
    if plan and plan[1] != facts.before.plan.name.lower() and not negated(clause, plan.start()):
        yield "plan.name", f"the account has no {plan[1]} plan"


def _durations(clause: str, sentence: Sentence, facts: Facts) -> Iterator[tuple[str, str]]:
    """A time within which refunds arrive that is not the policy's."""
    if not _MONEY_BACK.search(sentence.norm) or _WAITED.search(clause):
        return
    if re.search(r"\b(?:would|had|might)\b", clause):
        return
    policies = [normalise(policy) for policy in facts.before.policies]
    allowed = {_span(m)[1] for policy in policies if "refund" in policy for m in _DAYS.finditer(policy)}
    for match in _DAYS.finditer(clause):
        arrives = _ARRIVES.search(clause)
        if allowed and arrives and _span(match)[1] > max(allowed):
            yield "policies", f"refunds do not take {match.group()} by policy"


def _access(clause: str, facts: Facts) -> Iterator[tuple[str, str]]:
    """A day until which a cancelled plan can be used that is not the end of the paid month."""
    today = date.fromisoformat(facts.before.today)
    last = monthrange(today.year, today.month)[1]
    for match in re.finditer(r"\b(?:until|till|through|up to) <(\d\d)-(\d\d)>", clause):
        if (int(match[1]), int(match[2])) != (today.month, last) and int(match[1]) >= today.month:
            yield "policies", f"a cancelled plan cannot be used until {match[1]}-{match[2]}"


def _span(match: re.Match[str]) -> tuple[float, float]:
    """The days that a duration spans; a week has five business days."""
    unit = {"hour": 1 / 24, "day": 1.0, "week": 5.0, "month": 22.0}[match[3]]
    low = int(match[1]) * unit
    return low, int(match[2]) * unit if match[2] else low


def _false_changes(talk: Talk, own: Change | None, facts: Facts) -> Iterator[Finding]:
    """Changes that are claimed, were not asked for and never made; and made ones told with wrong values."""
    before, after = facts.before, facts.after
    made: dict[Change, bool] = {
        "refund": bool(facts.refunds),
        "cancel": after.plan.status == "cancelled",
        "card": after.card_last4 != before.card_last4,
        "email": after.billing_email != before.billing_email,
    }
    for change in made:
        for place, sentence in done_claims(talk, change):
            if not made[change]:
                # A plain `I have updated it` may be about the change that was asked for.
                named = re.search(_NAMED[change], sentence.norm)
                if own != change and named:
                    yield Finding(place, sentence.text, change, f"no such change was made: {change}")
                continue
            if change == "refund":
                wrong = [f"${x}" for x in AMOUNT.findall(sentence.norm) if float(x) not in facts.refunds]
                wrong = [
                    x
                    for x in wrong
                    if re.search(
                        rf"refund\w*(?: \w+){{0,3}} {re.escape(x)}(?! (?:charge|total))", sentence.norm
                    )
                ]
            elif change == "card":
                told = [m[1] for m in _CARD.finditer(sentence.norm)]
                wrong = [x for x in told if x not in facts.cards and x != before.number]
            elif change == "email":
                wrong = [x for x in EMAIL.findall(sentence.norm) if x.lower() not in facts.emails]
            else:
                wrong = []
            if wrong:
                yield Finding(
                    place, sentence.text, change, f"the change was made, but not to {', '.join(wrong)}"
                )


_NAMED: dict[Change, str] = {
    "refund": r"\b(?:refund|refunded|credited|reimbursed)\b",
    "cancel": r"\bcancell?(?:ed|ation)\b.*\b(?:plan|subscription|membership)\b|"
    r"\b(?:plan|subscription|membership)\b.*\b(?:cancell?ed|terminated|ended)\b|\bcancellation\b",
    "card": r"\bcard\b",
    "email": r"\b(?:email|address)\b|@",
}
