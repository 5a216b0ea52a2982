"""Judges: what they are given, what they answer, and the events that follow (PROTOCOL T6-T9, T11, T14)."""
