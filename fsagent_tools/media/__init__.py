"""Documents and pictures as a model can take them, made in a process of their own."""
