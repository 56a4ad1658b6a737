"""Metric: a metric with its formula and what is to be known about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputTypeError, did_you_mean
from steelyard.metrics import application
from steelyard.metrics.call_options import CallOptions, undefined_or_zero_division
from steelyard.metrics.expression import Expression, Named, Symbol, as_expression, trace
from steelyard.metrics.formula import Formula, check_parameter, meaning_of, signature_of
from steelyard.metrics.formula_text import FormulaText
from steelyard.metrics.help_text import CallSignature, Manual
from steelyard.metrics.roles import FAMILIES, Family
from steelyard.metrics.spec_text import write_form
from steelyard.statistics.counts import Cells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Label, LabelSet, Weights
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.statistic import Statistic

INNER = (Cells, application.ClassCells)  # what a formula hands to the metrics inside it


@dataclass(frozen=True, eq=False, repr=False)
class Metric(FormulaText):
    """A metric: a formula over confusion counts, and what is to be known about it.

    Call it with Counts, a Confusion, a ScoreTable or labels for its value; `why` tells the reason where that is NaN.

    >>> from steelyard import Counts, precision
    >>> precision([0, 0, 1, 1], [0, 1, 1, 1])
    0.6666666666666666
    >>> nobody_flagged = Counts(tp=0, fn=10, fp=0, tn=990)
    >>> precision(nobody_flagged), precision.why(nobody_flagged)
    (nan, 'no predicted positives')
    """

    name: str
    title: str
    family: str
    range: tuple[float, float]
    best: float | None
    direction: str | None
    function: Formula | None = None
    classes: Formula | None = None
    scores: Formula | None = None
    aliases: tuple[str, ...] = ()
    cite: str | None = None
    sklearn: str | None = None
    meaning: str = ""
    domain: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_fixed: bool = False
    roles: tuple[str, ...] = ()
    of_probabilities: bool = False
    least_rows: str | None = None
    is_rank_probability: bool = False
    is_own: bool = True  # a user's own formula: not of the catalogue
    allows_absent_classes: bool = False
    corrects: str | None = None
    has_proper_title: bool = False
    bounds: Callable[..., tuple[tuple[float, float], float | None]] | None = None

    def __call__(
        self,
        y_true: Statistic | ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str | None = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = math.nan,
        zero_division: float | str | None = None,
        **parameters: Any,
    ) -> Any:
        """The value on labels (truth first, then predictions or scores), or on Counts, a Confusion or a ScoreTable.

        With `pos_label` the classes collapse to that one against the rest; `average` is "macro", "weighted", "micro"
        or None for one value per class. An array of tables gives an array. `undefined` replaces NaN, or is "raise";
        scikit-learn's `zero_division` means the same.
        """
        if type(y_true) in INNER:
            return self._inside(y_true, parameters)  # type: ignore[arg-type]  # from a formula that names this metric
        replaced = undefined_or_zero_division(undefined, zero_division)
        options = CallOptions(pos_label, labels, average, sample_weight, frequency, replaced)
        other = application.predictions_or_scores(self, y_pred, y_score)
        return application.apply(self, y_true, other, options, self._checked(parameters)).finished(self, options)

    @classmethod
    def from_function(cls, function: Formula, title: str, *, on: str = "counts", **facts: Any) -> Metric:
        """A metric that is not in the registry: its name, meaning and parameters are read off the function."""
        formula, parameters = signature_of(function)
        read_off = {"meaning": meaning_of(function), "parameters": parameters}
        form = {"function" if on == "counts" else "scores": formula}
        usual = {"family": "own", "range": (-math.inf, math.inf), "best": None, "direction": None}
        return cls(getattr(function, "__name__", title), title, **{**usual, **read_off, **form, **facts})

    def why(
        self,
        y_true: Statistic | ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        **options: Any,
    ) -> Any:
        """The reason why the same call would give NaN, None where the value is defined; an array for an array."""
        parameters = {key: options.pop(key) for key in list(options) if key in self.parameters}
        other = application.predictions_or_scores(self, y_pred, y_score)
        return application.apply(self, y_true, other, CallOptions(**options), self._checked(parameters)).why

    def for_classes(self, form: Formula | None = None, *, absent: bool = False) -> Formula:
        """Declare the form for any number of classes: a function of the one-vs-rest cells of all of them.

        `absent` says that it is defined as well where a class has no rows in the truth.
        """
        if form is None:
            return partial(self.for_classes, absent=absent)
        object.__setattr__(self, "classes", form)
        object.__setattr__(self, "allows_absent_classes", absent)
        return form

    def for_scores(self, form: Formula) -> Formula:
        """Declare the form for scores: a function of a ScoreTable."""
        object.__setattr__(self, "scores", form)
        return form

    def fixed(self, name: str | None = None, **changes: Any) -> Metric:
        """The metric with parameters set; under a name of its own it joins the registry.

        Facts such as title, meaning and range may be given anew as well.

        >>> from steelyard import f_beta
        >>> f_beta.fixed(beta=2)
        <metric f_beta[beta=2]>
        """
        facts: dict[str, Any] = {
            key: changes.pop(key) for key in ("title", "meaning", "range", "aliases", "cite") if key in changes
        }
        parameters = self._checked(changes)
        if self.bounds is not None:
            limits, best = self.bounds(**parameters)
            facts = {"range": limits, "best": best, **facts}
        if name is None:
            return replace(self, name=self._written(changes), aliases=(), parameters=parameters, is_fixed=True, **facts)
        from steelyard.metrics.registry import register

        return register(replace(self, name=name, parameters=parameters, is_fixed=True, **{"aliases": (), **facts}))

    # ---------------------------------------------------------------- what follows from the declaration

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where no value is best."""
        return {"higher": 1, "lower": -1}.get(self.direction or "", 0)

    @property
    def phrase(self) -> str:
        """The title inside a sentence: in small letters, save a name or letters that stand for words."""
        keep = self.has_proper_title or self.title[:2].isupper() or self.title[1:2].isdigit()
        return self.title if keep else self.title.lower()

    @property
    def kind(self) -> Family:
        """The family with its facts; one of a user's own has its name for a title."""
        return FAMILIES.get(self.family, Family(self.family))

    def fits_scores(self, table: ScoreTable) -> bool:
        """Whether scores such as these can be judged: probabilities where it reads them as such, and rows enough."""
        if self.scores is None or (self.of_probabilities and not table.has_probabilities):
            return False
        return self.least_rows is None or bool(table.total >= self.parameters[self.least_rows])

    # ---------------------------------------------------------------- the formula written

    def trace(self, **parameters: Any) -> Expression | None:
        """The formula as an expression over tp, fn, fp, tn; None where it cannot be run on symbols."""
        values = {**self.parameters, **parameters}
        usual = all(value is self.parameters[key] for key, value in values.items())
        return self.expression if usual else self._traced(values)

    @cached_property
    def expression(self) -> Expression | None:
        """The formula as an expression at the parameters' defaults."""
        return self._traced(self.parameters)

    @cached_property
    def general(self) -> Expression | None:
        """The formula as an expression with its parameters as letters, for reading."""
        letters = {key: Symbol(key) for key, value in self.parameters.items() if isinstance(value, float)}
        return self.expression if self.is_fixed else self._traced({**self.parameters, **letters})

    # ---------------------------------------------------------------- inside

    def _traced(self, parameters: Mapping[str, object]) -> Expression | None:
        return None if self.function is None else trace(self.function, dict(parameters))

    def _inside(self, cells: Cells, parameters: Mapping[str, object]) -> Any:
        """The formula as part of another: raw numbers, or a named part of the expression being traced."""
        if self.function is None:
            raise InputTypeError(f"{self.name} is a metric of scores; it cannot stand in a formula of counts.")
        values = {**self.parameters, **parameters}
        if not isinstance(cells.tp, Expression):
            return self.function(cells, **values)
        # As nodes, so that exact arithmetic meets 0.1 and not what floats make of 2 - 0.1.
        values = {key: as_expression(value) if isinstance(value, float) else value for key, value in values.items()}
        inner = self.function(cells, **values)
        return Named(write_form(self.name, parameters), inner, inner if self.general is None else self.general)

    def _checked(self, parameters: Mapping[str, object]) -> dict[str, Any]:
        """All parameters, the given ones checked against their names and domains."""
        free = {} if self.is_fixed else self.parameters
        for key, value in parameters.items():
            if key not in free:
                names = ", ".join(free) or "none"
                raise InputTypeError(f"{self.name} has no parameter {key!r} (it has {names}).{did_you_mean(key, free)}")
            check_parameter(f"{key} of {self.name}", value, free[key], self.domain.get(key))
        return {**self.parameters, **parameters}

    def _written(self, parameters: Mapping[str, Any]) -> str:
        return write_form(self.name, {k: v for k, v in parameters.items() if not np.array_equal(v, self.parameters[k])})

    @property
    def __name__(self) -> str:
        return self.name  # what scikit-learn, XGBoost and Keras print

    def __repr__(self) -> str:
        return f"<metric {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        from steelyard.metrics.metric_pickle import pickled

        return pickled(self)


Metric.__doc__ = Manual(Metric.__doc__)  # type: ignore[assignment]  # so that help(steelyard.f1) is about F1
Metric.__signature__ = CallSignature()  # type: ignore[attr-defined]  # so that editors offer beta= of f_beta
