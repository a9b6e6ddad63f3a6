"""What git knows of files, read as data: no program of git's ever runs."""
