"""EvoDuet and its baselines: scaffolds, retrievers, and one outer loop that drives them."""
