"""How well labels that a plan chose show a metric, beside as many labels at random: coverage, and the error of the values.

The truth is that of the population. The threshold has the highest F1, by what useless scores seem to be where they are
useless; there it also flags a tenth of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.plan_runs import Runs, runs_of
from benchmarks.plan_worlds import real_worlds, useless_worlds, worlds

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS = ("recall", "f1", "mcc", "ac_score", "roc_auc")


def coverage_rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """The coverage of each metric's own plan."""
    every = [*worlds(), *real_worlds(), *useless_worlds()]
    for world, runs in zip(every, runs_of(every, METRICS, repeats), strict=True):
        yield world.name, {metric: each.coverage for metric, each in runs.items()}


def _errors(runs: dict[str, Runs]) -> dict[str, float | list[float]]:
    errors: dict[str, float | list[float]] = {metric: each.error / each.random_error for metric, each in runs.items()}
    for metric in ("recall", "f1"):
        errors[f"{metric} error"] = [runs[metric].error, runs[metric].random_error]
    undefined = [[each.undefined, each.random_undefined] for each in runs.values()]
    warned = float(np.nanmean(np.concatenate([each.warned for each in runs.values()])))
    return {**errors, "undefined": np.max(undefined, axis=0).tolist(), "warned": warned}


def error_rows(repeats: int) -> Iterator[tuple[str, dict[str, float | list[float]]]]:
    """The errors of each metric's own plan beside those of labels at random."""
    every = [*worlds(), *real_worlds()]
    for world, runs in zip(every, runs_of(every, METRICS, repeats), strict=True):
        yield world.name, _errors(runs)


def useless_rows(repeats: int) -> Iterator[tuple[str, dict[str, float | list[float]]]]:
    """The same of useless scores."""
    every = [*useless_worlds()]
    for world, runs in zip(every, runs_of(every, METRICS, repeats), strict=True):
        yield world.name, _errors(runs)


if __name__ == "__main__":
    for rows in (coverage_rows, error_rows, useless_rows):
        for setting, shares in rows(50):
            print(setting, shares, flush=True)
