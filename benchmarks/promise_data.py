"""Promises on real data: half of the rows that did not train chooses the threshold, and all of them judge it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from benchmarks.promise_peers import naive, ours
from benchmarks.promise_worlds import Sample
from steelyard import SteelyardError, get_metric
from steelyard.analysis.thresholds.limits import read_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array

LIMITS = (
    ("recall >= 0.9", "specificity"),
    ("specificity >= 0.95", "recall"),
    ("precision >= 0.5", "recall"),
    ("f1 >= 0.5", "recall"),
)


def _logistic(X: Any, y: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Labels and scores of two thirds of the rows, by a model of the other third."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler

    order = rng.permutation(len(y))
    train, rest = order[: len(y) // 3], order[len(y) // 3 :]
    model = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=500)).fit(X[train], y[train])
    return y[rest], model.predict_proba(X[rest])[:, 1]


def _pulsars(rng: np.random.Generator) -> tuple[Array, Array]:
    from steelyard.datasets.paper_datasets import htru2

    data = htru2()
    return _logistic(data.X, data.y, rng)


def _news(rng: np.random.Generator) -> tuple[Array, Array]:
    from sklearn.feature_extraction.text import HashingVectorizer

    from steelyard.datasets.paper_datasets import newsgroups20

    data = newsgroups20()
    y = (np.asarray(data.labels) == "sci.space").astype(int)
    return _logistic(HashingVectorizer(n_features=2**14).transform(data.texts), y, rng)


def _house_numbers(rng: np.random.Generator) -> tuple[Array, Array]:
    from steelyard.datasets.paper_datasets import svhn_1_6

    data = svhn_1_6()
    some = rng.permutation(len(data.labels))[:6_000]
    return _logistic(
        np.asarray(data.images).reshape(len(data.labels), -1)[some, ::16] / 255.0,
        (np.asarray(data.labels)[some] == 6).astype(int),
        rng,
    )


def _digits(_: np.random.Generator) -> tuple[Array, Array]:
    from steelyard.datasets.digits import digit_predictions

    y, score, _ = digit_predictions()
    return np.asarray(y), np.asarray(score)


DATA: dict[str, Callable[[np.random.Generator], tuple[Array, Array]]] = {
    "HTRU2": _pulsars,
    "20 Newsgroups, sci.space": _news,
    "SVHN, 6 against 1": _house_numbers,
    "digits, 8 against the rest": _digits,
}


def split_rows(name: str, splits: int) -> list[list[Any]]:
    """Each limit with what the splits of a data set gave; one that is not there has none."""
    rng = np.random.default_rng(0)
    try:
        everyone = Sample(*DATA[name](rng))
    except SteelyardError as missing:
        print(f"{name}: {missing}")
        return []
    sums = {limit: {"broken": 0, "shown": 0, "naive": 0, "none": 0, "value": 0.0} for limit, _ in LIMITS}
    for _ in range(splits):
        order = rng.permutation(len(everyone.y))
        half, other = (
            Sample(everyone.y[some], everyone.s[some]) for some in np.array_split(order, [len(everyone.y) // 2])
        )
        for limit, metric in LIMITS:
            for key, one in _one_split(half, other, everyone, limit, metric).items():
                sums[limit][key] += one
    return [
        [
            name,
            limit,
            {
                **{key: of[key] / splits for key in ("broken", "shown", "naive", "none")},
                "value": of["value"] / (splits - of["none"]) if of["none"] < splits else math.nan,
                "runs": splits,
            },
        ]
        for limit, of in sums.items()
    ]


def _one_split(half: Sample, other: Sample, everyone: Sample, limit: str, metric: str) -> dict[str, float]:
    """What the threshold of one half gave: broken among all rows, shown so by the other half, and the value here."""
    (bound,) = read_limits(limit)
    hoped, found = naive(half, limit, metric), ours(half, limit, metric)
    broken = {"naive": float(hoped.threshold is not None and not bound.is_met(_counts(everyone, hoped.threshold)))}
    if found.threshold is None or found.trivial:
        return {**broken, "none": 1.0}
    return {
        **broken,
        "broken": float(not bound.is_met(_counts(everyone, found.threshold))),
        "shown": float(_shown(bound, _counts(other, found.threshold))),
        "value": float(get_metric(metric)(_counts(half, found.threshold))),
    }


def _counts(sample: Sample, threshold: float) -> Any:
    return sample.searched.table.at(threshold)


def _shown(limit: Any, counts: Any) -> bool:
    """Whether a binomial test at 0.05 shows that the limit is broken; of other metrics than rates whether it is so."""
    from steelyard.analysis.thresholds.limits import rate_limit

    rate = rate_limit(limit)
    if rate is None:
        return not bool(limit.is_met(counts))
    hits, trials = (float(part) for part in rate.part.trials(counts))
    return bool(stats.binom.cdf(hits, trials, rate.bound) < 0.05)
