"""Judged differences: the pairs of a comparison with their evidence, concluded together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.evidence import DrawnEvidence
from steelyard.analysis.comparison.omnibus_test import JointSpread, Omnibus
from steelyard.analysis.holm import holm
from steelyard.analysis.results.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.analysis.comparison.evidence import Evidence
    from steelyard.analysis.comparison.paired_difference import Difference
    from steelyard.analysis.intervals.inference import Inference


@dataclass(frozen=True)
class JudgedDifference:
    """A difference, what the rows say of it, and the p-value of the test that it is 0."""

    row: Difference
    evidence: Evidence
    p_value: float
    method: str

    def concluded(self, inference: Inference, p_holm: float, margin: float | None) -> Difference:
        """The difference with its interval and its p-values."""
        low, high = self.ends(inference.level)
        return replace(
            self.row,
            low=low,
            high=high,
            p_value=self.p_value,
            p_holm=p_holm,
            method=self.method,
            undefined_share=self.evidence.undefined_share,
            simultaneous_low=low,
            simultaneous_high=high,
            p_not_worse=None if margin is None else self._p_not_worse(margin),
        )

    def ends(self, level: float) -> tuple[float, float]:
        """The interval of that level, which holds 0 where the test does not reject it."""
        low, high = self.evidence.ends(level)
        return (min(low, 0.0), max(high, 0.0)) if self.p_value > 1 - level else (low, high)

    def _p_not_worse(self, margin: float) -> float | None:
        """The one-sided p-value of a being worse than b by the margin or more; None where no value is best."""
        sign = self.row.spec.sign
        return self.evidence.tail(-sign * margin, sign) if sign else None


def concluded(
    models: Sequence[str], pairs: Sequence[JudgedDifference], inference: Inference, margin: float | None
) -> tuple[Rows[Difference], Rows[Omnibus]]:
    """All pairs with intervals and p-values, Holm's of all together; of more than two models the omnibus tests."""
    adjusted = holm(pair.p_value for pair in pairs)
    rows = [pair.concluded(inference, p, margin) for pair, p in zip(pairs, adjusted, strict=True)]
    if len(models) == 2:
        return Rows(rows), Rows()
    places = {pair: place for place, pair in enumerate(combinations(models, 2))}
    tests: Rows[Omnibus] = Rows()
    for spec in dict.fromkeys(pair.row.spec for pair in pairs):
        of_spec = [i for i, pair in enumerate(pairs) if pair.row.spec == spec]
        of_spec.sort(key=lambda i: places[pairs[i].row.a, pairs[i].row.b])
        values = {name: value for i in of_spec for name, value in _values(pairs[i].row)}
        test, level = _together([pairs[i] for i in of_spec], [values[name] for name in models], inference)
        tests.append(test)
        for i in of_spec if not math.isnan(test.p_value) else ():
            low, high = pairs[i].ends(level)
            rows[i] = replace(rows[i], simultaneous_low=low, simultaneous_high=high)
    return Rows(rows), tests


def _values(row: Difference) -> tuple[tuple[str, float], tuple[str, float]]:
    return (row.a, row.value_a), (row.b, row.value_b)


def _together(
    pairs: Sequence[JudgedDifference], values: Sequence[float], inference: Inference
) -> tuple[Omnibus, float]:
    """The test that all models are equal, and the level of each pair's interval at which all hold together."""
    joint = JointSpread.of(values, [pair.evidence for pair in pairs])
    test = joint.omnibus(pairs[0].row.spec)
    if math.isnan(test.p_value):
        return test, inference.level
    largest = joint.largest(inference.generator, inference.draws)
    if any(isinstance(pair.evidence, DrawnEvidence) for pair in pairs):
        test = joint.of_smallest(test.spec, [pair.p_value for pair in pairs], largest)
    return test, joint.level_of_each(inference.level, largest)
