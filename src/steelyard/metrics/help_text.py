"""Help text: what `help` and an editor show of a metric itself, in place of the words about its class."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.metrics.measure import Metric


class Manual:
    """A docstring that is the class's own for the class, and about the metric for a metric; written when asked.

    >>> from steelyard import f1
    >>> print(f1.__doc__)
    F1 (f1): Harmonic mean of precision and recall.
    <BLANKLINE>
    Formula: f1 = 2 * tp / (2 * tp + fn + fp)
    Range: 0 to 1, higher is better.
    <BLANKLINE>
    Call it with labels, the truth first, or with a table:
    <BLANKLINE>
        steelyard.f1([0, 0, 1, 1], [0, 1, 1, 1])
        steelyard.f1(steelyard.Counts(tp=28, fn=23, fp=72, tn=2680))
    """

    def __init__(self, of_class: str | None) -> None:
        self.of_class = of_class

    def __get__(self, metric: Metric | None, owner: type | None = None) -> str | None:
        return self.of_class if metric is None else _manual_text(metric)


class CallSignature:
    """The signature of a call: of the class its own, of a metric what it takes, its own parameters included.

    >>> import inspect
    >>> from steelyard import f_beta, roc_auc
    >>> list(inspect.signature(f_beta).parameters)[:3], list(inspect.signature(f_beta).parameters)[-1]
    (['y_true', 'y_pred', 'pos_label'], 'beta')
    >>> list(inspect.signature(roc_auc).parameters)[:2]
    ['y_true', 'y_score']
    """

    def __get__(self, metric: Metric | None, owner: type | None = None) -> inspect.Signature | None:
        if metric is None:
            return None
        call = inspect.signature(type(metric).__call__).parameters
        unused = {"self", "parameters", "y_pred" if metric.takes_scores else "y_score"}
        unused |= {"pos_label", "average"} if metric.is_of_label_sets else set()
        own = [p for name, p in call.items() if name not in unused]
        names = [p.replace(kind=p.POSITIONAL_OR_KEYWORD) if p.name == "y_score" else p for p in own]
        names.sort(key=lambda p: p.kind)
        free = {} if metric.is_fixed else metric.parameters
        more = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=value) for key, value in free.items()]
        return inspect.Signature([*names, *more])


def _manual_text(metric: Metric) -> str:
    """The meaning, formula, range and a call of a metric."""
    low, high = metric.range
    better = f", {metric.direction} is better" if metric.direction else ""
    facts = [f"Formula: {metric.name} = {metric.text}", f"Range: {low:g} to {high:g}{better}."]
    return "\n".join([f"{metric.title} ({metric.name}): {metric.meaning}", "", *facts, "", *_calls(metric)])


def _calls(metric: Metric) -> list[str]:
    """How the metric is called, of labels or of scores."""
    from steelyard.metrics.registry import is_builtin

    name = f"steelyard.{metric.name}" if is_builtin(metric) else f"steelyard.get_metric({metric.name!r})"
    if metric.is_of_label_sets:
        call = "Call it with the labels of each row, a column for each label, and those predicted or their scores:"
        other = "[[0.2, 0.7, 0.4], [0.9, 0.1, 0.6]]" if metric.takes_scores else "[[0, 1, 0], [1, 0, 1]]"
        return [call, "", f"    {name}([[0, 1, 0], [1, 1, 0]], {other})"]
    if metric.function is None:
        call = "Call it with the truth and the scores of the positive class:"
        return [call, "", f"    {name}([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])"]
    table = "steelyard.Counts(tp=28, fn=23, fp=72, tn=2680)"
    call = "Call it with labels, the truth first, or with a table:"
    return [call, "", f"    {name}([0, 0, 1, 1], [0, 1, 1, 1])", f"    {name}({table})"]
