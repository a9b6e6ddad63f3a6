"""What became of the files of a session, and the way back."""
