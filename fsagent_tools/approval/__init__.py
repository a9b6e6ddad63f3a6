"""Asking before an effect."""
