"""Monitor: a model followed batch by batch, with alarms that may be looked at daily."""

from __future__ import annotations

from itertools import count
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.levels import check_level
from steelyard.analysis.monitoring import batches
from steelyard.analysis.monitoring.batches import Batch, BatchRows, table_batch
from steelyard.analysis.monitoring.pending_labels import PendingLabels, check_sizes, checked_age, checked_keys
from steelyard.analysis.monitoring.reference import MonitorThreshold
from steelyard.analysis.monitoring.rules import COST_NAME, followed, groups_seen, parsed_rules
from steelyard.analysis.monitoring.saved_monitor import merged_monitors, read_monitor, saved_monitor
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Label
    from steelyard.analysis.monitoring.pending_labels import JoinReport
    from steelyard.analysis.monitoring.reference import ReferenceTable
    from steelyard.analysis.monitoring.rules import Monitoring
    from steelyard.ingest.source import Source
    from steelyard.statistics.saved_json import Saved

    Given = ArrayLike | Frame | Source | ReferenceTable


_FARTHEST = 1e100


class Monitor(MonitorThreshold):
    """Follows a model batch by batch, and raises an alarm where a rule is broken, with few false ones ever.

    `rules` are such as "recall >= 0.8", "mcc >= 0.5", "cost <= 12" (the mean of the rows' own costs, which lie in
    `cost_between`) or "precision >= reference - 0.05", where `reference` is a table whose own noise is allowed for.
    While no rule is broken, an alarm is ever raised with probability 1 - level at most, over all rules, groups and
    looks, so that one may look after every batch. Rows are taken as independent. `by` names groups that are followed
    as well; they share half of the error, those that come first more of it, and have their own limits where the
    reference has their counts. `threshold` makes predictions of scores, 0.5 of probabilities where none is given, which
    is stated; the scores of the reference are read there as well.
    `mature` waits until labels that come by key belong to a cohort of that age, in cohorts of predictions.

    Monitors of other rows merge with `+`: batches of one name are added, the others follow; a batch or a key that both
    have is refused. Counts add, and evidence depends on the counts up to each look alone, so that merging parts before
    looking changes no guarantee.

    >>> monitor = Monitor(["recall >= 0.8"])
    >>> monitor.update([1] * 20 + [0] * 80, [1] * 17 + [0] * 83, period="May")
    >>> monitor.update([1] * 30 + [0] * 70, [1] * 12 + [0] * 88, period="June")
    >>> print(monitor.result().headline)
    ALARM: recall >= 0.8 is broken since about June (40.0 % from there on), shown at June. Seen: 2 batches, 200 ...
    """

    @names_wrong_arguments
    def __init__(
        self,
        rules: Iterable[str] | str,
        *,
        level: float = 0.95,
        reference: ReferenceTable | None = None,
        pos_label: Label = None,
        threshold: float | None = None,
        by: str | None = None,
        cost_between: tuple[float, float] | None = None,
        mature: int | None = None,
    ) -> None:
        check_level(level)
        self.rules, self.level = parsed_rules(rules), float(level)
        super().__init__(threshold)
        self.pos_label, self.by = pos_label, by
        self.cost_between = None if cost_between is None else _checked_bounds(cost_between)
        self.reference = self._read_reference(reference)
        self.labels.add_reference(reference, pos_label)
        self.batches: list[Batch] = []
        self.pending = PendingLabels(checked_age(mature))
        if any(rule.of_reference for rule in self.rules) and self.reference is None:
            raise InputError("A rule speaks of a reference; give it as reference=.")
        if (COST_NAME in {rule.metric for rule in self.rules}) != (self.cost_between is not None):
            raise InputError('A rule such as "cost <= 12" and cost_between=(0, 500) need each other; give both.')

    # ---------------------------------------------------------------- labelled rows

    @names_wrong_arguments
    def update(
        self,
        y_true: Given,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        by: ArrayLike | None = None,
        cost: ArrayLike | str | None = None,
        period: str | None = None,
        true: str | None = None,
        pred: str | None = None,
        score: str | None = None,
    ) -> None:
        """Add a batch of labelled rows: arrays, a frame and the names of its columns, or a table.

        `period` is what the batch is called; `by` are the groups of arrays, `cost` the cost of each row. Of a frame
        true, pred or score, and cost name columns, and the groups are in the column that `by` of the monitor names.
        A period that was added already is refused, and so is a batch that was added whole, in any order and under any
        name, where other rows would agree with it by a chance below one in 10**9. Rows are not kept: those that come
        again among others count twice.
        """
        name = self._name(period)
        if any(batch.name == name for batch in self.batches):
            raise InputError(
                f"The period {name!r} was added already; give each batch once, and other rows another period."
            )
        if isinstance(y_true, (Counts, Confusion, Tally)):
            batch, present = table_batch(name, y_true, self.pos_label, self.by)
            if self.cost_between is not None:
                raise InputError("A table holds no costs of rows; give the rows.")
            self._refuse_repeated(batch)
            self.labels.add(present, name)
        else:
            if true is not None:
                frame: Any = y_true
                names = (true, pred, score, self.by, cost)
                y_true, y_pred, y_score, by, cost = batches.labelled_columns(frame, *names)  # type: ignore[arg-type]  # names
            batch = self._batch(name, y_true, y_pred, y_score, by, cost)  # type: ignore[arg-type]  # arrays by now
        if batch.rows:
            self.batches.append(batch)

    def _refuse_repeated(self, batch: Batch) -> None:
        """Refuse a batch whose rows were added under another name."""
        earlier = next((each for each in self.batches if each.repeats(batch)), None)
        if batch.rows and earlier is not None:
            raise InputError(
                f"The rows of {batch.name!r} are those of {earlier.name!r}, which were added already; leave them out."
            )

    def _batch(
        self,
        name: str,
        y_true: ArrayLike,
        y_pred: ArrayLike | None,
        y_score: ArrayLike | None,
        by: ArrayLike | None,
        cost: ArrayLike | None,
    ) -> Batch:
        if (y_pred is None) == (y_score is None):
            raise InputTypeError("update takes y_true and either y_pred or y_score=; give one of the two.")
        labels: dict[str, ArrayLike] = {"y_true": y_true} if y_pred is None else {"y_true": y_true, "y_pred": y_pred}
        positive = self._positive(labels)
        flags = None if y_score is None else self._flagged(y_score)
        predicted = positive.columns[-1] if flags is None else flags.predicted
        groups, costs = batches.group_names(by), self._costs(cost)
        check_sizes(y_true=positive.columns[0], predictions=predicted, by=groups, cost=costs)
        if (groups is None) != (self.by is None):
            raise InputError("by= and the groups of every batch need each other; give both or neither.")
        scores = None if flags is None else flags.scores
        batch = Batch.of(name, BatchRows(positive.columns[0], predicted, groups, costs, self.cost_between, scores))
        self._refuse_repeated(batch)
        self._take_threshold(flags)
        self._take_class(positive, name)
        return batch

    def _costs(self, cost: ArrayLike | None) -> Array | None:
        if (cost is None) != (self.cost_between is None):
            raise InputError("cost_between= and the costs of every batch need each other; give both or neither.")
        return None if cost is None else arrays.numbers(arrays.column(cost, "cost"), "cost")

    def _name(self, period: object) -> str:
        if period is not None:
            return str(period)
        taken = {batch.name for batch in self.batches}
        return next(name for n in count(len(self.batches) + 1) if (name := f"batch {n}") not in taken)

    # ---------------------------------------------------------------- labels that come later

    @names_wrong_arguments
    def predict(
        self,
        keys: ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        by: ArrayLike | None = None,
        period: str | None = None,
    ) -> int:
        """Keep predictions by key until their labels come; returns how many keys were there already.

        >>> monitor = Monitor("recall >= 0.5")
        >>> monitor.predict(["a", "b", "c"], [1, 0, 1], period="Monday")
        0
        >>> monitor.label(["a", "c", "x"], [1, 0, 1], period="Thursday")
        labels: 2 joined, 1 of unknown keys, 1 still awaited
        """
        if (y_pred is None) == (y_score is None):
            raise InputTypeError("predict takes keys and either y_pred or y_score=; give one of the two.")
        flags = None if y_score is None else self._flagged(y_score)
        positive = None if y_pred is None else self._positive({"y_pred": y_pred})
        predicted: Array = flags.predicted if positive is None else positive.columns[0]  # type: ignore[union-attr]  # one is given
        named, groups = checked_keys(arrays.column(keys, "keys").tolist()), batches.group_names(by)
        check_sizes(keys=named, predictions=predicted, by=groups)
        taken = {old.name for old in self.pending.cohorts}
        free = (name for n in count(len(taken) + 1) if (name := f"cohort {n}") not in taken)
        cohort = next(free) if period is None else str(period)
        self.pending.refuse_repeated(cohort, named)
        self._take_threshold(flags)
        if positive is not None:
            self._take_class(positive, cohort)
        twice = self.pending.add(cohort, named, predicted, groups)
        self._release(period)
        return twice

    @names_wrong_arguments
    def label(
        self, keys: ArrayLike, y_true: ArrayLike, *, cost: ArrayLike | None = None, period: str | None = None
    ) -> JoinReport:
        """Join labels to the predictions of their keys; the rows that may be used are a batch."""
        positive = self._positive({"y_true": y_true})
        named, costs = checked_keys(arrays.column(keys, "keys").tolist()), self._costs(cost)
        check_sizes(keys=named, y_true=positive.columns[0], cost=costs)
        self._take_class(positive, self._name(period))
        report = self.pending.join(named, positive.columns[0], costs)
        self._release(period)
        return report

    def _release(self, period: object) -> None:
        for cohort, rows in self.pending.released():
            truth, predicted, groups, costs = zip(*rows, strict=True)
            names = [str(group) for group in groups] if self.by is not None else None
            amounts = None if self.cost_between is None else np.array(costs, dtype=np.float64)
            counted = BatchRows(np.array(truth), np.array(predicted), names, amounts, self.cost_between)
            self.batches.append(Batch.of(cohort or self._name(period), counted))

    # ---------------------------------------------------------------- what was found

    def result(self) -> Monitoring:
        """The rules after each batch, and the alarms."""
        return followed(self)

    @property
    def alarms(self) -> list[str]:
        """The rules that have raised an alarm, with their groups."""
        return [track.rule if track.group is None else f"{track.rule}, {track.group}" for track in self.result().alarms]

    def __add__(self, other: object) -> Monitor:
        if not isinstance(other, Monitor):
            return NotImplemented
        return merged_monitors(self, other)

    def __radd__(self, other: object) -> Monitor:
        return self if other == 0 else NotImplemented  # so that sum(monitors) works

    def __repr__(self) -> str:
        rules, rows = ", ".join(rule.text for rule in self.rules), sum(batch.rows for batch in self.batches)
        return f"<Monitor of {rules}: {len(self.batches):,} batches, {rows:,} labelled rows>"

    @property
    def groups(self) -> list[str]:
        """The groups in the order in which they came."""
        return groups_seen(self.batches)

    def to_json(self) -> str:
        """The whole state as strict JSON, which `from_json` reads to go on from there."""
        return saved_monitor(self)

    @classmethod
    @names_wrong_arguments
    def from_json(cls, text: Saved) -> Monitor:
        """The monitor that `to_json` wrote, every field checked; anything else is refused."""
        return read_monitor(cls, text)


def _checked_bounds(given: object) -> tuple[float, float]:
    """The least and the greatest cost of a row: two numbers in this order, whose squares are finite as well."""
    values: Sequence[Any] = given if isinstance(given, (tuple, list)) and len(given) == 2 else ()
    are_numbers = all(isinstance(value, Real) for value in values)
    bounds = [float(value) for value in values if are_numbers and -_FARTHEST <= value <= _FARTHEST]
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise InputError(
            argument="cost_between",
            expected=f"the lowest and the highest cost, two numbers within {_FARTHEST:g}, such as (0, 500)",
            given=given,
        )
    return bounds[0], bounds[1]
