"""Class choices: the best decision between many classes on rows that did not train."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.decisions.best_decision import best_decision
from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Array, Estimator, Features, Frame
    from steelyard.analysis.decisions.best_decision_result import BestDecision
    from steelyard.analysis.prevalence.prior_correction import SharesLike
    from steelyard.analysis.thresholds.threshold_criterion import AimLike
    from steelyard.estimators.row_details import RowDetails

_OF_TWO = ("where", "confidence", "cost", "by", "pos_label")  # what a threshold between two classes takes


@dataclass(frozen=True, eq=False)
class ClassChoice:
    """What the decision is to be best by, at which class shares, and which rows a person decides."""

    metric: AimLike | None
    cost_matrix: ArrayLike | Frame | None
    prevalence: SharesLike | None
    reject: float | None
    reject_cost: float | None

    @property
    def is_asked(self) -> bool:
        """Whether anything is asked that two classes need the probabilities of both for."""
        return any(given is not None for given in (self.cost_matrix, self.reject, self.reject_cost))

    def check(self, others: Any) -> None:
        """Refuse what is asked of a threshold between two classes."""
        for name in _OF_TWO:
            if getattr(others, name) is not None:
                raise InputTypeError(
                    f"{name}= is of one threshold between two classes; many classes, cost_matrix=, reject= and "
                    "reject_cost= decide by a threshold or a cost for each class. Leave it out."
                )

    def of(self, rows: RowDetails, classes: Array, probabilities: Array) -> BestDecision:
        """The best decision on rows that did not train."""
        metric: Any = self.metric  # which refuses what is none
        return best_decision(
            rows.y,
            probabilities,
            metric,
            cost_matrix=self.cost_matrix,
            prevalence=self.prevalence,
            reject=self.reject,
            reject_cost=self.reject_cost,
            labels=classes,
            sample_weight=rows.weight,
        )


def class_probabilities(estimator: Estimator, X: Features, classes: Array, response_method: str) -> Array:
    """The probabilities of the classes; one that a fold did not hold has none."""
    method = getattr(estimator, "predict_proba", None) if response_method in ("auto", "predict_proba") else None
    if method is None:
        raise InputError(
            f"Only binary classification is supported for {type(estimator).__name__} without predict_proba; give a "
            "classifier that has it, such as CalibratedClassifierCV of this one."
        )
    given = np.asarray(method(X))
    known = np.asarray(estimator.classes_)  # type: ignore[attr-defined]  # set by fit
    if len(known) == len(classes):
        return given
    columns = np.zeros((len(given), len(classes)))
    columns[:, np.searchsorted(classes, known)] = given
    return columns
