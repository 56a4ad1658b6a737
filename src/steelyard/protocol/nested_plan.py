"""Nested plans: the folds of a study, and inside each training part folds by which thresholds are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError
from steelyard.ingest import arrays, label_codes
from steelyard.protocol.resampling_runs import NestedRun
from steelyard.protocol.runs import Run, Task, run_all
from steelyard.protocol.seeds import SEEDS
from steelyard.protocol.splits import Folds, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array
    from steelyard.protocol.candidates import Candidate
    from steelyard.protocol.predictions import Data


def nested_parts(
    plan: Sequence[Part], inner: int, data: Data, groups: ArrayLike | None, rng: np.random.Generator
) -> list[tuple[Part, list[Part]]]:
    """Each part of the plan with the folds of its training rows; groups stay together in both."""
    member = None if groups is None else label_codes.encode(arrays.column(groups, "groups"), None, "groups")[0]
    return [(part, _inner_parts(part, inner, data, member, rng)) for part in plan]


def _inner_parts(part: Part, inner: int, data: Data, member: Array | None, rng: np.random.Generator) -> list[Part]:
    train = part.train
    codes = data.codes[train]
    rows = np.bincount(codes, minlength=len(data.labels))
    if rows.min() < 2:
        few = data.labels[int(rows.argmin())]
        raise InputError(
            f"The training part of fold {part.fold} has {int(rows.min())} rows of class {few!r}, and a threshold is "
            "chosen on two or more; give fewer folds or more rows."
        )
    folds = Folds(min(inner, int(rows.min())))
    seed = int(rng.integers(SEEDS))
    pairs = (
        _fold_pairs(folds, codes, data, np.random.default_rng(seed))
        if member is None
        else _group_pairs(folds, codes, member[train], seed)
    )
    return [Part(part.repeat, i + 1, train[test], len(data.codes), train[fit]) for i, (fit, test) in enumerate(pairs)]


def _fold_pairs(folds: Folds, codes: Array, data: Data, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    return [(part.train, part.test) for part in folds.split(codes, data.labels, rng)]


def _group_pairs(folds: Folds, codes: Array, member: Array, seed: int) -> list[tuple[Array, Array]]:
    from sklearn.model_selection import StratifiedGroupKFold

    k = min(folds.k, len(np.unique(member)))
    if k < 2:
        raise InputError(
            "A training part holds one group only, and thresholds are chosen on another; give more groups."
        )
    splitter = StratifiedGroupKFold(k, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros((len(codes), 1)), codes, member))


def nested_runs(
    candidates: Sequence[Candidate],
    parts: Sequence[tuple[Part, list[Part]]],
    data: Data,
    seeds: Sequence[int],
    n_jobs: int | None,
    progress: Callable[[int, int], object] | None,
) -> dict[str, list[NestedRun]]:
    """Every candidate fitted on every part and on the folds inside it, the same for all."""
    tasks = [
        Task(candidate, each, seed, scores=True, thorough=False)
        for candidate in candidates
        for (part, inside), seed in zip(parts, seeds, strict=True)
        for each in (part, *inside)
    ]
    done = zip(tasks, run_all(tasks, data, n_jobs, progress), strict=True)
    runs = iter([Run(task.candidate.name, task.part, data, predictions) for task, predictions in done])
    return {
        candidate.name: [NestedRun(next(runs), [next(runs) for _ in inside]) for _, inside in parts]
        for candidate in candidates
    }
