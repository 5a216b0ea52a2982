"""Failure events of a call that need no judge (PROTOCOL T1-T5, T10, T11)."""
