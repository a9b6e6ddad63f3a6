"""Whether edits land as meant, what they cost in tokens, and how agents fare with them."""
