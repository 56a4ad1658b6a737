"""ClassAim: the metric that decisions of many classes are to make best, on tables of any number of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.application import ClassCells, class_values, count_values, positive_place
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.metrics.spec import SpecLike
    from steelyard.statistics.confusion import Confusion

_TIE = 1e-12  # what rounding may make of equal values


@dataclass(frozen=True, eq=False)
class ClassAim:
    """A metric as asked; of two classes that of the positive one, whose place is known."""

    spec: MetricSpec
    place: int | None = None

    @property
    def name(self) -> str:
        """The metric's written form."""
        return self.spec.name

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return self.spec.sign

    @cached_property
    def options(self) -> CallOptions:
        """How the classes enter the metric."""
        return self.spec.options(CallOptions())

    @cached_property
    def reads_matrix(self) -> bool:
        """Whether the metric reads every pair of classes, and not only each class against the rest."""
        if self.place is not None or self.spec.metric.classes is None or self.options.average != "native":
            return False
        two = np.ones(2)
        try:
            self.values(ClassCells(two, two, two, two, None))  # type: ignore[arg-type]  # to see whether it is read
        except (TypeError, AttributeError):
            return True
        return False

    def values(self, cells: ClassCells) -> Array:
        """The value on tables whose classes are on the last axis."""
        metric = self.spec.metric
        if self.place is not None:
            return count_values(metric, Counts.trusted(*(cell[..., self.place] for cell in cells)), metric.parameters)
        return class_values(metric, cells, self.options, metric.parameters)

    def merits(self, cells: ClassCells) -> Array:
        """The same, higher being better, and lowest where it is undefined."""
        values = self.sign * np.asarray(self.values(cells), dtype=np.float64)
        return np.where(np.isnan(values), -np.inf, values)

    @property
    def tie(self) -> float:
        """The difference that rounding can make between equal values."""
        ends = [abs(end) for end in self.spec.metric.range if np.isfinite(end)]
        return _TIE * max([1.0, *ends])


def read_class_aim(metric: SpecLike | None, parameters: Mapping[str, Any], table: Confusion) -> ClassAim:
    """The metric to make best on tables like this one; what has no best value, or none of such tables, is refused."""
    spec = MetricSpec.of(default_metric() if metric is None else metric)
    if spec.metric.function is None:
        raise InputTypeError(
            f"{spec.name} judges the probabilities themselves, which no decision changes; name a metric of labels."
        )
    if parameters:
        spec = MetricSpec(spec.metric.fixed(None, **parameters), spec.average, spec.label)
    if not spec.sign:
        raise InputError(f"No value of {spec.name} is best, so no decision is; name a metric with a direction.")
    options = spec.options(CallOptions())
    return ClassAim(spec, positive_place(spec.metric, table, options))
