"""Sums of processes: what an Accumulator holds as tensors of torch, summed or gathered by torch.distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from steelyard.exceptions import InputError, MissingLibraryError
from steelyard.ingest.device_batches import REFUSED, table_of_sums
from steelyard.statistics.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.ingest.accumulator import Accumulator
    from steelyard.ingest.device_batches import LabelSums
    from steelyard.statistics.score_table import ScoreTable

    StateTensors: TypeAlias = dict[str, Any]  # of torch, which is imported only here

_NAMES = ("rows", "weights", "squares")
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

    They lie on the device of the batches, or in the processor's memory; `is_weighted` is above 0 where rows have some.
    """
    torch, labels = _torch(), accumulator.labels
    if labels is None or any(not isinstance(part, Confusion) for part in parts):
        raise InputError("The state is of declared labels: make it with Accumulator(labels=[...]), counting labels.")
    size = len(labels) ** 2 + _BESIDE
    device = next((part.rows.device for part in sums if part.library.name == "torch"), torch.device("cpu"))
    state = {name: np.zeros(size, np.int64 if name == "rows" else np.float64) for name in _NAMES}
    for part in parts:
        for name in _NAMES:
            state[name][: size - _BESIDE] += getattr(part.relabelled(labels), name).ravel()  # type: ignore[union-attr]  # labels alone
    whole = {name: torch.from_numpy(values).to(device) for name, values in state.items()}
    for there in sums:
        for name in _NAMES:
            given = there.rows if getattr(there, name) is None else getattr(there, name)
            whole[name] += (
                given if there.library.name == "torch" else torch.from_numpy(there.library.brought(given).copy())
            )
    weighted = any(part.weighted for part in parts) or any(part.weights is not None for part in sums)
    return {**whole, "is_weighted": torch.tensor([int(weighted)], device=device)}


def table_of_state(accumulator: Accumulator, state: StateTensors) -> Confusion:
    """The table of such sums; refused where a batch of any process held other labels, or weights that are none."""
    assert accumulator.labels is not None  # noqa: S101 - the state is of declared ones
    rows, weights, squares = (np.asarray(state[name].cpu().numpy()) for name in _NAMES)
    given: tuple[Array | None, Array | None] = (weights, squares) if int(state["is_weighted"]) else (None, None)
    table = table_of_sums(accumulator.labels, rows, *given, True)
    return table if accumulator.pos_label is None else table.with_positive(accumulator.pos_label)


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
