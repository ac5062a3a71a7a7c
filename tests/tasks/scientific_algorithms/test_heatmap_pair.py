"""Four heat maps: genes and orders come from the noisy input alone, colours are shared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from tasks.scientific_algorithms.denoising import heatmap_pair
from tasks.scientific_algorithms.denoising.datasets import Dataset

Load = Callable[[str], Dataset]


def panels(dataset: Dataset, *answers: np.ndarray) -> tuple[Figure, list[np.ndarray]]:
    figure = Figure()
    named = [(f"answer {i}", answer) for i, answer in enumerate(answers)]
    heatmap_pair.draw(figure, dataset, named, "")
    return figure, [np.asarray(axes.images[0].get_array()) for axes in figure.axes[:-1]]


def test_four_panels_on_one_scale(simulated: Load) -> None:
    dataset = simulated("sim_search")
    train = dataset.train.toarray().astype(float)
    figure, shown = panels(dataset, train, 2.0 * train)
    assert [axes.get_title("left") or axes.get_title() for axes in figure.axes[:-1]] == [
        "noisy input: training counts", "answer 0", "answer 1", "reference: held-out counts",
    ]  # fmt: skip
    assert {image.shape for image in shown} == {(len(train), heatmap_pair.GENES)}
    limits = {axes.images[0].get_clim() for axes in figure.axes[:-1]}
    assert len(limits) == 1
    # the answers are the input, whose depth the normalisation takes out
    assert np.allclose(shown[1], shown[0])
    assert np.allclose(shown[2], shown[0])


def test_no_answer_changes_the_order(simulated: Load) -> None:
    dataset = simulated("sim_search")
    train = dataset.train.toarray().astype(float)
    rng = np.random.default_rng(0)
    _, one = panels(dataset, train, train)
    _, other = panels(dataset, rng.random(train.shape), train[::-1])
    assert np.array_equal(one[0], other[0])
    assert np.array_equal(one[-1], other[-1])


def test_the_genes_vary_most_in_the_input(simulated: Load) -> None:
    dataset = simulated("sim_search")
    train = dataset.train.toarray().astype(float)
    figure = Figure()
    shown = heatmap_pair.draw(figure, dataset, [("a", train)], "")
    log = np.log1p(train / np.maximum(train.sum(axis=1, keepdims=True), 1) * 1e4)
    best = set(np.argsort(-log.var(axis=0), kind="stable")[: heatmap_pair.GENES].tolist())
    assert {row[2] for row in shown.rows} == best
