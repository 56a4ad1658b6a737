"""Contours: a metric over recall and specificity at two prevalences, as a small picture."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.figures import SurfaceDisplay
from steelyard.report.figures import style
from steelyard.report.palette import inks

if TYPE_CHECKING:
    from steelyard.metrics.measure import Metric

PREVALENCES = (0.5, 0.1)


def picture(metric: Metric) -> bytes | None:
    """The metric over both rates at two prevalences, as SVG; None where it is no function of them, or a constant."""
    if metric.function is None:
        return None
    shown = [SurfaceDisplay.of([metric], prevalence=share).values[0] for share in PREVALENCES]
    if not all(np.isfinite(values).any() and np.nanmax(values) - np.nanmin(values) > 1e-9 for values in shown):
        return None
    canvas = style.canvas()
    with canvas.paper():
        figure = canvas.new_figure((5.6, 2.7))
        panels = figure.subplots(1, 2, sharey=True)
        levels = _levels(shown)
        for ax, values, share in zip(panels, shown, PREVALENCES, strict=True):
            _contours(ax, values, levels, f"prevalence {share:g}")
        panels[0].set_ylabel("specificity (TNR)")
        file = BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _levels(shown: list[Any]) -> Any:
    """Ten steps over what is shown; for odds, which have no upper end, those that people name."""
    finite = np.concatenate([values[np.isfinite(values)] for values in shown])
    low, high = float(finite.min()), float(finite.max())
    if high > 5:
        return np.array([0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100])
    return np.linspace(low, high, 11)


def _contours(ax: Any, values: Any, levels: Any, title: str) -> None:
    rates = np.linspace(0, 1, len(values))
    steps = np.interp(values, levels, np.arange(len(levels)))  # colours follow the steps, whatever their spacing
    places = np.arange(len(levels), dtype=float)
    ax.contourf(rates, rates, steps.T, levels=places, cmap=style.shades(style.colour(0)), vmin=0, vmax=1.5 * places[-1])
    if np.nanmin(steps) < np.nanmax(steps):
        inner = [p for p in places[1:-1] if np.nanmin(steps) < p < np.nanmax(steps)]
        if inner:
            lines = ax.contour(rates, rates, steps.T, levels=inner, colors=inks().ink, linewidths=0.4, linestyles="-")
            ax.clabel(lines, fmt=lambda p: f"{levels[round(p)]:.2g}", fontsize=6)
    ax.set(aspect="equal", xlabel="recall (TPR)", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    ax.set_title(title, loc="center", fontsize=8)
    ax.grid(visible=False)
