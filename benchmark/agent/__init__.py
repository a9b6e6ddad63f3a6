"""Agents repair small bugs in real repositories, judged by bytes or by tests."""
