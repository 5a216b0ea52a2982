"""Whether a record says what was measured: every link from its score back to the protocol, checked."""
