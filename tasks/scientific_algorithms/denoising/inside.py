"""Runs inside the sandbox: calls ``magic_denoise`` once and leaves its answer in a file.

Standard input is an npz file with the training counts as CSR arrays: all that a candidate is given.
The answer goes to ``denoised.npy`` without pickles, a failure to ``failed.json``.
"""

from __future__ import annotations

import importlib.util
import io
import json
import sys
import traceback
import types

import numpy as np

RANDOM_STATE = 42
OFFERED = ("graphtools", "scanpy", "scprep", "sklearn")  # libraries that candidates may expect


def main() -> None:
    """One candidate, one call."""
    try:
        counts = read_counts()
        offer_poisson_loss()
        candidate = load_candidate()
        if not callable(getattr(candidate, "magic_denoise", None)):
            return fail("invalid", "the program defines no function magic_denoise()")
        answer = candidate.magic_denoise(counts, random_state=RANDOM_STATE)
        if type(answer) is not np.ndarray:
            found = type(answer).__name__
            return fail("invalid", f"magic_denoise returned a {found}, not a numpy array")
        if answer.dtype.kind not in "biuf":
            return fail("invalid", f"magic_denoise returned an array of dtype {answer.dtype}")
        np.save("denoised.npy", answer, allow_pickle=False)
    except MemoryError:
        fail("out_of_memory", "MemoryError")
    except BaseException as error:  # SystemExit and KeyboardInterrupt are the candidate's too
        traceback.print_exc(limit=-20)
        fail("raised", describe(error))


def describe(error: BaseException) -> str:
    """One line; for a library of the task that is not installed, with what to do."""
    line = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    if isinstance(error, ModuleNotFoundError) and error.name in OFFERED:
        line += " (pip install 'evoduet[denoising]')"
    return line


def read_counts() -> np.ndarray:
    """The training counts, cells x genes, dense float64."""
    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as archive:
        data, indices, indptr, shape = (
            archive[name] for name in ("data", "indices", "indptr", "shape")
        )
    counts = np.zeros(tuple(shape), dtype=np.float64)
    counts[np.repeat(np.arange(shape[0]), np.diff(indptr)), indices] = data
    return counts


def load_candidate() -> types.ModuleType:
    """Execute ``candidate.py`` as the module ``candidate``."""
    spec = importlib.util.spec_from_file_location("candidate", "candidate.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    return module


def offer_poisson_loss() -> None:
    """Stand in for the one function of a library that older candidates import and PyPI lacks."""
    package = types.ModuleType("molecular_cross_validation")
    package.__path__ = []
    module = types.ModuleType("molecular_cross_validation.mcv_sweep")

    def poisson_nll_loss(y_pred, y_true):
        return (y_pred - y_true * np.log(y_pred + 1e-6)).mean()

    package.mcv_sweep, module.poisson_nll_loss = module, poisson_nll_loss
    sys.modules[package.__name__], sys.modules[module.__name__] = package, module


def fail(status: str, reason: str) -> None:
    """Say why there is no answer."""
    with open("failed.json", "w", encoding="utf-8") as file:
        json.dump({"status": status, "reason": reason}, file)


if __name__ == "__main__":
    main()
