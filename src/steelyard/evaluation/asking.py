"""Asking: the metrics that a user names, each with the average over the classes that its written form may tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError
from steelyard.metrics import notation
from steelyard.metrics.registry import get_metric

if TYPE_CHECKING:
    from steelyard.metrics.metric import Metric

_AVERAGES = ("macro", "weighted", "micro")


@dataclass(frozen=True)
class Asked:
    """A metric, and how its values of each class are averaged; None where it is taken as it is."""

    metric: Metric
    average: str | None = None

    @property
    def name(self) -> str:
        """The written form, by which reports and rules call it."""
        return self.metric.name if self.average is None else f"{self.metric.name}{averaged_suffix(self.average)}"

    def check(self, *, labels: bool, scores: bool) -> None:
        """Refuse a metric for which the data have neither labels nor scores."""
        function, of_scores = self.metric.function is not None and labels, self.metric.scores is not None and scores
        if not function and (self.average is not None or not of_scores):
            needed = "scores" if self.metric.function is None else "labels, or a threshold for the scores"
            raise InputError(f"{self.name} needs {needed}.")


def averaged_suffix(average: str) -> str:
    """How the written form of a metric tells its average."""
    return f"[average={average}]"


def asked(name: Any) -> Asked:
    """The metric of a written form such as f_beta[beta=2] or f1[average=macro].

    >>> asked("f_beta[beta=2, average=macro]").name
    'f_beta[beta=2][average=macro]'
    """
    if not isinstance(name, str) or "average=" not in name.replace(" ", ""):
        return Asked(get_metric(name))
    stem, parameters = notation.read(name.replace("][", ","))
    average = str(parameters.pop("average"))
    if average not in _AVERAGES:
        raise InputError(f"{name!r} asks for the average {average!r}; there are {', '.join(_AVERAGES)}.")
    return Asked(get_metric(notation.write(stem, parameters)), average)
