"""Measurements that take too long for the suite; each is a command that says what it found."""
