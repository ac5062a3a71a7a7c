"""Raises what other harnesses take for success."""

raise SystemExit(0)
