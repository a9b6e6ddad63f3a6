"""One process of Python: forks, imports, its state directory."""
