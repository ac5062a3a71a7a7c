"""One look for all figures: readable in black and white, safe for the colour-blind, repeatable."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.ordering import in_order
from analysis.output import CsvFile
from analysis.published import Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 200
INK, MUTED, SHADE, BASE = "#1a1a1a", "#6b6b6b", "#ececec", "#ffffff"
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))

_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,
    "svg.hashsalt": "evoduet",
}
# Without dates and program versions the same data give the same bytes.
_FORMATS: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


@dataclass(frozen=True)
class Look:
    """How a model or method is drawn wherever it appears."""

    colour: str
    marker: str


@dataclass(frozen=True)
class Drawn:
    """A figure by name, as files by suffix, and the data that it shows."""

    name: str
    pictures: dict[str, bytes]
    data: Sequence[CsvFile]


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A colour and a marker for each name; the same names give the same looks."""
    return {
        name: Look(_COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)])
        for i, name in enumerate(in_order(names))
    }


def model_looks(data: Published) -> dict[str, Look]:
    """Looks of all models of the published tables, so that no figure assigns its own."""
    tables = (data.scores, data.oracle, data.parallel)
    return looks(cell.model for table in tables for cell in table)


def more_looks(known: Mapping[str, Look], names: Iterable[str]) -> dict[str, Look]:
    """Known looks, and for other names the next colours and markers, in order."""
    found = dict(known)
    for name in in_order(set(names) - set(known)):
        place = len(found)
        found[name] = Look(_COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)])
    return found


@contextmanager
def drawing() -> Iterator[None]:
    """The project's settings of matplotlib, whatever the user's are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        parameters: Any = matplotlib.rcParams
        parameters.update(_RC)
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, sizes in inches, without pyplot and its global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def spread(figure: Figure, points: float) -> None:
    """More room between panels side by side, where their labels would touch."""
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(w_pad=points / 72)  # type: ignore[call-arg]


def pictures(figure: Figure) -> dict[str, bytes]:
    """The figure in every format, laid out once so that all agree."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    found = {}
    for suffix, metadata in _FORMATS.items():
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, dpi=DPI, metadata=metadata)
        found[suffix] = stream.getvalue()
    return found


def bar_label(axes: Axes, x: float, y: float, text: str, **more: Any) -> None:
    """A number above a bar, or below it when it hangs down."""
    up = y >= 0
    axes.annotate(
        text, (x, y), (0, 2 if up else -2), textcoords="offset points", ha="center",
        va="bottom" if up else "top", **{"fontsize": 7, **more},
    )  # fmt: skip


def pair_legend(axes: Axes, light: str, solid: str, **more: Any) -> None:
    """Which bar is which, whatever the colours."""
    from matplotlib.patches import Patch

    handles = (
        Patch(facecolor=BASE, edgecolor=MUTED, hatch="////", label=light),
        Patch(facecolor=MUTED, edgecolor=INK, label=solid),
    )
    axes.legend(handles=handles, **more)


def setting_ticks(axes: Axes, settings: Sequence[tuple[str, int]]) -> None:
    """N under each place of the x axis, and each model once under its places."""
    axes.set_xticks(range(len(settings)), [f"N = {n}" for _, n in settings], fontsize=7)
    for model in dict.fromkeys(model for model, _ in settings):
        places = [i for i, setting in enumerate(settings) if setting[0] == model]
        axes.annotate(
            model, (sum(places) / len(places), 0), (0, -18), ha="center", va="top", fontsize=7.5,
            xycoords=axes.get_xaxis_transform(), textcoords="offset points",
        )  # fmt: skip


def signed(value: float, decimals: int = 1) -> str:
    """A difference as text, with a true minus."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    return text if float(f"{value:.{decimals}f}") else text.lstrip("+−")


def shade_ends(axes: Axes, low: float, high: float, right: float) -> None:
    """Grey where the baseline has found nearly nothing, and where little is left to gain."""
    axes.axvspan(0, low, color=SHADE, lw=0)
    axes.axvspan(high, right, color=SHADE, lw=0)
