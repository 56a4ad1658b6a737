"""CallOptions: how the call of a metric is read: which class is positive, which average, which weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from steelyard.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Label, LabelSet, Weights
    from steelyard.metrics.registry import MetricLike

NATIVE = "native"  # the metric's own form for all classes, or that of the positive class
AVERAGES = ("macro", "weighted", "micro")
SAMPLES = "samples"  # over the rows, where each may have several labels


def undefined_or_zero_division(undefined: float | str, zero_division: float | str | None) -> float | str:
    """What replaces an undefined value: our word for it, or scikit-learn's, whose "warn" is 0.

    >>> undefined_or_zero_division(math.nan, 1), undefined_or_zero_division("raise", None)
    (1, 'raise')
    """
    if zero_division is None:
        return undefined
    if isinstance(undefined, str) or not math.isnan(undefined):
        raise InputError("undefined= and zero_division= mean the same; give one.")
    return 0.0 if zero_division == "warn" else zero_division


class MetricParameters(TypedDict, total=False):
    """Every parameter of the catalogue's metrics, for type checkers; that of an own metric goes through `fixed`."""

    beta: float
    alpha: float | None
    w: float
    rho: float
    of: MetricLike
    weights: str | None
    multi_class: str
    threshold: float
    cost_fn: float
    cost_fp: float
    cost_tp: float
    cost_tn: float
    max_fpr: float | None
    at: float
    severity_ratio: float | None
    share: float
    k: int
    bands: int
    bins: int
    propensities: ArrayLike | None


class ReadingOptions(MetricParameters, total=False):
    """What the call of a metric on rows takes beside them: how they are read, and its parameters."""

    pos_label: Label
    labels: LabelSet | None
    average: str | None
    sample_weight: Weights
    frequency: Weights


class MetricOptions(ReadingOptions, total=False):
    """The same, and what replaces an undefined value."""

    undefined: float | str
    zero_division: float | str | None


@dataclass(frozen=True)
class CallOptions:
    """How a call is to be read: which class is positive, how classes are averaged, which weights rows have."""

    pos_label: Label = None
    labels: LabelSet | None = None
    average: str | None = NATIVE
    sample_weight: Weights = None
    frequency: Weights = None
    undefined: float | str = math.nan

    def __post_init__(self) -> None:
        if self.average not in (NATIVE, *AVERAGES, SAMPLES, None):
            names = ", ".join(map(repr, (*AVERAGES, SAMPLES)))
            raise InputError(argument="average", expected=f"{names} or None", given=self.average)
        if self.pos_label is not None and self.average != NATIVE:
            raise InputError("pos_label= and average= contradict each other: one class, or all of them. Give one.")
        if self.undefined != "raise" and not isinstance(self.undefined, (int, float, np.number)):
            raise InputError(argument="undefined", expected="a number or 'raise'", given=self.undefined)

    @property
    def replacement(self) -> float:
        """The number for an undefined value: NaN unless one was given."""
        return math.nan if isinstance(self.undefined, str) else self.undefined


OPTION_NAMES = frozenset(field.name for field in fields(CallOptions))
