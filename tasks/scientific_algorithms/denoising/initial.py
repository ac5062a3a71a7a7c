"""Diffusion over a graph of similar cells, after MAGIC (van Dijk et al., Cell 174 (2018) 716)."""

# EVOLVE-BLOCK-START
import graphtools
import numpy as np
import scprep


def cell_graph(roots, knn, decay, n_pca, knn_max, random_state, n_jobs, verbose):
    """Graph of cells whose square-root profiles (cells x genes) are near each other."""
    return graphtools.Graph(
        roots,
        n_pca=n_pca if roots.shape[1] > n_pca else None,
        knn=knn,
        knn_max=3 * knn if knn_max is None else knn_max,
        decay=decay,
        thresh=1e-4,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def diffuse(operator, values, t):
    """Apply the diffusion operator ``t`` times to ``values`` (cells x components)."""
    if t > 0 and operator.shape[0] < values.shape[1]:
        dense = operator.toarray() if hasattr(operator, "toarray") else np.asarray(operator)
        return np.linalg.matrix_power(dense, t) @ values
    for _ in range(t):
        values = operator @ values
    return np.asarray(values)


def magic_denoise(
    X,
    knn=5,
    t=3,
    n_pca=100,
    solver="approximate",
    decay=1,
    knn_max=None,
    random_state=None,
    n_jobs=1,
    verbose=False,
):
    """Denoise training counts ``X`` (cells x genes, float64) to a matrix of the same shape.

    The square roots of the counts are scaled to a sum of 1 in each cell, averaged over similar
    cells ``t`` times (``solver="approximate"``: in the space of the principal components), squared
    and scaled back by each cell's sum of square roots.
    """
    roots = np.sqrt(np.asarray(X, dtype=float))
    roots, sums = scprep.normalize.library_size_normalize(
        roots, rescale=1, return_library_size=True
    )
    graph = cell_graph(roots, knn, decay, n_pca, knn_max, random_state, n_jobs, verbose)
    approximate = solver == "approximate"
    values = graph.data_nu if approximate else scprep.utils.toarray(graph.data)
    smooth = diffuse(graph.diff_op, values, t)
    if approximate:
        smooth = graph.inverse_transform(smooth, columns=None)
    return np.square(smooth) * np.asarray(sums)[:, np.newaxis]


# EVOLVE-BLOCK-END
