"""BestDecision: how a class is best decided by probabilities, its value on new rows, and its gain on argmax."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steelyard._types import Array, Label
from steelyard.analysis.decisions.decision_rule import EXPECTED_COST, DecisionRule, RiskCoverage
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import percent_text, three_digits
from steelyard.analysis.results.result import Result
from steelyard.arrays import checks
from steelyard.exceptions import InputError, first_ten
from steelyard.tables.array_tables import columns_by_name, given_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Labels


@dataclass(frozen=True)
class ClassDecision:
    """One class: its rows, its threshold, the share of them that is decided for it, and that argmax decides for it.

    `recall` is by rules that were chosen without the row, where there are such; rows that are sent to a person count
    neither way, and `sent` is their share of the class. `threshold` is None where costs decide.
    """

    label: Label
    rows: int
    threshold: float | None
    recall: float
    argmax_recall: float
    sent: float

    def row(self) -> dict[str, Any]:
        """The class as a row of a table."""
        hidden = {"label"} if self.threshold is not None else {"label", "threshold"}
        return {"class": self.label, **{key: value for key, value in vars(self).items() if key not in hidden}}


_MOST_CLASSES = 12  # of which a terminal shows all


def _change(row: ClassDecision) -> float:
    change = abs(row.recall - row.argmax_recall)
    return -1.0 if math.isnan(change) else change


@dataclass(frozen=True, eq=False, repr=False)
class BestDecision(Result[ClassDecision]):
    """The best decision rule of probabilities, a column for each class; `decide` applies it to other rows.

    Each probability is divided by the threshold of its class, and the class with the largest share is decided.
    Thresholds sum to 1: of two classes that of the later one is its threshold, and argmax is 1 / K. Where errors have
    different `costs` there are none, and the class of least expected cost is decided; `prior_ratios` are then what
    probabilities are multiplied by for the shares of deployment. A row goes to a person where its decision is expected
    to cost more than `limit`.

    `value` is that of the rows by which the rule was chosen, `out_of_sample` the value to expect on new rows, with its
    interval; `optimism` is how much the first flatters. `argmax_value` is that of the most probable class, `gain` how
    much better the rule is expected to be than that, with its interval. With rows sent to a person, values are of the
    rows that are kept, a `coverage` of all, or on new rows an `out_of_sample_coverage`; with `reject_cost` they hold
    what the person costs. `best_possible` is the cost of knowing every class, `expected` the cost that the
    probabilities themselves expect.
    """

    also_saved: ClassVar[tuple[str, ...]] = ("regret",)

    classes: tuple[ClassDecision, ...]
    metric: str
    value: float
    argmax_value: float
    argmax_interval: tuple[float, float] | None = None
    out_of_sample: float | None = None
    out_of_sample_interval: tuple[float, float] | None = None
    optimism: float | None = None
    gain: float | None = None
    gain_interval: tuple[float, float] | None = None
    costs: Array | None = None
    best_possible: float | None = None
    expected: float | None = None
    reject: float | None = None
    reject_cost: float | None = None
    limit: float = math.inf
    coverage: float = 1.0
    out_of_sample_coverage: float | None = None
    prevalence: tuple[float, ...] | None = None
    prior_ratios: tuple[float, ...] | None = None
    folds: int = 0
    level: float = 0.95
    is_share: bool = False
    curve: RiskCoverage | None = None
    assumed: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """The classes, in the order of the columns."""
        return tuple(each.label for each in self.classes)

    @property
    def thresholds(self) -> dict[Label, float] | None:
        """The threshold of each class, by label; None where errors have different costs, and costs decide."""
        thresholds = {each.label: each.threshold for each in self.classes if each.threshold is not None}
        return thresholds or None

    @property
    def regret(self) -> float | None:
        """How much more the decisions cost than knowing the class of every row."""
        return None if self.best_possible is None else self.value - self.best_possible

    def decide(self, y_score: ArrayLike) -> Array:
        """The label that is decided for each row of probabilities, columns in the order of the labels."""
        decided = self.rule.decisions(self._checked(y_score))
        return np.asarray(checks.column(list(self.labels), "labels")[decided])

    def sent(self, y_score: ArrayLike) -> Array:
        """Which rows of probabilities are sent to a person."""
        return self.rule.sent(self._checked(y_score))

    @property
    def rule(self) -> DecisionRule:
        """The rule itself, of probabilities as an array."""
        if self.thresholds is not None:
            return DecisionRule(np.array([*self.thresholds.values()]), self.costs, self.limit)
        ratios = np.ones(len(self.classes)) if self.prior_ratios is None else np.array(self.prior_ratios)
        return DecisionRule(1 / ratios / (1 / ratios).sum(), self.costs, self.limit)

    def _checked(self, y_score: ArrayLike) -> Array:
        shape = np.shape(y_score)
        if len(shape) != 2 or shape[1] != len(self.classes):
            raise InputError(
                f"y_score has shape {shape}; this rule needs a column for each of {first_ten(self.labels)}."
            )
        return columns_by_name(given_probabilities(y_score), y_score, self.labels)

    def __iter__(self) -> Iterator[ClassDecision]:
        return iter(self.classes)

    # ---------------------------------------------------------------- in words

    @property
    def headline(self) -> str:
        """The rule, its value, that on new rows and that of argmax, in a sentence."""
        parts = [f"{self.metric} {self._text(self.value)} {self._how}"]
        if self.out_of_sample is not None:
            expected = self._with_bounds(self.out_of_sample, self.out_of_sample_interval)
            share = self.out_of_sample_coverage
            kept = f" of the {percent_text(share)} kept" if self.reject and share is not None else ""
            parts.append(f"on new rows about {expected}{kept}")
        of = " of all rows" if self.coverage < 1 else ""
        parts.append(f"the most probable class gives {self._with_bounds(self.argmax_value, self.argmax_interval)}{of}")
        return f"{'; '.join(parts)}."

    @property
    def _how(self) -> str:
        """How a class is decided, and who is sent to a person."""
        words = "by least expected cost" if self.metric == EXPECTED_COST else "by the most probable class"
        words = "by a threshold for each class" if self.costs is None else words
        words += "" if self.prevalence is None else " at the shares of deployment"
        if self.coverage == 1:
            return words
        kept = "" if self.reject_cost is not None else f", of the {percent_text(self.coverage)} of rows that are kept"
        return f"{words}{kept}, with {percent_text(1 - self.coverage)} sent to a person"

    @property
    def notes(self) -> Sequence[str]:
        """What the rule gains on argmax, what its costs are beside the best possible, and what was assumed."""
        notes = []
        if self.gain is not None and self.gain_interval is not None:
            low, high = self.gain_interval
            verdict = "better" if low > 0 else "worse" if high < 0 else "not shown to be better"
            notes.append(
                f"On new rows it is {verdict} than the most probable class: by {three_digits(self.gain)} "
                f"({three_digits(low)} to {three_digits(high)}, {100 * self.level:g} %)."
            )
        if self.best_possible and self.regret is not None:
            notes.append(
                f"Knowing every class would cost {three_digits(self.best_possible)} per row, so that decisions are "
                f"{three_digits(self.regret)} from the best possible, and the most probable class "
                f"{three_digits(self.argmax_value - self.best_possible)}."
            )
        bounds = self.out_of_sample_interval
        if self.expected is not None and bounds is not None and not bounds[0] <= self.expected <= bounds[1]:
            notes.append(
                f"The probabilities expect {three_digits(self.expected)} per row, outside that interval: they are not "
                "calibrated, and decisions by cost rely on them; Recalibrator mends them."
            )
        return (*notes, *self.assumed, *self._sent_sentences())

    def _sent_sentences(self) -> list[str]:
        """What remains where some of the rows go to a person."""
        if self.curve is None:
            return []
        shown = three_digits if self.curve.is_cost else percent_text
        points = [self.curve.at(share) for share in (0.0, 0.05, 0.1, 0.2)]
        kept = ", ".join(f"{shown(point.risk)} with {percent_text(1 - point.coverage)} sent" for point in points)
        what = "Mean cost of the rows kept" if self.curve.is_cost else "Errors among the rows kept"
        return [f"{what}, the least certain sent to a person: {kept}."]

    def shown_rows(self) -> list[dict[str, Any]]:
        """The classes as people see them: the threshold where they differ, and who is sent where anybody is."""
        differ = len({*(self.thresholds or {}).values()}) > 1
        return [
            {
                "class": str(each.label),
                "rows": each.rows,
                **({"threshold": each.threshold} if differ else {}),
                "recall": percent_text(each.recall),
                "by argmax": percent_text(each.argmax_recall),
                **({"to a person": percent_text(each.sent)} if self.coverage < 1 else {}),
            }
            for each in self.classes
        ]

    def shown_tables(self) -> list[Table]:
        """The classes; of many those whose recall changes most come first."""
        rows = self.shown_rows()
        if len(rows) > _MOST_CLASSES:
            order = sorted(range(len(rows)), key=lambda i: _change(self.classes[i]), reverse=True)
            rows = [rows[i] for i in order]
        return [Table(rows, data=self.to_dicts, most=_MOST_CLASSES)]

    def _text(self, value: float) -> str:
        return percent_text(value) if self.is_share and not math.isnan(value) else three_digits(value)

    def _with_bounds(self, value: float, bounds: tuple[float, float] | None) -> str:
        if bounds is None:
            return self._text(value)
        return f"{self._text(value)} ({self._text(bounds[0])} to {self._text(bounds[1])})"
