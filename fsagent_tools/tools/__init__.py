"""Tools: from a row of a toolset to an outcome for the model."""
