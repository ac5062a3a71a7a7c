"""What can go wrong while a circuit is routed."""


class RouterError(Exception):
    """A policy gave an answer that cannot be used, or says that it has none."""
