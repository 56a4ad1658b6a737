"""The catalogue: every metric over the four counts, declared once. A new one is a declaration here, nothing else."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.declaration import metric, part
from steelyard.metrics.expression import angle, ratio, sqrt, where
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.metrics.registry import MetricLike

# Differences of rates are written by their determinants, since 1 - 0.9999999 loses the digits that tell tables apart.

# ---------------------------------------------------------------- rates: one class, one direction


@metric(
    "Recall",
    family="rates",
    range=(0, 1),
    aliases=("tpr", "true_positive_rate", "sensitivity", "hit_rate"),
    cite="fawcett2006",
    sklearn="recall_score",
    is_share=True,
)
def recall(c):
    """Share of the positives that are predicted positive (found)."""
    return ratio(c.tp, c.positives)


@metric(
    "Specificity",
    family="rates",
    range=(0, 1),
    aliases=("tnr", "true_negative_rate"),
    cite="fawcett2006",
    is_share=True,
)
def specificity(c):
    """Share of the negatives that are predicted negative (correctly rejected)."""
    return ratio(c.tn, c.negatives)


@metric(
    "False positive rate",
    family="rates",
    range=(0, 1),
    best=0,
    aliases=("fpr", "fall_out"),
    cite="fawcett2006",
    is_share=True,
)
def false_positive_rate(c):
    """Share of the negatives that are predicted positive (false alarms)."""
    return ratio(c.fp, c.negatives)


@metric(
    "False negative rate",
    family="rates",
    range=(0, 1),
    best=0,
    aliases=("fnr", "miss_rate"),
    cite="fawcett2006",
    is_share=True,
)
def false_negative_rate(c):
    """Share of the positives that are predicted negative (missed)."""
    return ratio(c.fn, c.positives)


@metric(
    "Precision",
    family="rates",
    range=(0, 1),
    aliases=("ppv", "positive_predictive_value"),
    cite="fawcett2006",
    sklearn="precision_score",
    is_share=True,
)
def precision(c):
    """Share of the predicted positives that are positive."""
    return ratio(c.tp, c.predicted_positives)


@metric("Negative predictive value", family="rates", range=(0, 1), aliases=("npv",), cite="altman1994", is_share=True)
def negative_predictive_value(c):
    """Share of the predicted negatives that are negative."""
    return ratio(c.tn, c.predicted_negatives)


# ---------------------------------------------------------------- overall: all rows alike


@metric(
    "Accuracy",
    family="overall",
    range=(0, 1),
    aliases=("subset_accuracy",),
    cite="garcia2012",
    sklearn="accuracy_score",
    is_share=True,
)
def accuracy(c):
    """Share of all rows that are classified correctly."""
    return ratio(c.tp + c.tn, c.total)


@metric("Error rate", family="overall", range=(0, 1), best=0, cite="garcia2012", sklearn="zero_one_loss", is_share=True)
def error_rate(c):
    """Share of all rows that are misclassified."""
    return ratio(c.fn + c.fp, c.total)


# ---------------------------------------------------------------- description: no value of them is best


@metric("Prevalence", family="description", range=(0, 1), best=None, cite="altman1994", is_share=True)
def prevalence(c):
    """Share of the rows that are positive."""
    return ratio(c.positives, c.total)


@metric("Predicted prevalence", family="description", range=(0, 1), best=None, cite="powers2011", is_share=True)
def predicted_prevalence(c):
    """Share of the rows that are predicted positive: the prediction rate."""
    return ratio(c.predicted_positives, c.total)


@metric("Unbalanced factor", family="description", range=(0, inf), best=None, cite="nguyen2019")
def unbalanced_factor(c):
    """Positives per negative in the test set: Nguyen's alpha."""
    return ratio(c.positives, c.negatives)


@metric("Dominance", family="description", range=(-1, 1), best=None, cite="garcia2009")
def dominance(c):
    """Recall less specificity: which class has the higher recall."""
    return ratio(c.tp * c.fp - c.tn * c.fn, c.positives * c.negatives)


# ---------------------------------------------------------------- F: precision and recall of one class


@metric("F-beta", family="F", range=(0, 1), cite="rijsbergen1979", domain={"beta": "[0, 1e9]"}, sklearn="fbeta_score")
def f_beta(c, *, beta=1.0):
    """Harmonic mean of precision and recall, with recall beta times as important."""
    hits = (1 + beta**2) * c.tp
    return ratio(hits, hits + beta**2 * c.fn + c.fp)


@metric("F1", family="F", range=(0, 1), aliases=("f1_score", "dice"), cite="rijsbergen1979", sklearn="f1_score")
def f1(c):
    """Harmonic mean of precision and recall."""
    return ratio(2 * c.tp, 2 * c.tp + c.fn + c.fp)


f2 = f_beta.fixed(
    "f2", beta=2.0, title="F2", meaning="Harmonic mean of precision and recall, with recall twice as important."
)


@metric("Negative F1", family="F", range=(0, 1), cite="wu2025")
def negative_f1(c):
    """F1 with the negative class called positive."""
    return ratio(2 * c.tn, 2 * c.tn + c.fn + c.fp)


@metric("Mean F1", family="F", range=(0, 1), cite="wu2025")
def mean_f1(c):
    """Mean of the F1 of the two classes."""
    return (f1(c) + negative_f1(c)) / 2


@metric(
    "Jaccard index",
    family="F",
    range=(0, 1),
    aliases=("critical_success_index", "threat_score", "f_star"),
    cite="jaccard1912",
    sklearn="jaccard_score",
)
def jaccard(c):
    """Share of the rows positive in truth or prediction that are positive in both."""
    return ratio(c.tp, c.tp + c.fn + c.fp)


@metric("Fowlkes-Mallows index", family="F", range=(0, 1), cite="fowlkes1983")
def fowlkes_mallows(c):
    """Geometric mean of precision and recall."""
    return sqrt(precision(c) * recall(c))


# ---------------------------------------------------------------- balanced: the two recalls alike


@metric(
    "Balanced accuracy",
    family="balanced",
    range=(0, 1),
    aliases=("per_class_accuracy", "single_point_auc"),
    cite="brodersen2010",
    sklearn="balanced_accuracy_score",
)
def balanced_accuracy(c):
    """Mean of the two class recalls, the area under the ROC curve of a single point."""
    return (recall(c) + specificity(c)) / 2


@metric("Informedness", family="balanced", range=(-1, 1), aliases=("youden_j", "youden"), cite="youden1950")
def informedness(c):
    """Recall plus specificity less 1; 0 for a random predictor."""
    return ratio(c.tp * c.tn - c.fn * c.fp, c.positives * c.negatives)


@metric("TPNR", family="balanced", range=(0, 1), cite="asawa")
def tpnr(c):
    """Product of the two class recalls."""
    return recall(c) * specificity(c)


@metric("G-mean", family="balanced", range=(0, 1), aliases=("gmean", "geometric_mean"), cite="kubat1997")
def g_mean(c):
    """Geometric mean of the two class recalls."""
    return sqrt(recall(c) * specificity(c))


@metric("AC-score", family="balanced", range=(0, 1), aliases=("ac",), cite="wu2025")
def ac_score(c):
    """Harmonic mean of the two class recalls."""
    return ratio(2 * recall(c) * specificity(c), recall(c) + specificity(c), limit=0)


# ---------------------------------------------------------------- agreement: truth and prediction as two raters


@metric(
    "Matthews correlation",
    family="agreement",
    range=(-1, 1),
    aliases=("matthews", "phi_coefficient"),
    cite="matthews1975",
    sklearn="matthews_corrcoef",
    has_proper_title=True,
)
def mcc(c):
    """Correlation coefficient of true and predicted class."""
    margins = (c.positives * c.negatives) * (c.predicted_positives * c.predicted_negatives)
    return ratio(c.tp * c.tn - c.fn * c.fp, sqrt(margins))


@metric(
    "Cohen's kappa",
    family="agreement",
    range=(-1, 1),
    aliases=("cohen_kappa",),
    cite="cohen1960",
    sklearn="cohen_kappa_score",
    domain={"weights": "linear|quadratic"},
    has_proper_title=True,
)
def kappa(c, *, weights=None):
    """Agreement of true and predicted class beyond chance, as expected from their margins."""
    by_margins = c.predicted_positives * c.negatives + c.positives * c.predicted_negatives
    return ratio(
        2 * (c.tp * c.tn - c.fn * c.fp), by_margins, why="truth and prediction hold one and the same class only"
    )


@metric("Markedness", family="agreement", range=(-1, 1), cite="powers2011")
def markedness(c):
    """Precision plus negative predictive value less 1."""
    return ratio(c.tp * c.tn - c.fn * c.fp, c.predicted_positives * c.predicted_negatives)


@metric("P4", family="agreement", range=(0, 1), cite="sitarz2023")
def p4(c):
    """Harmonic mean of precision, recall, specificity and negative predictive value."""
    right = 4 * c.tp * c.tn
    some = ratio(right, right + (c.tp + c.tn) * (c.fn + c.fp), why="one class only, and no error")
    return where(c.tp + c.tn == 0, 0 * error_rate(c), some)


@metric("Symmetric balanced accuracy", family="agreement", range=(0, 1), aliases=("sba",), cite="gosgens2021")
def symmetric_balanced_accuracy(c):
    """Mean of precision, recall, specificity and negative predictive value."""
    return ((precision(c) + recall(c)) + (specificity(c) + negative_predictive_value(c))) / 4


@metric("Correlation distance", family="agreement", range=(0, 1), best=0, cite="gosgens2021")
def correlation_distance(c):
    """Angle whose cosine is MCC, as a share of a half turn: 1/2 is no correlation."""
    off = c.tp * c.fn * (c.fp + c.tn) + c.fp * c.tn * (c.tp + c.fn)  # x total = the product of the margins - det^2
    sine = sqrt(ratio(off * c.total, c.positives * c.negatives * c.predicted_positives * c.predicted_negatives))
    return angle(mcc(c), sine)


# ---------------------------------------------------------------- corrected: Nguyen's unbalanced factor


def _factor(c: Any, alpha: float | None) -> Any:
    return unbalanced_factor(c) if alpha is None else alpha


def _missing(alpha: float | None, why: str = "no positives") -> str | None:
    return why if alpha is None else None


@metric(
    "Alpha-accuracy",
    family="corrected",
    range=(0, 1),
    cite="nguyen2019",
    domain={"alpha": "(0, 1e18]"},
    corrects="accuracy",
)
def alpha_accuracy(c, *, alpha=None):
    """Accuracy with each negative weighted by the unbalanced factor, so that both classes have equal weight."""
    a = _factor(c, alpha)
    return ratio(c.tp + a * c.tn, c.positives + a * c.negatives, why=_missing(alpha))


@metric(
    "Alpha-precision",
    family="corrected",
    range=(0, 1),
    cite="nguyen2019",
    domain={"alpha": "(0, 1e18]"},
    corrects="precision",
)
def alpha_precision(c, *, alpha=None):
    """Precision with each false positive weighted by the unbalanced factor."""
    return ratio(c.tp, c.tp + _factor(c, alpha) * c.fp, why=_missing(alpha, "no positives, or none predicted"))


@metric(
    "Alpha-recall",
    family="corrected",
    range=(0, 1),
    cite="nguyen2019",
    domain={"alpha": "(0, 1e18]"},
    corrects="recall",
)
def alpha_recall(c, *, alpha=None):
    """Recall, which the unbalanced factor leaves as it is."""
    return ratio(c.tp, c.positives)


@metric(
    "Alpha-F1",
    family="corrected",
    range=(0, 1),
    cite="nguyen2019",
    domain={"alpha": "(0, 1e18]"},
    corrects="f1",
)
def alpha_f1(c, *, alpha=None):
    """Harmonic mean of alpha-precision and recall."""
    return ratio(2 * c.tp, 2 * c.tp + c.fn + _factor(c, alpha) * c.fp, why=_missing(alpha))


# ---------------------------------------------------------------- skewed: balanced metrics that lean to one class


@metric("Optimized precision", family="skewed", range=(-1, 1), aliases=("op",), cite="ranawana2006")
def optimized_precision(c):
    """Accuracy less a penalty for unequal class recalls."""
    return accuracy(c) - ratio(abs(dominance(c)), recall(c) + specificity(c), why="both class recalls are 0")


@metric(
    "Class-weighted accuracy", family="skewed", range=(0, 1), aliases=("cwa",), cite="cohen2006", domain={"w": "[0, 1]"}
)
def class_weighted_accuracy(c, *, w=0.6):
    """Mean of the two class recalls with weight w on the positive one."""
    return w * recall(c) + (1 - w) * specificity(c)


@metric("Adjusted G-mean", family="skewed", range=(0, 1), aliases=("agm",), cite="batuwita2009")
def adjusted_g_mean(c):
    """G-mean moved towards specificity by the share of negatives; 0 where recall is 0."""
    share = ratio(c.negatives, c.total)
    return where(recall(c) == 0, g_mean(c), (g_mean(c) + specificity(c) * share) / (1 + share))


def _iba_bounds(alpha: float, of: MetricLike) -> tuple[tuple[float, float], float | None]:
    """What (1 + alpha (recall - specificity)) times the metric can be."""
    alpha, inside = float(np.max(alpha)), get_metric(of)
    powers = {"g_mean": 0.5, "tpnr": 1.0}  # of recall times specificity
    if inside.name in powers:
        power = powers[inside.name]
        low, high = 0.0 - _extreme(alpha - 1, alpha, power), _extreme(alpha + 1, alpha, power)
    else:
        ends = [end * factor if factor else 0.0 for end in inside.range for factor in (1 - alpha, 1 + alpha)]
        low, high = min(ends), max(ends)
    return (low, high), inside.best if high == inside.range[1] else None


def _extreme(slope: float, alpha: float, power: float) -> float:
    """The largest x**power (slope - alpha x) for x from 0 to 1, rounded up; 1 where that is at 1, slope - alpha."""
    if slope <= 0:
        return 0.0
    inside = power * slope / (alpha * (1 + power)) if alpha else inf
    return inside**power * (slope - alpha * inside) * (1 + 2.0**-50) if inside < 1 else 1.0


@metric(
    "Index of balanced accuracy",
    family="skewed",
    bounds=_iba_bounds,
    cite="garcia2009",
    domain={"alpha": "[0, 1e9]", "of": "metric"},
)
def iba(c, *, alpha=0.05, of="g_mean"):
    """A metric (by default the G-mean) raised where recall exceeds specificity, lowered where it is below."""
    return (1 + alpha * dominance(c)) * get_metric(of)(c)


@part
def band(c, *, low=0.0, high=1.0):
    """Mean specificity along the single-point ROC curve at recalls from low to high."""
    r, f, s = recall(c), false_positive_rate(c), specificity(c)
    below = 1 - f * (low + high) / (2 * r)
    above = s * (2 - low - high) / (2 * (1 - r))
    across = (r - low) * (1 - f * (low + r) / (2 * r)) + (high - r) * s * (2 - r - high) / (2 * (1 - r))
    return where(high <= r, below, where(low >= r, above, across / (high - low)))


# García's equation 1 prints w(0) = rho, by which rho = 0 would lose the lowest band; it must be 1 - rho. Then band i
# weighs 1 - rho**(i + 1), the top one what the others pass upward, and the sum of weighted bands is the AUC less this:
@metric(
    "Weighted AUC",
    family="skewed",
    range=(0, 1),
    aliases=("wauc",),
    cite="weng2008",
    domain={"rho": "[0, 1)", "bands": "[1, 200]"},
)
def weighted_auc(c, *, rho=0.1, bands=10):
    """Area under the ROC curve in bands of recall, the upper bands with more weight; on counts, of the single point."""
    edges = [i / bands for i in range(bands + 1)]
    *lower, top = (band(c, low=low, high=high) for low, high in pairwise(edges))
    return balanced_accuracy(c) - sum((rho ** (i + 1) * (b - top) for i, b in enumerate(lower)), 0) / bands


@metric("Operating point score", family="skewed", range=(0, 1), aliases=("oop_score",), cite="wu2025")
def operating_point_score(c):
    """Mean of F1, negative F1 and AC-score, by which Wu and Cannistraci choose the threshold."""
    return (f1(c) + negative_f1(c) + ac_score(c)) / 3


# ---------------------------------------------------------------- diagnostic: odds


@metric("Positive likelihood ratio", family="diagnostic", range=(0, inf), best=inf, aliases=("plr",), cite="deeks2004")
def positive_likelihood_ratio(c):
    """Recall over the false positive rate: how many times likelier a positive is flagged than a negative."""
    return ratio(recall(c), false_positive_rate(c), why="no false positives")


@metric("Negative likelihood ratio", family="diagnostic", range=(0, inf), best=0, aliases=("nlr",), cite="deeks2004")
def negative_likelihood_ratio(c):
    """False negative rate over specificity: how many times likelier a positive is rejected than a negative."""
    return ratio(false_negative_rate(c), specificity(c), why="no true negatives")


@metric("Diagnostic odds ratio", family="diagnostic", range=(0, inf), best=inf, aliases=("dor",), cite="glas2003")
def diagnostic_odds_ratio(c):
    """Odds of being predicted positive for a positive over those for a negative."""
    return ratio(c.tp * c.tn, c.fp * c.fn)


# ---------------------------------------------------------------- decision: what the errors cost


@metric(
    "Net benefit",
    family="decision",
    range=(-inf, 1),
    best=None,
    direction="higher",
    cite="vickers2006",
    domain={"threshold": "(0, 1)"},
)
def net_benefit(c, *, threshold=0.5):
    """True positives less false positives times the odds of the threshold, per row."""
    return ratio(c.tp - c.fp * (threshold / (1 - threshold)), c.total)


@metric(
    "Standardized net benefit",
    family="decision",
    range=(-inf, 1),
    aliases=("relative_utility",),
    cite="kerr2016",
    domain={"threshold": "(0, 1)"},
)
def standardized_net_benefit(c, *, threshold=0.5):
    """Net benefit over that of flagging the positives alone, which is the prevalence."""
    return ratio(c.tp - c.fp * (threshold / (1 - threshold)), c.positives)


def _cost_bounds(**costs: float) -> tuple[tuple[float, float], float | None]:
    return (min(costs.values()), max(*costs.values(), 1e-300)), None if costs["cost_tp"] or costs["cost_tn"] else 0


@metric(
    "Expected cost",
    family="decision",
    bounds=_cost_bounds,
    direction="lower",
    cite="elkan2001",
    domain=dict.fromkeys(("cost_fn", "cost_fp", "cost_tp", "cost_tn"), "[0, 1e18]"),
)
def expected_cost(c, *, cost_fn=1.0, cost_fp=1.0, cost_tp=0.0, cost_tn=0.0):
    """Mean cost per row, given the cost of each cell of the confusion matrix."""
    return ratio(cost_tp * c.tp + cost_fn * c.fn + cost_fp * c.fp + cost_tn * c.tn, c.total)


@metric(
    "Normalized expected cost",
    family="decision",
    range=(0, inf),
    best=0,
    cite="ferrer2022",
    domain=dict.fromkeys(("cost_fn", "cost_fp"), "(0, 1e18]"),
)
def normalized_expected_cost(c, *, cost_fn=1.0, cost_fp=1.0):
    """Cost of the errors over that of the better of flagging all rows and none, which has 1."""
    cost, none, all_ = cost_fn * c.fn + cost_fp * c.fp, cost_fn * c.positives, cost_fp * c.negatives
    return where(none <= all_, ratio(cost, none), ratio(cost, all_))
