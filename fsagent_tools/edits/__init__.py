"""Where new text goes, how it fits there, and whether the result holds; pure."""
