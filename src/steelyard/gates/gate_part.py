"""Gate parts: all rows and each group, with the estimates that rules read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from steelyard.analysis.comparison.comparison import Comparison
from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.evaluation.evaluation import Evaluation
from steelyard.evaluation.label_sets.multilabel_evaluation import MultilabelEvaluation
from steelyard.exceptions import InputError, InputTypeError
from steelyard.gates.estimate import Estimate
from steelyard.gates.rule import VERSUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard.evaluation.groups import Group
    from steelyard.evaluation.label_sets.multilabel_evaluation import AnyEvaluation
    from steelyard.evaluation.metric_row import MetricRow
    from steelyard.gates.rule import Rule
    from steelyard.statistics.confusion import Confusion
    from steelyard.statistics.score_table import ScoreTable

GatedResult: TypeAlias = Evaluation | MultilabelEvaluation | Comparison
Gated: TypeAlias = GatedResult | Mapping[str, GatedResult | str]


@dataclass(frozen=True)
class GatePart:
    """All rows, or a group: its rows and positives, its metrics and differences by name, and its table of labels.

    `why` says why nothing can be judged here, such as a group of one class.
    """

    group: str | None
    level: float
    rows: int = 0
    positives: int | None = None
    metric: Callable[[str], Estimate] | None = None
    differences: Mapping[str, Comparison] = field(default_factory=dict)  # from each other model
    confusion: Confusion | None = None
    is_clustered: bool = False
    why: str | None = None

    def estimate(self, rule: Rule) -> Estimate:
        """What a rule is about."""
        if rule.is_difference or rule.other == VERSUS:
            return self._difference(rule)
        if self.metric is None:
            raise InputError(f"The rule {rule.text!r} is on one model; give its evaluation.")
        return self.metric(rule.metric)

    def _difference(self, rule: Rule) -> Estimate:
        other = rule.other or ""
        if other not in self.differences:
            how = "compare both models on the same rows" if other == VERSUS else "give a baseline that holds its tables"
            raise InputError(f"The rule {rule.text!r} speaks of another model, {other}; {how}.")
        comparison = self.differences[other]
        row = next((row for row in comparison.rows if row.metric == rule.metric), None)
        if row is None:
            named = ", ".join(dict.fromkeys(row.metric for row in comparison.rows))
            raise InputError(f"The models were not compared by {rule.metric}; there are {named}.")
        alone = {each.metric: each for each in comparison.intervals.get(row.a, ())}.get(rule.metric)
        own = None if alone is None else Estimate.of_interval(alone)
        return Estimate.of_difference(row, comparison.level, own)


def gate_parts(gated: Gated) -> list[GatePart]:
    """All rows first, then the groups; of several by name one part each."""
    if isinstance(gated, Mapping):
        if not gated:
            raise InputError("A gate was given no evaluation, an empty mapping; give what evaluate or compare returns.")
        return [part for name, each in gated.items() for part in _named_parts(str(name), each)]
    if isinstance(gated, (Evaluation, MultilabelEvaluation)):
        return [_whole(gated), *(_of_group(gated, group) for group in gated.groups)]
    if isinstance(gated, Comparison):
        return [_compared(gated)]
    raise InputTypeError(
        f"A gate takes what evaluate or compare returns, or several of these by name, not {type(gated).__name__}."
    )


def _named_parts(name: str, each: GatedResult | str) -> Iterator[GatePart]:
    if isinstance(each, str):  # why there is none
        yield GatePart(name or None, 0.95, why=each)
        return
    for part in gate_parts(each):
        label = ", ".join(text for text in (name, part.group) if text)
        yield replace(part, group=label or None)


def _whole(evaluation: AnyEvaluation) -> GatePart:
    scores, table = getattr(evaluation, "scores", None), getattr(evaluation, "confusion", None)

    def metric(name: str) -> Estimate:
        return _with_table(evaluation, evaluation[name], table, scores)

    return _evaluated(evaluation, None, evaluation.rows, metric, table, scores)


def _of_group(evaluation: AnyEvaluation, group: Group) -> GatePart:
    def metric(name: str) -> Estimate:
        if name not in group:
            raise InputError(f"{name} was not evaluated in the groups; name it with metrics= when you evaluate.")
        return _with_table(evaluation, group[name], group.confusion, group.scores)

    return _evaluated(evaluation, group.label, group.rows, metric, group.confusion, group.scores)


def _evaluated(
    evaluation: AnyEvaluation,
    group: str | None,
    rows: int,
    metric: Callable[[str], Estimate],
    table: Confusion | None,
    scores: ScoreTable | None,
) -> GatePart:
    if table is not None and evaluation.positive in table.labels:
        table = table.with_positive(evaluation.positive)
    clustered = isinstance(evaluation, Evaluation) and evaluation.is_clustered
    positives = _positives(table, scores)
    return GatePart(group, evaluation.level, rows, positives, metric, confusion=table, is_clustered=clustered)


def _with_table(
    evaluation: AnyEvaluation, row: MetricRow, table: Confusion | None, scores: ScoreTable | None
) -> Estimate:
    """The estimate of a row, with the table that its interval was made from where that says all of it."""
    estimate = Estimate.of_row(row, evaluation.level)
    reads_scores = row.spec.is_native and row.spec.metric.scores is not None and scores is not None
    if table is not None and evaluation.positive in table.labels:
        table = table.with_positive(evaluation.positive)
    source = scores if reads_scores else table if row.spec.metric.function is not None else None
    if row.method in ("cluster", "plan") or source is None or isinstance(evaluation, MultilabelEvaluation):
        return estimate
    design = "stratified" if STRATIFIED in evaluation.assumed else "random"
    estimate = replace(estimate, table=source, prevalence=evaluation.prevalence, design=design)
    return estimate.from_table(source, evaluation.level) if evaluation.was_read else estimate


def _compared(comparison: Comparison) -> GatePart:
    """The first model of a comparison against the second."""
    if len(comparison.models) != 2:
        raise InputError(
            f"A gate holds one model against another, and {len(comparison.models)} were compared; compare two, the one "
            "that is judged first."
        )
    first, tables = comparison.models[0], comparison.tables
    by_name = {row.metric: row for row in comparison.intervals.get(first, ())}

    def metric(name: str) -> Estimate:
        if name not in by_name:
            raise InputError(f"The models were not compared by {name}; there are {', '.join(by_name)}.")
        return Estimate.of_interval(by_name[name])

    table = tables.labels.get(first)
    positives = _positives(table, tables.scores.get(first))
    return GatePart(None, comparison.level, comparison.n, positives, metric, {VERSUS: comparison})


def _positives(table: Confusion | None, scores: ScoreTable | None) -> int | None:
    """The rows of the positive class; of the rarest class where none is positive."""
    if scores is not None:
        return int(scores.positive.rows.sum())
    if table is None:
        return None
    rows = table.rows.sum(1)
    return int(rows.min() if table.positive is None else rows[table.labels.index(table.positive)])
