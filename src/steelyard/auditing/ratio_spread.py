"""Ratio spread: how far each metric moves over test sets of different ratios (Nguyen), and whether that is chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.comparison.classical_tests import Friedman, friedman
from steelyard.analysis.results.result import Flat, Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import counts_of_models, counts_of_same_models, metric_values, named_metrics
from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steelyard._types import Array, Label
    from steelyard.auditing.model_tables import Models
    from steelyard.metrics.registry import MetricLike

_NGUYEN = ("accuracy", "f1", "alpha_accuracy", "alpha_f1")


@dataclass(frozen=True, eq=False)
class Spread(Flat):
    """One metric over test sets of several ratios: the highest less the lowest value of a run, and the tests.

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


@names_wrong_arguments
def ratio_spread(
    tables: Mapping[str, Models], *, metrics: Iterable[MetricLike] | None = _NGUYEN, pos_label: Label = None
) -> Rows[Spread]:
    """The spread of each metric over test sets of several ratios, run by run, with Friedman's and Wilcoxon's tests.

    `tables` is {ratio: {run: Counts}} or {ratio: Counts of all runs}: the same runs in each.

    >>> from steelyard import Counts
    >>> sets = {"20:95": Counts([198, 199], [2, 1], [92, 185], [858, 765]),
    ...         "80:19": Counts([793, 788], [7, 12], [12, 34], [178, 156])}
    >>> [round(row.spread, 3) for row in ratio_spread(sets, metrics=["accuracy", "alpha_accuracy"])]
    [0.089, 0.01]
    """
    if not isinstance(tables, Mapping) or len(tables) < 2:
        raise InputTypeError("The tables are {ratio: {run: Counts}}, for two or more ratios.")
    chosen = named_metrics(metrics)
    runs = {str(ratio): counts_of_models(part, pos_label) for ratio, part in tables.items()}
    first = next(iter(runs.values()))
    columns = [counts_of_same_models(part, first, "A ratio") for part in runs.values()]
    values = np.stack([metric_values(chosen, column) for column in columns], 1)
    return Rows(_spread(metric.name, list(runs), values[..., i]) for i, metric in enumerate(chosen))


def spread_of(values: Mapping[str, Sequence[float] | Array], *, name: str = "value") -> Spread:
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
    defined = values[~np.isnan(values).any(1)]
    if not len(defined):
        return Spread(name, dict.fromkeys(ratios, math.nan), math.nan, math.nan, math.nan, 0, len(values), None)
    ranges, means, test = np.ptp(defined, 1), defined.mean(0), None
    if len(defined) > 1:  # with twelve digits, so that ranks tie what rounding made different
        size = 10.0 ** np.ceil(np.log10(np.maximum(np.abs(defined).max(), 1)))
        test = friedman(np.round(defined / size, 12) * size, models=ratios)
    return Spread(
        name,
        dict(zip(ratios, means.tolist(), strict=True)),
        float(ranges.mean()),
        float(ranges.max()),
        float(np.ptp(means)),
        len(defined),
        len(values) - len(defined),
        test,
    )
