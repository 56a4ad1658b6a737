"""The pictures of the selection study, and the sentences that stand first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.studies.pictures import Picture
from steelyard.studies.selection import SELECTION_STUDY
from steelyard.studies.selection_checks import RESAMPLED, coverage, resampling_change
from steelyard.studies.selection_coverage import COVERED
from steelyard.studies.selection_effects import (
    FEWEST_FAMILIES,
    SHARES,
    family_interval,
    family_interval_words,
    rank_range,
    value_differences,
)
from steelyard.studies.selection_figures import DotIntervals, DotSeries, RankMatrix
from steelyard.studies.selection_metrics import GOALS, METRICS, titles
from steelyard.studies.selection_results import DEFAULT_AT, TUNED_AT, mean_of
from steelyard.studies.selection_tables import ordered_selectors

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.studies.selection_results import SelectionResults

_RANDOM, _WORST = 6.5, 7.5
_MOVED = (("g_mean", DEFAULT_AT), ("g_mean", TUNED_AT), ("mcc", DEFAULT_AT), ("mcc", TUNED_AT), ("roc_auc", DEFAULT_AT))


@SELECTION_STUDY.summary
def _summary(results: SelectionResults) -> list[str]:
    names = ordered_selectors(results)
    mean = {name: float(results.confirmed(results.rank(name)).mean()) for name in METRICS}
    tuned = {name: float(results.confirmed(results.rank(name, regime=TUNED_AT)).mean()) for name in METRICS}
    first = ", ".join(f"{titles()[name]} {mean[name]:.2f}" for name in names[:3])
    last = ", ".join(f"{titles()[name]} {mean[name]:.2f}" for name in names[-3:])
    best = min(tuned, key=lambda name: tuned[name])
    n = results.family_number(~results.explored)
    few = (
        f"This shows how the study works and judges nothing: {n} families that were not looked at before are here, and "
        f"{FEWEST_FAMILIES} or more are needed."
    )
    return [
        *([few] if n < FEWEST_FAMILIES else []),
        f"On families not looked at before, the model chosen at 0.5 by {titles()[names[0]]} has the best mean rank "
        f"over nine goals, {mean[names[0]]:.2f} of 12; a random choice has 6.5.",
        f"First: {first}. Last: {last}.",
        f"With tuned thresholds {titles()[best]} is first, {tuned[best]:.2f}; MCC has {tuned['mcc']:.2f}, log loss "
        f"{tuned['log_loss']:.2f}, ROC AUC {tuned['roc_auc']:.2f}.",
    ]


@SELECTION_STUDY.pictures
def _pictures(results: SelectionResults) -> list[Picture]:
    return [
        Picture("selectors", _selectors(results), width=5.5),
        *(Picture(f"matrix_{regime}", _matrix(results, regime), width=6.0) for regime in (DEFAULT_AT, TUNED_AT)),
        Picture("resampling", _resampling(results), width=5.5),
        Picture("coverage", _coverage(results), width=5.5),
    ]


def _series(name: str, families: list[Array], possible: list[tuple[float, float]]) -> DotSeries:
    """The means of lines over families, with their intervals; without one where there are too few."""
    ends = [family_interval(values, span) for values, span in zip(families, possible, strict=True)]
    mean, low, high = (tuple(float(v) for v in column) for column in zip(*ends, strict=True))
    finite = [(v, v) if not np.isfinite(a) else (a, b) for v, a, b in zip(mean, low, high, strict=True)]
    return DotSeries(name, mean, tuple(a for a, _ in finite), tuple(b for _, b in finite))


def _confirmed_intervals(results: SelectionResults) -> str:
    return family_interval_words(results.family_number(~results.explored))


def _selectors(results: SelectionResults) -> DotIntervals:
    names = ordered_selectors(results)
    parts = (
        ("confirmatory families", ~results.explored),
        ("exploratory families", results.explored),
    )
    spans = [rank_range()] * len(names)
    series = [_series(w, [results.by_family(results.rank(n), among=among) for n in names], spans) for w, among in parts]
    text = (
        "Mean rank, over nine goals on held-out rows, of the model that each metric chooses at 0.5; 1 is the best of "
        f"twelve. Means over families {_confirmed_intervals(results)}; dashed: a random choice."
    )
    lines = tuple(titles()[name] for name in names)
    return DotIntervals(text, lines, tuple(series), "Mean rank of the chosen model", _RANDOM)


def _matrix(results: SelectionResults, regime: str) -> RankMatrix:
    names = ordered_selectors(results)
    values = np.array(
        [
            [results.by_family(results.matrix(regime)[:, METRICS.index(n), METRICS.index(g)]).mean() for g in GOALS]
            for n in names
        ]
    )
    text = (
        f"Mean rank on each of nine goals (columns) of the model that each metric (line) chooses, {regime} threshold, "
        "all families. Bold: the best selector for the goal."
    )
    lines, columns = (tuple(titles()[name] for name in part) for part in (names, GOALS))
    return RankMatrix(text, lines, columns, values, _WORST)


def _resampling(results: SelectionResults) -> DotIntervals:
    lines, families, spans = [], [], []
    for metric, regime in _MOVED:
        for arm in RESAMPLED:
            where = "" if metric == "roc_auc" else ", 0.5" if regime == DEFAULT_AT else ", tuned"
            lines.append(f"{titles()[metric]}{where}: {arm}")
            families.append(results.confirmed(resampling_change(results, arm, metric, regime)))
            spans.append(value_differences(metric))
    text = (
        "What resampling the training rows changes on held-out rows, over ten models: means over the confirmatory "
        f"families {_confirmed_intervals(results)}."
    )
    return DotIntervals(text, tuple(lines), (_series("change", families, spans),), "Resampled less plain", 0.0)


def _coverage(results: SelectionResults) -> DotIntervals:
    noisy = coverage(results, direct=False)
    names = [name for i, name in enumerate(COVERED) if np.isfinite(mean_of(noisy[:, i], 0))]
    families = [results.by_family(noisy[:, COVERED.index(name)]) for name in names]
    text = (
        "How often the 95 % intervals of evaluate cover on real data, the truth's own noise included: means over all "
        f"families {family_interval_words(results.family_number())}, twelve models at 0.5; dashed: 95 %."
    )
    lines = tuple(titles()[name] for name in names)
    return DotIntervals(text, lines, (_series("coverage", families, [SHARES] * len(names)),), "Share that covers", 0.95)
