"""Two tours beside each other: events, epochs, manoeuvres, and their budgets in one stacked bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.side_by_side import Shown, Value
from tasks.astrodynamics.flight import Flight
from tasks.astrodynamics.picture import date_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = ("launch", "DSM", "flyby", "arrival")
_LOOKS = {
    "launch": {"facecolor": "#0072B2"},
    "DSM": {"facecolor": "#E69F00", "hatch": "////"},
    "flyby": {"facecolor": "#009E73", "hatch": "...."},
    "arrival": {"facecolor": "#CC79A7", "hatch": "xxxx"},
}
_KINDS = {"start": "launch", "GA": "flyby", "DSM": "DSM", "end": "arrival"}
_ROW = 0.26  # inches a line of a list
_COLUMNS = ((0.0, "left"), (0.05, "left"), (0.40, "left"), (0.78, "right"), (1.0, "right"))

Labelled = tuple[str, Flight]


def draw(flights: Sequence[Labelled], title: str, figure: Figure) -> Shown:
    """One list of events a column, and below them a bar for each flight on one axis."""
    longest = max(len(flight.nodes) for _, flight in flights)
    lists, bars = _ROW * (longest + 3), 0.55 + 0.42 * len(flights)
    figure.set_size_inches(4.6 * len(flights), lists + bars + 0.5)
    grid = figure.add_gridspec(2, len(flights), height_ratios=(lists, bars))
    largest = max(max(flight.node_dv) for _, flight in flights) or 1.0
    for column, (label, flight) in enumerate(flights):
        _list(figure.add_subplot(grid[0, column]), label, flight, longest, largest)
    _bars(figure.add_subplot(grid[1, :]), flights)
    figure.suptitle(title, fontsize="medium")
    rows = [row for label, flight in flights for row in _rows(label, flight)]
    columns = ("artifact", "event", "kind", "body", "date", "epoch_mjd", "delta_v_km_s")
    return Shown(columns, rows)


def parts(flight: Flight) -> dict[str, float]:
    """Delta-v by kind, km/s."""
    found = (flight.start_dv, flight.manoeuvre_dv, flight.flyby_dv, flight.end_dv)
    return dict(zip(PARTS, found, strict=True))


def _rows(label: str, flight: Flight) -> list[tuple[Value, ...]]:
    return [
        (label, index, _KINDS[node.kind], "" if node.kind == "DSM" else node.place,
         date_of(node.time), node.time, dv)
        for index, (node, dv) in enumerate(zip(flight.nodes, flight.node_dv, strict=True))
    ]  # fmt: skip


def _list(axes: Axes, label: str, flight: Flight, longest: int, largest: float) -> None:
    """Events with their bars; ``longest`` list and ``largest`` bar set the scales of all lists."""
    axes.axis("off")
    axes.set(xlim=(0.0, 1.0), ylim=(longest + 1.6, -0.6))
    days = flight.duration_days
    axes.set_title(f"{label}: {flight.total_dv:.6f} km/s in {days:,.0f} days", loc="left",
                   fontsize="medium")  # fmt: skip
    _line(axes, 0.0, ("", "event", "date (MJD)", "km/s", ""), color="0.4")
    for row, (node, dv) in enumerate(zip(flight.nodes, flight.node_dv, strict=True), 1):
        kind = _KINDS[node.kind]
        event = "DSM" if kind == "DSM" else f"{kind} {node.place}"
        when = f"{date_of(node.time)} ({node.time:.2f})"
        _line(axes, row, (str(row - 1), event, when, f"{dv:.4f}", ""))
        axes.barh(row, 0.18 * dv / largest, left=0.81, height=0.6, edgecolor="black",
                  linewidth=0.6, **_LOOKS[kind])  # type: ignore[arg-type]  # fmt: skip
    axes.axhline(0.5, color="0.6", linewidth=0.6)


def _line(axes: Axes, y: float, texts: Sequence[str], color: str = "black") -> None:
    for (x, side), text in zip(_COLUMNS, texts, strict=True):
        axes.text(x, y, text, ha=side, va="center", fontsize="small", color=color)


def _bars(axes: Axes, flights: Sequence[Labelled]) -> None:
    for row, (_, flight) in enumerate(flights):
        left = 0.0
        for kind, dv in parts(flight).items():
            axes.barh(row, dv, left=left, height=0.62, edgecolor="black", linewidth=0.8,
                      label=kind if row == 0 else None, **_LOOKS[kind])  # type: ignore[arg-type]  # fmt: skip
            left += dv
        axes.text(left, row, f" {flight.total_dv:.4f}", va="center", fontsize="small")
    longest = max(flight.total_dv for _, flight in flights)
    axes.set(ylim=(len(flights) - 0.5, -0.5), xlim=(0.0, 1.12 * longest))
    axes.set_yticks(range(len(flights)), [label for label, _ in flights])
    axes.set_xlabel("delta-v, km/s")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False,
                fontsize="small")  # fmt: skip
