"""What may rightly be said of an account during one call: before it, after it, and every value in it.

Conventions: amounts are US dollars, dates are `MM-DD` as in a normal form (`judging.text`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inquesto_dag.judging.text import date_token
from inquesto_dag.protocol.models import Account


@dataclass(frozen=True)
class Facts:
    """What may rightly be said of an account during one call."""

    before: Account
    after: Account
    between: frozenset[str] = frozenset()  # cards and addresses that stood in between

    @property
    def both(self) -> tuple[Account, Account]:
        return self.before, self.after

    @property
    def refunds(self) -> list[float]:
        """Amounts refunded by the end of the call, per charge and in all."""
        each = [float(c.refunded_usd) for c in self.after.charges if c.refunded_usd]
        return [*each, sum(each)] if each else []

    @property
    def amounts(self) -> set[float]:
        """Every amount that the record holds."""
        a = self.before
        found = (
            [c.amount_usd for c in a.charges]
            + [i.total_usd for i in a.invoices]
            + [o.amount_usd for o in a.orders]
        )
        found += [p.amount_usd for p in a.payments] + [p.amount_usd for p in a.promised_refunds] + [0]
        return {float(x) for x in found} | self.amounts_of("plan.price_usd") | set(self.refunds)

    def amounts_of(self, field: str) -> set[float]:
        """The amounts that one kind of entry may rightly be given, by its path."""
        a = self.before
        by_field: dict[str, list[int]] = {
            "plan.price_usd": [account.plan.price_usd for account in self.both],
            "invoices.total_usd": [i.total_usd for i in a.invoices],
            "orders.amount_usd": [o.amount_usd for o in a.orders],
            "promised_refunds.amount_usd": [p.amount_usd for p in a.promised_refunds],
            "payments.amount_usd": [p.amount_usd for p in a.payments],
        }
        return {float(amount) for amount in by_field[field]}

    @property
    def dates(self) -> set[str]:
        """Every date that the record holds, as month and day."""
        a = self.before
        iso = [c.date for c in a.charges] + [i.date for i in a.invoices]
        iso += [o.date for o in a.orders] + [p.date for p in a.payments]
        return {date_token(d) for d in [*iso, *(p.promised_on for p in a.promised_refunds), a.today]}

    @property
    def cards(self) -> set[str]:
        return {a.card_last4 for a in self.both} | {p.card_last4 for p in self.before.payments} | self.between

    @property
    def emails(self) -> set[str]:
        return {a.billing_email.lower() for a in self.both} | {value.lower() for value in self.between}

    @property
    def orders(self) -> set[str]:
        """The digits of every order's id."""
        return {re.sub(r"\D", "", order.id) for order in self.before.orders} - {""}

    @property
    def duplicates(self) -> bool:
        return any(charge.duplicate_of for charge in self.before.charges)
