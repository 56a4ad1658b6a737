"""Monitor: a model followed batch by batch, with alarms that may be looked at daily."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from numbers import Real
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from steelyard.analysis.levels import check_level
from steelyard.analysis.monitoring import batches
from steelyard.analysis.monitoring.alarms import followed, groups_seen, read_rules
from steelyard.analysis.monitoring.batches import Batch, BatchRows, labelled_table, table_batch
from steelyard.analysis.monitoring.delay import expected_delays, limit_sentences, started
from steelyard.analysis.monitoring.pending_labels import PendingLabels, check_sizes, checked_age, checked_keys
from steelyard.analysis.monitoring.reference import MonitorThreshold
from steelyard.analysis.monitoring.saved_monitor import merged_monitors, read_monitor, saved_monitor
from steelyard.analysis.requirements import COST
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.exceptions import InputError, InputTypeError
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label
    from steelyard.analysis.monitoring.alarms import Monitoring
    from steelyard.analysis.monitoring.delay import ExpectedDelay
    from steelyard.analysis.monitoring.pending_labels import JoinReport
    from steelyard.analysis.monitoring.reference import MonitorReference
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.saved import Saved


_FARTHEST = 1e100


class Monitor(MonitorThreshold, Saveable):
    """Follows a model batch by batch, and raises an alarm where a rule is broken, with few false ones ever.

    `rules` are such as "recall >= 0.8", "mcc >= 0.5", "cost <= 12" (the mean of the rows' own costs, which lie in
    `cost_between`) or "precision >= reference - 0.05", where `reference` are labelled rows; their noise is allowed for.
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
    ALARM: recall >= 0.8 has been broken since about June (40.0 % since then); June showed it. Seen: 2 batches, 200 ...
    """

    @names_wrong_arguments
    def __init__(
        self,
        rules: Iterable[str] | str,
        *,
        reference: RowsLike | MonitorReference = None,
        by: str | None = None,
        cost_between: tuple[float, float] | None = None,
        mature: int | None = None,
        threshold: float | None = None,
        pos_label: Label = None,
        level: float = 0.95,
    ) -> None:
        check_level(level)
        self.rules, self.level = read_rules(rules), float(level)
        super().__init__(threshold)
        self.pos_label, self.by = pos_label, by
        self.cost_between = None if cost_between is None else _checked_bounds(cost_between)
        self.reference = self._read_reference(reference)
        self.batches: list[Batch] = []
        self.pending = PendingLabels(checked_age(mature))
        if any(rule.other for rule in self.rules) and self.reference is None:
            raise InputError("A rule speaks of a reference; give it as reference=.")
        if (COST in {rule.metric for rule in self.rules}) != (self.cost_between is not None):
            raise InputError('A rule such as "cost <= 12" and cost_between=(0, 500) need each other; give both.')
        for rule in self.rules:
            if rule.metric == COST and self.cost_between is not None:
                rule.check_number(self.cost_between)

    # ---------------------------------------------------------------- labelled rows

    @question
    def update(
        self,
        data: RowsLike = None,
        predicted: ArrayLike | None = None,
        /,
        *,
        period: str | None = None,
        cost: ArrayLike | str | None = None,
        **rows: Unpack[RowOptions],
    ) -> None:
        """Add a batch of labelled rows, or a table of them.

        `period` is what the batch is called, `cost` the cost of each row, or the column of it. Of a frame the groups
        are in the column that `by` of the monitor names; beside arrays `by` has them. A period that was added already
        is refused, and so is a batch that was added whole, in any order and under any name, where other rows would
        agree with it by a chance below one in 10**9. Rows are not kept: those that come again among others count twice.
        """
        p = self._given(Predictions.of(data, predicted, **rows))
        name = self._name(period)
        if any(batch.name == name for batch in self.batches):
            raise InputError(
                f"The period {name!r} was added already; give each batch once, and other rows another period."
            )
        if p.given.is_table:
            batch, present = table_batch(name, labelled_table(p), self.pos_label, self.by)
            if self.cost_between is not None:
                raise InputError("A table holds no costs of rows; give the rows.")
            self._refuse_repeated(batch)
            self.labels.add(present, name)
        else:
            batch = self._batch(name, p, cost)
        if batch.rows:
            self.batches.append(batch)

    def _given(self, p: Predictions) -> Predictions:
        """The rows in the groups of the monitor; what it cannot follow is refused."""
        refuse_unused(p, "a monitor", "weights", "frequency", "cluster", "design")
        if self.by is not None and p.given.by is None and not p.given.is_table and self.by in p.columns:
            p = p.with_options(by=self.by)
        if p.threshold is not None and self.threshold not in (None, p.threshold):
            raise InputError(
                f"The monitor reads scores at {self.threshold:g}, and these rows at {p.threshold:g}; give both the "
                "same threshold."
            )
        return p

    def _refuse_repeated(self, batch: Batch) -> None:
        """Refuse a batch whose rows were added under another name."""
        earlier = next((each for each in self.batches if each.repeats(batch)), None)
        if batch.rows and earlier is not None:
            raise InputError(
                f"The rows of {batch.name!r} are those of {earlier.name!r}, which were added already; leave them out."
            )

    def _batch(self, name: str, p: Predictions, cost: ArrayLike | str | None) -> Batch:
        model = p.given.model
        if not p.has_truth or (model.pred is None and model.score is None):
            raise InputTypeError("update takes the truth with y_pred or y_score=, or of a frame with pred= or score=.")
        values = p.collect(*_named(cost))
        given = values.given
        has_labels = given.y_pred is not None
        labels = {"y_true": given.data, "y_pred": given.y_pred} if has_labels else {"y_true": given.data}
        positive = self._positive(labels)
        flags = None if has_labels else self._flagged(given.y_score, p.threshold)
        predicted = positive.columns[-1] if flags is None else flags.predicted
        groups, costs = batches.group_names(given.by), self._costs(values, cost)
        check_sizes(y_true=positive.columns[0], predictions=predicted, by=groups, cost=costs)
        if (groups is None) != (self.by is None):
            raise InputError("by= and the groups of every batch need each other; give both or neither.")
        scores = None if flags is None else flags.scores
        batch = Batch.of(name, BatchRows(positive.columns[0], predicted, groups, costs, self.cost_between, scores))
        self._refuse_repeated(batch)
        self._take_threshold(flags, assumed=p.threshold is None)
        self._take_class(positive, name)
        return batch

    def _costs(self, values: Predictions, cost: ArrayLike | str | None) -> Array | None:
        if (cost is None) != (self.cost_between is None):
            raise InputError("cost_between= and the costs of every batch need each other; give both or neither.")
        if cost is None:
            return None
        given = checks.column(_values(values, cost), "cost")
        if isinstance(cost, str) and given.dtype.kind in "OU" and all(isinstance(each, str) for each in given):
            with suppress(ValueError):  # of a text file; what is no number is refused below
                given = given.astype(np.float64)
        return checks.numbers(given, "cost")

    def _name(self, period: object) -> str:
        if period is not None:
            return str(period)
        taken = {batch.name for batch in self.batches}
        return next(name for n in count(len(self.batches) + 1) if (name := f"batch {n}") not in taken)

    # ---------------------------------------------------------------- labels that come later

    @question
    def predict(
        self,
        data: RowsLike = None,
        /,
        *,
        key: ArrayLike | str,
        period: str | None = None,
        **rows: Unpack[RowOptions],
    ) -> int:
        """Keep predictions by key until their labels come; returns how many keys were there already.

        An array is `y_score`. `key` has the key of each row, or names the column of it.

        >>> monitor = Monitor("recall >= 0.5")
        >>> monitor.predict(y_pred=[1, 0, 1], key=["a", "b", "c"], period="Monday")
        0
        >>> monitor.label([1, 0, 1], key=["a", "c", "x"], period="Thursday")
        labels: 2 joined, 1 of unknown keys, 1 still awaited
        """
        p = self._given(Predictions.of(data, first_is="y_score", **rows))
        if p.given.is_table or (p.given.model.pred is None and p.given.model.score is None):
            raise InputTypeError("predict takes rows with y_score= or y_pred=, or of a frame score= or pred=.")
        values = p.collect(*_named(key))
        given = values.given
        flags = positive = None
        predicted: Array
        if given.y_pred is None:
            flags = self._flagged(given.y_score, p.threshold)
            predicted = flags.predicted
        else:
            positive = self._positive({"y_pred": given.y_pred})
            predicted = positive.columns[0]
        named, groups = checked_keys(checks.column(_values(values, key), "key").tolist()), batches.group_names(given.by)
        check_sizes(key=named, predictions=predicted, by=groups)
        taken = {old.name for old in self.pending.cohorts}
        free = (name for n in count(len(taken) + 1) if (name := f"cohort {n}") not in taken)
        cohort = next(free) if period is None else str(period)
        self.pending.refuse_repeated(cohort, named)
        self._take_threshold(flags, assumed=p.threshold is None)
        if positive is not None:
            self._take_class(positive, cohort)
        twice = self.pending.add(cohort, named, predicted, groups)
        self._release(period)
        return twice

    @question
    def label(
        self,
        data: RowsLike = None,
        /,
        *,
        key: ArrayLike | str,
        cost: ArrayLike | str | None = None,
        period: str | None = None,
        **rows: Unpack[RowOptions],
    ) -> JoinReport:
        """Join labels to the predictions of their keys; the rows that may be used are a batch."""
        p = Predictions.of(data, **rows)
        refuse_unused(p, "a monitor", "weights", "frequency", "cluster", "design")
        if p.given.is_table or not p.has_truth:
            raise InputTypeError("label takes the truth of rows: y_true, or of a frame true=.")
        values = p.collect(*_named(key), *_named(cost))
        positive = self._positive({"y_true": values.given.data})
        named, costs = checked_keys(checks.column(_values(values, key), "key").tolist()), self._costs(values, cost)
        check_sizes(key=named, y_true=positive.columns[0], cost=costs)
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
        return followed(self, limit_sentences(self))

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
        text = f"<Monitor of {rules}: {len(self.batches):,} batches, {rows:,} labelled rows>"
        return text if self.batches else "\n".join([text, *started(self)])

    def expected_delay(
        self, to: float | Mapping[str, float] | None = None, *, batch_rows: int | None = None
    ) -> list[ExpectedDelay]:
        """After how many batches a change of the metric of each rule is expected to raise an alarm.

        The change is from the value of the batches so far, else of the reference, to `to`: a value, or values by metric
        for several rules; as far beyond the limit as the value lies inside it where none is given. Batches have
        `batch_rows` rows, else as many as those so far; where neither is known the delay counts rows. It is the median
        of 201 simulated runs, of 9 for metrics such as MCC, whose evidence takes longer to find.

        >>> from steelyard import Counts
        >>> monitor = Monitor("recall >= reference - 0.05", reference=Counts(tp=620, fn=380, fp=900, tn=98_100))
        >>> print(*monitor.expected_delay(0.4, batch_rows=8_000))
        Recall falling from 62.0 % to 40.0 % would raise an alarm after about 3 batches of 80 positives.
        >>> print(monitor)
        <Monitor of recall >= reference - 0.05: 0 batches, 0 labelled rows>
        The limit of recall is 53.9 %: the reference's 62.0 % minus 5 points, minus 3.09 points for its own uncertainty.
        Recall falling from 62.0 % to 45.8 % would raise an alarm after about 850 positives.
        Delays are the medians of 201 simulated runs; half of them took longer.
        """
        return expected_delays(self, to, batch_rows)

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


def _named(given: object) -> list[str]:
    """The name of a column, if that is what was given."""
    return [given] if isinstance(given, str) else []


def _values(p: Predictions, given: Any) -> Any:
    """The values of a column that is named, or as they were given."""
    return p.column(given) if isinstance(given, str) else given


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
