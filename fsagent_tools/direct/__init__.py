"""The verbs of a workspace for programs."""
