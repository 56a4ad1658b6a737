"""Accumulator: batches weighed one after another into the table of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError
from steelyard.ingest.array_tables import confusion, declared_labels

if TYPE_CHECKING:
    from collections.abc import Callable


class Accumulator:
    r"""Weighs batches as they come, as in a training loop; what is kept is a table, not the rows.

    The batches are labels, or with `weigh=score_table` scores (which keeps each distinct score). The options are
    those of the weighing, such as `labels` or `pos_label`. Accumulators of different workers merge with `+`.

    >>> import steelyard
    >>> seen = steelyard.Accumulator(labels=[0, 1])
    >>> for truth, predicted in [([0, 1], [0, 1]), ([1, 1], [0, 1])]:
    ...     seen.update(truth, predicted)
    >>> steelyard.recall(seen.result())
    0.6666666666666666
    """

    def __init__(self, weigh: Callable[..., Any] = confusion, **options: Any) -> None:
        if options.get("labels") is not None:
            options["labels"] = declared_labels(options["labels"])
        self.weigh = weigh
        self.options = options
        self._parts: list[Any] = []

    def update(self, y_true: Any, y_other: Any, **weights: Any) -> None:
        """Add a batch: true labels, predictions or scores, and sample_weight= or frequency=; an empty one is fine."""
        if np.size(y_true) or np.size(y_other):
            part = self.weigh(y_true, y_other, **self.options, **weights)
            self._parts.append(part.compact() if hasattr(part, "compact") else part)
        if len(self._parts) > 1 and self.weigh is confusion:
            self._parts = [self.result()]

    def result(self) -> Any:
        """The table of all batches so far."""
        if not self._parts:
            raise InputError("Nothing has been weighed yet; call update(y_true, y_pred) first.")
        while len(self._parts) > 1:  # pairwise, so that each score is merged a few times and not once a batch
            pairs = zip(self._parts[::2], self._parts[1::2], strict=False)
            self._parts = [a + b for a, b in pairs] + self._parts[len(self._parts) // 2 * 2 :]
        return self._parts[0]

    def __add__(self, other: object) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        if (self.weigh, self.options) != (other.weigh, other.options):
            raise InputError("These accumulators weigh differently; give both the same options.")
        both = Accumulator(self.weigh, **self.options)
        both._parts = [*self._parts, *other._parts]
        return both

    def __radd__(self, other: object) -> Accumulator:
        return self if other == 0 else NotImplemented  # so that sum(accumulators) works
