"""Accumulator: batches counted one after another into the table of all of them.

Nothing here waits for the device. What cannot be counted is counted apart, and refused when the table is brought.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.arrays.backend import Backend, library_name
from steelyard.exceptions import InputError, InputTypeError, MissingLibraryError, first_ten
from steelyard.tables.array_tables import confusion, declared_labels, score_table
from steelyard.tables.confusion import Confusion
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels, Weights
    from steelyard.arrays.backend import Column, Native

    StateTensors: TypeAlias = dict[str, Any]  # of torch, which is imported only here
    Count = Callable[..., Confusion | ScoreTable]


_SMALL = 64  # labels from 0 that are told apart where none are declared
# Cells behind those of the pairs, in which a row counts once; a row of no weight is as good as absent.
REFUSED = ("labels", "weights", "frequency", "absent")


@dataclass
class LabelSums:
    """The rows of each pair of labels on one device, and their weights where batches have some."""

    there: Backend
    declared: Labels | None
    rows: Native = None
    weights: Native | None = None
    squares: Native | None = None
    kinds: set[str] = field(default_factory=set)

    @property
    def labels(self) -> Labels:
        """The labels of the table: the declared ones, or small whole numbers."""
        return tuple(range(_SMALL)) if self.declared is None else self.declared

    def add(self, y_true: Column, y_pred: Column, sample_weight: Column, frequency: Column) -> None:
        """Count one more batch."""
        columns = self._columns(y_true, y_pred, sample_weight, frequency)
        codes, weight = self._codes(*columns), columns[2]
        times = None if columns[3] is None else self._times(codes, columns[3])
        size = len(self.labels) ** 2 + len(REFUSED)
        rows = self.there.code_sums(codes, size, times)
        if weight is not None and self.weights is None:  # those of batches before had the weight 1
            self.weights = self.squares = None if self.rows is None else self.there.real(self.rows)
        sums, squares = (self.there.real(rows),) * 2 if weight is None else self._weighted(codes, size, weight, times)
        if weight is not None or self.weights is not None:
            self.weights = sums if self.weights is None else self.weights + sums
            self.squares = squares if self.squares is None else self.squares + squares
        self.rows = rows if self.rows is None else self.rows + rows

    def _columns(self, y_true: Column, y_pred: Column, *weights: Column) -> list[Any]:
        given = {"y_true": y_true, "y_pred": y_pred, "sample_weight": weights[0], "frequency": weights[1]}
        columns = {
            name: None if values is None else checks.column(values, name, self.there) for name, values in given.items()
        }
        checks.check_lengths(**columns)
        self.kinds |= {columns[name].dtype.kind for name in ("y_true", "y_pred")}  # type: ignore[union-attr]  # given
        return list(columns.values())

    def _codes(self, true: Column, pred: Column, weight: Column | None, times: Column | None) -> Native:
        """The cell of each row: that of its pair of labels, or one of those for what is refused."""
        xp, k = self.there.xp, len(self.labels)
        (true_codes, is_true), (pred_codes, is_pred) = self._places(true), self._places(pred)
        codes = xp.where(is_true & is_pred, true_codes * k + pred_codes, k * k)
        refused = {name: k * k + place for place, name in enumerate(REFUSED)}
        given = [self.there.real(column.native) for column in (weight, times) if column is not None]
        for values in given:
            codes = xp.where(values == 0, refused["absent"], codes)
        if times is not None and times.dtype.kind == "f":
            codes = xp.where(given[-1] == xp.floor(given[-1]), codes, refused["frequency"])
        for values in given:
            codes = xp.where((values >= 0) & xp.isfinite(values), codes, refused["weights"])
        return codes

    def _times(self, codes: Native, frequency: Column) -> Native:
        """How many rows each row counts for; once where it is refused, so that no two make up for each other."""
        xp, is_counted = self.there.xp, codes < len(self.labels) ** 2
        if frequency.dtype.kind == "f":
            return xp.astype(xp.where(is_counted, self.there.real(frequency.native), 1.0), xp.int64)
        return xp.where(is_counted, xp.astype(frequency.native, xp.int64), 1)

    def _places(self, column: Column) -> tuple[Native, Native]:
        """The place of each row's label among the labels, and whether it is one of them."""
        xp, given = self.there.xp, column.native
        whole = xp.astype(given, xp.int64)
        known = whole == given if column.dtype.kind == "f" else None
        if self.declared is None:
            places, is_label = whole, (whole >= 0) & (whole < _SMALL)
        else:
            ordered, order = self._ordered
            near = xp.clip(self.there.search(ordered, whole), max=len(self.declared) - 1)
            places, is_label = self.there.take(order, near), self.there.take(ordered, near) == whole
        is_label = is_label if known is None else is_label & known
        return xp.where(is_label, places, 0), is_label

    @cached_property
    def _ordered(self) -> tuple[Native, Native]:
        """The declared labels in ascending order, and their places: sent to the device once."""
        labels = np.array(self.declared, dtype=np.int64)
        order = np.argsort(labels)
        return self.there.native(labels[order]), self.there.native(order)

    def _weighted(self, codes: Native, size: int, weight: Column, times: Native | None) -> tuple[Native, Native]:
        xp = self.there.xp
        real = self.there.real(weight.native)
        counted = xp.where(codes < size - len(REFUSED), real, 0.0)  # NaN would spoil the sums of its own cell alone
        scaled = counted if times is None else counted * self.there.real(times)
        return self.there.code_sums(codes, size, scaled), self.there.code_sums(codes, size, counted * scaled)

    def table(self) -> Confusion:
        """The table; refused where a batch held other labels, or weights that are none."""
        parts = (self.rows, self.weights, self.squares)
        rows, weights, squares = (None if part is None else self.there.to_host(part) for part in parts)
        assert rows is not None  # noqa: S101 - of batches
        return table_of_sums(self.labels, rows, weights, squares, self.declared is not None, self.kinds == {"b"})


def table_of_sums(
    labels: Labels, rows: Array, weights: Array | None, squares: Array | None, declared: bool, booleans: bool = False
) -> Confusion:
    """The table of sums and of what was refused beside them."""
    k = len(labels)
    others, bad, broken, absent = rows[k * k :].tolist()
    if others:
        which = f"none of the labels {first_ten(labels)}" if declared else f"no whole numbers below {_SMALL}"
        raise InputError(f"{others:,} rows of the batches hold labels that are {which}; declare all with labels=.")
    if bad:
        raise InputError(f"{bad:,} rows of the batches have weights that are negative, infinite or NaN.")
    if broken:
        raise InputError(checks.not_whole("frequency"))
    if absent and not rows[: k * k].any():
        raise InputError(checks.weightless("The weight of the batches"))
    cells = [None if part is None else part[: k * k].reshape(k, k) for part in (rows, weights, squares)]
    if declared:
        return Confusion(labels, *cells)  # type: ignore[arg-type]  # there are always rows
    assert cells[0] is not None  # noqa: S101 - there are always rows
    present = np.flatnonzero(cells[0].sum(0) + cells[0].sum(1))
    small = [None if part is None else part[np.ix_(present, present)] for part in cells]
    return Confusion(tuple(map(bool if booleans else int, present)), *small)  # type: ignore[arg-type]  # rows


# ---------------------------------------------------------------- batches


def batch_device(y_true: Column, other: Column, declared: Labels | None) -> Backend | None:
    """The device on which a batch, of any length, is counted; None where NumPy counts it."""
    if declared is not None and not all(isinstance(label, int) for label in declared):
        return None
    given = (values for values in (y_true, other) if library_name(values) is not None)
    there = next((values for values in given if checks.stays(values)), None)
    return None if there is None else Backend.of(there)


def kept_column(there: Backend, values: Column, name: str) -> Column:
    """A copy of a column on the device: a loop may write the next batch into the same memory."""
    if values is None:
        return None
    return there.column(there.xp.asarray(there.native(checks.column(values, name, there)), copy=True))


# ---------------------------------------------------------------- process sums


_NAMES = ("rows", "weights", "squares")
_KEYS = (*_NAMES, "is_weighted", "labels")
_BESIDE = len(REFUSED)


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingLibraryError("torch is not installed, whose processes these are; install it first.") from None
    return torch


def state_of(
    accumulator: Accumulator, parts: Sequence[Confusion | ScoreTable], sums: Sequence[LabelSums]
) -> StateTensors:
    """The rows, weights and squared weights of each pair of declared labels, with what was refused behind them.

    They lie on the device of the batches, or in the processor's memory; `is_weighted` is above 0 where rows have some,
    and `labels` has a checksum of the labels and the 1 that becomes the number of states when they are summed.
    """
    torch, labels = _torch(), _declared(accumulator, parts)
    size = len(labels) ** 2 + _BESIDE
    device = next((part.rows.device for part in sums if part.there.name == "torch"), torch.device("cpu"))
    state = {name: np.zeros(size, np.int64 if name == "rows" else np.float64) for name in _NAMES}
    for part in parts:
        for name in _NAMES:
            state[name][: size - _BESIDE] += getattr(part.relabelled(labels), name).ravel()  # type: ignore[union-attr]  # labels alone
    whole = {name: torch.from_numpy(values).to(device) for name, values in state.items()}
    for held in sums:
        for name in _NAMES:
            given = held.rows if getattr(held, name) is None else getattr(held, name)
            of_torch = held.there.name == "torch"
            whole[name] += given if of_torch else torch.from_numpy(held.there.to_host(given).copy())
    weighted = any(part.weighted for part in parts) or any(part.weights is not None for part in sums)
    beside = {"is_weighted": [int(weighted)], "labels": [_checksum(labels), 1]}
    return {**whole, **{name: torch.tensor(values, device=device) for name, values in beside.items()}}


def _declared(accumulator: Accumulator, parts: Sequence[Confusion | ScoreTable] = ()) -> Labels:
    counts_scores = getattr(accumulator.count, "__name__", "") == score_table.__name__ or any(
        not isinstance(part, Confusion) for part in parts
    )
    if accumulator.labels is None or counts_scores:
        raise InputError("The state is of declared labels: make it with Accumulator(labels=[...]), counting labels.")
    return accumulator.labels


def _checksum(labels: Labels) -> int:
    """A number of 32 bits, so that the sum over all processes fits into 64."""
    return crc32(repr(labels).encode())


def table_of_state(accumulator: Accumulator, state: StateTensors) -> Confusion:
    """The table of such sums; refused where a batch of any process held other labels, or weights that are none."""
    labels = _declared(accumulator)
    _check_state(state, labels)
    rows, weights, squares = (np.asarray(state[name].cpu().numpy()) for name in _NAMES)
    given: tuple[Array | None, Array | None] = (weights, squares) if int(state["is_weighted"]) else (None, None)
    table = table_of_sums(labels, rows, *given, True)
    return table if accumulator.pos_label is None else table.with_positive(accumulator.pos_label)


def _check_state(state: StateTensors, labels: Labels) -> None:
    """Refuse what is no state, and the state of other labels."""
    tensor = _torch().Tensor
    if not isinstance(state, Mapping) or not all(isinstance(state.get(name), tensor) for name in _KEYS):
        raise InputError(
            f"A state holds the tensors {', '.join(_KEYS)}; give what state() returned, or the sum of such."
        )
    checksum, states = (int(number) for number in state["labels"])
    sizes = {state[name].numel() for name in _NAMES}
    if checksum != states * _checksum(labels) or sizes != {len(labels) ** 2 + _BESIDE}:
        raise InputError(
            f"The state is not of the labels {first_ten(labels)} alone; declare those it was counted with."
        )
    if any(bool((state[name] < 0).any()) for name in _NAMES):
        raise InputError("The state holds sums below 0, which no batches have; give what state() returned.")


def summed_state(state: StateTensors, group: object) -> StateTensors:
    """The sums over all processes."""
    distributed = _started()
    backend = distributed.get_backend(group)
    whole = {name: values.cuda() if backend == "nccl" else values.clone() for name, values in state.items()}
    for values in whole.values():
        distributed.all_reduce(values, group=group)
    return whole


def gathered(parts: Sequence[Any], group: object) -> list[Sequence[Any]]:
    """The tables of every process, in the order of their ranks."""
    distributed = _started()
    everyone: list[Any] = [None] * distributed.get_world_size(group)
    distributed.all_gather_object(everyone, [*parts], group=group)
    return everyone


def _started() -> Any:
    distributed = _torch().distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        raise InputError(
            "No processes of torch.distributed are joined here; call torch.distributed.init_process_group first."
        )
    return distributed


# ---------------------------------------------------------------- accumulator


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
        with self._lock:
            return state_of(self, [*self._parts], [*self._sums.values()])

    def with_state(self, state: StateTensors) -> Accumulator:
        """An accumulator of the same options that holds these sums, such as those of all processes."""
        return self._holding([table_of_state(self, state)])

    def across_processes(self, group: object = None) -> Accumulator:
        """One that holds the batches of all processes of torch.distributed; every process calls it and gets the same.

        Labels that are declared are summed by all_reduce; otherwise, and for scores, the tables are gathered.
        """
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
