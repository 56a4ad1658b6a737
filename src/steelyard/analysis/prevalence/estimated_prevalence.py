"""Estimated prevalence: a deployment prevalence that was itself counted in some rows, and so is not known exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from steelyard.analysis.levels import tails
from steelyard.analysis.results.formatting import percent_interval
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError, first_ten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Labels

PrevalenceLike: TypeAlias = (
    "float | Sequence[float] | Array | Prevalence | EstimatesPrevalence"  # of the positives, or of each class
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
    """The prevalence as given; of a result that estimates one, that."""
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
            _check_counts(counts)
        elif not (_is_number(positives) and _is_number(rows) and 0 <= positives <= rows and rows > 0):  # type: ignore[operator]  # numbers
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
            return np.asarray(self._seen / self._seen.sum(), dtype=dtype)
        share = self._seen[0] / self._seen.sum()
        a, b = self._shape
        # None or all of them positive is no prevalence that a metric can be read at; the mean of its posterior is one.
        return np.asarray(share if 0 < share < 1 else a / (a + b), dtype=dtype)

    def __float__(self) -> float:
        if self.counts is not None:
            raise InputTypeError("The shares of several classes are no one number; read them by label.")
        return float(self.__array__())

    @property
    def _seen(self) -> Array:
        if self.counts is not None:
            return np.array([rows for _, rows in self.counts], dtype=np.float64)
        return np.array([self.positives, (self.rows or 0) - (self.positives or 0)], dtype=np.float64)

    @property
    def _shape(self) -> Array:
        """The shape of the posterior: a row of prior in all, which for two classes is Jeffreys'."""
        return self._seen + 1 / len(self._seen)

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
            logits = (np.log(share / (1 - share)) for share in (draws, np.array(self.drawn)))
            here, all_of_them = logits
            return np.asarray(((here - all_of_them.mean()) / max(all_of_them.std(), 1e-300)) ** 2)
        shares = draws if self.counts is not None else np.stack([draws, 1 - draws], -1)
        fitted = self._seen / self._seen.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(self._seen > 0, self._seen * np.log(fitted / shares), 0.0)
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


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _check_counts(counts: Mapping[Label, float]) -> None:
    rows = [*counts.values()]
    if len(rows) < 2 or not all(_is_number(n) and 0 <= n < np.inf for n in rows) or sum(rows) <= 0:
        raise InputError(f"{_NEEDED}, two or more of 0 rows or more, not {counts!r}.")
