"""Prevalence: the same classifier where the classes come in other shares; one more axis of the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import (
    TYPE_CHECKING,
    Any,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    Unpack,
    cast,
    overload,
    runtime_checkable,
)

import numpy as np

from steelyard.analysis.distributions import logistic
from steelyard.analysis.levels import tails
from steelyard.analysis.results.formatting import ROUNDING, percent_interval
from steelyard.arguments import names_wrong_arguments
from steelyard.arrays.backend import taken
from steelyard.exceptions import InputError, InputTypeError, first_ten
from steelyard.metrics.registry import get_metric
from steelyard.predictions import Predictions, question, refuse_unused
from steelyard.tables.array_tables import both_columns, given_probabilities
from steelyard.tables.class_scores import ClassScores
from steelyard.tables.confusion import Confusion
from steelyard.tables.counts import Counts
from steelyard.tables.probability_table import ProbabilityTable
from steelyard.tables.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels
    from steelyard.metrics.measure import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.statistic import MetricTable


# ---------------------------------------------------------------- estimated prevalence
# A deployment prevalence that was itself counted in some rows, and so is not known exactly.


PrevalenceLike: TypeAlias = (
    "float | str | Sequence[float] | Array | Prevalence | EstimatesPrevalence"  # of the positives, or of each class
)
_Given = TypeVar("_Given")
_LEAST_DRAWS = 100
_NEEDED = "A Prevalence is positives= of rows=, or counts= of rows by class"


@runtime_checkable
class EstimatesPrevalence(Protocol):
    """A result that a prevalence can be taken of, such as that of `unlabelled`."""

    def usable_prevalence(self) -> Prevalence:
        """The prevalence; refused where the result shows that it cannot be relied on."""


def stated_prevalence(given: _Given | EstimatesPrevalence) -> _Given | Prevalence:
    """The prevalence as given; of a result that estimates one, that; of text such as "12/400" so many of the rows."""
    if isinstance(given, str) and (counted := re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", given)):
        return Prevalence(positives=int(counted[1]), rows=int(counted[2]))
    return given.usable_prevalence() if isinstance(given, EstimatesPrevalence) else given


@dataclass(frozen=True, init=False)
class Prevalence:
    """A deployment prevalence with its own uncertainty: so many positives among so many rows that were counted there.

    Wherever `prevalence=` takes a number, values are read at the share that was seen (where none or all were positive,
    at the mean of the draws), and intervals also allow for the few rows it was seen in: each draw of the table has its
    own draw of the prevalence, Beta(positives + 1/2, rows - positives + 1/2). `counts=` gives the rows of each class,
    by label, for many classes; `from_draws` takes draws from any other distribution.

    >>> from steelyard import Counts, interval
    >>> Prevalence(positives=3, rows=100)
    Prevalence(positives=3, rows=100): 3.00 % (0.852 to 7.79)
    >>> tested = Counts(tp=80, fn=20, fp=10, tn=90)
    >>> interval("precision", tested, prevalence=0.03)
    precision 19.8 % (12.5 to 33.1), 95 % posterior
    >>> interval("precision", tested, prevalence=Prevalence(positives=3, rows=100))
    precision 19.8 % (4.73 to 45.3), 95 % posterior
    """

    positives: float | None
    rows: float | None
    counts: tuple[tuple[Label, float], ...] | None
    drawn: tuple[float, ...] | None = field(repr=False)

    @names_wrong_arguments
    def __init__(
        self, *, positives: float | None = None, rows: float | None = None, counts: Mapping[Label, float] | None = None
    ) -> None:
        if (positives is None) != (rows is None) or (positives is None) == (counts is None):
            raise InputTypeError(f"{_NEEDED}; give one of the two.")
        if counts is not None:
            by_class = [*counts.values()]
            are_counts = all(_is_number(n) and 0 <= n < np.inf for n in by_class)
            if len(by_class) < 2 or not are_counts or sum(by_class) <= 0:
                raise InputError(f"{_NEEDED}, two or more of 0 rows or more, not {counts!r}.")
        elif not (_is_number(positives) and _is_number(rows) and 0 <= positives <= rows and rows > 0):
            raise InputError(f"{_NEEDED}: 0 to rows of them, not {positives!r} of {rows!r}.")
        set_fields(self, positives, rows, None if counts is None else tuple(counts.items()), None)

    @classmethod
    @names_wrong_arguments
    def from_draws(cls, draws: ArrayLike) -> Prevalence:
        """The prevalence by draws from a distribution of your own, 100 or more; values are read at their mean."""
        given = np.asarray(draws, dtype=np.float64)
        if given.ndim != 1 or len(given) < _LEAST_DRAWS or not ((given > 0) & (given < 1)).all():
            raise InputError(
                f"Draws of a prevalence are one column of {_LEAST_DRAWS} or more shares above 0 and below 1, not "
                f"{given.size:,} numbers of shape {given.shape}."
            )
        prevalence = cls.__new__(cls)
        set_fields(prevalence, None, None, None, tuple(given.tolist()))
        return prevalence

    # ---------------------------------------------------------------- the share that was seen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """What was seen: the share of the positives, or of each class in the order of the counts."""
        if self.drawn is not None:
            return np.asarray(np.mean(self.drawn), dtype=dtype)
        if self.counts is not None:
            return np.asarray(self._rows_by_class / self._rows_by_class.sum(), dtype=dtype)
        share = self._rows_by_class[0] / self._rows_by_class.sum()
        a, b = self._shape
        # None or all of them positive is no prevalence that a metric can be read at; the mean of its posterior is one.
        return np.asarray(share if 0 < share < 1 else a / (a + b), dtype=dtype)

    def __float__(self) -> float:
        if self.counts is not None:
            raise InputTypeError("The shares of several classes are no one number; read them by label.")
        return float(self.__array__())

    @property
    def _rows_by_class(self) -> Array:
        if self.counts is not None:
            return np.array([rows for _, rows in self.counts], dtype=np.float64)
        return np.array([self.positives, (self.rows or 0) - (self.positives or 0)], dtype=np.float64)

    @property
    def _shape(self) -> Array:
        """The shape of the posterior: a row of prior in all, which for two classes is Jeffreys'."""
        return self._rows_by_class + 1 / len(self._rows_by_class)

    # ---------------------------------------------------------------- what it may be

    def draws(self, n: int, rng: np.random.Generator) -> Array:
        """Draws of the share of the positives, or of every class on a last axis."""
        if self.drawn is not None:
            return np.asarray(rng.choice(np.array(self.drawn), n))
        if self.counts is not None:
            return rng.dirichlet(self._shape, n)
        a, b = self._shape
        return rng.beta(a, b, n)

    def draws_beside(self, cells: Array, rng: np.random.Generator) -> Array:
        """Draws of the same, one for each draw of a table's cells; here they have nothing in common."""
        return self.draws(len(cells), rng)

    def places(self, labels: Labels) -> list[int]:
        """The place of each label among the counts."""
        known = {str(label): i for i, (label, _) in enumerate(self.counts or ())}
        missing = [label for label in labels if str(label) not in known]
        if missing or len(known) != len(labels):
            of_these = f"the classes {first_ten(list(known))}, the table has {first_ten(labels)}"
            raise InputError(f"The counts of this Prevalence are of {of_these}; give the rows of each of these.")
        return [known[str(label)] for label in labels]

    def deviances(self, draws: Array) -> Array:
        """How much less likely each draw is than what was seen, on the scale of a chi-square."""
        if self.drawn is not None:
            logits, all_logits = (np.log(share / (1 - share)) for share in (draws, np.array(self.drawn)))
            return np.asarray(((logits - all_logits.mean()) / max(all_logits.std(), 1e-300)) ** 2)
        shares = draws if self.counts is not None else np.stack([draws, 1 - draws], -1)
        fitted = self._rows_by_class / self._rows_by_class.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self._rows_by_class > 0, self._rows_by_class * np.log(fitted / shares), 0.0)
        return np.asarray(2 * terms.sum(-1))

    @names_wrong_arguments
    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The ends of the interval of the share of the positives."""
        if self.drawn is not None:
            low, high = np.quantile(self.drawn, tails(level))
        else:
            from scipy.special import betaincinv

            float(self)
            a, b = self._shape
            low, high = betaincinv(float(a), float(b), np.array(tails(level)))
        return float(low), float(high)

    @names_wrong_arguments
    def text(self, level: float = 0.95) -> str:
        """The share with its interval: 3.00 % (0.852 to 7.79)."""
        return percent_interval(float(self), *self.interval(level))

    def __repr__(self) -> str:
        if self.counts is not None:
            return f"Prevalence(counts={dict(self.counts)!r})"
        if self.drawn is not None:
            return f"Prevalence.from_draws(<{len(self.drawn):,} draws>): {self.text()}"
        return f"Prevalence(positives={self.positives!r}, rows={self.rows!r}): {self.text()}"


def set_fields(prevalence: Prevalence, *values: object) -> None:
    """Set the fields, in their order, of what is frozen."""
    for name, value in zip(("positives", "rows", "counts", "drawn"), values, strict=True):
        object.__setattr__(prevalence, name, value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


# ---------------------------------------------------------------- class shares
# A prevalence as it is given, checked, and the share of each class that it stands for.


def checked_prevalence(pi: PrevalenceLike) -> Array:
    """The prevalence as a number or an array, each between 0 and 1."""
    try:
        given = np.asarray(pi, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.asarray(np.nan)
    if not ((given > 0) & (given < 1)).all():
        raise InputError(f"A prevalence is a share of positives above 0 and below 1, such as 0.01, not {pi!r}.")
    return np.asarray(given)


def class_shares(table: Confusion, pi: PrevalenceLike) -> Array:
    """The share of each class, in the order of the labels: given for all, or for the positive one of two."""
    k = len(table.labels)
    if isinstance(pi, Prevalence) and pi.counts is not None:
        pi = np.asarray(pi)[pi.places(table.labels)]
    if np.asarray(pi).ndim == 0:
        if k != 2 and table.positive is None:
            raise InputError(f"{k} classes need {k} shares, one a class in the order of the labels, or a pos_label.")
        return _with_rest(table, checked_prevalence(pi))
    try:
        given = np.asarray(pi, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (k,) or not (given >= 0).all() or abs(given.sum() - 1) > 1e-9:
        raise InputError(f"The shares of {k} classes are {k} numbers of 0 or more that sum to 1, not {pi!r}.")
    if (given > 0)[table.matrix.sum(1) == 0].any():
        raise InputError("A class without a row in the truth cannot be given a share.")
    return np.asarray(given)


def _with_rest(table: Confusion, share: Array) -> Array:
    """The shares of all classes where the positive one has this share: the others keep theirs of the rest."""
    place, given = table.index(table.positive_label()), table.matrix.sum(1).astype(np.float64)
    given[place] = 0
    shares = np.multiply.outer(1 - share, given / max(given.sum(), 1e-300))
    shares[..., place] = share
    return np.asarray(shares)


def shares_in_use(
    table: Counts | Confusion, pi: PrevalenceLike, draws: int, rng: np.random.Generator, cells: Array | None = None
) -> tuple[Array, Array | float]:
    """The share of each class, drawn on a first axis where the prevalence is uncertain, and the draws' deviance.

    `cells` are draws of the table itself; those of the prevalence may depend on them.
    """
    if isinstance(pi, Prevalence):
        drawn = pi.draws(draws, rng) if cells is None else pi.draws_beside(cells, rng)
        if isinstance(table, Confusion):
            class_shares(table, pi)  # refuses what does not fit the table
            shares = _with_rest(table, drawn) if pi.counts is None else drawn[:, pi.places(table.labels)]
        else:
            checked_prevalence(float(pi))
            shares = np.stack([drawn, 1 - drawn], axis=-1)
        return shares, pi.deviances(drawn)
    if isinstance(table, Confusion):
        return class_shares(table, pi), 0.0
    positive = checked_prevalence(pi)
    if positive.ndim:
        raise InputError("An interval is at one prevalence at a time; give a number, not several.")
    return np.stack([positive, 1 - positive]), 0.0


def positive_shares(table: ScoreTable, pi: PrevalenceLike, drawn: Array | None = None) -> Array:
    """The share of the positives of a table of scores: the one given, or seen, or those drawn."""
    if not isinstance(pi, Prevalence) or pi.counts is None:
        return checked_prevalence(pi) if drawn is None else drawn
    names = [str(label) for label, _ in pi.counts]
    if str(table.label) not in names:
        raise InputError(f"The counts of a Prevalence have no class {table.label!r}; give positives= and rows=.")
    return np.asarray(np.asarray(pi) if drawn is None else drawn)[..., names.index(str(table.label))]


def of_positives(table: ScoreTable, pi: PrevalenceLike | None) -> PrevalenceLike | None:
    """The prevalence of the positives of a score table; where the rows of every class were counted, of its class."""
    pi = stated_prevalence(pi)
    if pi is not None and not isinstance(pi, Prevalence) and not np.size(pi):
        raise InputError("prevalence= is empty; give one share of positives.")
    if not isinstance(pi, Prevalence) or pi.counts is None:
        return pi
    rows = sum(count for _, count in pi.counts)
    return Prevalence(positives=float(positive_shares(table, pi)) * rows, rows=rows)


def positive_share_draws(
    table: ScoreTable, pi: PrevalenceLike | None, draws: int, rng: np.random.Generator
) -> Array | None:
    """Draws of the share of the positives of a table of scores, where the prevalence is an estimate."""
    return positive_shares(table, pi, pi.draws(draws, rng)) if isinstance(pi, Prevalence) else None


# ---------------------------------------------------------------- prevalence


@overload
def at_prevalence(data: Counts, prevalence: float, /) -> Counts: ...
@overload
def at_prevalence(data: Counts[Any], prevalence: PrevalenceLike, /) -> Counts[Array]: ...
@overload
def at_prevalence(data: Confusion, prevalence: PrevalenceLike, /) -> Confusion: ...
@overload
def at_prevalence(data: ScoreTable, prevalence: PrevalenceLike, /) -> ScoreTable: ...
@overload
def at_prevalence(
    data: RowsLike = None, prevalence: PrevalenceLike | None = None, /, **rows: Unpack[RowOptions]
) -> Counts[Any] | Confusion | ScoreTable | ProbabilityTable: ...
@question
def at_prevalence(
    data: Any = None, prevalence: PrevalenceLike | None = None, /, **rows: Unpack[RowOptions]
) -> MetricTable:
    """The table that the same rates would give where such a share of the rows is positive.

    Rows of each class are re-weighted, their total kept: any metric and any curve of the result is that of the
    other prevalence, and an array of shares gives an array of tables. Nguyen's unbalanced factor is a prevalence of
    1/2. A table of K classes takes a vector of K shares; a Prevalence is read at the share that was seen. A table gives
    one of its kind, and rows give that of their labels, or of their scores where no threshold is given. For intervals
    give `prevalence=` to interval or evaluate.

    >>> from steelyard import Counts, accuracy, precision
    >>> forecasts = Counts(tp=28, fn=23, fp=72, tn=2680)
    >>> round(precision(forecasts), 3), round(precision(at_prevalence(forecasts, 0.5)), 3)
    (0.28, 0.955)
    >>> accuracy(at_prevalence(forecasts, [0.01, 0.1, 0.5])).round(3)
    array([0.97 , 0.931, 0.761])
    """
    if prevalence is None:
        raise InputTypeError("The prevalence is missing: at_prevalence(data, 0.01), a share of positives.")
    if isinstance(data, (Counts, Confusion, ScoreTable)) and not rows:  # also Counts of many tables
        return table_at(data, prevalence)
    p = Predictions.of(data, **rows)
    refuse_unused(p, "at_prevalence", "by", "cluster", "columns")
    if not isinstance(p.design, str):
        refuse_unused(p, "at_prevalence", "design")
    return table_at(_read_table(p), prevalence)


def _read_table(p: Predictions) -> MetricTable:
    """The table of labels, or that of the scores where no threshold makes labels of them."""
    if p.are_sets:
        raise InputTypeError("Rows with several labels each have no one prevalence; give the rows of one label.")
    counted = p.countable()
    if counted.kind == "class scores":
        return counted.probability_table()
    tables = counted.counted()
    if tables.scores is None or p.threshold is not None:
        return counted.confusion()
    if not p.given.is_table and p.given.model.pred is not None:
        raise InputError("Predictions and scores were given together, and one of them is asked of; give one.")
    return tables.scores


def _counts_at(counts: Counts[Any], pi: Array) -> Counts[Any]:
    """The counts with both classes re-weighted to the prevalence; several of it are a last axis."""
    p, n = (np.asarray(part, dtype=np.float64) for part in (counts.positives, counts.negatives))
    if (p == 0).any() or (n == 0).any():
        raise InputError("A table without positives or without negatives has no value at another prevalence.")
    cells: list[Any] = list(counts)
    if pi.ndim:
        p, n = p[..., None], n[..., None]
        cells = [np.asarray(cell)[..., None] for cell in counts]
    up, down = pi * (p + n) / p, (1 - pi) * (p + n) / n
    return Counts(cells[0] * up, cells[1] * up, cells[2] * down, cells[3] * down)


def table_at(table: MetricTable, pi: PrevalenceLike | None) -> MetricTable:
    """A table of any kind where the classes have these shares; as it is where none are given."""
    if pi is None:
        return table
    pi = cast("PrevalenceLike", stated_prevalence(pi))
    if isinstance(table, ProbabilityTable):
        return columns_at(table, pi)
    if isinstance(table, Counts):
        return _counts_at(table, checked_prevalence(pi))
    if isinstance(table, Confusion):
        truth = table.matrix.sum(1)
        factor = (class_shares(table, pi) * table.matrix.sum() / np.where(truth > 0, truth, 1))[:, None]
        return Confusion(table.labels, table.rows, table.matrix * factor, table.squares * factor**2, table.positive)
    if np.asarray(pi).ndim and not isinstance(pi, Prevalence):
        raise InputError("Scores are read at one prevalence at a time; give a number, not several.")
    return scores_at(table, float(positive_shares(table, pi)))


def columns_at(table: ProbabilityTable, pi: PrevalenceLike) -> ProbabilityTable:
    """The rows of a column of scores for each class, those of each class re-weighted to its share."""
    weights = np.bincount(table.codes, table.weights, minlength=len(table.labels))
    margins = Confusion(table.labels, np.diag((weights > 0).astype(np.int64)), np.diag(weights), np.diag(weights))
    factor = class_shares(margins, pi) * weights.sum() / np.where(weights > 0, weights, 1)
    factors = taken(factor, table.codes)
    weights = factors if table.sample_weight is None else table.sample_weight * factors
    return replace(table, sample_weight=weights)


def scores_at(table: ScoreTable, pi: Array | float) -> ScoreTable:
    """The score table re-weighted to a prevalence, or to each of several; the weights may have an axis of draws."""
    p, n = np.asarray(table.positive.total, dtype=float), np.asarray(table.negative.total, dtype=float)
    if (p == 0).any() or (n == 0).any():
        raise InputError("Scores of one class only have no value at another prevalence.")
    total = p + n
    return ScoreTable(
        _scaled(table.positive, pi * total / p), _scaled(table.negative, (1 - pi) * total / n), table.label
    )


def _scaled(side: ClassScores, factor: Array) -> ClassScores:
    factor = np.asarray(factor)[..., None]
    return ClassScores(side.scores, side.rows, side.weights * factor, side.squares * factor**2)


@names_wrong_arguments
def swap_prevalences(metric: MetricLike, a: Counts, b: Counts, *, least: float = 1e-6) -> list[float]:
    """The prevalences at which two classifiers, as Counts, swap rank by a metric, ascending; none where one leads.

    >>> from steelyard import Counts
    >>> careful, eager = Counts(60, 40, 10, 890), Counts(90, 10, 150, 750)
    >>> [round(pi, 3) for pi in swap_prevalences("accuracy", careful, eager)]
    [0.341]
    """
    ranked_by = get_metric(metric)
    lowest = np.log(least / (1 - least))
    grid = logistic(np.linspace(lowest, -lowest, 4_001))
    gap = _gap(ranked_by, a, b, grid)
    differing = np.flatnonzero(np.abs(gap) > ROUNDING)  # metrics that agree everywhere never swap
    before, after = differing[:-1], differing[1:]
    swapped = np.sign(gap[before]) != np.sign(gap[after])
    return [_root(ranked_by, a, b, grid[i], grid[j]) for i, j in zip(before[swapped], after[swapped], strict=True)]


def _gap(metric: Metric, a: Counts, b: Counts, pi: Array) -> Array:
    return np.asarray(metric(at_prevalence(a, pi)) - metric(at_prevalence(b, pi)))


def _root(metric: Metric, a: Counts, b: Counts, low: float, high: float) -> float:
    """Where the difference changes sign, by looking ever closer."""
    for _ in range(8):
        grid = np.linspace(low, high, 101)
        signs = np.sign(_gap(metric, a, b, grid))
        i = int(np.flatnonzero(signs != signs[0])[0])
        low, high = grid[i - 1], grid[i]
    return float((low + high) / 2)


# ---------------------------------------------------------------- prior correction
# Probabilities that were learnt at some class shares, as they are at others.
#
# Elkan (2001), Proceedings of IJCAI, 973-978; Saerens, Latinne and Decaestecker (2002), Neural Computation 14, 21-41.


if TYPE_CHECKING:
    SharesLike: TypeAlias = float | Sequence[float] | Array | Mapping[Label, float] | Prevalence | EstimatesPrevalence


@names_wrong_arguments
def correct_prior(
    y_score: ArrayLike, trained: SharesLike, deployed: SharesLike, *, labels: Sequence[Label] | None = None
) -> Array:
    """The probabilities where other shares of the rows are of each class than in the training rows.

    `y_score` is the column of the positive class, or one for each class. `trained` and `deployed` are the share of the
    positive class; or that of each class in the order of the columns, or by label, the columns then being in sorted
    order of the labels, as scikit-learn's `classes_`, or in that of `labels`. The odds of a class are multiplied by how
    many times as large its share is, so that two classes have their logits shifted by one number. It is exact where the
    classes themselves are alike in both places and the probabilities were right where they were trained, such as after
    oversampling; `Recalibrator` mends what is not.

    >>> correct_prior([0.5, 0.9], trained=0.5, deployed=0.01).round(4).tolist()  # after oversampling to one half
    [0.01, 0.0833]
    >>> correct_prior([[0.2, 0.3, 0.5]], [1 / 3, 1 / 3, 1 / 3], {"a": 0.8, "b": 0.1, "c": 0.1}).round(3).tolist()
    [[0.667, 0.125, 0.208]]
    """
    given = given_probabilities(y_score)
    columns = both_columns(given)
    before, after = (
        class_share_vector(shares, columns.shape[1], name, labels)
        for shares, name in ((trained, "trained"), (deployed, "deployed"))
    )
    moved = with_shares(columns, before, after)
    return moved[:, 1] if given.ndim == 1 else moved


def with_shares(columns: Array, before: Array, after: Array) -> Array:
    """A column of probabilities for each class, moved from some class shares to others."""
    moved = columns * (after / before)
    return np.asarray(moved / moved.sum(1, keepdims=True))


def class_share_vector(shares: SharesLike, k: int, name: str, labels: Sequence[Label] | None = None) -> Array:
    """The share of each of so many classes, in the order of the columns."""
    shares = stated_prevalence(shares)
    if isinstance(shares, Prevalence) and shares.counts is not None:
        rows = dict(shares.counts)
        shares = {label: n / sum(rows.values()) for label, n in rows.items()}
    if isinstance(shares, Mapping):
        shares = [shares[label] for label in _column_labels(shares, k, name, labels)]
    try:
        given = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.ndim == 0 and k == 2:
        given = np.array([1 - given, given])
    if given.shape != (k,) or not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
        one = "the share of the positive class, above 0 and below 1, or " if k == 2 else ""
        raise InputError(
            argument=name, expected=f"{one}{k} shares of the classes, above 0 with the sum 1", given=shares
        )
    return np.asarray(given / given.sum())


def _column_labels(shares: Mapping[Any, float], k: int, name: str, labels: Sequence[Label] | None) -> Labels:
    """The labels in the order of the columns."""
    try:
        order = tuple(sorted(shares)) if labels is None else tuple(labels)
    except TypeError:
        raise InputError(f"The labels of {name}= have no order; give that of the columns by labels=.") from None
    if len(order) != k or {*order} != {*shares}:
        of = "columns" if labels is None else f"labels, {first_ten(order)}"
        raise InputError(f"{name}= has shares of {first_ten([*shares])}, and y_score has {k} {of}; give one for each.")
    return order
