"""The verdict of a cross-evaluation: what models do in the mean of the runs, by which number they rank, the choice.

Models that give scores are ranked by a number that needs no threshold: an order by labels may be the order of the
thresholds that happen to be in force. Intervals of differences over the runs are Nadeau and Bengio's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison.classical_tests import corrected_t_test
from steelyard.analysis.comparison.compare import BINARY, CLASSES, LABEL_SETS, UseNumbers
from steelyard.analysis.comparison.comparison import Difference
from steelyard.analysis.comparison.leaderboard import metric_phrase
from steelyard.analysis.comparison.outcomes import (
    AT_CAPACITY,
    FALSE_ALARMS,
    FOUND,
    OF_CLASSES,
    OF_LABELS,
    RIGHT,
    ModelOutcome,
    OutcomeDifference,
    Outcomes,
    adjusted,
    found_at,
    rows_that_tell,
)
from steelyard.analysis.comparison.verdict import Size, Verdict, reaches_no_skill
from steelyard.analysis.results.denominator import FEW_ROWS, denominator
from steelyard.analysis.results.result import Rows
from steelyard.auditing.model_tables import value_change
from steelyard.exceptions import InputError
from steelyard.metrics.registry import default_metric
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import USES, read_use
from steelyard.protocol.run_values import ranked_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard._types import Array
    from steelyard.analysis.comparison.leaderboard import Statement
    from steelyard.metrics.uses import Use
    from steelyard.protocol.cross_evaluation import CrossEvaluation

ALERTS = "alerts"


@dataclass(frozen=True)
class RunNumbers:
    """The numbers of the uses that the runs of a cross-evaluation have."""

    result: CrossEvaluation

    @property
    def use(self) -> Use | None:
        """The use that was named."""
        return read_use(self.result.setting.get("use"))

    @property
    def numbers(self) -> UseNumbers:
        """The metric of each use on such runs."""
        data, ended = self.result.runs[0].data, [run for run in self.result.runs if run.error is None]
        started = {run.model for run in ended} == {*self.result.models}  # a model whose runs all failed has no scores
        scores = started and all(run.predictions.scores is not None for run in ended)
        kind = LABEL_SETS if data.are_label_sets else CLASSES if data.positive is None else BINARY
        if kind == BINARY:
            probable = scores and all(run.scores is not None and run.scores.has_probabilities for run in ended)
        else:
            probable = scores and all(run.predictions.has_probabilities for run in ended)
        return UseNumbers(kind, labels=True, scores=scores, probabilities=probable)

    @property
    def leading(self) -> MetricSpec:
        """By which models are ranked: the number of the use, the first metric asked for, else one without a threshold.

        Without a use that is average precision of scores of one class, and the default metric where there are none.
        """
        numbers, default = self.numbers, next(iter(self.result.models.values())).default_spec
        if self.use is not None:
            number = numbers.of(self.use, is_stated=True)
            if number is None:
                raise InputError(numbers.missing(self.use))
            return number
        asked = ranked_metrics(self.result)
        if asked:
            return asked[0]
        return MetricSpec.of(USES[ALERTS].of_scores) if numbers.ranks else default

    @property
    def beside(self) -> MetricSpec | None:
        """The number of labels at their thresholds that stands beside one that needs none, or the other way round."""
        numbers, leading = self.numbers, self.leading
        if not numbers.ranks or (self.use is None and ranked_metrics(self.result)):
            return None
        if leading.metric.scores is None:
            return MetricSpec.of(USES["ranking"].of_scores)
        labels = None if self.use is None else self.use.of_labels
        return MetricSpec(default_metric()) if labels is None else MetricSpec.of(labels)

    def asked(self) -> dict[str, MetricSpec]:
        """The number of each use that is asked, by its name, or each metric that was asked for."""
        numbers = self.numbers
        if self.use is not None:
            return {self.use.name: self.leading}
        by_use = {name: numbers.of(use) for name, use in USES.items()}
        found = {name: spec for name, spec in by_use.items() if spec is not None}
        asked = ranked_metrics(self.result)
        if not asked:
            return found
        return {name: spec for name, spec in found.items() if spec in asked} or {spec.name: spec for spec in asked}


def order_sentences(result: CrossEvaluation) -> list[str]:
    """By which metric the models are ranked and why, and whether the thresholds in force give another order."""
    runs = RunNumbers(result)
    leading, beside = runs.leading, runs.beside
    name = metric_phrase(leading)
    if beside is None:
        why = ", which gives the classes equal weight at any prevalence" if leading.metric.name == "ac_score" else ""
        return [f"Ranked by {name}{why}."]
    with_scores, with_labels = (leading, beside) if leading.metric.scores is not None else (beside, leading)
    orders = [[str(row.model) for row in result.ranking(spec)] for spec in (with_scores, with_labels)]
    scores, labels = (spec.metric.phrase for spec in (with_scores, with_labels))
    ranked = f"Ranked by {name}{', which needs no threshold' if leading is with_scores else ''}"
    if orders[0] == orders[1]:
        other = labels if leading is with_scores else scores
        return [f"{ranked}; {other} gives the same order."]
    first = [order[0] for order in orders]
    places = f"{scores} and {labels} put {first[0]} first, and others in other places"
    if first[0] != first[1]:
        places = f"{scores} puts {first[0]} first, {labels} {first[1]}"
    return [
        f"{ranked}.",
        f"The orders differ: {places}. That difference is the threshold's, which best_threshold moves.",
    ]


def run_statements(result: CrossEvaluation) -> list[Statement]:
    """What the models do with the rows in the mean of the runs, the number of the use, and which to choose."""
    if len(result.models) < 2:
        return []
    runs = RunNumbers(result)
    decisive = {}
    for name, spec in runs.asked().items():
        rows = _differences(result, spec)
        if any(np.isfinite(row.difference) for row in rows):
            decisive[name] = rows
    first = next(iter(result.models.values()))
    data = first.data
    if data.positive is None or data.are_label_sets:
        size = Size(len(data.codes), "rows")
    else:
        size = Size(int((data.codes == data.labels.index(data.positive)).sum()), "positives")
    use = None if runs.use is None else runs.use.name
    outcomes = Rows(
        each for each in _outcomes(result, runs, size) if all(math.isfinite(model.found) for model in each.models)
    )
    no_skill = {name: _no_skill(result, rows[0].spec) for name, rows in decisive.items()}
    return Verdict([*result.models], outcomes, decisive, use, first.level, size, no_skill).statements()


def _no_skill(result: CrossEvaluation, spec: MetricSpec) -> list[str]:
    """The models whose interval of the mean reaches their no-skill baseline."""
    rows = {name: model.summarised(spec) for name, model in result.models.items()}
    bounds = {name: (row.low, row.high, math.nan if row.chance is None else row.chance) for name, row in rows.items()}
    return [name for name, each in bounds.items() if reaches_no_skill(spec, *each)]


def _differences(result: CrossEvaluation, spec: MetricSpec) -> Rows[Difference]:
    """The mean differences of all pairs over the runs, with Holm's p-values."""
    rows: Rows[Difference] = Rows()
    values = {name: model.values(spec) for name, model in result.models.items()}
    for row in result.differences(spec):
        both = np.isfinite(values[row.a]) & np.isfinite(values[row.b])
        mean_a, mean_b = (_mean(values[name][both]) for name in (row.a, row.b))
        numbers = (mean_a, mean_b, row.difference, row.low, row.high, row.p_value, row.p_holm, "corrected t")
        rows.append(Difference(row.a, row.b, spec, *numbers, why=row.why))
    return rows


def _outcomes(result: CrossEvaluation, runs: RunNumbers, size: Size) -> Rows[Outcomes]:
    """What is found and missed, and the false alarms, in the mean of the runs; nothing of label sets."""
    data, number = result.runs[0].data, len(next(iter(result.models.values())).runs)
    if data.are_label_sets:
        return Rows()
    n = len(data.codes)
    if data.positive is None:
        of = float(min(n, FEW_ROWS))
        right = {name: model.values("accuracy") for name, model in result.models.items()}
        means = {name: of * _mean(values) for name, values in right.items()}
        models = Rows(ModelOutcome(name, mean, of - mean, math.nan) for name, mean in means.items())
        return Rows([Outcomes(OF_CLASSES, of, math.nan, models, _tests(result, right, RIGHT, of, size), runs=number)])
    prevalence = float((data.codes == data.labels.index(data.positive)).mean())
    of = float(denominator(prevalence, n))
    positives = prevalence * of
    if runs.numbers.ranks:
        found = {
            name: np.array([math.nan if run.scores is None else found_at(run.scores, None) for run in model.runs])
            for name, model in result.models.items()
        }
        means = {name: positives * _mean(values) for name, values in found.items()}
        models = Rows(ModelOutcome(name, mean, positives - mean, positives - mean) for name, mean in means.items())
        tests = _tests(result, found, FOUND, positives, size)
        return Rows([Outcomes(AT_CAPACITY, of, positives, models, tests, positives, runs=number)])
    recall, specificity = (
        {name: model.values(metric) for name, model in result.models.items()} for metric in ("recall", "specificity")
    )
    models = Rows()
    for name in result.models:
        found_of, false = positives * _mean(recall[name]), 1 - _mean(specificity[name])
        models.append(ModelOutcome(name, found_of, positives - found_of, (of - positives) * false))
    alarms = {name: 1 - values for name, values in specificity.items()}
    tests = adjusted(
        [
            *_tests(result, recall, FOUND, positives, size),
            *_tests(result, alarms, FALSE_ALARMS, of - positives, Size(n - size.number, "negatives")),
        ]
    )
    return Rows([Outcomes(OF_LABELS, of, positives, models, tests, runs=number)])


def _mean(values: Array) -> float:
    """The mean over the runs that have a value."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


def _tests(
    result: CrossEvaluation, values: Mapping[str, Array], what: str, scale: float, size: Size
) -> Rows[OutcomeDifference]:
    """The differences of all pairs in rows, by Nadeau and Bengio's corrected t-test."""
    first, tests = next(iter(result.models.values())), []
    train, test = np.mean([run.part.sizes for run in first.runs], axis=0).tolist()
    for a, b in combinations(values, 2):
        changes = value_change(values[a], values[b])
        finite = changes[np.isfinite(changes)]
        nan = math.nan
        if len(finite) < 2 or np.ptp(finite) == 0:  # which shows no spread
            tests.append(OutcomeDifference(a, b, what, scale * _mean(finite), nan, nan, nan, nan, nan))
            continue
        t = corrected_t_test(finite, n_train=train, n_test=test, level=first.level)
        numbers = (scale * t.difference, scale * t.low, scale * t.high)
        needed = rows_that_tell(t.difference, t.high - t.low, size.number, first.level)
        tests.append(OutcomeDifference(a, b, what, *numbers, t.p_value, t.p_value, needed))
    return adjusted(tests)
