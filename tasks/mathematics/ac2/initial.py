"""Second autocorrelation inequality: noisy gradient ascent on short vectors, then refinement."""

import numpy as np
from scipy.fft import irfft, rfft

# EVOLVE-BLOCK-START
VECTORS, LENGTH = 64, 256
EXPLORATION_STEPS, EXPLORATION_RATE = 10000, 0.03
DOUBLINGS, REFINEMENT_STEPS, REFINEMENT_RATE = 2, 40000, 0.003
NOISE, NOISE_DECAY = 1e-3, 0.55


def c2_and_gradient(a):
    """C2 of each row of a (m, n), shape (m,), and its gradient, shape (m, n); single precision.

    C2 = Q / (S P) with the convolution c = a*a, Q = (2 <c,c> + sum_k c_k c_{k+1}) / 3, its sum S
    and its maximum P. The gradient of P is shared evenly among the lags that attain it.
    """
    n = a.shape[1]
    size = 2 * n  # a power of two for the lengths used here
    spectrum = rfft(a, size)
    c = irfft(spectrum * spectrum, size)[:, : 2 * n - 1]
    neighbours = np.zeros_like(c)
    neighbours[:, 1:] += c[:, :-1]
    neighbours[:, :-1] += c[:, 1:]
    q = (c * (2.0 * c + 0.5 * neighbours)).sum(axis=1, keepdims=True) / 3.0
    s = c.sum(axis=1, keepdims=True)
    p = c.max(axis=1, keepdims=True)
    value = q / (s * p)
    top = (c == p).astype(c.dtype)
    top /= top.sum(axis=1, keepdims=True)
    by_c = (4.0 * c + neighbours) / (3.0 * s * p) - value / s - value / p * top
    # c_k = sum_i a_i a_{k-i}, so the gradient by a_j is 2 sum_k (dC2/dc_k) a_{k-j}: a correlation
    by_a = 2.0 * irfft(rfft(by_c, size) * spectrum.conj(), size)[:, :n]
    return value[:, 0], by_a


class Adam:
    """Adam's step for gradient ascent (Kingma & Ba, 2015), without bias in the first steps."""

    def __init__(self, shape, rate, decay=(0.9, 0.999), epsilon=1e-8):
        self.rate, self.decay, self.epsilon = rate, decay, epsilon
        self.mean = np.zeros(shape, np.float32)
        self.square = np.zeros(shape, np.float32)
        self.steps = 0

    def step(self, gradient):
        """The increment for this gradient."""
        first, second = self.decay
        self.steps += 1
        self.mean += (1.0 - first) * (gradient - self.mean)
        self.square += (1.0 - second) * (gradient * gradient - self.square)
        mean = self.mean / (1.0 - first**self.steps)
        square = self.square / (1.0 - second**self.steps)
        return self.rate * mean / (np.sqrt(square) + self.epsilon)


def explore():
    """The best vector met by ascents from random vectors (one of them constant)."""
    start, noise = np.random.default_rng(0), np.random.default_rng(0)
    a = start.random((VECTORS, LENGTH), np.float32)
    a[0] = 1.0
    adam = Adam(a.shape, EXPLORATION_RATE)
    best, best_value = a.copy(), np.full(VECTORS, -np.inf, np.float32)
    for step in range(EXPLORATION_STEPS):
        value, gradient = c2_and_gradient(a)
        spread = np.float32(NOISE / (step + 1) ** NOISE_DECAY)
        gradient = gradient + spread * noise.standard_normal(a.shape, np.float32)
        a = np.maximum(a + adam.step(gradient), 0.0)
        # the value belongs to the vector before the step; the one after it is kept
        improved = value > best_value
        best[improved], best_value[improved] = a[improved], value[improved]
    return best[np.argmax(best_value)]


def refine(a):
    """The vector at twice its length, after plain ascent."""
    coarse = np.linspace(-0.5, 0.5, len(a))
    fine = np.linspace(-0.5, 0.5, 2 * len(a))
    a = np.interp(fine, coarse, a).astype(np.float32)[np.newaxis]
    adam = Adam(a.shape, REFINEMENT_RATE)
    for _ in range(REFINEMENT_STEPS):
        a = np.maximum(a + adam.step(c2_and_gradient(a)[1]), 0.0)
    return a[0]


def construct_function():
    """Heights of a step function on equal cells of [-1/4, 1/4]."""
    a = explore()
    for _ in range(DOUBLINGS):
        a = refine(a)
    return [float(height) for height in a]


# EVOLVE-BLOCK-END


def compute_c2(heights):
    """C2 of the step function with these heights, in double precision."""
    a = np.asarray(heights, dtype=float)
    c = np.convolve(a, a)
    squares = (2.0 * np.dot(c, c) + np.dot(c[:-1], c[1:])) / 3.0
    return float(squares / (c.sum() * c.max()))


def run_code():
    """(heights, their C2)."""
    heights = construct_function()
    return heights, compute_c2(heights)
