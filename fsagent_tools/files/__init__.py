"""Files: the disk, stores of a host's own, and the guard around them."""
