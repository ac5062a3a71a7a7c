"""Retrievers: what documents enter the solution prompt."""
