"""Label plan: which rows to label, so that a metric of all of them is known best by so many labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.planning.label_influence import check_planned, label_influence, reads_labels
from steelyard.analysis.planning.label_plan_result import LabelPlan, Stratum
from steelyard.analysis.planning.score_strata import StratumMoments, allocation, in_strata, stratum_edges
from steelyard.analysis.planning.working_probabilities import are_probabilities, working_probabilities
from steelyard.analysis.results.rows import Rows
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError, did_you_mean, first_ten
from steelyard.ingest import arrays, queries
from steelyard.ingest.score_tables import number_column
from steelyard.ingest.source import Source
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.precision import as_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Frame, Rng
    from steelyard.metrics.spec import SpecLike

_HALF = 0.5
_NO_PROBABILITIES = (
    "The scores are no probabilities: labels were planned as if the logit of the share of positives rose with the "
    "rank, and as if {share:g} % were positive. Give prevalence= where you know it better."
)


class PlannedScores(NamedTuple):
    """All scores that are there, their precision, and the keys of their rows."""

    scores: Array
    precision: str
    keys: Array | None = None

    @classmethod
    def of(cls, data: Frame | Source | ArrayLike, score: str | None, key: str | None) -> PlannedScores:
        """The scores of an array, or of a column of a frame."""
        if score is None:
            if key is not None:
                raise InputTypeError("key= names a column of a frame; name that of the scores too, with score=.")
            arrays.check_one_column(data)  # type: ignore[arg-type]  # an array
            column = arrays.column(data, "y_score")  # type: ignore[arg-type]  # an array
            return cls(arrays.finite_scores(column), arrays.precision_of(column))
        fetched = planned_columns(data, [score] if key is None else [score, key], ordered=key is None)  # type: ignore[arg-type]  # a frame
        given = arrays.column(fetched[score].to_native(), f"The column {score!r}")
        scores = arrays.finite_scores(number_column(fetched[score], score))
        keys = None if key is None else np.array(fetched[key].to_list(), dtype=object)
        if keys is not None and len({*keys.tolist()}) < len(keys):
            raise InputError(f"The column {key!r} names some rows twice; a key is another one in each row.")
        return cls(scores, arrays.precision_of(given), keys)


def planned_columns(data: Frame | Source, names: Sequence[str], *, ordered: bool) -> dict[str, Any]:
    """The columns of a frame, brought here; where rows are found by their place, they need an order."""
    source = Source.of(data)
    there = list(source.parts[0].collect_schema())
    for name in names:
        if name not in there:
            raise InputError(f"There is no column {name!r}; there are {first_ten(there)}.{did_you_mean(name, there)}")
    if ordered and source.is_remote:
        raise InputError("Rows of this frame have no order, by which they could be found again; name a key with key=.")
    return queries.fetch_columns(source, names)


@names_wrong_arguments
def label_plan(
    y_score: Frame | Source | ArrayLike,
    budget: int,
    metric: SpecLike,
    *,
    threshold: float | None = None,
    prevalence: float | None = None,
    score: str | None = None,
    key: str | None = None,
    rng: Rng = None,
) -> LabelPlan:
    """Which rows to label, so that a metric of all of them is known as well as so many labels allow.

    Rows are drawn from strata of scores, more where a label is expected to move the metric more; `evaluate(labels,
    design=plan)` takes the labels in the order of the plan and states what they show of the population that all rows
    came from. `y_score` are the scores of all rows: an array, or a frame whose column `score` names, and `key` the
    column of the keys by which rows are found again. A metric of labels needs the threshold, 0.5 of probabilities
    unless it is given. Scores between 0 and 1 are read as probabilities that may be wrong: four ninths of the labels
    are drawn from all rows alike, so that useless scores cost at most 1.5 times the error of labels at random.
    `prevalence` moves them to that share of positives. A small first plan is a pilot: `plan.top_up` goes by what its
    labels show.

    >>> scores = np.linspace(0.001, 0.3, 5000) ** 2
    >>> plan = label_plan(scores, 200, "f1", threshold=0.05)
    >>> len(plan), plan.strata[-1].labels / plan.strata[-1].rows > plan.strata[0].labels / plan.strata[0].rows
    (200, True)
    """
    spec, given = MetricSpec.of(metric), PlannedScores.of(y_score, score, key)
    check_planned(spec)
    asked = checked_budget(budget)
    at = _checked_threshold(spec, given, threshold)
    shares = working_probabilities(given.scores, prevalence)
    read = None if at is None else float(as_read(at, given.precision))
    flagged = None if read is None else given.scores >= read
    mean, square = label_influence(spec, given.scores, flagged, shares).moments(shares)
    edges = stratum_edges(given.scores, np.sqrt(np.maximum(square - mean**2, 0)), flagged, asked)
    codes = in_strata(edges, given.scores)
    moments = StratumMoments.of(codes, len(edges) + 1, mean, square, np.ones(len(codes)))
    rows = np.bincount(codes, minlength=len(edges) + 1)
    labels = allocation(moments, rows, min(asked, len(codes)), np.zeros(len(rows), dtype=np.int64))
    chosen = drawn_rows(codes, labels, np.zeros(0, dtype=np.int64), own_generator(rng))
    lowest = np.array([given.scores[codes == code].min() for code in range(len(rows))])
    columns = (lowest, rows, labels, np.bincount(codes, shares) / rows)
    strata = Rows(Stratum(*stratum) for stratum in zip(*(column.tolist() for column in columns), strict=True))
    stated = _stated(given.scores, asked, shares, prevalence)
    of_rows = (given.scores[chosen], codes[chosen], np.ones(len(chosen), dtype=np.int64))
    keys = None if given.keys is None else tuple(given.keys[chosen].tolist())
    plan = (spec, at, len(codes), chosen, *of_rows, strata, moments.gain(labels))
    return LabelPlan(*plan, key=key, keys=keys, score_column=score, precision=given.precision, stated=stated)


def checked_budget(budget: int) -> int:
    """The number of labels; anything but a whole number above 0 is refused."""
    if isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 1:
        raise InputError(f"The budget is the number of labels to plan, a whole number of 1 or more, not {budget!r}.")
    return int(budget)


def _checked_threshold(spec: MetricSpec, given: PlannedScores, threshold: float | None) -> float | None:
    """The threshold of a metric of labels, on both sides of which there are rows; None of a metric of ranks."""
    if not len(given.scores):
        raise InputError("There are no rows to choose from; give their scores.")
    if not reads_labels(spec) or (threshold is None and spec.metric.scores is not None):
        return threshold
    if threshold is None and not are_probabilities(given.scores):
        raise InputError(f"The scores are no probabilities, so {spec.name} needs a threshold=.")
    at = _HALF if threshold is None else threshold
    if isinstance(at, bool) or not isinstance(at, (int, float, np.number)) or not np.isfinite(at):
        raise InputError(f"A threshold is a number, not {at!r}.")
    flagged = given.scores >= as_read(float(at), given.precision)
    if flagged.all() or not flagged.any():
        side = "All scores reach" if flagged.all() else "No score reaches"
        raise InputError(f"{side} the threshold {at:g}, so all rows are predicted alike; give another threshold=.")
    return float(at)


def drawn_rows(codes: Array, labels: Array, taken: Array, rng: np.random.Generator) -> Array:
    """So many rows of each stratum at random, of those that are not taken, in random order."""
    keys = rng.random(len(codes))
    keys[taken] = np.inf
    order = np.lexsort((keys, codes))
    starts = np.cumsum(np.bincount(codes, minlength=len(labels))) - np.bincount(codes, minlength=len(labels))
    chosen = np.concatenate([order[start : start + n] for start, n in zip(starts, labels, strict=True)])
    return np.asarray(rng.permutation(chosen))


def own_generator(rng: Rng) -> np.random.Generator:
    """The generator that was given; of a seed one apart from that of data which were simulated by the same seed."""
    return rng if isinstance(rng, np.random.Generator) else generator(rng).spawn(1)[0]


def _stated(scores: Array, budget: int, shares: Array, prevalence: float | None) -> tuple[str, ...]:
    """What a plan states of how it was made."""
    sentences = []
    if budget >= len(scores):
        sentences.append(f"The budget of {budget:,} labels is enough for all {len(scores):,} rows: label them all.")
    if not are_probabilities(scores):
        sentences.append(_NO_PROBABILITIES.format(share=round(100 * float(shares.mean()), 2)))
    elif prevalence is not None:
        sentences.append(f"The probabilities were moved to a mean of {prevalence:g} to plan by.")
    return tuple(sentences)
