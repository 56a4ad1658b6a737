"""scikit-learn's options: the types of the parameters that its functions share, and which values need no word of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeGuard, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Label, Weights

ClassAverage: TypeAlias = Literal["binary", "micro", "macro", "samples", "weighted"]
ScoreAverage: TypeAlias = Literal["micro", "macro", "samples", "weighted"]
ZeroDivision: TypeAlias = float | Literal["warn"]
Normalize: TypeAlias = Literal["true", "pred", "all"]
KappaWeights: TypeAlias = Literal["linear", "quadratic"]
MultiClass: TypeAlias = Literal["raise", "ovr", "ovo"]


class RateOptions(NamedTuple):
    """The options that scikit-learn's functions of one class at a time share."""

    labels: ArrayLike | None
    pos_label: Label | None
    average: ClassAverage | None
    sample_weight: Weights
    zero_division: ZeroDivision

    def are_usual(self, *, nan: bool = True) -> bool:
        """Whether every option is one that needs no check or warning of scikit-learn's."""
        if self.average != "binary" and not (self.pos_label is None or self.pos_label is True or self.pos_label == 1):
            return False
        return is_choice(self.average, ClassAverage) and is_zero_division(self.zero_division, nan=nan)


def is_choice(value: object, words: object) -> bool:
    """Whether an option is None or one of the words of a Literal."""
    return value is None or (type(value) is str and value in get_args(words))


def is_zero_division(value: object, *, nan: bool = True) -> TypeGuard[ZeroDivision]:
    """Whether a value is one that scikit-learn takes for a ratio without denominator."""
    if type(value) is str:
        return value == "warn"
    return isinstance(value, (int, float)) and (value in (0, 1) or (nan and bool(np.isnan(value))))
