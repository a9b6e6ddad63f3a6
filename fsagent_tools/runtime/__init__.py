"""One process of Python: threads, forks, imports, its state directory."""
