"""Files without a disk: a store in memory."""
