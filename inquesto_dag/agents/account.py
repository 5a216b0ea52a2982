"""The account as state: read through dotted paths, changed only into a new version (PROTOCOL D8).

A dotted path names fields, and members of a list by their id: `card_last4`, `plan.status`,
`charges.CH-102.refunded_usd`. The version counts changes; it is book-keeping and no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import Account, Charge, Scalar


class ChangeRefused(Exception):
    """A change that the account does not allow; the message tells a brain why and what is possible."""


class AccountState:
    """The account during one call: `initial` as it was, `current` as the tools have left it."""

    def __init__(self, account: Account) -> None:
        self.initial = account
        self.current = account

    def _become(self, **changes: Any) -> Account:
        self.current = self.current.model_copy(update={**changes, "version": self.current.version + 1})
        return self.current

    def charge(self, charge_id: str) -> Charge:
        """The charge of an id; ChangeRefused lists the account's charges when there is none."""
        for charge in self.current.charges:
            if charge.id == charge_id:
                return charge
        known = ", ".join(c.id for c in self.current.charges)
        raise ChangeRefused(f"there is no charge {charge_id!r} on this account; its charges are {known}")

    def refund(self, charge_id: str, amount_usd: int) -> Account:
        """Refund one charge in full, once; `amount_usd` is in whole US dollars and must be the charge's."""
        charge = self.charge(charge_id)
        if not charge.refundable:
            raise ChangeRefused(f"charge {charge_id} is not refundable under policy")
        if charge.refunded_usd:
            raise ChangeRefused(f"charge {charge_id} was already refunded ({charge.refunded_usd} USD)")
        if amount_usd != charge.amount_usd:
            raise ChangeRefused(
                f"charge {charge_id} is {charge.amount_usd} USD and is refunded in full; "
                f"amount_usd was {amount_usd}"
            )
        refunded = charge.model_copy(update={"refunded_usd": amount_usd})
        return self._become(charges=tuple(refunded if c.id == charge_id else c for c in self.current.charges))

    def change_card(self, card_last4: str) -> Account:
        """Put another card on file, by its last four digits."""
        if card_last4 == self.current.card_last4:
            raise ChangeRefused(f"the card ending {card_last4} is already the one on file")
        return self._become(card_last4=card_last4)

    def change_email(self, email: str) -> Account:
        """Set another billing e-mail address, stored in lower case."""
        if email.lower() == self.current.billing_email.lower():
            raise ChangeRefused(f"{email.lower()} is already the billing e-mail address")
        return self._become(billing_email=email.lower())

    def cancel_plan(self) -> Account:
        """Cancel the subscription; a plan is cancelled once."""
        if self.current.plan.status == "cancelled":
            raise ChangeRefused(f"the {self.current.plan.name} plan is already cancelled")
        return self._become(plan=self.current.plan.model_copy(update={"status": "cancelled"}))


def _leaves(value: object, path: str) -> Iterator[tuple[str, Scalar]]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _leaves(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, tuple):
        for index, member in enumerate(value):
            yield from _leaves(member, f"{path}.{getattr(member, 'id', index)}")
    else:
        yield path, value  # type: ignore[misc]


def leaves(account: Account) -> dict[str, Scalar]:
    """Every value of an account by its dotted path, the version left out."""
    return {path: value for path, value in _leaves(account, "") if path != "version"}


def value_at(account: Account, path: str) -> Scalar:
    """The value at a dotted path; InputError when the account has no such path or it is no single value."""
    if path == "version":
        return account.version
    found = leaves(account)
    if path not in found:
        inner = sorted(known for known in found if known.startswith(f"{path}."))
        problem = "is no single value" if inner else "is no path of the account"
        near = inner or sorted(known for known in found if known.split(".")[0] == path.split(".")[0])
        remedy = f"name one of: {', '.join(near[:8])}" if near else f"start with one of: {', '.join(_tops())}"
        raise InputError(problem, where="account", field=path, remedy=remedy)
    return found[path]


def _tops() -> list[str]:
    return list(Account.model_fields)


def diff(before: Account, after: Account) -> dict[str, Scalar]:
    """What changed, by dotted path: the value afterwards, None for what is gone; empty when nothing did."""
    old, new = leaves(before), leaves(after)
    paths = [*new, *(path for path in old if path not in new)]
    missing = object()
    return {path: new.get(path) for path in paths if old.get(path, missing) != new.get(path, missing)}
