"""How a verb and its parameters are declared, and how they are made of what a model sent."""
