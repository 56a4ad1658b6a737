"""Accumulator: batches counted one after another into the table of all of them."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.array_tables import confusion, declared_labels
from steelyard.ingest.label_sums import LabelSums, batch_device, kept_column
from steelyard.statistics.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from steelyard._types import Label, Weights
    from steelyard.ingest.process_sums import StateTensors
    from steelyard.statistics.backend import Backend
    from steelyard.statistics.confusion import Confusion

    Count = Callable[..., Confusion | ScoreTable]


class Accumulator:
    r"""Counts batches as they come, as in a training loop; what is kept is a table, not the rows.

    The batches are labels, or with `count=score_table` scores (which keeps each distinct score). `labels` and
    `pos_label` are those of the function that counts. Threads may share one. Accumulators of different workers merge
    with `+`: give each process its own, and send it back; one that was copied by a fork holds the parent's batches.
    Tensors on a device are counted there, and nothing waits for them until `result` is asked for, which then refuses
    what a batch held that it should not.

    >>> import steelyard
    >>> seen = steelyard.Accumulator(labels=[0, 1])
    >>> for truth, predicted in [([0, 1], [0, 1]), ([1, 1], [0, 1])]:
    ...     seen.update(truth, predicted)
    >>> steelyard.recall(seen.result())
    0.6666666666666666
    """

    @names_wrong_arguments
    def __init__(
        self,
        count: Count = confusion,
        *,
        labels: ArrayLike | None = None,
        pos_label: Label = None,
    ) -> None:
        self.count = count
        if not callable(self.count):
            raise InputTypeError(
                argument="count", expected="a function that counts a batch, such as confusion", given=self.count
            )
        self.labels = declared_labels(labels)
        self.pos_label = pos_label
        self._parts: list[Confusion | ScoreTable] = []
        self._sums: dict[Backend, LabelSums] = {}
        self._scores: list[dict[str, Any]] = []  # batches of scores that are still on a device
        self._lock = Lock()

    @property
    def _counts_labels(self) -> bool:
        """Whether batches are counted into confusion matrices, by the public function or the one that it calls."""
        return getattr(self.count, "__name__", "") == confusion.__name__

    @names_wrong_arguments
    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        sample_weight: Weights = None,
        frequency: Weights = None,
    ) -> None:
        """Add a batch: true labels, predictions or scores, and the weights of the rows; an empty one is fine."""
        given = [column for column in (y_pred, y_score) if column is not None]
        if len(given) != 1:
            raise InputTypeError("update takes y_true and either y_pred or y_score=; give one of the two.")
        if y_score is not None and self._counts_labels:
            raise InputTypeError(
                "This accumulator counts predicted labels, and y_score= gives scores; make it with "
                "Accumulator(score_table), or give the predictions as y_pred."
            )
        if _length(y_true) or _length(given[0]):
            weights = {"sample_weight": sample_weight, "frequency": frequency}
            if (there := batch_device(y_true, given[0], self.labels)) is not None:
                self._count_there(there, y_true, given[0], weights)
            else:
                self._count_here(y_true, given[0], weights)

    def _count_here(self, y_true: ArrayLike, other: ArrayLike, weights: dict[str, Weights]) -> None:
        part = self.count(y_true, other, labels=self.labels, pos_label=self.pos_label, **weights)
        part = part.compact() if isinstance(part, ScoreTable) else part
        with self._lock:
            parts = [*self._parts, part]
            self._parts = _merged(parts) if self._counts_labels else parts

    def _count_there(self, there: Backend, y_true: ArrayLike, other: ArrayLike, weights: dict[str, Weights]) -> None:
        """Count labels into sums on the device, or keep a copy of scores there: nothing waits for it."""
        with self._lock:
            if self._counts_labels:
                sums = self._sums.setdefault(there, LabelSums(there, self.labels))
                sums.add(y_true, other, *weights.values())
                return
            columns = {"y_true": y_true, "y_score": other, **weights}
            self._scores.append({name: kept_column(there, values, name) for name, values in columns.items()})

    def result(self) -> Confusion | ScoreTable:
        """The table of all batches so far."""
        parts = _merged(self._counted())
        if not parts:
            raise InputError("Nothing has been counted yet; call update(y_true, y_pred) first.")
        return parts[0]

    def _counted(self) -> list[Confusion | ScoreTable]:
        """The tables counted so far, those on devices brought."""
        with self._lock:
            if self._scores:
                options = {"labels": self.labels, "pos_label": self.pos_label}
                self._parts = [*self._parts, *(self.count(**batch, **options) for batch in _joined(self._scores))]
                self._scores = []
            self._parts = _merged(self._parts)
            tables = [sums.table() for sums in self._sums.values()]
            tables = tables if self.pos_label is None else [table.with_positive(self.pos_label) for table in tables]
            return [*self._parts, *tables]

    def state(self) -> StateTensors:
        """The sums so far as a few tensors of torch, on their device, which torch.distributed.all_reduce can sum.

        They are of the same size in every process, so the labels must be declared. `with_state` reads them back.
        """
        from steelyard.ingest.process_sums import state_of

        with self._lock:
            return state_of(self, [*self._parts], [*self._sums.values()])

    def with_state(self, state: StateTensors) -> Accumulator:
        """An accumulator of the same options that holds these sums, such as those of all processes."""
        from steelyard.ingest.process_sums import table_of_state

        return self._holding([table_of_state(self, state)])

    def across_processes(self, group: object = None) -> Accumulator:
        """One that holds the batches of all processes of torch.distributed; every process calls it and gets the same.

        Labels that are declared are summed by all_reduce; otherwise, and for scores, the tables are gathered.
        """
        from steelyard.ingest.process_sums import gathered, summed_state

        if self._counts_labels and self.labels is not None:
            return self.with_state(summed_state(self.state(), group))
        return self._holding([part for parts in gathered(self._counted(), group) for part in parts])

    def _holding(self, parts: list[Confusion | ScoreTable]) -> Accumulator:
        """One of the same options that holds these tables."""
        other = Accumulator(self.count, pos_label=self.pos_label)
        other.labels, other._parts = self.labels, parts
        return other

    def __add__(self, other: object) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        if (self.count, self.labels, self.pos_label) != (other.count, other.labels, other.pos_label):
            raise InputError("These accumulators count differently; give both the same options.")
        return self._holding([*self._counted(), *other._counted()])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None, "_parts": self._counted(), "_sums": {}, "_scores": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()

    def __radd__(self, other: object) -> Accumulator:
        return self if other == 0 else NotImplemented  # so that sum(accumulators) works


def _length(values: Any) -> int:
    """How many rows a column has, whatever it is."""
    shape = getattr(values, "shape", None)
    return int(shape[0]) if shape else np.size(values)


def _joined(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Batches of scores as one for each device and kind of weights."""
    kinds: dict[object, list[dict[str, Any]]] = {}
    for batch in batches:
        given = tuple(None if column is None else column.backend for column in batch.values())
        kinds.setdefault((given, str(batch["y_score"].native.dtype)), []).append(batch)
    return [
        {
            name: None
            if column is None
            else column.backend.column(column.backend.xp.concat([batch[name].native for batch in like]))
            for name, column in like[0].items()
        }
        for like in kinds.values()
    ]


def _merged(parts: list[Confusion | ScoreTable]) -> list[Confusion | ScoreTable]:
    """The parts as one, pairwise, so that each score is merged a few times and not once a batch."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [a + b for a, b in pairs] + parts[len(parts) // 2 * 2 :]
    return parts
