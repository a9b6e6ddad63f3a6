"""Diagnostics from language servers: JSON-RPC over stdio, a server table, a pool."""
