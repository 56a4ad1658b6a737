"""ratio_study: one classifier on test sets of several ratios (Nguyen), with the unbalanced factor and without.

Nguyen (2019) tests one classifier on sets of 20:80, 50:50 and 80:20 positives to negatives, ten times, and asks how far
each metric moves. Here the sets of all ratios have as many rows as can be drawn of each without repeating one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steelyard._types import Array
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.prevalence import at_prevalence
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import listed, number_of, three_digits
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays import checks
from steelyard.arrays.label_codes import predicted_codes
from steelyard.arrays.labels import choice_sentences, unclear_sentence
from steelyard.auditing.model_tables import named_metrics
from steelyard.auditing.ratio_spread import ratio_spread
from steelyard.exceptions import InputError, InputTypeError, UnknownNameError, did_you_mean
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.protocol.cross_evaluate import cross_evaluate, read_data
from steelyard.protocol.splits import HoldOut, Sizes, drawn_part
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from steelyard._types import Estimator, Features, Label, Rng
    from steelyard.metrics.registry import MetricLike
    from steelyard.protocol.runs import Data

    Tested: TypeAlias = "Estimator | ArrayLike"  # a model, or what it predicts for every row
    RatioLike: TypeAlias = "str | tuple[float, float]"
    # For each repetition the rows tested and whether each is predicted positive.
    Repetitions: TypeAlias = list[tuple[Array, Array]]


# ---------------------------------------------------------------- RatioStudy
# Metrics on test sets of several ratios, their spread over these, with the unbalanced factor and not.


FEW_OF_A_CLASS = 10  # rows of a class of a test set below which one row moves its rate by more than 0.1
_DIGITS = 12  # of a spread that are no rounding


@dataclass(frozen=True, eq=False)
class MetricSpread(Flat):
    """One metric of one model: its mean at each ratio, and how far it moves over them.

    `spread` is the highest less the lowest value of a repetition, mean over these, so chance is part of it; `exact` is
    the same with the tested rows weighted to each ratio in place of drawn ones. `corrects` is the metric that this one
    corrects for the ratio, None where it corrects none.
    """

    model: str
    metric: str
    corrects: str | None
    means: dict[str, float]
    spread: float
    exact: float
    undefined: int

    def row(self) -> dict[str, Any]:
        """The metric as a row of a table, a column a ratio."""
        row: dict[str, Any] = {"model": self.model, "metric": self.metric, **self.means}
        row |= {"spread": self.spread, "spread by weights": self.exact}
        return row | ({"undefined": self.undefined} if self.undefined else {})


@dataclass(frozen=True, eq=False, repr=False)
class RatioStudy(Result[MetricSpread]):
    """The cells (first axis: tp, fn, fp, tn) of the drawn test sets by model, ratio and repetition, and what they say.

    `whole` are those of all rows tested, by model and repetition; `sizes` the positives and negatives of each set.
    """

    metrics: tuple[str, ...]
    models: tuple[str, ...]
    ratios: tuple[str, ...]
    shares: tuple[float, ...]
    sizes: tuple[tuple[int, int], ...]
    cells: Array
    whole: Array
    positive: str
    remarks: tuple[str, ...] = ()
    also_saved: ClassVar = ("spreads",)

    def __iter__(self) -> Iterator[MetricSpread]:
        return iter(self.spreads)

    def tables(self, model: str | None = None) -> dict[str, Counts[Array]]:
        """The tables of each ratio, one a repetition, of a model: the first unless one is named."""
        index = self._index(model)
        return {ratio: Counts.trusted(*self.cells[:, index, r]) for r, ratio in enumerate(self.ratios)}

    @property
    def spreads(self) -> Rows[MetricSpread]:
        """One row for each model and metric."""
        rows = Rows[MetricSpread]()
        for i, model in enumerate(self.models):
            whole = Counts.trusted(*self.whole[:, i])
            weighted = {ratio: at_prevalence(whole, p) for ratio, p in zip(self.ratios, self.shares, strict=True)}
            drawn = ratio_spread(self.tables(model), metrics=self.metrics)
            by_weights = ratio_spread(weighted, metrics=self.metrics)
            for row, exact in zip(drawn, by_weights, strict=True):
                corrects, exactly = get_metric(row.metric).corrects, round(exact.spread, _DIGITS)
                rows.append(MetricSpread(model, row.metric, corrects, row.means, row.spread, exactly, row.left_out))
        return rows

    def spread(self, metric: str, model: str | None = None) -> float:
        """How far a metric of a model moves over the ratios, mean over the repetitions."""
        wanted = self.models[self._index(model)]
        return next(row.spread for row in self.spreads if (row.model, row.metric) == (wanted, metric))

    def _index(self, model: str | None) -> int:
        if model is not None and model not in self.models:
            near = did_you_mean(str(model), self.models) or f" There are {', '.join(map(repr, self.models))}."
            raise UnknownNameError(f"No model is called {model!r}.{near}")
        return 0 if model is None else self.models.index(model)

    def shown_tables(self) -> list[Table]:
        """The rows, named by their first two columns."""
        return [Table.of(self, keys=2)]

    @property
    def headline(self) -> str:
        """The spread of the metric that the ratios move most, without the factor and with it, model by model."""
        over = f"over test sets of {listed(list(self.ratios))} (positives to negatives)"
        every = {(row.model, row.metric): row for row in self.spreads}
        pairs = [  # the metrics that the factor corrects, without it and with it
            (every[row.model, row.corrects], row)
            for row in every.values()
            if row.corrects is not None and (row.model, row.corrects) in every
        ]
        rows = [row for row in ([a for a, _ in pairs] or every.values()) if not math.isnan(row.spread)]
        if not rows:
            return f"No metric has a spread {over}: each is undefined in a test set of every repetition."
        widest, several = max(rows, key=lambda row: round(row.spread, _DIGITS)), len(self.models) > 1
        if not pairs:
            of_model = f" ({widest.model})" if several else ""
            return f"The spread of {widest.metric} {over} is the widest, {three_digits(widest.spread)}{of_model}."
        spreads = []
        for plain, corrected in pairs:
            if plain.metric == widest.metric:
                of_model = f" ({plain.model})" if several else ""
                spreads.append(f"{three_digits(plain.spread)} and {three_digits(corrected.spread)}{of_model}")
        return (
            f"The spread of {widest.metric} {over}, without the unbalanced factor and with it, is {'; '.join(spreads)}."
        )

    @property
    def notes(self) -> list[str]:
        """How large the test sets are, and what chance adds to a spread where they are small."""
        few = [(ratio, size) for ratio, size in zip(self.ratios, self.sizes, strict=True) if min(size) < FEW_OF_A_CLASS]
        rows = sum(self.sizes[0])
        runs = self.cells.shape[-1]
        notes = [
            f"{number_of(runs, 'repetition')}, with a test set of {rows:,} rows at each ratio. The spread is the "
            "highest less the lowest value of a repetition, so chance is part of it; the spread by weights is without "
            "chance."
        ]
        if few:
            ratio, size = min(few, key=lambda pair: min(pair[1]))
            notes.append(
                f"The test sets are small: at {ratio} {min(size)} rows of one class, so one row moves its rate by "
                f"{three_digits(1 / min(size))}; read the spread by weights, or give more rows."
            )
        for row in self.spreads:
            if math.isnan(row.spread):
                reasons = (
                    why for tables in self.tables(row.model).values() for why in get_metric(row.metric).why(tables)
                )
                why = listed([reason for reason in dict.fromkeys(reasons) if reason])
                of_model = f" of {row.model}" if len(self.models) > 1 else ""
                notes.append(
                    f"The spread of {row.metric}{of_model} is a dash: it is undefined in a test set of every "
                    f"repetition ({why})."
                )
        return [*notes, *self.remarks]


# ---------------------------------------------------------------- ratio_study


NGUYEN_RATIOS = ("20:80", "50:50", "80:20")


@names_wrong_arguments
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
    if isinstance(model, Mapping):
        models = dict(model)
        if not models:
            raise InputError("model= is empty; give a model, predictions, or several of these by name.")
    else:
        models = {type(model).__name__ if hasattr(model, "predict") else "predictions": model}
    shares = {f"{p:g}:{n:g}": p / (p + n) for p, n in map(_sides, ratios)}
    if len(shares) < 2:
        raise InputError(f"A spread is over two ratios or more, and {len(shares)} was given; give others as well.")
    no_features = np.empty((np.shape(y)[0] if np.ndim(y) else 0, 0))
    data = read_data(no_features if X is None else X, y, None, pos_label)
    if data.positive is None:
        raise InputError(unclear_sentence(data.labels, np.bincount(data.codes)))
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


def _runs(name: str, model: Any, data: Data, repeats: int, test: float, n_jobs: int | None, rng: Rng) -> Repetitions:
    """What a model predicts in each repetition: of rows held out for an estimator, of all rows where it is given."""
    positive = data.labels.index(data.positive)
    if not hasattr(model, "predict"):
        column = checks.column(model, f"the predictions of {name}")
        checks.check_lengths(y=data.codes, predictions=column)
        flagged = predicted_codes(column, data.labels, f"The prediction {name!r}") == positive
        return [(np.arange(len(flagged)), flagged)] * HoldOut(1, repeats=repeats).repeats
    if not (isinstance(test, (int, float)) and 0 < test < 1):
        raise InputError(
            argument="test", expected="the share of the rows that is held out, above 0 and below 1", given=test
        )
    split = HoldOut((1 - test) / test, repeats=repeats)
    result = cross_evaluate(
        {name: model}, data.X, data.y, split=split, metrics=["recall"], n_jobs=n_jobs, rng=rng, pos_label=data.positive
    )
    runs = [(run.part.test, run.predictions.codes) for run in result[name].runs]
    return [(rows, codes == positive) for rows, codes in runs if codes is not None]


def _sizes(shares: Mapping[str, float], positives: list[int], rows: list[int], size: int | None) -> dict[str, Sizes]:
    """The test sets of all ratios: of one number of rows, as many as can be drawn of each."""
    p, n = min(positives), min(all_rows - part for all_rows, part in zip(rows, positives, strict=True))
    most = int(min(min(p / share, n / (1 - share)) for share in shares.values()) + 1e-9)
    if size is not None and not (isinstance(size, (int, np.integer)) and 2 <= size <= most):
        raise InputError(
            argument="size",
            expected=f"the rows of a test set, from 2 to the {most:,} that {p:,} positives and {n:,} negatives give at "
            "all of these ratios",
            given=size,
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
