"""Turning a valid artifact into a picture file."""

from __future__ import annotations

from pathlib import Path

from benchmark.artifact import Artifact
from benchmark.evaluation import load_evaluator
from benchmark.evaluator import Setup

FORMATS = (".png", ".svg", ".pdf")
# Without dates and program versions the same artifact gives the same bytes.
_METADATA = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def save_picture(setup: Setup, artifact: Artifact, path: Path) -> None:
    """Draw a valid artifact with the task's own ``draw`` and save it, whole or not at all.

    Raises :class:`~benchmark.evaluator.Unavailable` where the task has no picture, ``OSError``
    when the file cannot be written.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "evoduet"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        FigureCanvasAgg(figure)
        load_evaluator(setup).draw(artifact, figure)
        partial = path.with_name(f".{path.stem}.partial{path.suffix}")
        try:
            figure.savefig(partial, dpi=150, metadata=_METADATA[path.suffix])
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
