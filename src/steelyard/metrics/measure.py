"""Metric: a metric with its formula and what is to be known about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from steelyard.arguments import names_wrong_arguments
from steelyard.metrics import application
from steelyard.metrics.call_options import NATIVE, OPTION_NAMES, CallOptions, undefined_or_zero_division
from steelyard.metrics.families import FAMILIES, Family
from steelyard.metrics.formula import Formula, meaning_of, signature_of
from steelyard.metrics.formula_text import FormulaText
from steelyard.metrics.help_text import CallSignature, Manual
from steelyard.metrics.range_check import check_range
from steelyard.metrics.spec_text import write_form
from steelyard.metrics.values import single_value
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, LabelSet, Weights
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.probability_table import ProbabilityTable
    from steelyard.tables.score_table import ScoreTable
    from steelyard.tables.statistic import AnyTable

    Parameter: TypeAlias = "ArrayLike | Metric | Formula | None"  # a number, a word, or another metric
    # Of one model; Counts[Array] are of many.
    OneTable: TypeAlias = Counts | Confusion | ScoreTable | ProbabilityTable | MultilabelTable

_UNSET = math.nan  # the default of undefined=, by its identity
_FORMS = {"counts": "function", "label sets": "label_sets", "label scores": "label_sets"}


@dataclass(frozen=True, eq=False, repr=False)
class Metric(FormulaText):
    """A metric: a formula over confusion counts, and what is to be known about it.

    Call it with Counts, a Confusion, a ScoreTable or labels for its value; `why` gives the reason where that is NaN.

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
    columns: Formula | None = None
    label_sets: Formula | None = None
    ranks_labels: bool = False  # of the scores of label sets, and of nothing else
    columns_range: tuple[float, float] | None = None  # of more than two classes, where it is another
    is_skill_of_columns: bool = False  # 1 less the mean loss over that of the class shares
    aliases: tuple[str, ...] = ()
    cite: str | None = None
    sklearn: str | None = None
    meaning: str = ""
    domain: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_fixed: bool = False
    of_probabilities: bool = False
    least_rows: str | None = None
    least_classes: int = 2
    is_rank_probability: bool = False
    is_share: bool = False  # of rows: shown in percent
    is_own: bool = True  # a user's own formula: not of the catalogue
    allows_absent_classes: bool = False
    pools_classes: bool = False
    corrects: str | None = None
    has_proper_title: bool = False
    bounds: Callable[..., tuple[tuple[float, float], float | None]] | None = None

    @overload
    def __call__(
        self,
        y_true: OneTable | ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        pos_label: Label = None,
        labels: LabelSet | None = None,
        average: str = "native",
        sample_weight: Weights = None,
        frequency: Weights = None,
        undefined: float | str = math.nan,
        zero_division: float | str | None = None,
        **parameters: Parameter,
    ) -> float: ...
    @overload
    def __call__(
        self, y_true: Confusion | ArrayLike, y_pred: ArrayLike | None = None, *, average: None, **options: Any
    ) -> Array: ...
    @overload
    def __call__(self, y_true: Counts[Array], **options: Any) -> Array: ...
    def __call__(
        self,
        y_true: AnyTable | ArrayLike,
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
    ) -> float | Array:
        """The value on labels (truth first, then predictions or scores), on a table, or on Predictions of one model.

        With `pos_label` the classes collapse to that one against the rest; `average` is "macro", "weighted", "micro"
        or None for one value per class. An array of tables gives an array. `undefined` replaces NaN, or is "raise";
        scikit-learn's `zero_division` means the same.
        """
        if type(y_true) in application.INNER:
            cells: Any = y_true  # from a formula that names this metric
            part: float | Array = application.inner_value(self, cells, parameters)
            return part
        given = application.checked_parameters(self, parameters) if parameters else self.parameters
        if (
            type(y_true) is Counts  # and nothing else is given
            and y_pred is y_score is pos_label is labels is sample_weight is frequency is zero_division is None
            and (average == NATIVE and undefined is _UNSET)
            and (value := single_value(self, y_true, given)) is not None
        ):
            return value
        if zero_division is not None:
            undefined = undefined_or_zero_division(undefined, zero_division)
        options = CallOptions(pos_label, labels, average, sample_weight, frequency, undefined)
        table, options = application.counted(self, y_true, y_pred, y_score, options)
        return application.on_table(self, table, options, given).finished(self, options)

    @classmethod
    def from_function(cls, function: Formula, title: str, *, on: str = "counts", **facts: Any) -> Metric:
        """A metric that is not in the registry: its name, meaning and parameters are read off the function."""
        formula, parameters = signature_of(function)
        read_off = {"meaning": meaning_of(function), "parameters": parameters}
        form = {_FORMS.get(on, "scores"): formula, "of_probabilities": on == "probabilities"}
        form["ranks_labels"] = on == "label scores"
        usual = {"family": "own", "range": (-math.inf, math.inf), "best": None, "direction": None}
        return cls(getattr(function, "__name__", title), title, **{**usual, **read_off, **form, **facts})

    @overload
    def why(
        self, y_true: OneTable | ArrayLike, y_pred: ArrayLike | None = None, *, average: str = "native", **options: Any
    ) -> str | None: ...
    @overload
    def why(
        self, y_true: Confusion | ArrayLike, y_pred: ArrayLike | None = None, *, average: None, **options: Any
    ) -> Array: ...
    @overload
    def why(self, y_true: Counts[Array], **options: Any) -> Array: ...
    @names_wrong_arguments
    def why(
        self,
        y_true: AnyTable | ArrayLike,
        y_pred: ArrayLike | None = None,
        *,
        y_score: ArrayLike | None = None,
        **options: Any,
    ) -> str | Array | None:
        """The reason why the same call would give NaN, None where the value is defined; an array for an array."""
        parameters = {key: options.pop(key) for key in list(options) if key not in OPTION_NAMES}
        replaced = undefined_or_zero_division(options.pop("undefined", math.nan), parameters.pop("zero_division", None))
        call, checked = CallOptions(**options, undefined=replaced), application.checked_parameters(self, parameters)
        table, call = application.counted(self, y_true, y_pred, y_score, call)
        reason: str | Array | None = application.on_table(self, table, call, checked).why
        return reason

    def for_classes(self, form: Formula | None = None, *, absent: bool = False, pooled: bool = False) -> Formula:
        """Declare the form for any number of classes: a function of the one-vs-rest cells of all of them.

        `absent` says that it is defined as well where a class has no rows in the truth, `pooled` that it does not
        depend on which classes the rows that are right and wrong are of.
        """
        if form is None:
            return partial(self.for_classes, absent=absent, pooled=pooled)
        object.__setattr__(self, "classes", form)
        object.__setattr__(self, "allows_absent_classes", absent)
        object.__setattr__(self, "pools_classes", pooled)
        return form

    def for_scores(self, form: Formula) -> Formula:
        """Declare the form for scores: a function of a ScoreTable."""
        object.__setattr__(self, "scores", form)
        return form

    def for_columns(
        self,
        form: Formula | None = None,
        *,
        range: tuple[float, float] | None = None,
        least_classes: int = 2,
        skill: bool = False,
    ) -> Formula:
        """Declare the form for a column of probabilities for each class: the loss of each row, whose mean it is.

        `range` is that of more than two classes, where it is not that of two; `least_classes` are those with which it
        says anything. With `skill` it is 1 less that mean over the mean of probabilities that are the class shares.
        """
        if form is None:
            return partial(self.for_columns, range=range, least_classes=least_classes, skill=skill)
        facts = {"columns": form, "columns_range": range, "least_classes": least_classes, "is_skill_of_columns": skill}
        for name, fact in facts.items():
            object.__setattr__(self, name, fact)
        return form

    def for_label_sets(self, form: Formula) -> Formula:
        """Declare the form for rows of several labels: the value of each row, whose mean it is."""
        object.__setattr__(self, "label_sets", form)
        return form

    @names_wrong_arguments
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
        parameters = application.checked_parameters(self, changes)
        if self.bounds is not None:
            limits, best = self.bounds(**parameters)
            facts = {"range": limits, "best": best, **facts}
        written = self._written(changes) if name is None else name
        fixed = replace(self, name=written, parameters=parameters, is_fixed=True, **{"aliases": (), **facts})
        if name is None:
            check_range(fixed)
            return fixed
        from steelyard.metrics.registry import register

        return register(fixed)

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
    def of_many_columns(self) -> Metric:
        """The metric as it is of a column of probabilities for each of more than two classes: with its range there."""
        return self if self.columns_range is None else replace(self, range=self.columns_range)

    @property
    def is_of_label_sets(self) -> bool:
        """Whether it is of rows that may have several labels each, and of no others."""
        return self.function is None and self.scores is None

    @property
    def basis(self) -> str:
        """What it is a metric of, in words."""
        return "counts" if self.function is not None else "label sets" if self.scores is None else "scores"

    @property
    def takes_scores(self) -> bool:
        """Whether it is called with scores, of one label or of a column for each."""
        return self.scores is not None or self.ranks_labels

    @property
    def kind(self) -> Family:
        """The family with its facts; one of a user's own has its name for a title."""
        return FAMILIES.get(self.family, Family(self.family))

    @names_wrong_arguments
    def fits_scores(self, table: ScoreTable) -> bool:
        """Whether scores such as these can be judged: probabilities where it reads them as such, and rows enough."""
        if self.scores is None or self.least_classes > 2 or (self.of_probabilities and not table.has_probabilities):
            return False
        return self.least_rows is None or bool(table.n >= self.parameters[self.least_rows])

    # ---------------------------------------------------------------- inside

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
