"""Prices, carts and discounts of a small shop."""
