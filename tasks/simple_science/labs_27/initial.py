"""Low autocorrelation binary sequence: the best of a few random sequences."""

# EVOLVE-BLOCK-START
import random


def energy(sequence):
    """Sum of the squared aperiodic autocorrelations over all positive lags."""
    n = len(sequence)
    return sum(
        sum(sequence[i] * sequence[i + lag] for i in range(n - lag)) ** 2 for lag in range(1, n)
    )


def solve(payload):
    """The lowest-energy one of 32 random sequences of payload["n"] signs."""
    rng = random.Random(0)
    draws = [[rng.choice((-1, 1)) for _ in range(payload["n"])] for _ in range(32)]
    return min(draws, key=energy)


# EVOLVE-BLOCK-END
