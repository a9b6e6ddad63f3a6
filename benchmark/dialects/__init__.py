"""How each family of edit tools wants to be told what becomes of which lines."""
