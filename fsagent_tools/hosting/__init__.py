"""Workspaces of many users, and threads that go on elsewhere."""
