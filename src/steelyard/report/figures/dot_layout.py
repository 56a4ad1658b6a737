"""Dot layout: how many dots fit, where the columns of dots begin, and how tall either class may stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steelyard._types import Array

_LEAST_ROOM = 0.3  # of the height, that the class with the lower columns keeps


def size_in_points(ax: Axes) -> tuple[float, float]:
    """The size of the axes in points, once the layout has decided."""
    figure = ax.figure.get_figure(root=True)
    figure.draw_without_rendering()
    extent = ax.get_window_extent()
    return extent.width * 72 / figure.dpi, extent.height * 72 / figure.dpi


def column_edges(ends: tuple[float, float], threshold: float, columns: int) -> Array:
    """Edges of so many columns or one more; one of them is the threshold where it lies between the ends."""
    low, high = ends
    step = (high - low) / columns
    if not low < threshold < high:
        return np.linspace(low, high, columns + 1)
    below, above = int(np.ceil((threshold - low) / step)), int(np.ceil((high - threshold) / step))
    return np.asarray(threshold + step * np.arange(-below, above + 1))


def class_rooms(up: int, down: int, whole: float) -> tuple[float, float]:
    """How many dots the positives and the negatives may be tall: what they need, or a fair part of the whole."""
    if up + down <= whole:
        return up + (whole - up - down) / 2, down + (whole - up - down) / 2
    least = _LEAST_ROOM * whole
    upper = min(max(whole - down, min(up, least)), max(whole - least, whole - down))
    return upper, whole - upper
