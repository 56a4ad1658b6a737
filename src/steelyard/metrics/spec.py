"""MetricSpec: a metric as a user asks for it: with its parameters, of one class, or averaged over the classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from steelyard.exceptions import InputError, InputTypeError
from steelyard.metrics.call_options import AVERAGES, NATIVE, SAMPLES
from steelyard.metrics.expression import SYMBOLS, as_expression, ratio
from steelyard.metrics.multilabel_values import check_label_sets
from steelyard.metrics.registry import MetricLike, get_metric, named_metric
from steelyard.metrics.spec_text import parse_form, write_form
from steelyard.metrics.usual import HEADLINE
from steelyard.tables.counts import Cells

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Label
    from steelyard.metrics.call_options import CallOptions
    from steelyard.metrics.expression import Expression
    from steelyard.metrics.formula import Formula
    from steelyard.metrics.measure import Metric
    from steelyard.tables.score_table import ScoreTable


@dataclass(frozen=True, eq=False)
class MetricSpec:
    """A metric with its parameters, and how the classes enter it.

    `average` is "native" for the metric's own form or the positive class, "macro", "weighted" or "micro" for an average
    of the one-vs-rest values, "samples" for one of the rows' values where each has several labels, and None for one
    value per class; `label` is the one class that is meant.

    >>> spec = MetricSpec.of("f_beta[beta=2, average=macro]")
    >>> spec.metric, spec.average, spec.name
    (<metric f_beta[beta=2]>, 'macro', 'f_beta[beta=2, average=macro]')
    """

    metric: Metric
    average: str | None = NATIVE
    label: Label = None

    @classmethod
    def of(cls, metric: SpecLike) -> MetricSpec:
        """The metric of a written form, of a Metric or of a function of the four cells."""
        if isinstance(metric, MetricSpec):
            return metric
        if not isinstance(metric, str):
            return cls(get_metric(metric))
        named, settings = named_metric(metric)
        names_class = "class" in settings
        average, label = settings.pop("average", NATIVE), settings.pop("class", None)
        label = "None" if names_class and label is None else label  # a missing value is no class
        if average not in (NATIVE, *AVERAGES, SAMPLES, None):
            raise InputError(
                f"{metric!r} asks for the average {average!r}; there are {', '.join((*AVERAGES, SAMPLES))}."
            )
        if average != NATIVE and label is not None:
            raise InputError(f"{metric!r} asks for one class and for an average over all of them; give one.")
        chosen = named.fixed(None, **settings) if settings else named
        return cls(chosen, average if average is None else str(average), label)

    @classmethod
    def all_of(cls, metrics: Iterable[SpecLike]) -> list[MetricSpec]:
        """Several metrics; a single name in place of a list is refused."""
        if isinstance(metrics, str) or not hasattr(metrics, "__iter__"):
            raise InputTypeError(
                argument="metrics", expected="a list of metrics", given=metrics, do=f"write [{metrics!r}]"
            )
        specs = list(dict.fromkeys(cls.of(metric) for metric in metrics))
        if not specs:
            raise InputError("No metric was named; name at least one, or leave the choice out for all.")
        return specs

    # ---------------------------------------------------------------- what it is called

    @cached_property
    def name(self) -> str:
        """The written form, by which reports, rules and JSON call it; it is read back equal."""
        stem, settings = parse_form(self.metric.name)
        classes: dict[str, object] = {} if self.average == NATIVE else {"average": self.average}
        if self.label is not None:
            classes["class"] = self.label
        return write_form(stem, {**settings, **classes}) if classes else self.metric.name

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetricSpec) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def _identity(self) -> tuple[str, Formula | None, Formula | None, str | None]:
        metric = self.metric
        return self.name, metric.function, metric.label_sets if metric.is_of_label_sets else metric.scores, self.average

    @property
    def title(self) -> str:
        """The metric's title, with the average or the class in words."""
        title, weights, k = self.metric.title, *map(self.metric.parameters.get, ("weights", "k"))
        if self.metric.parameters.get("multi_class") == "ovo":
            title = f"{title} of pairs of classes"
        elif isinstance(weights, str):
            title = f"{title}, {weights} weights"
        elif k is not None:
            title = f"{title} (k = {k})"
        if self.label is not None:
            return f"{title}, {self.label}"
        return title if self.average in (NATIVE, None) else f"{title}, {self.average}"

    # ---------------------------------------------------------------- what follows from it

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where no value is best."""
        return self.metric.sign

    @property
    def is_native(self) -> bool:
        """Whether it is the metric's own form or that of the positive class."""
        return self.average == NATIVE and self.label is None

    @property
    def is_share(self) -> bool:
        """Whether it is a share of rows, which is shown in percent."""
        return self.metric.is_share

    @property
    def is_headline(self) -> bool:
        """Whether it stands among the metrics that are shown first."""
        return self.is_native and self.metric.name in HEADLINE

    def reads_scores(self, scores: ScoreTable | None) -> bool:
        """Whether it is taken of the scores: it knows no other way, or they are there."""
        return self.metric.scores is not None and (self.metric.function is None or scores is not None)

    def check_data(self, *, labels: bool, scores: bool, columns: bool = False) -> None:
        """Refuse a metric for which the data have neither labels nor scores."""
        check_label_sets(self.metric)
        of_labels, of_scores = self.metric.function is not None and labels, self.metric.scores is not None and scores
        if of_scores and not of_labels and not self.is_native:
            alone = f"ask for {self.metric.name} alone, and name the positive class with pos_label="
            raise InputError(f"{self.name}: one column of scores is of one positive class; {alone}.")
        if columns and not of_labels:
            name, ways = self.metric.name, f"{self.metric.name}[average=macro] or {self.metric.name}[class=...]"
            raise InputError(
                f"{name} of a column of scores for each class is averaged, or of one of them; ask for {ways}."
            )
        if not of_labels and not of_scores:
            needed = "scores" if self.metric.function is None else "labels, or a threshold for the scores"
            raise InputError(f"{self.name} needs {needed}.")

    def two_class_expression(self, positive: Label) -> Expression | None:
        """The formula over the four cells of two classes, the average or the other class written out.

        >>> from steelyard.metrics.notation import text
        >>> text(MetricSpec.of("recall[class=no]").two_class_expression("yes"))
        'tn / (tn + fp)'
        """
        function, parameters = self.metric.function, self.metric.parameters
        if function is None or self.metric.expression is None or self.is_native:
            return self.metric.expression
        tp, fn, fp, tn = SYMBOLS
        own, other = function(Cells(tp, fn, fp, tn), **parameters), function(Cells(tn, fp, fn, tp), **parameters)
        match self.average:
            case "macro":
                return as_expression((own + other) / 2)
            case "weighted":
                return as_expression(ratio((tp + fn) * own + (fp + tn) * other, tp + fn + fp + tn))
            case "micro":
                return as_expression(function(Cells(tp + tn, fn + fp, fn + fp, tp + tn), **parameters))
        return as_expression(own if self.label == positive else other)

    def options(self, options: CallOptions) -> CallOptions:
        """The options of a call with what the written form says of the classes, which goes before `pos_label`.

        Two averages that differ are refused.
        """
        if self.is_native:
            return options
        if options.average != NATIVE and self.average not in (NATIVE, options.average):
            raise InputError(f"{self.name} and average={options.average!r} contradict each other; give one.")
        if self.label is not None:
            return replace(options, pos_label=self.label)
        return replace(options, average=self.average, pos_label=None)


SpecLike: TypeAlias = MetricLike | MetricSpec
