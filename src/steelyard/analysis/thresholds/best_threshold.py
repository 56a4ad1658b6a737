"""The best threshold of a metric, how near others come, what limits it keeps and what it is worth on new rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack, overload

from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.prevalence.estimated_prevalence import stated_prevalence
from steelyard.analysis.thresholds.label_thresholds import (
    best_label_thresholds,
    refuse_with_label_sets,
)
from steelyard.analysis.thresholds.planned_scores import planned_scores
from steelyard.analysis.thresholds.row_costs import costs_by_row, limits_with_costs
from steelyard.analysis.thresholds.threshold_criterion import Criterion, read_aim
from steelyard.analysis.thresholds.threshold_limits import read_limits
from steelyard.analysis.thresholds.threshold_rows import ThresholdRows
from steelyard.analysis.thresholds.threshold_search import Search
from steelyard.arguments import names_wrong_arguments
from steelyard.exceptions import InputError, InputTypeError
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.label_set_input import LabelSetInput
from steelyard.ingest.refused_keywords import naming_misspelled, refuse_keywords, refuses_other_keywords
from steelyard.ingest.source import names_class_columns
from steelyard.metrics.call_options import CallOptions, MetricParameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng, Weights
    from steelyard.analysis.intervals.planned_rows import SamplingDesign
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.best_threshold_result import BestThreshold
    from steelyard.analysis.thresholds.label_thresholds_result import LabelThresholds
    from steelyard.analysis.thresholds.row_costs import CostsLike
    from steelyard.analysis.thresholds.threshold_criterion import AimLike
    from steelyard.analysis.thresholds.threshold_limits import LimitsLike
    from steelyard.ingest.source import Source
    from steelyard.statistics.multilabel_table import MultilabelTable
    from steelyard.statistics.score_table import ScoreTable
    from steelyard.statistics.tally import Tally


class SearchOptions(MetricParameters, total=False):
    """What a search for a threshold takes beside the scores and the metric."""

    where: LimitsLike | None
    confidence: float | None
    cost: CostsLike | None
    prevalence: PrevalenceLike | None
    both_directions: bool
    tolerance: float
    resamples: int
    level: float
    rng: Rng


@overload
def best_threshold(
    y_true: MultilabelTable,
    y_score: None = None,
    metric: AimLike | None = None,
    *,
    cluster: ArrayLike | None = None,
    resamples: int = 200,
    level: float = 0.95,
    rng: Rng = None,
    **parameters: Unpack[MetricParameters],
) -> LabelThresholds: ...
@overload
def best_threshold(
    y_true: ScoreTable | Tally | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    metric: AimLike | None = None,
    *,
    where: LimitsLike | None = None,
    confidence: float | None = None,
    cost: CostsLike | None = None,
    prevalence: PrevalenceLike | None = None,
    cluster: ArrayLike | str | None = None,
    design: SamplingDesign | None = None,
    both_directions: bool = False,
    tolerance: float = 0.01,
    resamples: int = 200,
    level: float = 0.95,
    rng: Rng = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    **parameters: Unpack[MetricParameters],
) -> BestThreshold: ...
@names_wrong_arguments
def best_threshold(
    y_true: ScoreTable | MultilabelTable | Tally | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    metric: AimLike | None = None,
    *,
    where: LimitsLike | None = None,
    confidence: float | None = None,
    cost: CostsLike | None = None,
    prevalence: PrevalenceLike | None = None,
    cluster: ArrayLike | str | None = None,
    design: SamplingDesign | None = None,
    both_directions: bool = False,
    tolerance: float = 0.01,
    resamples: int = 200,
    level: float = 0.95,
    rng: Rng = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    **parameters: Unpack[MetricParameters],
) -> BestThreshold | LabelThresholds:
    """The threshold at which a metric is best, over every set of highest scores, the smallest of equally good sets.

    It lies half-way between the lowest flagged score, `observed`, and the highest that is not, so that scores which
    rounding or a refit moves a little stay on their side. Nobody is infinity; everybody is 0 for probabilities, else
    minus infinity.

    Of a frame name the columns: true, score, weight. The metric is a name, a Metric, a function of tp, fn, fp, tn (more
    is better), a list of them (their mean), or a 2 x 2 matrix of costs with rows true; by default the AC-score. `cost`
    says what errors cost instead: {"cost_fn": 10, "cost_fp": 1}, with "cost_tp", "cost_tn" and their "benefit_tp" and
    "benefit_tn"; each is a number, or differs by row: an array, or the name of a column of a frame, or of a tally that
    was counted with `cost=` of that column.

    `where` sets limits, such as "specificity >= 0.99" or "alerts <= 200 of 10000" (rows a day). With `confidence` the
    threshold keeps all of them on new rows with that probability; without it the result says how likely each holds.
    `prevalence` is that of the rows to come, a number or a Prevalence; `cluster` names the cluster of each row.
    `design` is the plan of `label_plan` by which rows were labelled.

    Low scores are tried as positive only with `both_directions`; then the threshold that flags fewest is taken of equal
    ones, and the usual direction first. The plateau reaches as far as the value is within `tolerance`. `resamples` of
    the rows give the interval of the threshold and, on the rows that each leaves out, the value to expect on new ones;
    0 leaves both out.

    Of rows that may have several labels each, with a column of scores for each label, the answer is a threshold for
    each label, `LabelThresholds`: those at which a metric averaged over labels, such as "f1[average=macro]" or
    "f1[average=micro]", is best; the value to expect on new rows is that of rows by which they were not chosen. Of a
    frame they are named by patterns: true="y_*", score="s_*".

    >>> best_threshold([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], resamples=0)
    ac_score 0.800 where score >= 0.450
    >>> best = best_threshold([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], cost={"cost_fn": 10}, resamples=0)
    >>> best.threshold, best.observed
    (0.25, 0.3)
    """
    refuse_keywords("best_threshold", parameters, ("by", "zero_division"))
    columns = FrameColumns(true, None, score, weight)
    sets = LabelSetInput(y_true, None, y_score, columns, labels, sample_weight, frequency, None, cluster)
    if sets.are_sets:
        given = {"where": where, "confidence": confidence, "cost": cost, "prevalence": prevalence}
        refuse_with_label_sets(**given, pos_label=pos_label, both_directions=both_directions or None)
        table, cluster = (read := sets.read()).data, read.cluster
        return best_label_thresholds(
            table, metric, {**parameters}, resamples=resamples, level=level, rng=generator(rng), cluster=cluster
        )
    _refuse_two(y_score, score, cost, metric)
    costs = metric if isinstance(metric, Mapping) else cost
    by_row = costs is not None and costs_by_row(costs)
    with naming_misspelled(best_threshold, parameters):
        aim = read_aim(metric if costs is None else None if by_row else costs, {**parameters})  # type: ignore[arg-type]  # numbers
    limits = read_limits(where) if costs is None else limits_with_costs(where, None if by_row else aim)
    options = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    at = stated_prevalence(prevalence)
    rows = ThresholdRows(y_true, y_score, options, columns, cluster, at)  # type: ignore[arg-type]  # of one label
    rows = rows.as_arrays() if design is None else planned_scores(design, rows, confidence)
    sample, cost_aim = rows.sample(both_directions, costs if by_row else None)
    aim = aim if cost_aim is None else cost_aim
    search = Search(Criterion(aim, limits, both_directions), aim, tolerance, level, confidence)
    best = search.best(sample, resamples, generator(rng))
    return replace(best, assumed=rows.assumed(best.positive))


def _refuse_two(y_score: ArrayLike | None, score: str | None, cost: object, metric: object) -> None:
    """Refuse two answers to what is best, and the scores of several classes, which have no one threshold."""
    if cost is not None and metric is not None:
        raise InputTypeError("metric= and cost= both say what is best; give one of them.")
    shape: tuple[int, ...] = getattr(y_score, "shape", ())
    if names_class_columns(score) or (len(shape) == 2 and shape[1] > 2):
        raise InputError(
            "A threshold is of one column of scores, and these are of several classes: best_decision finds a threshold "
            "for each class; or give the column of the positive class, such as y_score[:, 1]."
        )


@refuses_other_keywords
def roc_then_tpnr(
    y_true: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    resamples: int = 200,
    level: float = 0.95,
    rng: Rng = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> BestThreshold:
    """The TPNR at the threshold where the ROC curve is farthest above its diagonal, as Asawa advises.

    The arguments are those of best_threshold; the plateau is that of informedness, by which the threshold is chosen.

    >>> roc_then_tpnr([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], resamples=0)
    tpnr 0.667 where score >= 0.450
    """
    options = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    rows = ThresholdRows(y_true, y_score, options, FrameColumns(true, None, score, weight))
    search = Search(Criterion(read_aim("informedness", {})), read_aim("tpnr", {}), level=level)
    best = search.best(rows.sample(both=False, costs=None)[0], resamples, generator(rng))
    return replace(best, assumed=rows.assumed(best.positive))
