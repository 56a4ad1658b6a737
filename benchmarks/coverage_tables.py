"""How often the intervals of two classes hold the true value, and how often groups that do not differ are called different."""

from __future__ import annotations

import itertools
import warnings

import numpy as np

from steelyard import Confusion, Counts, get_metric, interval, list_metrics
from steelyard.analysis.intervals.interval import Interval

DRAWS = 2_000
BOUNDED = [m for m in list_metrics() if m.function and np.isfinite(m.range).all() and m.name != "alpha_recall"]
SHOWN = ("recall", "precision", "f1", "balanced_accuracy", "g_mean", "ac_score", "mcc", "kappa", "optimized_precision")


def covered(interval: Interval, truth: float) -> float:
    """The share of the intervals that hold the truth, of those whose value is defined."""
    inside = (interval.low <= truth + 1e-12) & (interval.high >= truth - 1e-12)
    return float(np.mean(inside[~np.isnan(interval.value)]))


def tables(n, prevalence, recall, specificity, repeats, rng):
    """Simulated test sets of n rows, and the table of their expectation."""
    shares = [
        prevalence * recall,
        prevalence * (1 - recall),
        (1 - prevalence) * (1 - specificity),
        (1 - prevalence) * specificity,
    ]
    drawn = rng.multinomial(n, shares, size=repeats)
    return Counts(*drawn.T), Counts(*(n * np.array(shares)))


def binary_rows(repeats):
    """Coverage of every bounded metric in every cell of the grid, with that of the percentile bootstrap, if shown."""
    rng = np.random.default_rng(1)
    for n, prevalence, recall, specificity in itertools.product(
        (300, 1_000, 10_000), (0.5, 0.1, 0.05, 0.01), (0.8, 0.95), (0.8, 0.95)
    ):
        if n * prevalence < 10:
            continue
        simulated, truth = tables(n, prevalence, recall, specificity, repeats, rng)
        parts = [interval(BOUNDED, simulated[a : a + 500], draws=DRAWS, rng=rng) for a in range(0, repeats, 500)]
        shares = {m.name: float(np.mean([covered(part[i], m(truth)) for part in parts])) for i, m in enumerate(BOUNDED)}
        boot = percentile_bootstrap(simulated[: min(repeats, 1_000)], truth, rng)
        setting = f"{n} | {prevalence} | {recall} | {specificity}"
        yield setting, {name: (share, boot[name]) if name in boot else share for name, share in shares.items()}


def percentile_bootstrap(simulated, truth, rng):
    """What every peer offers: quantiles over resampled rows, here by the identity with a multinomial draw."""
    n = int(simulated[0].total)
    shares = np.stack(list(simulated), -1) / n
    drawn = Counts(*np.moveaxis(rng.multinomial(n, shares[:, None, :].repeat(500, 1)), -1, 0))
    out = {}
    for name in SHOWN:
        values = get_metric(name)(drawn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = np.nanquantile(values, (0.025, 0.975), axis=-1)
        point = get_metric(name)(simulated)
        out[name] = covered(Interval(name, point, low, high, 0.95, "bootstrap"), get_metric(name)(truth))
    return out


def weighted_rows(repeats):
    """Negatives sampled 1:100 with weight 100: what raw weights would claim, and what is claimed here."""
    rng = np.random.default_rng(3)
    names = ("recall", "specificity", "precision", "ac_score", "mcc", "accuracy")
    covering, raw = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    truth = Counts(*(np.array([80, 20, 0.05 * 10_000, 0.95 * 10_000])))
    for _ in range(repeats):
        tp, fp = rng.binomial(100, 0.8), rng.binomial(100, 0.05)
        rows = np.array([[100 - fp, fp], [100 - tp, tp]])
        weight = np.array([[100.0], [1.0]])
        table = Confusion((0, 1), rows, rows * weight, rows * weight**2, 1)
        for i, name in enumerate(names):
            ours = interval([name], table, draws=1_000, rng=rng)[0]
            plain = interval([name], Counts(tp, 100 - tp, 100 * fp, 100 * (100 - fp)), draws=1_000, rng=rng)[0]
            covering[name] += bool(ours.low <= get_metric(name)(truth) <= ours.high)
            raw[name] += bool(plain.low <= get_metric(name)(truth) <= plain.high)
            del i
    yield "negatives sampled 1:100, with weight 100", {n: (v / repeats, raw[n] / repeats) for n, v in covering.items()}


def group_rows(repeats):
    """Groups that do not differ: how often one of them is called the weakest at 0.05, by each of three metrics."""
    from steelyard.analysis.comparison.groups import exact_p_values, two_class_value

    rng = np.random.default_rng(7)
    values = {name: two_class_value(get_metric(name)) for name in ("ac_score", "mcc", "f1")}
    for groups, (words, least, most) in itertools.product(
        (2, 5, 20), (("4 rows", 4, 4), ("50 rows", 50, 50), ("1,000 rows", 1_000, 1_000), ("4 to 1,000 rows", 4, 1_000))
    ):
        named = dict.fromkeys(values, 0)
        for _ in range(repeats):
            positives, negatives = (np.geomspace(least, most, groups) * share for share in (0.25, 0.75))
            sizes = np.round(np.stack([positives, negatives], -1)).astype(np.int64)
            hits = rng.binomial(sizes, [0.8, 0.9])
            for name, value in values.items():
                named[name] += bool((exact_p_values(hits, sizes, value, 0.95, rng) <= 0.05).any())
        yield f"{groups} groups of {words}", {name: count / repeats for name, count in named.items()}


def interval_group_rows(repeats):
    """The same where the groups' intervals are compared: clustered and weighted rows, and ranks."""
    from steelyard import evaluate

    rng = np.random.default_rng(8)
    for groups, (words, least) in itertools.product((2, 5, 20), (("50 rows", 50), ("4 to 1,000 rows", 4))):
        named = dict.fromkeys(("clusters of 5", "weights", "roc_auc"), 0)
        for _ in range(repeats):
            group = np.repeat(np.arange(groups), np.geomspace(least, 50 if least == 50 else 1_000, groups).astype(int))
            y, cluster = (rng.random(len(group)) < 0.3).astype(int), np.arange(len(group)) // 5
            luck = rng.beta(8, 2, len(group))
            shared, own = (np.where(rng.random(len(y)) < at, y, 1 - y) for at in (luck[cluster], 0.85))
            for name, rows in {
                "clusters of 5": {"y_pred": shared, "cluster": cluster},
                "weights": {"y_pred": own, "sample_weight": rng.exponential(1, len(y))},
                "roc_auc": {"y_score": rng.normal(size=len(y)) * 3 + 4 * y},
            }.items():
                metrics = ["roc_auc" if name == "roc_auc" else "ac_score"]
                verdict = evaluate(y, **rows, by=group, metrics=metrics, draws=500, rng=rng).verdict
                named[name] += any(sentence.code == "weakest-group" for sentence in verdict)
        yield f"{groups} groups of {words}", {name: count / repeats for name, count in named.items()}
