"""What follows a label plan: top-ups by what its labels show, and thresholds that are chosen on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.plan_runs import LABELS, in_processes, interval_of
from benchmarks.plan_worlds import SCORES, World, simulated_world, useless_world
from steelyard import best_threshold, label_plan
from steelyard.metrics.spec import MetricSpec
from steelyard.predictions import Predictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array

ROWS, PILOT, RESAMPLES = 20_000, 300, 100
METRICS = ("recall", "f1", "mcc", "ac_score")
CHOSEN = ("f1", "ac_score")


def _worlds() -> Iterator[World]:
    for name, prevalence in (("AUC .9", 0.05), ("AUC .9", 0.01), ("AUC .7", 0.01), ("AUC .9", 0.002)):
        yield simulated_world(name, prevalence, *SCORES[name])


def top_up_rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Coverage after a pilot and a top-up, and the bias as a share of the root mean squared error."""
    worlds = [*_worlds(), useless_world("useless, a tenth flagged", 0.01, 1.0, 0.1)]
    tasks = [(world, metric, repeats) for world in worlds for metric in METRICS]
    shares = in_processes(_top_ups, tasks)
    for world in worlds:
        own = [found for (of, _, _), found in zip(tasks, shares, strict=True) if of is world]
        yield world.name, {name: share for each in own for name, share in each.items()}


def _top_ups(task: tuple[World, str, int]) -> dict[str, float]:
    world, metric, repeats = task
    rng, spec, truth = np.random.default_rng(len(metric)), MetricSpec.of(metric), world.truth(metric)
    runs = np.array([run for _ in range(repeats) if (run := _topped_up(world, spec, rng)) is not None])
    off = runs[:, 0] - truth
    held = (runs[:, 1] <= truth) & (truth <= runs[:, 2])
    return {metric: float(held.mean()), f"{metric} bias": float(off.mean() / np.sqrt((off**2).mean()))}


def _topped_up(world: World, spec: MetricSpec, rng: np.random.Generator) -> tuple[float, float, float] | None:
    """The value and the interval by a pilot and its top-up; None where they found no positive."""
    labels, scores = world.rows(ROWS, rng)
    pilot = label_plan(scores, PILOT, spec, threshold=world.threshold, rng=rng)
    plan = pilot.top_up(scores, LABELS - PILOT, labels[pilot.index], rng=rng)
    if not labels[plan.index].any():
        return None
    rows = plan.labelled(Predictions(labels[plan.latest]))
    return float(spec.metric(rows.confusion(), pos_label=1)), *interval_of(rows, spec, rng)


def threshold_rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """How often a chosen threshold's range holds the best one, and its interval on new rows the value there."""
    worlds = [*_worlds()][:3]
    found = in_processes(_thresholds, [(world, repeats) for world in worlds])
    for world, shares in zip(worlds, found, strict=True):
        yield world.name, shares


def _thresholds(task: tuple[World, int]) -> dict[str, float]:
    world, repeats = task
    shares: dict[str, float] = {}
    for metric in CHOSEN:
        grid = np.quantile(world.negatives, 1 - np.geomspace(1e-5, 1, 4_001))
        best = float(grid[np.nanargmax(world.value_at(metric, grid))])
        rng = np.random.default_rng(len(metric))
        runs = np.array([_chosen(world, metric, best, rng) for _ in range(repeats)])
        held, valued, off = runs.mean(0)
        shares |= {
            f"{metric}, range": float(held),
            f"{metric}, new rows": float(valued),
            f"{metric} bias": float(off),
        }
    return shares


def _chosen(world: World, metric: str, best: float, rng: np.random.Generator) -> tuple[float, float, float]:
    labels, scores = world.rows(ROWS, rng)
    plan = label_plan(scores, LABELS, metric, threshold=world.threshold, rng=rng)
    found = best_threshold(labels[plan.index], metric=metric, design=plan, draws=RESAMPLES, rng=rng)
    value = float(world.value_at(metric, np.array([found.threshold]))[0])
    ends: list[Array] = [np.array(each or (-np.inf, np.inf)) for each in (found.interval, found.out_of_sample_interval)]
    held, valued = (float(low <= of <= high) for (low, high), of in zip(ends, (best, value), strict=True))
    return held, valued, (np.nan if found.out_of_sample is None else found.out_of_sample) - value


if __name__ == "__main__":
    for rows in (top_up_rows, threshold_rows):
        for setting, shown in rows(20):
            print(setting, shown, flush=True)
