"""Robustness: how far each measure moves when only the classes' shares or names change, on the user's own predictions.

Asawa's two tests (balance the test set, swap the labels) and Nguyen's spread over test sets of different ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.draws import generator
from steelyard.analysis.prevalence import at_prevalence, shares
from steelyard.analysis.rows import Rows, table_text, three_digits
from steelyard.analysis.significance import Friedman, friedman
from steelyard.audit.correlation import measured
from steelyard.errors import InputError, InputTypeError
from steelyard.ingest import labels as ingest
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import CELLS, Counts

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

Array = np.ndarray[Any, Any]
TOLERANCE = 0.02  # any value from 0.006 to 0.069 gives the verdicts that Asawa drew from the printed changes
NGUYEN = ("accuracy", "alpha_accuracy", "f1", "alpha_f1")
MOST_DRAWN = 10**9  # rows that a hypergeometric draw takes
ROUNDING = 1e-12  # values that differ by less, relative to their size, are equal


def directed(metrics: Iterable[Any] | None) -> list[Metric]:
    """The measures that are named, or all of counts that say what is better."""
    if metrics is None:
        return [m for m in list_metrics() if m.function is not None and m.direction is not None]
    if isinstance(metrics, str):
        raise InputTypeError(f"Measures are given as a list of names, not as the text {metrics!r}.")
    return [get_metric(name) for name in metrics]


# ---------------------------------------------------------------- Asawa: balanced, and swapped


@dataclass(frozen=True)
class Verdict:
    """One measure: its largest change over the models when the test set is balanced, and when the labels are swapped.

    A change is the value as it was less the value afterwards. None is the verdict where the measure is undefined.
    """

    metric: str
    change: float
    model: str
    prevalence: float
    resampling_sd: float
    swap_change: float
    swap_model: str
    robust: bool | None
    symmetric: bool | None

    @property
    def winner(self) -> bool:
        """Whether the measure stands both tests."""
        return self.robust is True and self.symmetric is True

    def row(self) -> dict[str, Any]:
        """The verdict as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Change:
    """One measure of one model at one prevalence: by weights exactly, and over resampled test sets."""

    metric: str
    model: str
    prevalence: float
    value: float
    balanced: float
    change: float
    resampled: float
    resampled_sd: float
    resampled_low: float
    resampled_high: float

    def row(self) -> dict[str, Any]:
        """The change as a row of a table."""
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False, repr=False)
class Robustness:
    """The changes of every measure (last axis) by model and prevalence, and what they say."""

    metrics: tuple[str, ...]
    models: tuple[str, ...]
    prevalences: tuple[float, ...]
    values: Array
    balanced: Array
    resampled: Array
    swapped: Array
    tolerance: float
    resamples: int

    @property
    def changes(self) -> Array:
        """The value as it was less that of the balanced test set, by model, prevalence and measure."""
        return _change(self.values[:, None], self.balanced)

    @property
    def swap_changes(self) -> Array:
        """The value as it was less that with swapped labels, by model and measure."""
        return _change(self.values, self.swapped)

    @property
    def verdicts(self) -> Rows[Verdict]:
        """One verdict a measure, by its largest change over models and prevalences."""
        return Rows(self._verdict(i) for i in range(len(self.metrics)))

    def _verdict(self, i: int) -> Verdict:
        changes, swaps = self.changes[..., i], self.swap_changes[:, i]
        (model, share), swap = np.unravel_index(_largest(changes), changes.shape), _largest(swaps)
        sd = self.resampled[1, :, :, i]
        return Verdict(
            self.metrics[i], float(changes[model, share]), self.models[model], self.prevalences[share],
            float(sd.ravel()[_largest(sd)]), float(swaps[swap]), self.models[swap],
            _within(changes, self.tolerance), _within(swaps, self.tolerance),
        )  # fmt: skip

    @property
    def robust(self) -> list[str]:
        """The measures that no balancing moves by more than the tolerance."""
        return [v.metric for v in self.verdicts if v.robust]

    @property
    def symmetric(self) -> list[str]:
        """The measures that swapping the labels does not move by more than the tolerance."""
        return [v.metric for v in self.verdicts if v.symmetric]

    @property
    def winners(self) -> list[str]:
        """The measures that are both."""
        return [v.metric for v in self.verdicts if v.winner]

    def rows(self) -> Rows[Change]:
        """One row for each measure, model and prevalence."""
        cells = np.stack([np.broadcast_to(self.values[:, None], self.balanced.shape), self.balanced, self.changes])
        found = np.concatenate([cells, self.resampled])
        return Rows(
            Change(name, model, share, *map(float, found[:, m, s, i]))
            for i, name in enumerate(self.metrics)
            for m, model in enumerate(self.models)
            for s, share in enumerate(self.prevalences)
        )

    def __repr__(self) -> str:
        said = f"Largest change over {len(self.models)} models against a tolerance of {three_digits(self.tolerance)}"
        winners = f"Robust and symmetric: {', '.join(self.winners) or 'none'}"
        table = [
            {
                "measure": v.metric, "balanced": v.change, "resampling sd": v.resampling_sd,
                "robust": _word(v.robust), "swapped": v.swap_change, "symmetric": _word(v.symmetric),
            }
            for v in self.verdicts
        ]  # fmt: skip
        return "\n".join([said, winners, "", table_text(table)])


def _change(before: Array, after: Array) -> Array:
    """Before less after; 0 where they differ by rounding alone."""
    change = before - after
    return np.asarray(np.where(np.abs(change) <= ROUNDING * np.maximum(1, np.abs(before)), 0 * change, change))


def _word(verdict: bool | None) -> str:
    return {True: "yes", False: "no", None: "undefined"}[verdict]


def _largest(changes: Array) -> int:
    """The place of the largest change, the first where all are undefined."""
    return int(np.argmax(np.where(np.isnan(changes), -1, np.abs(changes))))


def _within(changes: Array, tolerance: float) -> bool | None:
    """Whether no change exceeds the tolerance; None where an undefined one might."""
    if (np.abs(changes) > tolerance).any():
        return False
    return None if np.isnan(changes).any() else True


def robustness(
    data: Any,
    predictions: Any = None,
    *,
    metrics: Iterable[Any] | None = None,
    prevalences: Any = 0.5,
    balanced: Any = None,
    swapped: Any = None,
    resamples: int = 200,
    tolerance: float = TOLERANCE,
    pos_label: Any = None,
    sample_weight: Any = None,
    rng: Any = None,
) -> Robustness:
    """How far each measure moves when the test set is balanced and when the labels are swapped (Asawa).

    Give y_true and {model: y_pred}, or {model: Counts}. The test set is balanced exactly, by weights, to each of the
    `prevalences`, and `resamples` times by drawing rows of the larger class without replacement, for the spread that
    chance adds. `balanced` and `swapped` take {model: Counts} of a balanced test set or of models refitted on swapped
    labels (see refit_robustness) in place of what the table implies. The verdict is by the largest change over models.

    >>> from steelyard import Counts
    >>> trees = {"1 split": Counts(244, 266, 43, 4817), "10 splits": Counts(400, 110, 50, 4810)}
    >>> found = robustness(trees, metrics=["accuracy", "recall", "tpnr", "mcc"])
    >>> found.robust, found.symmetric, found.winners
    (['recall', 'tpnr'], ['accuracy', 'tpnr', 'mcc'], ['tpnr'])
    """
    if not (isinstance(tolerance, (int, float)) and tolerance >= 0):
        raise InputError(
            f"tolerance is a change of 0 or more that is still called none, such as 0.02, not {tolerance!r}."
        )
    if not (isinstance(resamples, (int, np.integer)) and resamples >= 0):
        raise InputError(f"resamples is a whole number of draws, 0 for none, not {resamples!r}.")
    chosen = directed(metrics)
    tables = _tables(data, predictions, pos_label, sample_weight)
    counts = _stacked(tables)
    at = np.atleast_1d(shares(prevalences))
    if balanced is None:
        even = at_prevalence(counts, at)
    else:
        even = _stacked(_matching(balanced, tables, "balanced"))[:, None]
        at = np.atleast_1d(np.mean(even.positives / even.total))
    other = counts.swapped() if swapped is None else _stacked(_matching(swapped, tables, "swapped"))
    values = measured(chosen, counts)
    draws = undersampled(counts, at, resamples, generator(rng))
    drawn = (
        values[:, None] - measured(chosen, draws) if draws is not None else np.full((0, *values[:, None].shape), np.nan)
    )
    return Robustness(
        tuple(m.name for m in chosen), tuple(tables), tuple(map(float, at)), values, measured(chosen, even),
        _summary(drawn, (len(tables), len(at), len(chosen))), measured(chosen, other), tolerance, len(drawn),
    )  # fmt: skip


def undersampled(counts: Counts, at: Array, draws: int, rng: np.random.Generator) -> Counts | None:
    """Draws (first axis) of the tables with rows of the larger class left out until a share `at` is positive.

    Leaving rows out at random is a hypergeometric draw of the cells. None for weighted tables, which have no rows.
    """
    if not draws or np.asarray(counts.tp).dtype.kind != "i":
        return None
    tp, fn, fp, tn = (np.asarray(cell)[:, None] for cell in counts)
    p, n = tp + fn, fp + tn
    if (np.maximum(p, n) >= MOST_DRAWN).any():
        raise InputError(f"Tables of {MOST_DRAWN:,} rows a class and more are not resampled; give resamples=0.")
    keep_n = np.minimum(n, np.rint(p * (1 - at) / at)).astype(np.int64)
    keep_p = np.minimum(p, np.rint(n * at / (1 - at))).astype(np.int64)
    if (keep_n == 0).any() or (keep_p == 0).any():
        raise InputError(
            "A class is too small for the prevalences asked for: too few rows of the other to draw; give resamples=0."
        )
    size = (draws, *keep_n.shape)
    hits, alarms = (rng.hypergeometric(a, b, k, size) for a, b, k in ((tp, fn, keep_p), (fp, tn, keep_n)))
    return Counts.trusted(hits, keep_p - hits, alarms, keep_n - alarms)


def _summary(changes: Array, shape: tuple[int, ...]) -> Array:
    """Mean, standard deviation and the middle 95 % of the changes over the draws where they are defined."""
    known = ~np.isnan(changes)
    if not known.any():
        return np.full((4, *shape), np.nan)
    filled = np.where(known.any(0), changes, 0.0)  # nanmean must not meet a column without a number
    found = np.stack([np.nanmean(filled, 0), np.nanstd(filled, 0), *np.nanquantile(filled, [0.025, 0.975], 0)])
    return np.where(known.any(0), found, np.nan)


# ---------------------------------------------------------------- what was handed in


def _tables(data: Any, predictions: Any, pos_label: Any, sample_weight: Any) -> dict[str, Counts]:
    """One table a model, by its name."""
    if predictions is not None:
        named = predictions if isinstance(predictions, Mapping) else {"model": predictions}
        weighed = {name: _weighed(data, pred, pos_label, sample_weight) for name, pred in named.items()}
        return _nonempty({str(name): table.counts() for name, table in weighed.items()})
    if isinstance(data, Mapping):
        return _nonempty({str(name): _counts(table, pos_label) for name, table in data.items()})
    if isinstance(data, Counts) and len(data.shape) == 1:
        return _nonempty({str(i): data[i] for i in range(data.shape[0])})
    return {"model": _counts(data, pos_label)}


def _nonempty(tables: dict[str, Counts]) -> dict[str, Counts]:
    if not tables:
        raise InputError("There is no model to try; give {model: y_pred} or {model: Counts} of one or more.")
    return tables


def _weighed(y_true: Any, y_pred: Any, pos_label: Any, sample_weight: Any) -> Confusion:
    table = ingest.confusion(y_true, y_pred, pos_label=pos_label, sample_weight=sample_weight)
    ingest.check_whole(table)
    return table


def _counts(table: Any, pos_label: Any) -> Counts:
    if isinstance(table, Confusion):
        return table.counts(pos_label)
    if not isinstance(table, Counts):
        raise InputTypeError(
            f"A model is given by Counts, a Confusion, or y_true and its predictions, not by {type(table).__name__}."
        )
    if table.shape:
        raise InputError(f"Each model is one table, not an array of {table.shape}; give {{model: Counts}}.")
    return table


def _matching(given: Any, tables: Mapping[str, Counts], what: str) -> dict[str, Counts]:
    """The tables handed in for the same models, in their order."""
    found = _tables(given, None, None, None)
    if set(found) != set(tables):
        raise InputError(
            f"{what}= holds the models {', '.join(found)}; it needs those of the data: {', '.join(tables)}."
        )
    return {name: found[name] for name in tables}


def _stacked(tables: Mapping[str, Counts]) -> Counts:
    return Counts(*(np.stack([np.asarray(getattr(table, cell)) for table in tables.values()]) for cell in CELLS))


# ---------------------------------------------------------------- refitting


def refit_robustness(
    estimators: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    pos_label: Any = None,
    rng: Any = None,
    **options: Any,
) -> Robustness:
    """The two tests on estimators: each is cloned and fitted twice, on the labels and on the labels swapped.

    `estimators` is one, or {model: estimator}, in scikit-learn's manner. Both fits use the same random state, so what
    is left of a change is the measure's or the learner's own asymmetry. `options` are those of robustness.
    """
    named = estimators if isinstance(estimators, Mapping) else {type(estimators).__name__: estimators}
    true, test = np.asarray(y), np.asarray(y_test)
    known = np.unique(np.concatenate([true, test]))
    if len(known) != 2:
        raise InputError(f"Swapping the labels needs two classes; y and y_test hold {len(known)}.")
    positive = _weighed(test, test, pos_label, None).positive_label()
    first, second = {}, {}
    for name, estimator in named.items():
        seed = int(generator(rng).integers(2**31 - 1))
        first[str(name)] = _fitted(estimator, X, true, X_test, test, positive, seed)
        second[str(name)] = _fitted(estimator, X, _other(true, known), X_test, _other(test, known), positive, seed)
    return robustness(first, swapped=second, rng=rng, **options)


def _other(y: Array, known: Array) -> Array:
    return np.asarray(np.where(y == known[0], known[1], known[0]))


def _fitted(estimator: Any, X: Any, y: Array, X_test: Any, y_test: Array, positive: Any, seed: int) -> Counts:
    """The table of a fresh fit; whatever random state was left open is set."""
    try:
        from sklearn.base import clone
    except ImportError:
        raise InputTypeError(
            "Refitting needs scikit-learn installed; robustness takes predictions without it."
        ) from None
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and hasattr(estimator, "get_params")):
        raise InputTypeError(f"An estimator has fit, predict and get_params; {type(estimator).__name__} lacks one.")
    fresh = clone(estimator)
    open_states = [key for key, value in fresh.get_params().items() if key.endswith("random_state") and value is None]
    fresh = fresh.set_params(**dict.fromkeys(open_states, seed)).fit(X, y)
    return _weighed(y_test, fresh.predict(X_test), positive, None).counts()


# ---------------------------------------------------------------- Nguyen: spread over ratios


@dataclass(frozen=True)
class Spread:
    """One measure over test sets of several ratios: the highest less the lowest value of a run, and the tests.

    `spread` is the mean over the runs (Nguyen's labels or repetitions), `of_means` that of the ratios' means.
    Friedman's test asks whether the ratios differ at all, its pairs are Wilcoxon's tests adjusted by Holm; None with
    one run.
    """

    metric: str
    means: dict[str, float]
    spread: float
    widest: float
    of_means: float
    runs: int
    left_out: int
    test: Friedman | None

    def row(self) -> dict[str, Any]:
        """The spread as a row of a table, a column a ratio."""
        p = None if self.test is None else self.test.p_value
        least = None if self.test is None else min(pair.p_adjusted for pair in self.test.pairs)
        row: dict[str, Any] = {"metric": self.metric, **self.means, "spread": self.spread, "widest": self.widest}
        return row | {"of means": self.of_means, "runs": self.runs, "p (Friedman)": p, "least p of pairs": least}


def ratio_spread(tables: Any, *, metrics: Iterable[Any] | None = NGUYEN, pos_label: Any = None) -> Rows[Spread]:
    """The spread of each measure over test sets of several ratios, run by run, with Friedman's and Wilcoxon's tests.

    `tables` is {ratio: {run: Counts}} or {ratio: Counts of all runs}: the same runs in each.

    >>> from steelyard import Counts
    >>> sets = {"20:95": Counts([198, 199], [2, 1], [92, 185], [858, 765]),
    ...         "80:19": Counts([793, 788], [7, 12], [12, 34], [178, 156])}
    >>> [round(found.spread, 3) for found in ratio_spread(sets, metrics=["accuracy", "alpha_accuracy"])]
    [0.089, 0.01]
    """
    if not isinstance(tables, Mapping) or len(tables) < 2:
        raise InputTypeError("The tables are {ratio: {run: Counts}}, for two or more ratios.")
    runs = {str(ratio): _tables(part, None, pos_label, None) for ratio, part in tables.items()}
    first = next(iter(runs.values()))
    columns = [_stacked(_matching(part, first, "A ratio")) for part in runs.values()]
    values = np.stack([measured(directed(metrics), column) for column in columns], 1)
    return Rows(_spread(m.name, list(runs), values[..., i]) for i, m in enumerate(directed(metrics)))


def spread_of(values: Any, *, name: str = "value") -> Spread:
    """The spread of values that are known already, as {ratio: the values of the runs}, such as a printed table's.

    >>> spread_of({"20:80": [91.83, 83.83], "50:50": [95.38, 89.58], "80:20": [98.08, 95.35]}, name="accuracy").spread
    8.88...
    """
    if not isinstance(values, Mapping) or len(values) < 2:
        raise InputTypeError("The values are {ratio: the values of the runs}, for two or more ratios.")
    columns = [np.asarray(column) for column in values.values()]
    if (
        len({column.shape for column in columns}) != 1
        or columns[0].ndim != 1
        or any(c.dtype.kind not in "iuf" for c in columns)
    ):
        raise InputError("Every ratio needs the values of the same runs: a list of numbers, alike in length.")
    return _spread(name, list(map(str, values)), np.stack(columns, 1).astype(np.float64))


def _spread(name: str, ratios: list[str], values: Array) -> Spread:
    known = values[~np.isnan(values).any(1)]
    if not len(known):
        return Spread(name, dict.fromkeys(ratios, math.nan), math.nan, math.nan, math.nan, 0, len(values), None)
    wide, means = np.ptp(known, 1), known.mean(0)
    test = friedman(_tied(known), models=ratios) if len(known) > 1 else None
    return Spread(
        name, dict(zip(ratios, means.tolist(), strict=True)), float(wide.mean()), float(wide.max()),
        float(np.ptp(means)), len(known), len(values) - len(known), test,
    )  # fmt: skip


def _tied(values: Array) -> Array:
    """The values with twelve digits, so that ranks do not tell apart what rounding made different."""
    size = 10.0 ** np.ceil(np.log10(np.maximum(np.abs(values).max(), 1)))
    return np.asarray(np.round(values / size, 12) * size)
