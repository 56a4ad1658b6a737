"""Cost: the time, the memory and the space that an estimator takes, measured beside what it predicts."""

from __future__ import annotations

import math
import pickle
import time
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Result = TypeVar("_Result")

_SHORT = 0.05  # seconds below which one timing tells more about the machine than about the work
MOST_REPEATS = 7
PER = 1_000  # rows that the prediction time is given for


def _median(timings: tuple[float, ...]) -> float:
    return float(np.median(timings)) if timings else math.nan


def _noise(timings: tuple[float, ...]) -> float:
    median = _median(timings)
    return (max(timings) - min(timings)) / median if len(timings) > 1 and median > 0 else math.nan


@dataclass(frozen=True)
class Cost:
    """What one run took; timings in seconds, all of them where they were repeated, NaN where nothing was measured.

    `fit` is the fit alone, without resampling; `predict` is `predict` on the test part, for 1,000 rows. `memory` is
    the peak of what Python and NumPy allocated during a fit of its own under tracemalloc, which slows it and so is
    never timed; what a library allocates past Python's allocators is not in it. `size` is the pickled model; `nodes`
    and `depth` are those of a tree, summed and at most over the trees of a forest.
    """

    fit: tuple[float, ...] = ()
    predict: tuple[float, ...] = ()
    memory: float = math.nan
    size: float = math.nan
    nodes: float = math.nan
    depth: float = math.nan

    def values(self) -> dict[str, float]:
        """One number a kind of cost: the median of repeated timings."""
        return {
            "fit_seconds": _median(self.fit),
            "predict_seconds_per_1000": _median(self.predict),
            "peak_memory_bytes": self.memory,
            "model_bytes": self.size,
            "tree_nodes": self.nodes,
            "tree_depth": self.depth,
        }

    def noise(self) -> dict[str, float]:
        """How far repeated timings lie apart, as a share of their median; NaN where nothing was repeated."""
        return {"fit_seconds": _noise(self.fit), "predict_seconds_per_1000": _noise(self.predict)}


@dataclass(frozen=True)
class CostKind:
    """One kind of cost, of which less is better; `why_missing` is why a run may have none."""

    name: str
    why_missing: str | None = None

    def saved(self) -> str:
        """Its name, by which it is known in JSON."""
        return self.name

    sign = -1
    range = (0.0, math.inf)


_WHY_MISSING = {
    "peak_memory_bytes": "not measured; cost=True fits once more under tracemalloc",
    "model_bytes": "the model cannot be pickled",
    "tree_nodes": "not a tree",
    "tree_depth": "not a tree",
}
COST_KINDS = {name: CostKind(name, _WHY_MISSING.get(name)) for name in Cost().values()}


def timed(work: Callable[[], _Result]) -> tuple[_Result, float]:
    """What the work returns, and the seconds it took."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def timings(work: Callable[[], object], first: float, *, thorough: bool) -> tuple[float, ...]:
    """The first timing, and where it is short and its noise matters, further ones of the same work."""
    seconds = [first]
    while thorough and len(seconds) < MOST_REPEATS and sum(seconds) < _SHORT:
        seconds.append(timed(work)[1])
    return tuple(seconds)


def peak_memory(work: Callable[[], object]) -> float:
    """The most bytes that the work held at once above what was held before, as tracemalloc sees it."""
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        work()
        return float(max(tracemalloc.get_traced_memory()[1] - before, 0))
    finally:
        if not running:
            tracemalloc.stop()


class _Counter:
    """A file that only counts what is written to it."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: bytes) -> int:
        """Count, and forget."""
        size = memoryview(data).nbytes
        self.bytes += size
        return size


def model_size(model: object) -> float:
    """The bytes of the pickled model, counted without keeping them; NaN where it cannot be pickled."""
    counter = _Counter()
    try:
        pickle.dump(model, counter, protocol=5)
    except Exception:  # noqa: BLE001 - an estimator may refuse in any way
        return math.nan
    return float(counter.bytes)


class _Tree(Protocol):
    node_count: int
    max_depth: int


def tree_size(model: object) -> tuple[float, float]:
    """The nodes and the depth of a fitted tree, of the trees of a forest, or of what a pipeline or a search holds."""
    trees = list(_trees(model))
    if not trees:
        return math.nan, math.nan
    return float(sum(tree.node_count for tree in trees)), float(max(tree.max_depth for tree in trees))


def _trees(model: object) -> Iterator[_Tree]:
    if hasattr(model, "tree_"):
        yield model.tree_
        return
    steps = getattr(model, "steps", None)
    inside = [steps[-1][1]] if steps else np.ravel(np.asarray(getattr(model, "estimators_", []), dtype=object)).tolist()
    inside += [getattr(model, name) for name in ("estimator_", "best_estimator_") if hasattr(model, name)]
    for part in inside:
        # A bagging classifier holds its prototype in estimator_ as well, which was never fitted.
        yield from _trees(part)
