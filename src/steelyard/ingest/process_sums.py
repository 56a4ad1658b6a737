"""Sums of processes: what an Accumulator holds as tensors of torch, summed or gathered by torch.distributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np

from steelyard.exceptions import InputError, MissingLibraryError, first_ten
from steelyard.ingest.array_tables import score_table
from steelyard.ingest.label_sums import REFUSED, table_of_sums
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Labels
    from steelyard.ingest.accumulator import Accumulator
    from steelyard.ingest.label_sums import LabelSums
    from steelyard.statistics.score_table import ScoreTable

    StateTensors: TypeAlias = dict[str, Any]  # of torch, which is imported only here

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
