"""Search backends: the web, an offline corpus, recordings."""
