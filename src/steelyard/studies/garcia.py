"""García, Sánchez and Mollineda 2012: which class each of 13 metrics listens to, and what changes it notices.

Section 3.1 perturbs a list of true probabilities, negatives and positives by different amounts, and correlates the
metrics over the perturbed predictions at five imbalances. Section 3.2 asks which changes of the confusion matrix leave
a metric as it is. The paper prints no correlations, only three conclusions, and leaves the list, its length, the
threshold, the weight w of cwA and the bands of wAUC unsaid; so each conclusion is also tried under other choices.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.auditing.correlation import (
    CONCLUSIONS,
    RATES,
    STRONG,
    Conclusion,
    CorrelationStudy,
    RateBounds,
    by_metric,
    correlation,
    correlation_study,
)
from steelyard.auditing.model_tables import metric_values
from steelyard.auditing.properties import garcia_row
from steelyard.metrics.registry import get_metric
from steelyard.studies.claims import published
from steelyard.studies.declared_study import DeclaredStudy, RunPlan

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.auditing.correlation import ConclusionResult
    from steelyard.statistics.counts import Counts

GARCIA_PAPER = published("garcia")
GARCIA_NAMES: dict[str, str] = GARCIA_PAPER["metrics"]  # the paper's short names, and ours
ROWS = 1000  # the paper does not say how long its list is; 100 and 5,000 are tried as well
READINGS: dict[str, dict[str, Any]] = {
    "each class evenly spaced, on its side of 0.5; 1,000 rows": {},
    "the same, 100 rows": {"n": 100},
    "the same, 5,000 rows": {"n": 5000},
    "each class at random on its side of 0.5": {"list_kind": "class_uniform"},
    "one ramp from 0 to 1 for all rows": {"list_kind": "global_linear"},
    "one ramp, thresholded at the prior": {"list_kind": "global_linear", "threshold": "prior"},
    "true probabilities 0 and 1": {"list_kind": "extreme"},
}
WEIGHTS = {w: f"class_weighted_accuracy[w={w}]" for w in (0.5, 0.6, 0.7, 0.8, 0.9)}
SIZES = (100, 300, 1000, 3000, 10_000)
LISTED = ("AUC", "Gm", "IBA", "wAUC", "cwA")  # more suitable for dealing with imbalance, by the paper's last section
LATER = ("ac_score", "tpnr", "informedness", "mcc", "alpha_f1")  # metrics that the other four papers argue for


def _one_edge(c: Counts, *, rho: float = 0.1) -> Array:
    """Equation (1) on two areas, below and above the single ROC point: the other reading of the unsaid bands."""
    tpr, tnr = (np.asarray(get_metric(name)(c)) for name in ("recall", "specificity"))
    return np.asarray((1 - rho) * tpr * (1 + tnr) / 2 + (1 + rho) * (1 - tpr) * tnr / 2)


ONE_EDGE = Conclusion(
    2,
    "weighted AUC with the ROC point as the only edge rises with recall",
    (_one_edge,),
    RateBounds(recall=(0, np.inf)),
)


@dataclass(frozen=True, eq=False)
class GarciaResults:
    """Both analyses: correlations by seed and imbalance under each reading, and Table 2 decided anew."""

    readings: dict[str, CorrelationStudy]  # the study's own reading first
    sizes: dict[int, CorrelationStudy]
    weights: CorrelationStudy
    later: CorrelationStudy
    table_2: dict[str, str]

    @property
    def main(self) -> CorrelationStudy:
        """The study's own reading."""
        return next(iter(self.readings.values()))

    @property
    def seeds(self) -> int:
        """How many seeds that was run with."""
        return len(self.main.pearson)

    @cached_property
    def conclusions(self) -> list[dict[str, ConclusionResult]]:
        """The paper's three conclusions, each tried under every reading."""
        return [
            {words: study.conclusions([conclusion])[0] for words, study in self.readings.items()}
            for conclusion in CONCLUSIONS
        ]

    @property
    def auc_by_size(self) -> tuple[float, float]:
        """The mean correlation of AUC with TPr at 5 % positives, on the shortest list and on the longest."""
        shortest, longest = (
            float(np.nanmean(with_rate(self.sizes[n], "AUC", "TPr")[:, 0])) for n in (SIZES[0], SIZES[-1])
        )
        return shortest, longest


GARCIA_STUDY = DeclaredStudy[GarciaResults]("garcia", "Which metrics listen to the rare class?", cite="garcia2012")


@GARCIA_STUDY.experiment
def _experiment(plan: RunPlan) -> GarciaResults:
    """The correlations over seeds and readings, and Table 2 decided by proof or counterexample."""
    seeds, fewer = (10, 4) if plan.quick else (100, 20)
    printed = GARCIA_PAPER["combinations"]
    design = {key: printed[key] for key in ("total_range", "steps", "tuples")}
    study = partial(
        correlation_study, positives=GARCIA_PAPER["positives"]["values"], n=ROWS, seeds=fewer, rng=plan.seed, **design
    )
    plan.progress(f"correlations of 13 metrics at five imbalances, {seeds} seeds")
    main = study(metrics=GARCIA_NAMES.values(), seeds=seeds)
    plan.progress(f"the conclusions under {len(READINGS)} readings of the paper, {fewer} seeds each")
    readings = {words: study(**options) if options else main for words, options in READINGS.items()}
    plan.progress("the effect of the size, and of the weight of cwA")
    sizes = {n: study(metrics=["balanced_accuracy", "g_mean"], n=n) for n in SIZES}
    weights, later = study(metrics=WEIGHTS.values(), seeds=seeds), study(metrics=LATER)
    plan.progress("Table 2: 65 cells, each proved or refuted")
    table_2 = {short: garcia_row(name, anew=True) for short, name in GARCIA_NAMES.items()}
    return GarciaResults(readings, sizes, weights, later, table_2)


def with_rate(study: CorrelationStudy, short: str, rate: str) -> Array:
    """Pearson's correlation of a metric with TPr or TNr, all in the paper's names, by seed and imbalance."""
    return pearson_between(study, GARCIA_NAMES[short], GARCIA_NAMES[rate])


def pearson_between(study: CorrelationStudy, name: str, rate: str) -> Array:
    """Pearson's correlation of two metrics by seed and imbalance."""
    names = study.names
    return study.pearson[:, :, names.index(get_metric(name).name), names.index(rate)]


def margin(study: CorrelationStudy, conclusion: Conclusion) -> Array:
    """By how much a conclusion holds in each seed: the least distance of any correlation from the bound that it claims.

    Of all its metrics at all imbalances; a correlation that is undefined, as where a rate never moves, is left out.
    """
    metrics = [get_metric(name) for name in conclusion.metrics]
    values = by_metric(metric_values([*map(get_metric, RATES), *metrics], study.counts))
    margins = []
    for i, (low, high) in enumerate(astuple(conclusion.bounds)):
        r = correlation(values[..., i, None, :], values[..., 2:, :], rank=False)
        margins += [r - low] if np.isfinite(low) else []
        margins += [high - r] if np.isfinite(high) else []
    cells = np.stack(margins).reshape(len(margins), len(study.pearson), -1)
    known = np.isfinite(cells)
    return np.where(known.any((0, 2)), np.where(known, cells, np.inf).min((0, 2)), np.nan)


@GARCIA_STUDY.choices
def _choices(results: GarciaResults) -> dict[str, Any]:
    return {
        "seeds": results.seeds,
        "seeds of the other readings": len(results.later.pearson),
        "rows of a list": ROWS,
        "threshold": 0.5,
        "list of true probabilities": next(iter(READINGS)),
        "weight of cwA": 0.6,
        "bands of wAUC": 10,
        "strong correlation": f"above {STRONG}",
        "a conclusion holds": "by the mean over seeds of its least margin, of all its metrics at all imbalances",
    }
