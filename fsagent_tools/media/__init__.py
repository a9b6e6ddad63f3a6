"""Documents and pictures as a model can take them: pure functions on bytes."""
