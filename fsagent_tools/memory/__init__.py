"""Files without a disk: the same port in memory."""
