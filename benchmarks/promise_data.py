"""Promises on real data: half of the rows that did not train chooses the threshold, and all of them judge it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from steelyard import SteelyardError, best_threshold, score_table
from steelyard.analysis.threshold_limits import read_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def real_rows(repeats: int) -> Iterator[list[Any]]:
    """Each data set and limit with what the splits gave; a data set that is not there is left out."""
    for name, load in DATA.items():
        rng = np.random.default_rng(0)
        try:
            y, s = load(rng)
        except SteelyardError as missing:
            print(f"{name}: {missing}")
            continue
        for limit, metric in LIMITS:
            yield [
                name,
                limit,
                _split_cell(y, s, limit, metric, min(repeats, int(os.environ.get("SPLITS", "200"))), rng),
            ]


def _split_cell(y: Array, s: Array, limit: str, metric: str, splits: int, rng: np.random.Generator) -> dict[str, Any]:
    everyone, (bound,) = score_table(y, s, pos_label=1), read_limits(limit)
    sums, values = dict.fromkeys(("broken", "shown", "naive", "none"), 0), []
    for _ in range(splits):
        order = rng.permutation(len(y))
        half, other = order[: len(y) // 2], order[len(y) // 2 :]
        sums["naive"] += _broken(y[half], s[half], limit, metric, everyone, None)[0]
        broken, best = _broken(y[half], s[half], limit, metric, everyone, 0.95)
        if best is None or best.trivial:
            sums["none"] += 1
            continue
        sums["broken"] += broken
        sums["shown"] += _shown(bound, score_table(y[other], s[other], pos_label=1).at(best.threshold))
        values.append(best.value)
    return {
        **{key: total / splits for key, total in sums.items()},
        "value": float(np.mean(values)) if values else float("nan"),
        "runs": splits,
    }


def _broken(y: Array, s: Array, limit: str, metric: str, everyone: Any, confidence: float | None) -> tuple[bool, Any]:
    try:
        best = best_threshold(y, s, metric, where=limit, confidence=confidence, resamples=0)
    except SteelyardError:
        return False, None
    return not all(bool(each.is_met(everyone.at(best.threshold))) for each in read_limits(limit)), best


def _shown(limit: Any, counts: Any) -> bool:
    """Whether a binomial test at 0.05 shows that the limit is broken; of other metrics than rates whether it is so."""
    from steelyard.analysis.limit_parts import rate_limit

    rate = rate_limit(limit)
    if rate is None:
        return not bool(limit.is_met(counts))
    hits, trials = (float(part) for part in rate.part.trials(counts))
    return bool(stats.binom.cdf(hits, trials, rate.bound) < 0.05)
