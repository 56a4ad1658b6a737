"""Accumulator: batches counted one after another into the table of all of them."""

from __future__ import annotations

import warnings
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._renamed import Renamed
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.array_tables import confusion, declared_labels
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Label, Weights
    from steelyard.statistics.confusion import Confusion

    Count = Callable[..., Confusion | ScoreTable]


class Accumulator:
    r"""Counts batches as they come, as in a training loop; what is kept is a table, not the rows.

    The batches are labels, or with `count=score_table` scores (which keeps each distinct score). `labels` and
    `pos_label` are those of the function that counts. Threads may share one. Accumulators of different workers merge
    with `+`: give each process its own, and send it back; one that was copied by a fork holds the parent's batches.

    >>> import steelyard
    >>> seen = steelyard.Accumulator(labels=[0, 1])
    >>> for truth, predicted in [([0, 1], [0, 1]), ([1, 1], [0, 1])]:
    ...     seen.update(truth, predicted)
    >>> steelyard.recall(seen.result())
    0.6666666666666666
    """

    weigh = Renamed("count")

    def __init__(
        self,
        count: Count = confusion,
        *,
        labels: ArrayLike | None = None,
        pos_label: Label = None,
        weigh: Count | None = None,
    ) -> None:
        if weigh is not None:
            warnings.warn("Accumulator(weigh=) is now called count=.", DeprecationWarning, stacklevel=2)
        self.count = count if weigh is None else weigh
        self.labels = declared_labels(labels)
        self.pos_label = pos_label
        self._parts: list[Confusion | ScoreTable] = []
        self._lock = Lock()

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        sample_weight: Weights = None,
        frequency: Weights = None,
        y_other: ArrayLike | None = None,
    ) -> None:
        """Add a batch: true labels, predictions or scores, and the weights of the rows; an empty one is fine."""
        if y_other is not None:
            warnings.warn("update(y_other=) is now called y_pred= or y_score=.", DeprecationWarning, stacklevel=2)
        given = [column for column in (y_pred, y_score, y_other) if column is not None]
        if len(given) != 1:
            raise InputTypeError("update takes y_true and either y_pred or y_score=; give one of the two.")
        if y_score is not None and self.count is confusion:
            raise InputTypeError(
                "This accumulator counts predicted labels, and y_score= gives scores; make it with "
                "Accumulator(score_table), or give the predictions as y_pred."
            )
        if np.size(y_true) or np.size(given[0]):
            options = {"labels": self.labels, "pos_label": self.pos_label}
            part = self.count(y_true, given[0], **options, sample_weight=sample_weight, frequency=frequency)
            part = part.compact() if isinstance(part, ScoreTable) else part
            with self._lock:
                parts = [*self._parts, part]
                self._parts = _merged(parts) if self.count is confusion else parts

    def result(self) -> Confusion | ScoreTable:
        """The table of all batches so far."""
        with self._lock:
            self._parts = _merged(self._parts)
            if not self._parts:
                raise InputError("Nothing has been counted yet; call update(y_true, y_pred) first.")
            return self._parts[0]

    def _counted(self) -> list[Confusion | ScoreTable]:
        with self._lock:
            return [*self._parts]

    def __add__(self, other: object) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        if (self.count, self.labels, self.pos_label) != (other.count, other.labels, other.pos_label):
            raise InputError("These accumulators count differently; give both the same options.")
        both = Accumulator(self.count, pos_label=self.pos_label)
        both.labels, both._parts = self.labels, [*self._counted(), *other._counted()]
        return both

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_parts": self._counted()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def __radd__(self, other: object) -> Accumulator:
        return self if other == 0 else NotImplemented  # so that sum(accumulators) works


def _merged(parts: list[Confusion | ScoreTable]) -> list[Confusion | ScoreTable]:
    """The parts as one, pairwise, so that each score is merged a few times and not once a batch."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [a + b for a, b in pairs] + parts[len(parts) // 2 * 2 :]
    return parts
