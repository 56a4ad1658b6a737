"""ScoreTable: the scores of each class in order, and so the Counts at every threshold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.backend import DOUBLE, NUMPY, PRECISIONS, as_read, backend_of, finest
from steelyard.arrays.labels import number_texts
from steelyard.arrays.numbers import is_usual_size, usual_exponents
from steelyard.exceptions import InputError, InputTypeError
from steelyard.tables.class_scores import ClassScores, PickledFields, starting_at_zero
from steelyard.tables.counts import Counts
from steelyard.tables.saved import (
    SCHEMA,
    Saved,
    check_labels,
    check_saved_rows,
    check_saved_weights,
    is_saved_label,
    read_table,
    to_strict_json,
)
from steelyard.written_files import Saveable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Scalar


NO_BINS: Array = np.zeros((0, 2))


def merge_bins(bins: Array, others: Array = NO_BINS) -> Array:
    """The bins of two tables, those that overlap made one."""
    ranges = np.concatenate([bins, others])
    if not len(ranges):
        return NO_BINS
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    reach = np.maximum.accumulate(ranges[:, 1])
    starts = np.flatnonzero(np.append(True, ranges[1:, 0] > reach[:-1]))
    return np.column_stack([ranges[starts, 0], reach[np.append(starts[1:], len(ranges)) - 1]])


def lowered(scores: ClassScores, bins: Array) -> ClassScores:
    """The same rows with every score inside a bin moved to its lower end, the one threshold that is exact there."""
    if not len(bins) or not scores.size:
        return scores
    return scores.moved(_moved(scores.scores, bins, 0)).compact()


def raised(scores: ClassScores, bins: Array) -> ClassScores:
    """The same rows with the scores at the lower end of a bin moved to its upper end: above all others in it."""
    return scores.moved(_moved(scores.scores, bins, 1)) if len(bins) and scores.size else scores


def _moved(scores: Array, bins: Array, end: int) -> Array:
    place = np.searchsorted(bins[:, 0], scores, side="right") - 1
    inside = (place >= 0) & (scores <= bins[place, 1])
    return np.where(inside, bins[place, end], scores)


def upper_end(bins: Array, score: float) -> float:
    """The highest score that a row counted at this one may have had."""
    return float(_moved(np.array([score]), bins, 1)[0]) if len(bins) else score


def bin_divided_at(bins: Array, threshold: float) -> tuple[float, float] | None:
    """The bin that a threshold would divide, if any."""
    place = int(np.searchsorted(bins[:, 0], threshold, side="left")) - 1
    if place >= 0 and threshold <= bins[place, 1]:
        return float(bins[place, 0]), float(bins[place, 1])
    return None


def saved_bins(values: object) -> Array:
    """The bins of a saved table, checked."""
    if values is None:
        return NO_BINS
    try:
        bins = np.asarray(values, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError, OverflowError):
        raise InputError("The blurs of a saved score table are pairs of numbers, low and high.") from None
    ends = bins.ravel()
    if not np.isfinite(ends).all() or (np.diff(ends) <= 0).any():
        raise InputError(
            "The blurs of a saved score table are finite ranges in ascending order, apart from each other."
        )
    return bins


# ---------------------------------------------------------------- score table


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(Saveable, PickledFields):
    """The scores of the positives and of the negatives, each in order.

    A row is predicted positive where its score is at least the threshold, read in the `precision` of the scores: 0.7
    flags a float32 score of 0.7. Tables of other rows merge with `+`. A table of binned scores has `bins`: ranges of
    scores whose rows all stand at the lower end, so that every threshold between two bins is exact and only the order
    inside a bin is not known.

    >>> from steelyard import score_table
    >>> table = score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> table.thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    >>> table.counts
    Counts(tp=[0, 1, 1, 2, 2], fn=[2, 1, 1, 0, 0], fp=[0, 0, 1, 1, 2], tn=[2, 2, 1, 1, 0])
    >>> table.at(0.4)
    Counts(tp=1, fn=1, fp=1, tn=1)
    """

    positive: ClassScores
    negative: ClassScores
    label: Label = 1
    bins: Array = field(default_factory=lambda: NO_BINS)
    precision: str = DOUBLE

    @property
    def classes(self) -> tuple[ClassScores, ClassScores]:
        """The scores of the positives and those of the negatives."""
        return self.positive, self.negative

    @property
    def n(self) -> int:
        """The rows counted."""
        return self.positive.n + self.negative.n

    @property
    def sizes(self) -> Any:
        """The rows counted; an array where they have an axis of draws."""
        drawn = [side.given_rows for side in self.classes if side.given_rows is not None and side.given_rows.ndim > 1]
        return sum(rows.sum(-1) for rows in drawn) if drawn else self.n

    @property
    def total(self) -> Any:
        """The weight of all rows; an array where the weights have an axis of draws."""
        return self.positive.total + self.negative.total

    def of_usual_size(self) -> ScoreTable:
        """The same with weights times a power of two, where products of them would leave what floats hold."""
        if not self.weighted or np.ndim(self.total) or is_usual_size(self.total):
            return self
        exponents = usual_exponents(self.total)
        if exponents is None or not (exponent := int(exponents)):
            return self
        positive, negative = (side.scaled_by_two(exponent) for side in self.classes)
        return replace(self, positive=positive, negative=negative)

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether all scores lie between 0 and 1, as probabilities do."""
        ends = (scores.scores[[0, -1]] for scores in self.classes if len(scores.scores))
        return all(low >= 0 and high <= 1 for low, high in ends)

    @property
    def weighted(self) -> bool:
        """Whether rows had weights of their own."""
        return any(scores.given_weights is not None for scores in self.classes)

    @cached_property
    def _curve(self) -> tuple[Array, Array, Array]:
        """The distinct scores, descending, with the weight of each class at or above."""
        (positives, gained), (negatives, lost) = (scores.distinct for scores in self.classes)
        if self.positive.scores is self.negative.scores:  # as in draws of one table
            return positives[::-1], gained[..., ::-1].cumsum(-1), lost[..., ::-1].cumsum(-1)
        if backend_of(positives, negatives).is_device:  # every score is read in turn: brought before they are merged
            positives, gained, negatives, lost = map(np.asarray, (positives, gained, negatives, lost))
            scores, places = NUMPY.merged_descending(positives, negatives)
        else:
            scores, places = self.merged
        of_positives, of_negatives = places
        tps, fps = _spread(gained, of_positives, len(scores)), _spread(lost, of_negatives, len(scores))
        return scores, tps.cumsum(-1, out=tps), fps.cumsum(-1, out=fps)

    @cached_property
    def merged(self) -> tuple[Array, list[Array]]:
        """The distinct scores of both classes, descending, and where among them those of each class are."""
        first, second = (scores.distinct[0] for scores in self.classes)
        return backend_of(first, second).merged_descending(first, second)

    @cached_property
    def at_positive_scores(self) -> tuple[Array, Array, Array]:
        """The weight of each distinct score of the positives, ascending, and that of each class at or above it."""
        scores, weights = self.positive.distinct
        tp = self.positive.weight_from_each
        return weights, tp, np.asarray(self.negative.total)[..., None] - self.negative.below_each(scores)

    @cached_property
    def remembered(self) -> dict[Any, Any]:
        """What metrics share of this table, by the function that makes it."""
        return {}

    @property
    def thresholds(self) -> Array:
        """Every threshold that separates rows, highest first: infinity flags nobody, then each distinct score."""
        return np.concatenate([[np.inf], self._curve[0]])

    @cached_property
    def counts(self) -> Counts[Array]:
        """The Counts at each of the thresholds."""
        tp, fp = map(starting_at_zero, self._curve[1:])
        return Counts.trusted(tp, np.maximum(tp[..., -1:] - tp, 0), fp, np.maximum(fp[..., -1:] - fp, 0))

    def compact(self) -> ScoreTable:
        """The same with one entry for each distinct score of a class."""
        return replace(self, positive=self.positive.compact(), negative=self.negative.compact())

    @overload
    def at(self, threshold: Scalar) -> Counts: ...
    @overload
    def at(self, threshold: ArrayLike) -> Counts[Array]: ...
    @names_wrong_arguments
    def at(self, threshold: ArrayLike) -> Counts[Any]:
        """The Counts where a score of at least the threshold counts as positive; an array for an array."""
        try:
            thresholds = as_read(np.asarray(threshold, dtype=np.float64), self.precision)
        except (TypeError, ValueError):
            raise InputTypeError(f"A threshold is a number, not {threshold!r}.") from None
        fn, tn = self.positive.below(thresholds), self.negative.below(thresholds)
        return Counts(_rest(self.positive.total, fn), fn, _rest(self.negative.total, tn), tn)

    def swapped(self) -> ScoreTable:
        """The same rows with the negative class called positive and the scores negated."""
        return self._swapped

    @cached_property
    def _swapped(self) -> ScoreTable:
        bins = -self.bins[::-1, ::-1]
        negative, positive = (lowered(scores.negated(), bins) for scores in self.classes)
        return ScoreTable(positive, negative, None, bins, self.precision)

    def __add__(self, other: object) -> ScoreTable:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        texts = number_texts([self.label, other.label])
        mine, others = self.renamed(texts), other.renamed(texts)
        if mine.label != others.label:
            raise InputError(f"The tables have different positives, {self.label!r} and {other.label!r}.")
        bins = merge_bins(self.bins, other.bins)
        positive, negative = self.positive + other.positive, self.negative + other.negative
        positive, negative = (lowered(scores, bins) for scores in (positive, negative))
        return ScoreTable(positive, negative, mine.label, bins, finest(self.precision, other.precision))

    @names_wrong_arguments
    def renamed(self, names: Mapping[Label, Label]) -> ScoreTable:
        """The same table with another name for its label."""
        return replace(self, label=names.get(self.label, self.label))

    def extremes(self) -> tuple[ScoreTable, ScoreTable]:
        """The worst and the best order that the rows may have had: in a bin the negatives on top, or the positives."""
        worst = ScoreTable(self.positive, raised(self.negative, self.bins), self.label)
        return worst, ScoreTable(raised(self.positive, self.bins), self.negative, self.label)

    def __radd__(self, other: object) -> ScoreTable:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTable) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.label, self.positive.n, self.negative.n))

    def __repr__(self) -> str:
        return f"<ScoreTable of {self.n:,} rows, {self.positive.n:,} of them {self.label!r}>"

    def to_dict(self) -> dict[str, Any]:
        """The distinct scores of each class with their rows and, where there are any, weights."""
        data: dict[str, Any] = {"positive_label": self.label}
        columns = ("scores", "rows", "weights", "squares") if self.weighted else ("scores", "rows")
        for name, scores in zip(("positive", "negative"), self.classes, strict=True):
            compact = scores.compact()
            data[name] = {key: getattr(compact, key).tolist() for key in columns}
        data |= {"precision": self.precision} if self.precision != DOUBLE else {}
        return data | ({"blurs": self.bins.tolist()} if len(self.bins) else {})

    def saved(self) -> dict[str, Any]:
        """The table as strict JSON values, with the number of its schema."""
        if self.label is not None:
            check_labels([self.label])
        return {"schema": SCHEMA, "kind": "scores", **self.to_dict()}

    def to_json(self) -> str:
        """The table as strict JSON, with the number of its schema."""
        return to_strict_json(self.saved())

    @classmethod
    @names_wrong_arguments
    def from_json(cls, text: Saved) -> ScoreTable:
        """The table that `to_json` wrote, checked; anything else is refused."""
        data = read_table(text, "scores", ("positive_label", "positive", "negative"), optional=("blurs", "precision"))
        positive, negative = _saved_class(data["positive"]), _saved_class(data["negative"])
        label = data["positive_label"]
        if label is not None and not is_saved_label(label):
            raise InputError(f"The positive label of a saved score table is text or a finite number, not {label!r}.")
        precision = DOUBLE if data["precision"] is None else data["precision"]
        if precision not in PRECISIONS:
            raise InputError(f"The precision of a saved score table is one of {', '.join(PRECISIONS)}.")
        return cls(positive, negative, label, saved_bins(data["blurs"]), precision)


def _spread(weights: Array, places: Array, size: int) -> Array:
    """Weights at their places on a last axis of that size, and none elsewhere."""
    spread = np.zeros((*weights.shape[:-1], size), dtype=weights.dtype)
    spread[..., places] = weights[..., ::-1]
    return spread


def _rest(total: float | Array, part: Array) -> Array:
    """What is left of a total, never below 0 by rounding."""
    return np.asarray(np.maximum(np.asarray(total)[..., None] - part if np.ndim(total) else total - part, 0))


def _saved_class(data: Mapping[str, ArrayLike]) -> ClassScores:
    try:
        columns = {key: np.asarray(data[key]) for key in ("scores", "rows", "weights", "squares") if key in data}
        scores, rows = columns.pop("scores").astype(np.float64), columns.pop("rows")
        if scores.ndim != 1 or set(columns) not in (set(), {"weights", "squares"}):
            raise ValueError  # noqa: TRY301 - worded below
        numbers = [rows, *columns.values()]
        fits = all(c.shape == scores.shape and c.dtype.kind in "if" for c in numbers)
    except (TypeError, ValueError, KeyError, OverflowError):
        raise InputError("A saved score table lists scores and rows for each class; this one does not.") from None
    if not fits or not np.isfinite(scores).all() or (np.diff(scores) <= 0).any():
        raise InputError("The scores of a saved table are finite and ascending, with rows and weights for each.")
    if any(c.size and (c.min() < 0 or not np.isfinite(c).all()) for c in numbers):
        raise InputError("The rows and weights of a saved score table are finite and not negative.")
    if scores.size:
        check_saved_rows(rows, "score table")
    if not scores.size or not columns:
        return ClassScores(scores, rows if scores.size else None)
    weights, squares = (columns[name].astype(np.float64) for name in ("weights", "squares"))
    check_saved_weights(rows, weights, squares, "score table")
    return ClassScores(scores, rows, weights, squares)
