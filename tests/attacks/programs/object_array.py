"""An array of objects, which only pickle could carry."""

import numpy as np


class Bomb:
    def __reduce__(self):
        return print, ("unpickled",)

    def __float__(self):
        return 1e9


def run_code():
    return np.array([Bomb()] * 4, dtype=object)
