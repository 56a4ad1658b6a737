"""MonitorReference: the table that limits come from, of all rows and of each group, at the threshold of the monitor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from steelyard.analysis.intervals.metric_sequence import counted_cells
from steelyard.analysis.monitoring.batches import FlaggedRows, PositiveRows, SeenLabels
from steelyard.arrays.backend import as_read
from steelyard.exceptions import InputError, InputTypeError, short_repr
from steelyard.frames.decoding import match_label
from steelyard.predictions import Predictions, refuse_unused
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.score_table import ScoreTable, bin_divided_at
from steelyard.tables.tally import Tally
from steelyard.tables.thresholding import HALF

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.predictions import RowsLike

    ReferenceTable: TypeAlias = "Counts | Confusion | ScoreTable | Tally"


@dataclass(frozen=True, eq=False)
class MonitorReference:
    """The four cells of a reference and of its groups, the threshold they are at, and scores to read them at another.

    >>> from steelyard import score_table
    >>> reference = MonitorReference.of(score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), threshold=0.3)
    >>> reference.cells.tolist(), reference.at(0.5).cells.tolist()
    ([2.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 2.0])
    """

    cells: Array
    groups: Mapping[str, Array] = field(default_factory=dict)
    threshold: float | None = None
    scores: ScoreTable | None = None
    group_scores: Mapping[str, ScoreTable] = field(default_factory=dict)
    threshold_assumed: bool = False  # whether it is the usual one of probabilities

    @classmethod
    def of(
        cls, table: ReferenceTable, *, threshold: float | None = None, pos_label: Label = None, by: str | None = None
    ) -> MonitorReference:
        """The table of all rows, and those of the groups of a Tally."""
        scores = table if isinstance(table, ScoreTable) else getattr(table, "scores", None)
        counts = table if isinstance(table, (Counts, Confusion)) else getattr(table, "confusion", None)
        keyed: dict[str, Any] = {}
        if by is not None and isinstance(table, Tally):
            keyed = {" / ".join(map(str, key)): part for key, part in table.groups.items()}
        group_scores = {key: part.scores for key, part in keyed.items() if part.scores is not None}
        if counts is None and scores is not None:
            if threshold is None and not scores.has_probabilities:
                raise InputError(
                    "A reference of scores needs the threshold that makes predictions of them; give threshold=."
                )
            at = HALF if threshold is None else threshold
            cells = _all_at(group_scores, at)
            return cls(_at(scores, at), cells, at, scores, group_scores, threshold_assumed=threshold is None)
        cells = {key: _cells(part.confusion, pos_label) for key, part in keyed.items() if part.confusion is not None}
        all_cells = _cells(table if counts is None else counts, pos_label)  # type: ignore[arg-type]  # else refused
        if all_cells.shape != (4,) or not all_cells.sum():
            raise InputError("A reference is one table that has rows; give its counts.")
        whole = cls(all_cells, cells, None, scores, group_scores)
        return whole if threshold is None else whole.at(threshold)

    def at(self, threshold: float) -> MonitorReference:
        """The reference where scores of at least the threshold are flagged; refused where it cannot be read there."""
        if self.threshold == threshold or (self.threshold is None and self.scores is None):
            return self
        if self.scores is None:
            raise InputError(
                f"The reference was thresholded at {self.threshold:g} and the monitor at {threshold:g}, and its scores "
                "are not there; give both the same threshold, or a reference with its scores."
            )
        groups = _all_at(self.group_scores, threshold)  # those whose scores are gone are as if they were not there
        return replace(
            self, cells=_at(self.scores, threshold), groups=groups, threshold=threshold, threshold_assumed=False
        )

    def of_group(self, group: str | None) -> Array:
        """The cells of a group where the reference has it, else of all rows."""
        return self.cells if group is None else self.groups.get(group, self.cells)

    def sentences(self, groups: Iterable[str]) -> list[str]:
        """Which groups have their limits from all rows of the reference."""
        missing = [group for group in groups if group not in self.groups]
        if not missing:
            return []
        shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5:,} more" if len(missing) > 5 else "")
        return [f"The reference has no counts of its own for {shown}; limits there are those of all its rows."]


def _all_at(tables: Mapping[str, ScoreTable], threshold: float) -> dict[str, Array]:
    return {key: _at(table, threshold) for key, table in tables.items()}


def _at(scores: ScoreTable, threshold: float) -> Array:
    if scores.weighted:
        raise InputError("The rows of the reference have sample weights; a reference counts each row once.")
    divided = bin_divided_at(scores.bins, as_read(threshold, scores.precision))
    if divided is not None:
        raise InputError(
            f"The scores of the reference were counted in bins, and {threshold:g} would divide the one from "
            f"{divided[0]:.9g} to {divided[1]:.9g}; count them again with this threshold."
        )
    return counted_cells(scores.at(threshold))


def _cells(table: Counts | Confusion, label: Label) -> Array:
    if isinstance(table, Confusion) and label is not None:
        table = table.counts(match_label(label, table.labels)) if not table.weighted else table
    return counted_cells(table)


# ---------------------------------------------------------------- MonitorThreshold
# What makes predictions of a monitor's rows: the threshold of scores, and the positive class.


class MonitorThreshold:
    """A threshold as given, or the usual one of probabilities from the first scores on; a base of Monitor."""

    pos_label: Label
    by: str | None

    def __init__(self, threshold: float | None) -> None:
        self.threshold = threshold
        self.threshold_assumed = False
        self.reference: MonitorReference | None = None
        self.labels = SeenLabels()

    def _read_reference(self, reference: RowsLike | MonitorReference) -> MonitorReference | None:
        if reference is None or isinstance(reference, MonitorReference):
            return reference
        p = Predictions.of(reference)
        refuse_unused(p, "the reference of a monitor", "weights", "cluster", "design")
        if not p.given.is_table and self.by is not None and p.given.by is None:
            p = p.with_options(by=self.by)
        table = p.given.data if p.given.is_table else p.tally()
        self.labels.add_reference(table, self.pos_label)
        at = p.threshold if self.threshold is None else self.threshold
        if p.given.cut_at is None:
            return MonitorReference.of(table, threshold=at, pos_label=self.pos_label, by=self.by)
        found = MonitorReference.of(table, pos_label=self.pos_label, by=self.by)
        found = found if found.scores is not None else replace(found, threshold=p.given.cut_at)
        return found if at is None else found.at(at)

    def _positive(self, labels: dict[str, ArrayLike]) -> PositiveRows:
        positive = PositiveRows.of(labels, self.pos_label)
        if self.pos_label is not None:
            self.labels.check(positive.label, positive.present)
        return positive

    def _take_class(self, positive: PositiveRows, name: str) -> None:
        self.pos_label = positive.label if self.pos_label is None else self.pos_label
        self.labels.add(positive.present, name)

    def _flagged(self, y_score: ArrayLike, given: float | None) -> FlaggedRows:
        return FlaggedRows.of(y_score, given if self.threshold_assumed or self.threshold is None else self.threshold)

    def _take_threshold(self, flags: FlaggedRows | None, *, assumed: bool = True) -> None:
        """Keep to the threshold of the first scores, and read the reference there."""
        if flags is None or self.threshold is not None:
            return
        self.reference = None if self.reference is None else self.reference.at(flags.threshold)
        self.threshold, self.threshold_assumed = flags.threshold, assumed

    def at_threshold_of(self, other: MonitorThreshold) -> Self:
        """Itself with the usual threshold where the other has taken it, as its first scores would make it do."""
        if not isinstance(other, MonitorThreshold):
            raise InputTypeError(f"at_threshold_of takes another monitor, not {short_repr(other)}.")
        if self.threshold is None and other.threshold_assumed and other.threshold is not None:
            self._take_threshold(FlaggedRows(np.zeros(0, dtype=bool), other.threshold))
        return self
