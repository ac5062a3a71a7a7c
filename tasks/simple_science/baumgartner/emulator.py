"""The emulator: an ensemble of five networks with one hidden layer, in single precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

N_CATALYSTS, N_BASES = 3, 4


@dataclass(frozen=True)
class Emulator:
    """Weights (float32) and standardisation (float64) of the members, stacked along axis 0.

    Shapes: w1 (5, 512, 10), b1 (5, 512), w2 (5, 512), b2 (5,), in_* (5, 3), out_* (5,).
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray
    in_mean: np.ndarray
    in_scale: np.ndarray
    out_mean: np.ndarray
    out_scale: np.ndarray

    @classmethod
    def load(cls, weights: Path, scalers: Mapping[str, Any]) -> Emulator:
        """Read the weights (``.npz``) and take the constants of ``scalers.json``."""
        with np.load(weights, allow_pickle=False) as archive:
            arrays = {name: archive[name].astype(np.float32) for name in ("w1", "b1", "w2", "b2")}
        constants = {
            name: np.array(scalers[name], dtype=np.float64)
            for name in ("in_mean", "in_scale", "out_mean", "out_scale")
        }
        return cls(**arrays, **constants)

    def members(self, numbers: Sequence[float], levels: tuple[int, int]) -> np.ndarray:
        """Unclipped yields that the members predict, float32 of shape (5,).

        ``numbers``: equivalents of base, temperature (degree Celsius), residence time (s);
        ``levels``: indices of catalyst and base.
        """
        return self.grid(np.array([numbers], dtype=np.float64), levels)[:, 0]

    def grid(self, numbers: np.ndarray, levels: tuple[int, int]) -> np.ndarray:
        """Like :meth:`members` for rows of numbers (n, 3): float32 of shape (5, n)."""
        one_hot = np.zeros(N_CATALYSTS + N_BASES)
        one_hot[levels[0]] = one_hot[N_CATALYSTS + levels[1]] = 1
        rows = []
        for i in range(len(self.w1)):
            scaled = (numbers - self.in_mean[i]) / self.in_scale[i]
            chosen = np.broadcast_to(one_hot, (len(numbers), one_hot.size))
            inputs = np.hstack([scaled, chosen]).astype(np.float32)
            hidden = np.maximum(inputs @ self.w1[i].T + self.b1[i], 0)
            output = hidden @ self.w2[i] + self.b2[i]
            rows.append(output * np.float32(self.out_scale[i]) + np.float32(self.out_mean[i]))
        return np.stack(rows)
