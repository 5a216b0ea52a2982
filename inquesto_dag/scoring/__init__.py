"""Goals, passes, rates, views, analyses, records and their citation (PROTOCOL R1-N3, V1-V4, A1-A6)."""
