"""What definitions, reads, calls and sessions cost in tokens."""
