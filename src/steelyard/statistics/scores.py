"""ScoreTable: the scores of each class in order, and so the Counts at every threshold. Every floor may use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputError, InputTypeError
from steelyard.statistics import blurs, ordering
from steelyard.statistics.counts import Counts
from steelyard.statistics.saving import SCHEMA, Saved, read_table, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Array = np.ndarray[Any, Any]
COLUMNS = ("rows", "weights", "squares")
RARE = 32  # how many times larger a class is worth not sorting, when the other asks where it stands in it


@dataclass(frozen=True, eq=False)
class Side:
    """The scores of one class, with the rows and the weight of each entry; sorted when the order is asked for.

    Where every entry is one row, `rows` is None; where weights are rows, so are `weights` and `squares`. Entries
    that have weights are given in ascending order. A class that is only counted around the scores of a rare other
    one is never copied: `given` then makes the copy when needed, and `among` holds all scores and the other class.
    """

    given: Array | Callable[[], Array]
    rows: Array | None = None
    weights: Array | None = None
    squares: Array | None = None
    ascending: bool = True
    among: tuple[Array, Side] | None = None
    passing: bool = False

    @cached_property
    def entries(self) -> Array:
        """The scores, one an entry."""
        return self.given() if callable(self.given) else self.given

    @cached_property
    def size(self) -> int:
        """The number of entries."""
        return len(self.among[0]) - self.among[1].size if self.among else len(self.entries)

    @cached_property
    def scores(self) -> Array:
        """The entries in ascending order."""
        if self.ascending:
            return self.entries
        # In place only for the single question of one caller: other threads may be reading a table that is kept.
        return ordering.sort(self.entries if self.passing else self.entries.copy())

    @cached_property
    def mass(self) -> Array | None:
        """The weight of each entry; None where it is 1."""
        return self.rows if self.weights is None else self.weights

    @cached_property
    def total(self) -> Any:
        """The weight of the class; an array where the weights have an axis of draws before that of the entries."""
        if self.mass is None:
            return self.size
        last = self._running[..., -1]  # not mass.sum(), which rounds otherwise: an area could leave [0, 1]
        return last.item() if last.ndim == 0 else last

    @cached_property
    def n(self) -> int:
        """The rows of the class."""
        return self.size if self.rows is None else int(self.rows.sum())

    def below(self, thresholds: Array) -> Array:
        """The weight of the scores below each threshold, in any order."""
        return self._cumulated(np.searchsorted(self.scores, thresholds, side="left"))

    def below_each(self, few: Array) -> Array:
        """The weight of the scores below each of some distinct ascending ones."""
        return self._around(few, ties=False)[0]

    def around_each(self, few: Array) -> tuple[Array, Array]:
        """The weight of the scores below each of some distinct ascending ones, and of those at or below it."""
        return self._around(few, ties=True)

    def parts_around(self, few: Array) -> Iterator[tuple[slice, Array, Array]]:
        """The same part by part, each with its slice of the few: what is summed need not be held."""
        if self._unsorted_serves(few):
            yield slice(None), *self.around_each(few)
            return
        for part in ordering.chunks(len(few), ordering.PART):
            yield part, *self.around_each(few[part])

    def _unsorted_serves(self, few: Array) -> bool:
        return not self.ascending and "scores" not in self.__dict__ and 0 < RARE * len(few) <= self.size

    def _around(self, few: Array, ties: bool) -> tuple[Array, Array]:
        if self._unsorted_serves(few):
            if self.among is None:
                return ordering.around_unsorted(few, self.entries)
            everyone, other = self.among
            pairs = zip(ordering.around_unsorted(few, everyone), other.around_each(few), strict=True)
            lower, upper = (both - theirs for both, theirs in pairs)
            return lower, upper
        lower = ordering.below(few, self.scores)
        upper = ordering.up_to(few, self.scores, lower) if ties else lower
        return self._cumulated(lower), self._cumulated(upper)

    def _cumulated(self, places: Array) -> Array:
        return places if self.mass is None else self._running[..., places]

    @cached_property
    def _running(self) -> Array:
        mass = _ones(self) if self.mass is None else self.mass
        return starting_at_zero(np.cumsum(mass, axis=-1))

    @cached_property
    def distinct(self) -> tuple[Array, Array]:
        """The distinct scores, ascending, and the weight of each."""
        compact = self.compact()
        return compact.scores, _ones(compact) if compact.mass is None else compact.mass

    def compact(self) -> Side:
        """The same with one entry for each distinct score."""
        rises = self.scores[1:] != self.scores[:-1]
        if rises.all():
            return self
        starts = np.append(0, np.flatnonzero(rises) + 1)
        if self.rows is None:
            return Side(self.scores[starts], np.diff(np.append(starts, len(self.scores))))
        return self._mapped(self.scores[starts], lambda column: np.add.reduceat(column, starts, axis=-1))

    def kept(self) -> Side:
        """The same with a copy of its own, whatever becomes of the arrays it was made from."""
        return Side(self.entries, ascending=False) if self.passing else self

    def negated(self) -> Side:
        """The scores with their sign turned, and so their order."""
        return self._mapped(-self.scores[::-1], lambda column: column[..., ::-1])

    def moved(self, scores: Array) -> Side:
        """The same rows at other scores, given in the same order."""
        return self._mapped(scores, lambda column: column)

    def _mapped(self, scores: Array, change: Callable[[Array], Array]) -> Side:
        rows, weights, squares = (None if c is None else change(c) for c in (self.rows, self.weights, self.squares))
        return Side(scores, rows, weights, squares)

    def __add__(self, other: Side) -> Side:
        if self.rows is None and other.rows is None:
            return Side(np.concatenate([self.entries, other.entries]), ascending=False)
        scores = np.concatenate([self.scores, other.scores])
        order = np.argsort(scores, kind="stable")
        joined = {key: np.concatenate([_column(self, key), _column(other, key)])[order] for key in COLUMNS}
        if self.weights is None and other.weights is None:
            return Side(scores[order], joined["rows"]).compact()
        return Side(scores[order], joined["rows"], joined["weights"], joined["squares"]).compact()


def _spread(mass: Array, places: Array, size: int) -> Array:
    """Weights at their places on a last axis of that size, and none elsewhere."""
    spread = np.zeros((*mass.shape[:-1], size), dtype=mass.dtype)
    spread[..., places] = mass[..., ::-1]
    return spread


def _ones(side: Side) -> Array:
    return np.broadcast_to(np.int64(1), len(side.scores))  # one number in memory, whatever the length


def _column(side: Side, key: str) -> Array:
    """A column as an array, whatever it may be left out for."""
    column = getattr(side, key)
    if column is None and side.rows is not None:
        column = side.rows
    return _ones(side) if column is None else column


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """The scores of the positives and of the negatives, each in order.

    A row is predicted positive where its score is at least the threshold. Tables of other rows merge with `+`. A
    table of binned scores has `blurs`: ranges of scores whose rows all stand at the lower end, so that every cut
    between two ranges is exact and only the order inside a range is not known.

    >>> from steelyard import score_table
    >>> table = score_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> table.thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    >>> table.counts
    Counts(tp=[0, 1, 1, 2, 2], fn=[2, 1, 1, 0, 0], fp=[0, 0, 1, 1, 2], tn=[2, 2, 1, 1, 0])
    >>> table.at(0.4)
    Counts(tp=1, fn=1, fp=1, tn=1)
    """

    positive: Side
    negative: Side
    label: Any = 1
    blurs: Array = field(default_factory=lambda: blurs.NONE)

    @property
    def probable(self) -> bool:
        """Whether all scores lie between 0 and 1, as probabilities do."""
        sides = (side.scores for side in (self.positive, self.negative) if len(side.scores))
        return all(bool(scores[0] >= 0 and scores[-1] <= 1) for scores in sides)

    @property
    def weighted(self) -> bool:
        """Whether rows had weights of their own."""
        return self.positive.weights is not None or self.negative.weights is not None

    @cached_property
    def _curve(self) -> tuple[Array, Array, Array]:
        """The distinct scores, descending, with the weight of each class at or above."""
        sides = (self.positive.distinct, self.negative.distinct)
        if self.positive.scores is self.negative.scores:  # as in draws of one table
            tps, fps = (mass[..., ::-1].cumsum(-1) for _, mass in sides)
            return sides[0][0][::-1], tps, fps
        scores, places = ordering.merged(sides[0][0], sides[1][0])
        masses = (_spread(mass, at, len(scores)) for (_, mass), at in zip(sides, places, strict=True))
        tps, fps = (mass.cumsum(-1, out=mass) for mass in masses)
        return scores, tps, fps

    @cached_property
    def found(self) -> tuple[Array, Array, Array]:
        """The weight of each distinct score of the positives, ascending, and that of each class at or above it."""
        scores, weights = self.positive.distinct
        tp = np.cumsum(weights[..., ::-1], -1)[..., ::-1]
        return weights, tp, np.asarray(self.negative.total)[..., None] - self.negative.below_each(scores)

    @property
    def thresholds(self) -> Array:
        """Every cut that tells rows apart, highest first: infinity flags nobody, then each distinct score."""
        return np.concatenate([[np.inf], self._curve[0]])

    @cached_property
    def counts(self) -> Counts:
        """The Counts at each of the thresholds."""
        tp, fp = map(starting_at_zero, self._curve[1:])
        return Counts.trusted(tp, np.maximum(tp[..., -1:] - tp, 0), fp, np.maximum(fp[..., -1:] - fp, 0))

    def compact(self) -> ScoreTable:
        """The same with one entry for each distinct score of a class."""
        return ScoreTable(self.positive.compact(), self.negative.compact(), self.label, self.blurs)

    def at(self, threshold: Any) -> Counts:
        """The Counts where a score of at least the threshold counts as positive; an array for an array."""
        try:
            cut = np.asarray(threshold, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(f"A threshold is a number, not {threshold!r}.") from None
        fn, tn = self.positive.below(cut), self.negative.below(cut)
        return Counts(_rest(self.positive.total, fn), fn, _rest(self.negative.total, tn), tn)

    def swapped(self) -> ScoreTable:
        """The same rows with the negative class called positive and the scores negated."""
        return self._swapped

    @cached_property
    def _swapped(self) -> ScoreTable:
        ranges = -self.blurs[::-1, ::-1]
        positive, negative = (blurs.snapped(side.negated(), ranges) for side in (self.negative, self.positive))
        return ScoreTable(positive, negative, None, ranges)

    def __add__(self, other: object) -> ScoreTable:
        if not isinstance(other, ScoreTable):
            return NotImplemented
        if self.label != other.label:
            raise InputError(f"The tables have different positives, {self.label!r} and {other.label!r}.")
        ranges = blurs.joined(self.blurs, other.blurs)
        sides = (self.positive + other.positive, self.negative + other.negative)
        positive, negative = (blurs.snapped(side, ranges) for side in sides)
        return ScoreTable(positive, negative, self.label, ranges)

    def extremes(self) -> tuple[ScoreTable, ScoreTable]:
        """The worst and the best order that the rows may have had: in a blur the negatives on top, or the positives."""
        worst = ScoreTable(self.positive, blurs.raised(self.negative, self.blurs), self.label)
        return worst, ScoreTable(blurs.raised(self.positive, self.blurs), self.negative, self.label)

    def __radd__(self, other: object) -> ScoreTable:
        return self if other == 0 else NotImplemented  # so that sum(tables) works

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTable) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.label, self.positive.n, self.negative.n))

    def __repr__(self) -> str:
        n = self.positive.n + self.negative.n
        return f"<ScoreTable of {n:,} rows, {self.positive.n:,} of them {self.label!r}>"

    def to_dict(self) -> dict[str, Any]:
        """The distinct scores of each class with their rows and, where there are any, weights."""
        data: dict[str, Any] = {"positive_label": self.label}
        for name, side in (("positive", self.positive), ("negative", self.negative)):
            compact = side.compact()
            columns = ("scores", "rows", "weights", "squares") if self.weighted else ("scores", "rows")
            data[name] = {key: _column(compact, key).tolist() for key in columns}
        return data | ({"blurs": self.blurs.tolist()} if len(self.blurs) else {})

    def saved(self) -> dict[str, Any]:
        """The table as strict JSON values, with the number of its schema."""
        if self.label is not None and not isinstance(self.label, (str, int, float, bool)):
            raise InputTypeError(f"JSON cannot hold the label {self.label!r}; use text or numbers.")
        return {"schema": SCHEMA, "kind": "scores", **self.to_dict()}

    def to_json(self) -> str:
        """The table as strict JSON, with the number of its schema."""
        return written(self.saved())

    @classmethod
    def from_json(cls, text: Saved) -> ScoreTable:
        """The table that `to_json` wrote, checked; anything else is refused."""
        data = read_table(text, "scores", ("positive_label", "positive", "negative"), optional=("blurs",))
        sides = (_read_side(data["positive"]), _read_side(data["negative"]))
        return cls(*sides, data["positive_label"], blurs.read(data["blurs"]))


def starting_at_zero(running: Array) -> Array:
    """Running sums with the 0 they start from, on the last axis."""
    return np.concatenate([np.zeros_like(running[..., :1]) if running.shape[-1] else np.zeros(1), running], -1)


def _rest(total: Any, part: Array) -> Array:
    """What is left of a total, never below 0 by rounding."""
    return np.asarray(np.maximum(np.asarray(total)[..., None] - part if np.ndim(total) else total - part, 0))


def _read_side(data: Any) -> Side:
    try:
        columns = {key: np.asarray(data[key]) for key in ("scores", "rows", "weights", "squares") if key in data}
        scores, rows = columns.pop("scores").astype(np.float64), columns.pop("rows")
        if scores.ndim != 1 or set(columns) not in (set(), {"weights", "squares"}):
            raise ValueError  # noqa: TRY301 - worded below
        numbers = [rows, *columns.values()]
        fits = all(c.shape == scores.shape and c.dtype.kind in "if" for c in numbers) or not scores.size
    except (TypeError, ValueError, KeyError):
        raise InputError("A saved score table lists scores and rows for each class; this one does not.") from None
    if not fits or not np.isfinite(scores).all() or (np.diff(scores) <= 0).any():
        raise InputError("The scores of a saved table are finite and ascending, with rows and weights for each.")
    if any(c.size and (c.min() < 0 or not np.isfinite(c).all()) for c in numbers):
        raise InputError("The rows and weights of a saved score table are finite and not negative.")
    if not scores.size:
        return Side(scores)
    if not columns:
        return Side(scores, rows)
    return Side(scores, rows, columns["weights"].astype(np.float64), columns["squares"].astype(np.float64))
