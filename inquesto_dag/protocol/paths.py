"""Dotted paths into the account: `plan.status`, `charges.CH-102.refunded_usd`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


def value_at(account: BaseModel, path: str) -> Any:
    """The value at a dotted path; list items are named by their `id`. KeyError names the first wrong part."""
    value: Any = account
    for part in path.split("."):
        if isinstance(value, BaseModel) and part in type(value).model_fields:
            value = getattr(value, part)
        elif isinstance(value, tuple):
            found = [item for item in value if getattr(item, "id", None) == part]
            if not found:
                raise KeyError(part)
            value = found[0]
        else:
            raise KeyError(part)
    return value
