"""Workspaces of many users."""
