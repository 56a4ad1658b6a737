"""Label sets on a device: matrices of indicators and of scores that stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.ingest import arrays
from steelyard.ingest.device_columns import device_column, device_of
from steelyard.statistics.device_array import DeviceArray
from steelyard.statistics.device_library import library_name

if TYPE_CHECKING:
    from steelyard.ingest.device_columns import Column


def matrices_there(**columns: Column) -> dict[str, Column]:
    """Matrices of which one lies on a device as columns of it; all as they are where NumPy counts them.

    It counts frames, lists of labels and sparse matrices, whatever is beside them.
    """
    given = {name: values for name, values in columns.items() if values is not None}
    library = device_of(*given.values()) if all(map(_is_dense, given.values())) else None
    if library is None:
        return columns
    return {
        name: None if values is None else device_column(library, values, name, 2) for name, values in columns.items()
    }


def _is_dense(values: Any) -> bool:
    """Whether it is a matrix of numbers, of NumPy or of a library of tensors."""
    if len(getattr(values, "shape", ())) != 2:
        return False
    if type(values) is np.ndarray:
        return values.dtype.kind in "biuf"
    return library_name(values) is not None and str(getattr(values, "layout", "strided")).endswith("strided")


def device_indicators(matrix: DeviceArray) -> DeviceArray | None:
    """A matrix of 0 and 1 as booleans; None where it holds another number."""
    library, xp, native = matrix.library, matrix.library.xp, matrix.native
    if matrix.dtype.kind == "i" and matrix.size:
        least, most = (int(end) for end in library.ends(native))
        is_one = least >= 0 and most <= 1
    else:
        is_one = matrix.dtype.kind == "b" or bool(xp.all((native == 0) | (native == 1)))
    return DeviceArray(library, xp.astype(native, xp.bool, copy=False)) if is_one else None


def device_label_scores(matrix: DeviceArray) -> DeviceArray:
    """A column of finite scores for each label; whole numbers as the floats that NumPy would rank."""
    library = matrix.library
    if matrix.dtype.kind != "f":
        return DeviceArray(library, library.xp.astype(matrix.native, library.xp.float64))
    if matrix.size and not np.isfinite([float(end) for end in library.ends(matrix.native)]).all():
        scores = matrix.brought()
        arrays.finite_scores(scores[:, np.argmin(np.isfinite(scores).all(0))])  # refuses it by its row
    return matrix
