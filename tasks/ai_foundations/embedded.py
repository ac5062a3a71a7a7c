"""Tables from known laws with noise: the ``embedded`` variant, for machines without the data.

They have the columns, groups, sizes and held-out regimes of the measured tables, so that every rule
applies alike; their scores say nothing about the measured ones and are never comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tasks.ai_foundations.tables import Array, Sizes, Split, Table, make_table

Tables = dict[Split, Table]


def domain_mixture(sizes: Sizes) -> Tables:
    """``loss_d = c_d + k_d exp(sum_j t_dj share_j)``, five domains, levels falling with size.

    The form is that of data mixing laws (Ye et al., arXiv:2403.16952).
    """
    rng = np.random.default_rng(160)
    floors, scales = rng.uniform(1.2, 2.4, 5), rng.uniform(0.8, 1.6, 5)
    pulls = rng.uniform(-0.4, 0.3, (5, 5)) - np.diag(rng.uniform(1.5, 3.0, 5))

    def rows(group: str, n: int) -> Array:
        level = (int(group.removesuffix("M")) / 70) ** -0.1
        shares = rng.dirichlet(np.full(5, 1.2), n)
        losses = level * (floors + scales * np.exp(shares @ pulls.T))
        return np.hstack([shares, losses * rng.normal(1.0, 2e-3, losses.shape)])

    return _both(sizes, 5, lambda group, n, split: rows(group, n))


def u_shape(sizes: Sizes) -> Tables:
    """A rise to a ceiling in log compute with a dip before it; held out: the most compute."""
    rng = np.random.default_rng(389)
    shapes = {
        group: (rng.uniform(1.0, 2.2), rng.uniform(0.05, 0.2), rng.uniform(0.2, 0.8))
        for group in sizes["train"]
    }

    def rows(group: str, n: int, split: Split) -> Array:
        turn, depth, place = shapes[group]
        low, high = (-0.9, 1.9) if split == "train" else (1.9, 2.9)
        log_flops = np.sort(rng.uniform(low, high, n))
        rise = 0.5 / (1 + np.exp(-3 * (log_flops - turn)))
        dip = depth * np.exp(-(((log_flops - place) / 0.5) ** 2))
        brier = -0.6 + rise - dip + rng.normal(0, 0.012, n)
        return np.column_stack([log_flops, brier])

    return _both(sizes, 1, rows)


def lr_bsz(sizes: Sizes) -> Tables:
    """A valley in log learning rate and log batch size over a Chinchilla-like floor.

    The place of the optimum follows the Step Law's powers of model and data size (Li et al.,
    arXiv:2503.04715). Held out: one model of 1B parameters, 100B tokens.
    """
    rng = np.random.default_rng(2702)

    def rows(_: str, n: int, split: Split) -> Array:
        if split == "train":
            size = rng.choice([6e7, 1.2e8, 2.15e8, 4.3e8, 5.4e8], n)
            tokens = rng.choice([2e9, 5e9, 1e10, 2e10, 5e10, 1e11], n)
        else:
            size, tokens = np.full(n, 1.07e9), np.full(n, 1e11)
        rate = 10 ** rng.uniform(-4.0, -1.8, n)
        batch = 32.0 * np.round(2 ** rng.uniform(0, 6, n))
        off_rate = np.log(rate / (1.8 * size**-0.713 * tokens**0.307))
        off_batch = np.log(batch * 2048 / (0.58 * tokens**0.571))
        floor = 1.7 + 400 / size**0.34 + 410 / tokens**0.28
        loss = floor + 0.02 * off_rate**2 + 0.01 * off_batch**2 + rng.normal(0, 3e-3, n)
        return np.column_stack([rate, batch, tokens, size, loss])

    return _both(sizes, 4, rows)


def parallel(sizes: Sizes) -> Tables:
    """``loss = E + (A / (N (k ln P + 1)))^alpha`` for six sizes; held out is P = 8.

    The form is that of ParScale (Chen et al., arXiv:2505.10475).
    """
    rng = np.random.default_rng(48)
    laws = {"pile": (1.30, 1.7e8, 0.19, 0.33), "stack": (0.69, 3.0e7, 0.20, 0.40)}
    models = np.array([5.4e8, 7e8, 1.1e9, 1.6e9, 2.8e9, 4.4e9])

    def rows(group: str, n: int, split: Split) -> Array:
        streams = np.repeat([1.0, 2.0, 4.0] if split == "train" else [8.0], 6)[:n]
        parameters = np.resize(models, n) * (1 + 0.004 * streams)
        floor, scale, power, gain = laws[group]
        loss = floor + (scale / (parameters * (gain * np.log(streams) + 1))) ** power
        return np.column_stack([parameters, streams, loss + rng.normal(0, 1e-3, n)])

    return _both(sizes, 2, rows)


def _both(
    sizes: Sizes,
    n_features: int,
    rows: Callable[[str, int, Split], Array],
) -> Tables:
    splits: Iterable[Split] = ("train", "test")
    return {
        split: make_table(
            {group: rows(group, n, split) for group, n in sorted(sizes[split].items())}, n_features
        )
        for split in splits
    }
