"""The account as state: dotted paths, changes into new versions, differences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inquesto_dag.agents.account import AccountState, ChangeRefused, diff, leaves, value_at
from inquesto_dag.errors import InputError
from inquesto_dag.protocol.models import Account


def test_paths_reach_fields_and_members_by_id(account: Account) -> None:
    """A path names a field, or a member of a list by its id."""
    assert value_at(account, "card_last4") == "3382"
    assert value_at(account, "plan.status") == "active"
    assert value_at(account, "charges.CH-102.refunded_usd") == 0
    assert value_at(account, "invoices.INV-301.lines.1") == "CH-102"
    assert value_at(account, "version") == 0


@pytest.mark.parametrize(
    ("path", "match"),
    [
        ("charges.CH-999.refunded_usd", "is no path"),
        ("plan", "no single value"),
        ("colour", "start with one of"),
        ("", "is no path"),
    ],
)
def test_wrong_path_is_an_input_error(account: Account, path: str, match: str) -> None:
    """A path that the account lacks, or that is no single value, is refused with what there is."""
    with pytest.raises(InputError, match=match):
        value_at(account, path)


def test_each_change_is_one_version_and_one_difference(account: Account) -> None:
    """D8: a change makes a new version and touches nothing else; the initial state stands."""
    state = AccountState(account)
    state.refund("CH-102", 49)
    assert diff(account, state.current) == {"charges.CH-102.refunded_usd": 49}
    state.change_card("9021")
    state.change_email("Harbor.Lane@example.com")
    after = state.cancel_plan()
    assert after.version == 4
    assert diff(account, after) == {
        "charges.CH-102.refunded_usd": 49,
        "card_last4": "9021",
        "billing_email": "harbor.lane@example.com",
        "plan.status": "cancelled",
    }
    assert state.initial == account and account.version == 0


def test_refused_changes_leave_the_account_as_it_was(account: Account) -> None:
    """A change that policy or state forbids says why and changes nothing."""
    state = AccountState(account)
    with pytest.raises(ChangeRefused, match="not refundable"):
        state.refund("CH-101", 49)
    with pytest.raises(ChangeRefused, match="is 49 USD and is refunded in full"):
        state.refund("CH-102", 24)
    with pytest.raises(ChangeRefused, match="CH-101, CH-102, CH-103"):
        state.refund("CH-999", 49)
    with pytest.raises(ChangeRefused, match="already the one on file"):
        state.change_card("3382")
    with pytest.raises(ChangeRefused, match="already the billing"):
        state.change_email("M.Ruiz@example.com")
    assert state.current is account
    state.refund("CH-102", 49)
    state.cancel_plan()
    with pytest.raises(ChangeRefused, match="already refunded"):
        state.refund("CH-102", 49)
    with pytest.raises(ChangeRefused, match="already cancelled"):
        state.cancel_plan()
    assert state.current.version == 2


def test_a_member_that_went_or_came_is_a_difference(account: Account) -> None:
    """Removed paths read None, added ones their value."""
    fewer = account.model_copy(update={"orders": ()})
    gone = diff(account, fewer)
    assert gone["orders.ORD-2207.status"] is None and len(gone) == 6
    assert diff(fewer, account)["orders.ORD-2207.status"] == "failed"


@given(cards=st.lists(st.from_regex(r"\A[0-9]{4}\Z"), max_size=5))
def test_difference_is_empty_exactly_when_values_are_equal(cards: list[str]) -> None:
    """Going there and back is no difference, whatever the version counts."""
    account = _tiny()
    state = AccountState(account)
    for card in cards:
        if card != state.current.card_last4:
            state.change_card(card)
    last = cards[-1] if cards else account.card_last4
    assert diff(account, state.current) == ({} if last == account.card_last4 else {"card_last4": last})
    assert leaves(state.current)["card_last4"] == last


def _tiny() -> Account:
    return Account.model_validate(
        {
            "number": "1000",
            "holder_name": "Ann Lee",
            "today": "2026-08-06",
            "plan": {"name": "Basic", "price_usd": 5, "status": "active"},
            "card_last4": "0000",
            "billing_email": "a@example.com",
            "charges": (),
            "invoices": (),
            "orders": (),
            "payments": (),
            "promised_refunds": (),
            "policies": (),
        }
    )
