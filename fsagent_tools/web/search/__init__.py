"""Web search behind one protocol: settings, hits, providers."""
