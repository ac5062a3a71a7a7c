"""The denoising task as it is run: initial program, rules, failures, held-out scores, picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import read_case, require_shared

from benchmark import Artifact, Evaluation, evaluate
from benchmark.artifact import save
from benchmark.catalogue import find_task
from benchmark.evaluator import Crashed, Invalid
from benchmark.harness import default_harness
from tasks.scientific_algorithms.denoising import datasets, loaders, metric, sandboxed
from tasks.scientific_algorithms.denoising.answers import checked
from tasks.scientific_algorithms.denoising.datasets import Dataset
from tasks.scientific_algorithms.denoising.evaluator import Denoising

Write = Callable[[str], Path]
Load = Callable[[str], Dataset]
Make = Callable[..., Denoising]

# Each cell's depth times each gene's share, tiny so that the Poisson gate does not see it.
RANK_ONE = """
import numpy as np
def magic_denoise(X, **kwargs):
    assert X.dtype == np.float64 and kwargs == {"random_state": 42}
    return 1e-4 * np.outer(X.sum(axis=1), X.sum(axis=0)) / X.sum()
"""


def judge(source: str, write: Write, stage: str = "search", **options: str) -> Evaluation:
    return evaluate("denoising", write(source), stage, variant="embedded", options=options)


def returning(expression: str) -> str:
    return f"import numpy as np\ndef magic_denoise(X, **kwargs):\n    return {expression}\n"


def _recorded() -> dict[str, Any]:
    file = require_shared() / "parity" / "denoising" / "initial_program.json"
    return {case["input"]["dataset"]: case for case in read_case(file)}


def _initial_program() -> Path:
    for library in ("graphtools", "scprep"):
        pytest.importorskip(library)
    return find_task("denoising").initial_program


@pytest.mark.slow
def test_initial_program_in_the_search() -> None:
    evaluation = evaluate("denoising", _initial_program())
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.provenance["variant"] == "embedded"
    assert (evaluation.objective, evaluation.ndg) == (None, None)
    assert "not comparable with published scores" in evaluation.feedback
    expected = _recorded()["sim_search"]["expected"]
    assert evaluation.search == pytest.approx(expected["search_score"], rel=1e-4)
    for label in ("mse", "poisson", "mse_norm", "poisson_norm"):
        assert evaluation.metrics[label] == pytest.approx(expected[label], rel=1e-4)
    ratio = evaluation.metrics["output_to_input_total"]
    assert ratio == pytest.approx(expected["sum_ratio"], rel=1e-4)


@pytest.mark.slow
def test_initial_program_on_the_held_out_sets() -> None:
    evaluation = evaluate("denoising", _initial_program(), "report")
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.objective == pytest.approx(datasets.EMBEDDED_X0, abs=1e-4)
    assert evaluation.ndg is None
    recorded = _recorded()
    for name in datasets.HELD_OUT["embedded"]:
        expected = recorded[name]["expected"]["heldout_score"]
        assert evaluation.metrics[f"heldout_{name}_score"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_initial_program_on_the_bundled_cells_of_scanpy() -> None:
    """A smoke test on measured cells; the score itself means nothing."""
    pytest.importorskip("scanpy")
    dataset = datasets.split("pbmc68k_reduced", loaders.pbmc68k_reduced())
    session = default_harness().session(find_task("denoising").limits)
    answer = sandboxed.denoise(_initial_program(), session, dataset.train)
    matrix = checked(answer, dataset, strict=True)
    found = metric.losses(matrix, dataset.test, dataset.train_total)
    expected = _recorded()["pbmc68k_reduced"]["expected"]
    assert found.mse == pytest.approx(expected["mse"], rel=1e-4)
    assert found.poisson == pytest.approx(expected["poisson"], rel=1e-4)


def test_plain_program_in_both_stages(write: Write) -> None:
    evaluation = judge(RANK_ONE, write, "both")
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.search is not None
    assert evaluation.metrics["poisson_pass"] == 1.0
    assert evaluation.objective is not None
    scores = [evaluation.metrics[f"heldout_{name}_score"] for name in datasets.HELD_OUT["embedded"]]
    assert evaluation.objective == pytest.approx(np.mean(scores))
    assert 0.4 < evaluation.objective < 0.7


def test_held_out_values_stay_out_of_the_search(write: Write) -> None:
    evaluation = judge(RANK_ONE, write)
    assert evaluation.objective is None
    assert not any("heldout" in name for name in evaluation.metrics)
    assert "held out" not in evaluation.feedback
    assert evaluation.artifact is not None
    assert isinstance(evaluation.artifact.data, dict)
    assert list(evaluation.artifact.data) == ["sim_search"]


def test_gate(write: Write, simulated: Load) -> None:
    unchanged = judge(returning("X"), write)
    assert (unchanged.status, unchanged.search) == ("valid", 0.0)
    assert unchanged.metrics["poisson_pass"] == 0.0
    assert "FAILS the gate" in unchanged.feedback
    zeros = judge(returning("np.zeros_like(X)"), write)
    assert zeros.search == pytest.approx(simulated("sim_search").all_zero.search_score)
    assert zeros.metrics["all_zero_score"] == zeros.search
    assert zeros.metrics["output_to_input_total"] == 0.0


@pytest.mark.parametrize(
    ("expression", "status", "reason"),
    [
        ("X[:-1]", "invalid", "shape"),
        ("X.T", "invalid", "shape"),
        ("X.ravel()", "invalid", "shape"),
        ("np.where(X > 3, np.nan, 0.0)", "invalid", "NaN or infinity"),
        ("np.where(X > 3, np.inf, 0.0)", "invalid", "NaN or infinity"),
        ("X - 1e-12", "invalid", "negative"),
        ("np.where(X == X.max(), X.sum() * 1.001, X)", "invalid", "exceeds"),
        ("X.tolist()", "invalid", "list"),
        ("__import__('scipy.sparse').sparse.csr_matrix(X)", "invalid", "csr_matrix"),
        ("np.asmatrix(X)", "invalid", "matrix"),
        ("np.ma.masked_array(X)", "invalid", "MaskedArray"),
        ("X.astype(complex)", "invalid", "complex128"),
        ("X.astype(object)", "invalid", "object"),
        ("X.astype(str)", "invalid", "<U"),
        ("None", "invalid", "NoneType"),
        ("1 / 0", "crashed", "ZeroDivisionError"),
        ("exit()", "crashed", "SystemExit"),
        ("__import__('os')._exit(3)", "crashed", "status 3"),
        ("__import__('os').kill(__import__('os').getpid(), 9)", "crashed", "signal 9"),
        ("__import__('missing_library')", "crashed", "missing_library"),
    ],
)
def test_broken_answers(expression: str, status: str, reason: str, write: Write) -> None:
    evaluation = judge(returning(expression), write)
    assert evaluation.status == status, evaluation.reason
    assert reason in evaluation.reason
    assert (evaluation.search, evaluation.objective) == (None, None)


def test_missing_function_and_broken_source(write: Write) -> None:
    evaluation = judge("def denoise(X): return X\n", write)
    assert (evaluation.status, "magic_denoise" in evaluation.reason) == ("invalid", True)
    evaluation = judge("def magic_denoise(X, **kwargs: return X\n", write)
    assert evaluation.status == "crashed"
    assert "SyntaxError" in evaluation.reason


def test_missing_library_of_the_task_says_what_to_install(write: Write) -> None:
    source = "raise ModuleNotFoundError(\"No module named 'scprep'\", name='scprep')\n"
    evaluation = judge(source, write)
    assert evaluation.status == "crashed"
    assert "evoduet[denoising]" in evaluation.reason


def test_below_the_perfect_poisson_loss(denoising: Make, simulated: Load) -> None:
    """An answer that over-weights the test counts: only who knows them gets there."""
    dataset = simulated("sim_search")
    artifact = Artifact(9.0 * dataset.test.toarray())
    with pytest.raises(Invalid, match="below that of perfect"):
        denoising().score(artifact, "search")
    perfect = denoising().score(Artifact(dataset.test.toarray()), "search")
    assert perfect.search == 1.0


@pytest.mark.parametrize("dtype", ["np.float32", "np.int64", "np.uint16", "'>f8'"])
def test_number_types(dtype: str, write: Write) -> None:
    evaluation = judge(returning(f"np.asfortranarray(X).astype({dtype})"), write)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.metrics["mse_norm"] == pytest.approx(0.0, abs=1e-5)


def test_strict_mode_refuses_emptied_cells(write: Write) -> None:
    source = RANK_ONE.replace("    return ", "    return np.arange(len(X))[:, None].clip(0, 1) * ")
    assert judge(source, write).status == "valid"
    evaluation = judge(source, write, strict="true")
    assert evaluation.status == "invalid"
    assert "empties a cell" in evaluation.reason
    assert judge(RANK_ONE, write, strict="true").status == "valid"


FAILS_ON_B = {
    "crash": "    if len(X) == 320: raise RuntimeError('too few cells')\n",
    "exit": "    if len(X) == 320: __import__('os')._exit(1)\n",
    "invalid": "    if len(X) == 320: return -X\n",
    "wrong type": "    if len(X) == 320: return X.tolist()\n",
}


@pytest.mark.parametrize("line", FAILS_ON_B.values(), ids=FAILS_ON_B.keys())
def test_failure_on_one_held_out_set_counts_zero_there(line: str, write: Write) -> None:
    head, body = RANK_ONE.split("    assert")
    evaluation = judge(f"{head}{line}    assert{body}", write, "report")
    assert evaluation.status == "valid", evaluation.reason
    score = evaluation.metrics["heldout_sim_heldout_a_score"]
    assert score > 0.4
    assert evaluation.objective == pytest.approx(score / 2)
    assert "heldout_sim_heldout_b_score" not in evaluation.metrics
    assert "sim_heldout_b failed" in evaluation.feedback


def test_failed_gate_on_one_held_out_set_counts_zero_there(write: Write) -> None:
    source = RANK_ONE.replace("    return ", "    if len(X) == 320: return X\n    return ")
    evaluation = judge(source, write, "report")
    assert evaluation.status == "valid"
    assert evaluation.metrics["heldout_sim_heldout_b_score"] == 0.0
    assert evaluation.objective == pytest.approx(
        evaluation.metrics["heldout_sim_heldout_a_score"] / 2
    )


def test_failure_on_all_held_out_sets_is_a_failure(write: Write) -> None:
    for expression, status in (("1 / 0", "crashed"), ("-X - 1", "invalid")):
        evaluation = judge(returning(expression), write, "report")
        assert evaluation.status == status
        assert (evaluation.objective, evaluation.ndg) == (None, 0.0)


def test_time_limit_of_a_held_out_set(write: Write) -> None:
    source = RANK_ONE.replace(
        "    return ", "    while len(X) == 320: __import__('time').sleep(1)\n    return "
    )
    evaluation = judge(source, write, "report", heldout_wall_s="4")
    assert evaluation.status == "valid", evaluation.reason
    assert "timeout" in evaluation.feedback
    assert evaluation.objective == pytest.approx(
        evaluation.metrics["heldout_sim_heldout_a_score"] / 2
    )


def test_stored_artifacts(denoising: Make, simulated: Load, tmp_path: Path) -> None:
    evaluator = denoising()
    matrix = 1e-4 * simulated("sim_search").train.toarray()
    path = tmp_path / "matrix.npz"
    save(Artifact(matrix), path)
    stored = evaluate("denoising", artifact=path, variant="embedded")
    assert stored.status == "valid", stored.reason
    by_name = evaluator.score(Artifact({"sim_search": matrix}), "search")
    assert stored.search == by_name.search
    held_out: dict[str, Any] = {
        name: 1e-4 * simulated(name).train.toarray() for name in datasets.HELD_OUT["embedded"]
    }
    whole = evaluator.score(Artifact(held_out), "report").objective
    half = evaluator.score(Artifact({**held_out, "sim_heldout_b": None}), "report").objective
    assert whole is not None
    assert half is not None
    assert half < whole
    for wrong in (matrix, {"sim_heldout_a": held_out["sim_heldout_a"]}, {"x": matrix}):
        with pytest.raises(Invalid, match="sim_heldout_a, sim_heldout_b"):
            evaluator.score(Artifact(wrong), "report")


def test_failed_repeat_counts_zero(
    write: Write, simulated: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([1e-4 * simulated("sim_search").train.toarray(), Crashed("unlucky")])

    def denoise(*_: Any, **__: Any) -> Any:
        answer = next(answers)
        if isinstance(answer, Crashed):
            raise answer
        return answer

    monkeypatch.setattr(sandboxed, "denoise", denoise)
    evaluation = evaluate("denoising", write(RANK_ONE), variant="embedded", repeats=2)
    assert [row["status"] for row in evaluation.repeats] == ["valid", "crashed"]
    best = evaluation.repeats[0]["search"]
    assert evaluation.search == pytest.approx(best / 2)


def test_old_candidates_find_their_poisson_loss(write: Write) -> None:
    source = (
        "from molecular_cross_validation.mcv_sweep import poisson_nll_loss\n"
        + RANK_ONE.replace("    return ", "    assert poisson_nll_loss(X, X) < 1e9\n    return ")
    )
    evaluation = judge(source, write)
    assert evaluation.status == "valid", evaluation.reason


@pytest.fixture
def figure() -> Iterator[Any]:
    from matplotlib.figure import Figure

    return Figure(figsize=(8, 4.5))


def test_picture(figure: Any, denoising: Make, simulated: Load) -> None:
    dataset = simulated("sim_search")
    answer = dataset.train.toarray() * 0.5
    denoising().draw(Artifact(answer), figure)
    images = [axes.images[0] for axes in figure.axes if axes.images]
    titles = [axes.get_title() for axes in figure.axes]
    assert len(images) == 3
    assert len({image.get_clim() for image in images}) == 1
    assert [word in title for word, title in zip(("noisy", "denoised", "reference"), titles,
                                                 strict=False)] == [True] * 3  # fmt: skip
    assert "not comparable" in figure.get_suptitle()
    noisy, denoised, reference = (np.asarray(image.get_array()) for image in images)
    np.testing.assert_allclose(noisy, denoised)  # scaling alone does not show
    assert noisy.shape == reference.shape
    with pytest.raises(Invalid):
        denoising().draw(Artifact({"sim_heldout_a": None, "sim_heldout_b": None}), figure)
