"""Lines that keep their identity while a file changes."""
