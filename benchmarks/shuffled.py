"""How often cross-evaluation's intervals hold what guessing scores, on labels shuffled at random.

Run `python benchmarks/shuffled.py`; docs/kalita.md quotes what it prints. Takes some minutes.
"""

from __future__ import annotations

import collections
from itertools import product

import numpy as np
from sklearn.naive_bayes import GaussianNB

from steelyard import Folds, HoldOut, cross_evaluate
from steelyard.studies import corrected_t_test

METRICS = ("balanced_accuracy", "ac_score", "g_mean", "roc_auc")
PLANS = ((200, 4, Folds(5)), (200, 4, Folds(5, repeats=3)), (200, 4, Folds(10)), (400, 10, HoldOut(2, repeats=10)))
AGAIN = (Folds(5), Folds(10), Folds(5, repeats=3), Folds(5, repeats=10), HoldOut(2, repeats=10))
REPEATS = 150


def held(rng, columns, n, share, split, resample):
    """The share of shuffles in which each interval holds chance: that of the summary, that of the evaluation."""
    found = collections.Counter()
    for _ in range(REPEATS):
        X, y = rng.standard_normal((n, columns)), rng.permutation(np.arange(n) % share == 0).astype(int)
        result = cross_evaluate(GaussianNB(), X, y, split=split, resample=resample, metrics=METRICS, rng=rng)
        for row in result.summary:
            of_rows = result.evaluation[row.name]
            found[row.name, "summary"] += row.low <= row.chance <= row.high
            found[row.name, "evaluation"] += of_rows.low <= of_rows.chance <= of_rows.high
    return {key: count / REPEATS for key, count in found.items()}


def spread(rng, split):
    """Of the ROC AUC over shuffles: its mean less 0.5, its standard deviation, and both standard errors with it."""
    means, published, ours, held = [], [], [], np.zeros(2)
    for _ in range(REPEATS):
        X, y = rng.standard_normal((200, 20)), rng.permutation(np.arange(200) % 4 == 0).astype(int)
        result = cross_evaluate(GaussianNB(), X, y, split=split, metrics=["roc_auc"], rng=rng)
        (row,), values = result.summary, result.values("roc_auc")
        train, test = result.runs[0].part.sizes
        plain = corrected_t_test(values, n_train=train, n_test=test)
        reach = plain.high - plain.difference
        means.append(row.mean - 0.5)
        published.append(plain.difference / plain.t)
        ours.append(published[-1] * (row.high - row.mean) / reach)
        held += abs(row.mean - 0.5) <= reach, row.low <= 0.5 <= row.high
    return np.mean(means), np.std(means), *(np.sqrt(np.mean(np.square(e))) for e in (published, ours)), *held / REPEATS


def main():
    rng = np.random.default_rng(7)
    print("| ROC AUC by | mean - 0.5 | sd | published error | ours | published holds | ours |\n" + "|---" * 7 + "|")
    for split in AGAIN:
        off, sd, *errors, before, after = spread(rng, split)
        told = " | ".join(f"{value:.3f}" for value in (sd, *errors))
        print(f"| `{split!r}` | {off:+.3f} | {told} | {100 * before:.0f} % | {100 * after:.0f} % |", flush=True)
    rng = np.random.default_rng(7)
    print(f"{'resample':8} {'columns':>7} {'rows':>5}  {'split':48}" + "".join(f"{name:>22}" for name in METRICS))
    for resample, columns, (n, share, split) in product((None, "over"), (3, 20), PLANS):
        found = held(rng, columns, n, share, split, resample)
        pairs = (f"{found[m, 'summary']:.3f} | {found[m, 'evaluation']:.3f}" for m in METRICS)
        where = f"{resample!s:8} {columns:7} {n:5}  {split!s:48}"
        print(where + "".join(f"{pair:>22}" for pair in pairs), flush=True)


if __name__ == "__main__":
    main()
