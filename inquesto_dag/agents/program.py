"""The one billing program that every brain runs (PROTOCOL S2): limits that all kinds of brain share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """How long an agent tries before a person takes over; it is part of every agent's fingerprint."""

    account_digits: int = 4
    attempts: int = 7  # utterances that did not answer one question
    number_attempts: int = 4  # account numbers that were not found
    verification_attempts: int = 3  # verifications that had too little speech


BILLING = Program()
