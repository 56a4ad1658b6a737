"""MonitorThreshold: what makes predictions of a monitor's rows: the threshold of scores, and the positive class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from steelyard.analysis.monitoring.batch_rows import FlaggedRows, PositiveRows
from steelyard.analysis.monitoring.monitor_reference import MonitorReference
from steelyard.analysis.monitoring.seen_labels import SeenLabels
from steelyard.exceptions import InputTypeError, short_repr

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Label
    from steelyard.analysis.monitoring.monitor_reference import ReferenceTable


class MonitorThreshold:
    """A threshold as given, or the usual one of probabilities from the first scores on; a base of Monitor."""

    pos_label: Label
    by: str | None

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold
        self.threshold_assumed = False
        self.reference: MonitorReference | None = None
        self.labels = SeenLabels()

    def _read_reference(self, reference: ReferenceTable | None) -> MonitorReference | None:
        if reference is None or isinstance(reference, MonitorReference):
            return reference
        return MonitorReference.of(reference, threshold=self.threshold, pos_label=self.pos_label, by=self.by)

    def _positive(self, labels: dict[str, ArrayLike]) -> PositiveRows:
        positive = PositiveRows.of(labels, self.pos_label)
        if self.pos_label is not None:
            self.labels.check(positive.label, positive.present)
        return positive

    def _take_class(self, positive: PositiveRows, name: str) -> None:
        self.pos_label = positive.label if self.pos_label is None else self.pos_label
        self.labels.add(positive.present, name)

    def _flagged(self, y_score: ArrayLike) -> FlaggedRows:
        return FlaggedRows.of(y_score, None if self.threshold_assumed else self.threshold)

    def _take_threshold(self, flags: FlaggedRows | None) -> None:
        """Keep to the threshold of the first scores, and read the reference there."""
        if flags is None or self.threshold is not None:
            return
        self.reference = None if self.reference is None else self.reference.at(flags.threshold)
        self.threshold, self.threshold_assumed = flags.threshold, True

    def at_threshold_of(self, other: MonitorThreshold) -> Self:
        """Itself with the usual threshold where the other has taken it, as its first scores would make it do."""
        if not isinstance(other, MonitorThreshold):
            raise InputTypeError(f"at_threshold_of takes another monitor, not {short_repr(other)}.")
        if self.threshold is None and other.threshold_assumed and other.threshold is not None:
            self._take_threshold(FlaggedRows(np.zeros(0, dtype=bool), other.threshold))
        return self
