"""A record to send away: an RO-Crate with a Statement, and what can be verified of it without its project."""
