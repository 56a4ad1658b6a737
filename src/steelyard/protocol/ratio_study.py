"""ratio_study: one classifier on test sets of several ratios (Nguyen), with the unbalanced factor and without.

Nguyen (2019) tests one classifier on sets of 20:80, 50:50 and 80:20 positives to negatives, ten times, and asks how far
each metric moves. Here the sets of all ratios have as many rows as can be drawn of each without repeating one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.auditing.model_tables import named_metrics
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest import arrays
from steelyard.ingest.predicted_labels import predicted_codes
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.registry import list_metrics
from steelyard.protocol.cross_evaluate import cross_evaluate, read_data
from steelyard.protocol.ratio_study_result import RatioStudy
from steelyard.protocol.sized_splits import Sizes, drawn_part
from steelyard.protocol.splits import HoldOut
from steelyard.statistics.positive_class import choice_sentences, unclear_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Label, Rng
    from steelyard.metrics.registry import MetricLike
    from steelyard.protocol.predictions import Data

    Tested: TypeAlias = "Estimator | ArrayLike"  # a model, or what it predicts for every row
    RatioLike: TypeAlias = "str | tuple[float, float]"
    # For each repetition the rows tested and whether each is predicted positive.
    Repetitions: TypeAlias = list[tuple[Array, Array]]

NGUYEN_RATIOS = ("20:80", "50:50", "80:20")


@refuses_other_keywords
def ratio_study(
    model: Tested | Mapping[str, Tested],
    X: Features | None,
    y: ArrayLike,
    ratios: Sequence[RatioLike] = NGUYEN_RATIOS,
    *,
    repeats: int = 10,
    test: float = 0.5,
    size: int | None = None,
    metrics: Iterable[MetricLike] | None = None,
    pos_label: Label = None,
    n_jobs: int | None = None,
    rng: Rng = None,
) -> RatioStudy:
    """How far each metric moves over test sets of several ratios, with and without the unbalanced factor (Nguyen).

    `model` is an estimator, the predicted labels of all rows, or several of these by name; with predictions alone X may
    be None. A ratio is written positives:negatives, such as "20:80". For an estimator a share `test` of each class is
    held out anew in each of the `repeats`, the model is fitted on the rest, and from the rows held out a test set of
    each ratio is drawn, of `size` rows or as many as all ratios allow. Predictions are drawn from as they are: then the
    repeats differ by the rows drawn alone. Without `metrics` they are those that Nguyen corrects, each beside its
    corrected form. Beside the drawn sets every metric is computed with the held-out rows weighted to each ratio, which
    no draw disturbs.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> study = ratio_study(GaussianNB(), *load_breast_cancer(return_X_y=True), repeats=5)
    >>> study.spread("precision") > study.spread("alpha_precision")
    True
    """
    chosen = _metrics(metrics)
    models = dict(model) if isinstance(model, Mapping) else {_name(model): model}
    shares = {f"{p:g}:{n:g}": p / (p + n) for p, n in map(_sides, ratios)}
    if len(shares) < 2:
        raise InputError(f"A spread is over two ratios or more, and {len(shares)} was given; give others as well.")
    data = _two_sides(X, y, pos_label)
    if X is None and (fitted := [name for name, part in models.items() if hasattr(part, "predict")]):
        raise InputTypeError(f"{fitted[0]} is fitted on features; give X, one row of them for each label.")
    runs = {name: _runs(name, part, data, repeats, test, n_jobs, rng) for name, part in models.items()}
    positive = data.codes == data.labels.index(data.positive)
    first = next(iter(runs.values()))
    sizes = _sizes(shares, [int(positive[rows].sum()) for rows, _ in first], [len(rows) for rows, _ in first], size)
    drawn = {name: _drawn(part, positive, sizes, generator(rng)) for name, part in runs.items()}
    whole = {name: [_cells(positive[rows], flagged) for rows, flagged in part] for name, part in runs.items()}
    return RatioStudy(
        tuple(m.name for m in chosen),
        tuple(models),
        tuple(shares),
        tuple(shares.values()),
        tuple((part.positives, part.negatives) for part in sizes.values()),
        np.stack([*drawn.values()], 1),
        np.stack([np.stack(part, -1) for part in whole.values()], 1),
        repr(data.positive),
        choice_sentences(pos_label, data.positive, data.labels),
    )


def _metrics(metrics: Iterable[MetricLike] | None) -> list[Any]:
    """Those named, or every metric that Nguyen corrects beside its corrected form."""
    if metrics is not None:
        chosen = named_metrics(metrics)
        if ranks := next((metric for metric in chosen if metric.function is None), None):
            raise InputTypeError(
                f"{ranks.name} is a metric of {ranks.basis}, and the test sets of this study are of predicted labels; "
                "name metrics of labels, such as balanced_accuracy, or leave metrics= out."
            )
        return chosen
    pairs = [(metric.corrects, metric.name) for metric in list_metrics("corrected") if metric.cite == "nguyen2019"]
    return named_metrics([name for pair in pairs for name in pair if name is not None])


def _name(model: object) -> str:
    return type(model).__name__ if hasattr(model, "predict") else "predictions"


def _sides(ratio: RatioLike) -> tuple[float, float]:
    """The two numbers of a ratio."""
    parts = ratio.split(":") if isinstance(ratio, str) else ratio
    try:
        positives, negatives = map(float, parts)
    except (TypeError, ValueError):
        positives = negatives = 0.0
    if not (0 < positives < np.inf and 0 < negatives < np.inf):
        raise InputError(f"A ratio is positives:negatives, two numbers above 0 such as '20:80', not {ratio!r}.")
    return positives, negatives


def _two_sides(X: Features | None, y: ArrayLike, pos_label: Label) -> Data:
    """The rows, with a positive class that is named or clear."""
    data = read_data(np.empty((np.shape(y)[0] if np.ndim(y) else 0, 0)) if X is None else X, y, None, pos_label)
    if data.positive is None:
        raise InputError(unclear_sentence(data.labels, np.bincount(data.codes)))
    return data


def _runs(name: str, model: Any, data: Data, repeats: int, test: float, n_jobs: int | None, rng: Rng) -> Repetitions:
    """What a model predicts in each repetition: of rows held out for an estimator, of all rows where it is given."""
    place = data.labels.index(data.positive)
    if not hasattr(model, "predict"):
        flagged = _given(name, model, data) == place
        return [(np.arange(len(flagged)), flagged)] * HoldOut(1, repeats=repeats).repeats
    if not (isinstance(test, (int, float)) and 0 < test < 1):
        raise InputError(f"test is the share of the rows that is held out, above 0 and below 1, not {test!r}.")
    split = HoldOut((1 - test) / test, repeats=repeats)
    result = cross_evaluate(
        {name: model}, data.X, data.y, split=split, metrics=["recall"], n_jobs=n_jobs, rng=rng, pos_label=data.positive
    )
    runs = [(run.part.test, run.predictions.codes) for run in result[name].runs]
    return [(rows, codes == place) for rows, codes in runs if codes is not None]


def _given(name: str, predictions: ArrayLike, data: Data) -> Array:
    """The predicted labels as codes."""
    column = arrays.column(predictions, f"the predictions of {name}")
    arrays.check_lengths(y=data.codes, predictions=column)
    return predicted_codes(column, data.labels, f"The prediction {name!r}")


def _sizes(shares: Mapping[str, float], positives: list[int], rows: list[int], size: int | None) -> dict[str, Sizes]:
    """The test sets of all ratios: of one number of rows, as many as can be drawn of each."""
    p, n = min(positives), min(all_rows - part for all_rows, part in zip(rows, positives, strict=True))
    most = int(min(min(p / share, n / (1 - share)) for share in shares.values()) + 1e-9)
    if size is not None and not (isinstance(size, (int, np.integer)) and 2 <= size <= most):
        raise InputError(
            f"size is the rows of a test set, from 2 to the {most:,} that {p:,} positives and {n:,} negatives give at "
            f"all of these ratios, not {size!r}."
        )
    total = most if size is None else int(size)
    sizes = {name: Sizes(round(share * total), total - round(share * total)) for name, share in shares.items()}
    for name, part in sizes.items():
        if not 0 < part.positives <= p or not 0 < part.negatives <= n:
            raise InputError(
                f"The ratio {name} cannot be drawn: of {p:,} positives and {n:,} negatives sets of {total:,} rows can "
                "be drawn at all of these ratios, where it has no row of one class; give other ratios, or more rows."
            )
    return sizes


def _drawn(runs: Repetitions, positive: Array, sizes: Mapping[str, Sizes], rng: np.random.Generator) -> Array:
    """The four cells of each drawn set, by ratio and repetition."""
    cells = np.zeros((4, len(sizes), len(runs)), dtype=np.int64)
    for i, (rows, flagged) in enumerate(runs):
        true = positive[rows]
        sides = [np.flatnonzero(true), np.flatnonzero(~true)]
        for r, part in enumerate(sizes.values()):
            picked = drawn_part(sides, part, rng)
            cells[:, r, i] = _cells(true[picked], flagged[picked])
    return cells


def _cells(true: Array, flagged: Array) -> tuple[int, int, int, int]:
    """tp, fn, fp and tn of rows."""
    tp, fp = int((true & flagged).sum()), int((~true & flagged).sum())
    return tp, int(true.sum()) - tp, fp, int((~true).sum()) - fp
