"""Panels: several axes in the place of one. Used by the displays that need more than one."""

from __future__ import annotations

from typing import Any

import numpy as np


def grid(ax: Any, rows: int, columns: int, **options: Any) -> Any:
    """An array of axes that take the place of the given one."""
    return place(ax).subplots(rows, columns, squeeze=False, **options)


def place(ax: Any) -> Any:
    """The room of the given axes as a part of its figure; a figure or a part of one is taken as it is."""
    if hasattr(ax, "add_subplot"):
        return ax
    spec, figure = ax.get_subplotspec(), ax.figure
    if spec is None:  # axes put anywhere by hand have no cell of a grid to give
        raise _by_hand()
    ax.remove()
    return figure.add_subfigure(spec)


def _by_hand() -> Exception:
    from steelyard.errors import InputError

    return InputError("This figure has several panels; give axes made by subplots, or a figure, as ax=.")


def as_array(axes: list[Any]) -> Any:
    """Axes as an array of objects."""
    found = np.empty(len(axes), dtype=object)
    found[:] = axes
    return found
