"""Thinned rows: a part of very many rows of label sets, from which how far an average of areas scatters is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from steelyard.statistics.multilabel_table import MultilabelTable

_ROWS, _POSITIVES = 50_000, 500  # by which it is known to a few percent


def some_rows(table: MultilabelTable) -> MultilabelTable | None:
    """So many of the rows, drawn at random; None where a label would be rare among them, or rows are weighted."""
    positives, n = np.asarray(table.positives), table.true.shape[0]
    present = positives[positives > 0]
    if table.weights is not None or n < 2 * _ROWS or not len(present) or present.min() * _ROWS < _POSITIVES * n:
        return None
    return table.of_rows(np.sort(np.random.default_rng(0).choice(n, _ROWS, replace=False)))
