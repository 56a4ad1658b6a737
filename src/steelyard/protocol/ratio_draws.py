"""Ratio draws: training and test rows drawn from one data set at a ratio of negatives to positives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array

TRAINED = 3  # the training part is three times the test part, with the same shares
_ROUNDING = 1e-9
_FEWEST = 2  # test rows of a class: the training part then has one for each of five folds


@dataclass(frozen=True)
class ClassRatio:
    """A ratio of negatives to positives, as it is written: N:P."""

    name: str
    negatives: float
    positives: float

    def test_rows(self, y: Array) -> tuple[int, int]:
        """The positives and negatives of a test part, as many as the rows allow; refused where they are too few."""
        there = {"positives": int((y == 1).sum()), "negatives": int((y == 0).sum())}
        unit = {kind: rows / getattr(self, kind) for kind, rows in there.items()}
        first = min(unit, key=unit.__getitem__)  # the class whose rows are used up first
        test = {kind: math.floor(unit[first] * getattr(self, kind) / (1 + TRAINED) + _ROUNDING) for kind in there}
        scarce = min(test, key=test.__getitem__)
        if test[scarce] < _FEWEST:
            needed = math.ceil(_FEWEST * (1 + TRAINED) * getattr(self, first) / getattr(self, scarce) - _ROUNDING)
            counted = " and ".join(f"{rows:,} {kind}" for kind, rows in there.items())
            raise TooFewRowsError(
                f"At N:P = {self.name} the data's {counted} leave {test[scarce]} of the {scarce} to test on, a quarter "
                f"of those drawn; give {needed:,} {first} or more, or a ratio nearer to that of the data."
            )
        return test["positives"], test["negatives"]


def read_ratios(ratios: Sequence[str]) -> list[ClassRatio]:
    """Ratios as they are written, "3:1" for three negatives to a positive; each once."""
    if isinstance(ratios, str):
        raise InputTypeError(f"ratios are a list of N:P, negatives to positives; write [{ratios!r}].")
    read = [_ratio(str(ratio)) for ratio in ratios]
    if not read:
        raise InputError("ratios is empty; give one N:P or more, such as ['1:1', '9:1'].")
    if len({ratio.name for ratio in read}) < len(read):
        raise InputError("A ratio is given twice; give each once.")
    return read


def _ratio(text: str) -> ClassRatio:
    parts = text.split(":")
    try:
        negatives, positives = map(float, parts)
    except ValueError:
        raise InputError(f"A ratio is N:P, negatives to positives, such as '9:1', not {text!r}.") from None
    if not (0 < negatives < math.inf and 0 < positives < math.inf):
        raise InputError(f"A ratio has two numbers above 0, such as '9:1', not {text!r}.")
    return ClassRatio(":".join(part.strip() for part in parts), negatives, positives)


def draw_rows(y: Array, positives: int, negatives: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The rows of a training and a test part that share none; the test part has so many of each class."""
    parts = [
        np.split(rng.permutation(np.flatnonzero(y == label))[: (1 + TRAINED) * n], [n])
        for label, n in ((1, positives), (0, negatives))
    ]
    test, train = (np.concatenate(side) for side in zip(*parts, strict=True))
    return train, test
