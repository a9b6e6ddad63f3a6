"""Whether edits land as meant, and what they cost in tokens."""
