"""Panels: several axes in the place of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    from steelyard._types import Array
    from steelyard.report.figures.figure_types import DrawingArea


def grid(ax: DrawingArea, rows: int, columns: int, *, sharey: bool = False) -> Array:
    """An array of axes that take the place of the given one."""
    return place(ax).subplots(rows, columns, squeeze=False, sharey=sharey)


def place(ax: DrawingArea) -> FigureBase:
    """The room of the given axes as a part of its figure; a figure or a part of one is taken as it is."""
    from matplotlib.figure import FigureBase

    if isinstance(ax, FigureBase):
        return ax
    spec, figure = ax.get_subplotspec(), ax.figure
    if spec is None:  # axes put anywhere by hand have no cell of a grid to give
        raise InputError("This figure has several panels; give axes made by subplots, or a figure, as ax=.")
    ax.remove()
    return figure.add_subfigure(spec)


def as_array(axes: list[Axes]) -> Array:
    """Axes as an array of objects."""
    array = np.empty(len(axes), dtype=object)
    array[:] = axes
    return array
