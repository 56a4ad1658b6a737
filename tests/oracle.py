"""Every count metric again, in exact rational arithmetic and by its textbook definition, apart from the catalogue.

Undefined is None. Roots are taken at 60 digits.
"""

from __future__ import annotations

from fractions import Fraction as Q

import mpmath

mpmath.mp.dps = 60


def div(a, b):
    return None if a is None or b is None or b == 0 else Q(a) / Q(b)


def root(x):
    return None if x is None else mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator)


def mul(a, b):
    return None if a is None or b is None else a * b


def harmonic(*parts):
    if None in parts:
        return None
    return Q(0) if 0 in parts else len(parts) / sum(1 / Q(p) for p in parts)


def rates(tp, fn, fp, tn):
    return div(tp, tp + fn), div(tn, fp + tn)


def of_rates(function):
    """A metric of recall and specificity alone, undefined where either is."""

    def metric(*cells):
        tpr, tnr = rates(*cells)
        return None if tpr is None or tnr is None else function(tpr, tnr)

    return metric


def f_count(beta):
    b = Q(beta) ** 2
    return lambda tp, fn, fp, tn: div((1 + b) * tp, (1 + b) * tp + b * fn + fp)


def mean(*parts):
    return None if None in parts else sum(parts) / len(parts)


def alpha_accuracy(tp, fn, fp, tn):
    a = div(tp + fn, fp + tn)
    return None if a is None else div(tp + a * tn, tp + a * fp + fn + a * tn)


def alpha_precision(tp, fn, fp, tn):
    a = div(tp + fn, fp + tn)
    return None if a is None else div(tp, tp + a * fp)


def alpha_f1(tp, fn, fp, tn):
    a = div(tp + fn, fp + tn)
    return None if a is None else div(2 * tp, 2 * tp + a * fp + fn)


def mcc(tp, fn, fp, tn):
    margins = Q((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return None if margins == 0 else (tp * tn - fp * fn) / root(margins)


def correlation_distance(*cells):
    value = mcc(*cells)
    return None if value is None else mpmath.acos(min(max(value, -1), 1)) / mpmath.pi


def kappa(tp, fn, fp, tn):
    n = tp + fn + fp + tn
    agree = div(tp + tn, n)
    expected = div((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn), n * n)
    return None if agree is None or expected == 1 else div(agree - expected, 1 - expected)


def markedness(tp, fn, fp, tn):
    ppv, npv = div(tp, tp + fp), div(tn, tn + fn)
    return None if ppv is None or npv is None else ppv + npv - 1


def optimized_precision(tp, fn, fp, tn):
    tpr, tnr = rates(tp, fn, fp, tn)
    if tpr is None or tnr is None or tpr + tnr == 0:
        return None
    return div(tp + tn, tp + fn + fp + tn) - abs(tnr - tpr) / (tnr + tpr)


def adjusted_g_mean(tp, fn, fp, tn):
    tpr, tnr = rates(tp, fn, fp, tn)
    if tpr is None or tnr is None:
        return None
    share = div(fp + tn, tp + fn + fp + tn)
    return Q(0) if tpr == 0 else (root(tpr * tnr) + _m(tnr * share)) / _m(1 + share)


def p4(tp, fn, fp, tn):
    """Harmonic mean of the four rates; one that is missing where another is 0 does not matter."""
    if tp * tn == 0:
        return Q(0) if fn + fp else None
    return harmonic(div(tp, tp + fp), div(tp, tp + fn), div(tn, tn + fp), div(tn, tn + fn))


def _m(x):
    return mpmath.mpf(x.numerator) / x.denominator


def iba(tp, fn, fp, tn):
    tpr, tnr = rates(tp, fn, fp, tn)
    return None if tpr is None or tnr is None else _m(1 + Q(1, 20) * (tpr - tnr)) * root(tpr * tnr)


def weighted_auc(tp, fn, fp, tn, rho=Q(1, 10), bands=10):
    """Band by band: trapezoids between the curve's corner and the band's edges, weighted bottom to top."""
    tpr, tnr = rates(tp, fn, fp, tn)
    if tpr is None or tnr is None:
        return None
    fpr = 1 - tnr

    def left(t, upper):  # FPR at recall t on the segment below or above the corner
        if upper:
            return fpr + (t - tpr) * (1 - fpr) / (1 - tpr)
        return t * fpr / tpr

    total, weight = Q(0), None
    for i in range(bands):
        weight = 1 - rho if i == 0 else weight * rho + (1 - rho)
        low, high = Q(i, bands), Q(i + 1, bands)
        area = Q(0)
        for a, b, upper in ((low, min(high, tpr), False), (max(low, tpr), high, True)):
            if a < b:
                area += (b - a) * (1 - (left(a, upper) + left(b, upper)) / 2)
        total += area * (weight / (1 - rho) if i == bands - 1 else weight)
    return total


ORACLE = {
    "recall": lambda tp, fn, fp, tn: div(tp, tp + fn),
    "specificity": lambda tp, fn, fp, tn: div(tn, tn + fp),
    "false_positive_rate": lambda tp, fn, fp, tn: div(fp, fp + tn),
    "false_negative_rate": lambda tp, fn, fp, tn: div(fn, fn + tp),
    "precision": lambda tp, fn, fp, tn: div(tp, tp + fp),
    "negative_predictive_value": lambda tp, fn, fp, tn: div(tn, tn + fn),
    "accuracy": lambda tp, fn, fp, tn: div(tp + tn, tp + fn + fp + tn),
    "error_rate": lambda tp, fn, fp, tn: div(fp + fn, tp + fn + fp + tn),
    "prevalence": lambda tp, fn, fp, tn: div(tp + fn, tp + fn + fp + tn),
    "predicted_prevalence": lambda tp, fn, fp, tn: div(tp + fp, tp + fn + fp + tn),
    "unbalanced_factor": lambda tp, fn, fp, tn: div(tp + fn, fp + tn),
    "dominance": of_rates(lambda tpr, tnr: tpr - tnr),
    "f_beta": f_count(1),
    "f1": f_count(1),
    "f2": f_count(2),
    "f_beta[beta=0.5]": f_count(Q(1, 2)),
    "negative_f1": lambda tp, fn, fp, tn: f_count(1)(tn, fp, fn, tp),
    "mean_f1": lambda *c: mean(f_count(1)(*c), f_count(1)(*c[::-1])),
    "jaccard": lambda tp, fn, fp, tn: div(tp, tp + fp + fn),
    "fowlkes_mallows": lambda tp, fn, fp, tn: root(mul(div(tp, tp + fp), div(tp, tp + fn))),
    "balanced_accuracy": of_rates(lambda tpr, tnr: (tpr + tnr) / 2),
    "informedness": of_rates(lambda tpr, tnr: tpr + tnr - 1),
    "tpnr": of_rates(lambda tpr, tnr: tpr * tnr),
    "g_mean": of_rates(lambda tpr, tnr: root(tpr * tnr)),
    "ac_score": of_rates(harmonic),
    "mcc": mcc,
    "kappa": kappa,
    "markedness": markedness,
    "p4": p4,
    "symmetric_balanced_accuracy": lambda tp, fn, fp, tn: mean(
        div(tp, tp + fp), div(tp, tp + fn), div(tn, tn + fp), div(tn, tn + fn)
    ),
    "correlation_distance": correlation_distance,
    "alpha_accuracy": alpha_accuracy,
    "alpha_precision": alpha_precision,
    "alpha_recall": lambda tp, fn, fp, tn: div(tp, tp + fn),
    "alpha_f1": alpha_f1,
    "alpha_accuracy[alpha=0.25]": lambda tp, fn, fp, tn: div(tp + Q(tn, 4), tp + Q(fp, 4) + fn + Q(tn, 4)),
    "alpha_precision[alpha=4]": lambda tp, fn, fp, tn: div(tp, tp + 4 * fp),
    "alpha_f1[alpha=4]": lambda tp, fn, fp, tn: div(2 * tp, 2 * tp + 4 * fp + fn),
    "optimized_precision": optimized_precision,
    "class_weighted_accuracy": of_rates(lambda tpr, tnr: Q(3, 5) * tpr + Q(2, 5) * tnr),
    "adjusted_g_mean": adjusted_g_mean,
    "iba": iba,
    "weighted_auc": weighted_auc,
    "weighted_auc[rho=0.5,bands=3]": lambda *c: weighted_auc(*c, rho=Q(1, 2), bands=3),
    "operating_point_score": lambda *c: mean(f_count(1)(*c), f_count(1)(*c[::-1]), of_rates(harmonic)(*c)),
    "positive_likelihood_ratio": lambda tp, fn, fp, tn: div(div(tp, tp + fn), div(fp, fp + tn)),
    "negative_likelihood_ratio": lambda tp, fn, fp, tn: div(div(fn, tp + fn), div(tn, fp + tn)),
    "diagnostic_odds_ratio": lambda tp, fn, fp, tn: div(tp * tn, fp * fn),
    "net_benefit": lambda tp, fn, fp, tn: div(tp - fp, tp + fn + fp + tn),
    "net_benefit[threshold=0.2]": lambda tp, fn, fp, tn: div(tp - Q(fp, 4), tp + fn + fp + tn),
    "standardized_net_benefit": lambda tp, fn, fp, tn: div(tp - fp, tp + fn),
    "standardized_net_benefit[threshold=0.2]": lambda tp, fn, fp, tn: div(tp - Q(fp, 4), tp + fn),
    "expected_cost": lambda tp, fn, fp, tn: div(fp + fn, tp + fn + fp + tn),
    "expected_cost[cost_fn=10,cost_fp=2,cost_tp=1,cost_tn=0.5]": lambda tp, fn, fp, tn: div(
        10 * fn + 2 * fp + tp + Q(tn, 2), tp + fn + fp + tn
    ),
    "normalized_expected_cost": lambda tp, fn, fp, tn: div(fp + fn, min(tp + fn, fp + tn)),
    "normalized_expected_cost[cost_fn=10]": lambda tp, fn, fp, tn: div(fp + 10 * fn, min(10 * (tp + fn), fp + tn)),
    "mean_absolute_class_error": lambda tp, fn, fp, tn: div(fp + fn, tp + fn + fp + tn),
    "macro_mean_absolute_class_error": of_rates(lambda tpr, tnr: ((1 - tpr) + (1 - tnr)) / 2),
}
