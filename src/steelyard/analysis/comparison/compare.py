"""Compare: whether models differ on the same rows, by labels, by a table of two models, or by scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.comparison import column_models, model_columns
from steelyard.analysis.comparison.column_question import compared_columns
from steelyard.analysis.comparison.label_set_comparison import LabelSetModels, compared_label_sets
from steelyard.analysis.comparison.model_question import Question
from steelyard.analysis.intervals.inference import Inference
from steelyard.exceptions import InputError
from steelyard.ingest import label_codes
from steelyard.ingest.label_tables import match_label
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.call_options import NATIVE, CallOptions
from steelyard.metrics.spec import MetricSpec
from steelyard.statistics.paired import Paired

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng, Weights
    from steelyard.analysis.comparison.column_models import ColumnModels
    from steelyard.analysis.comparison.comparison import Comparison
    from steelyard.analysis.comparison.model_columns import ComparedModels, Thresholds
    from steelyard.analysis.comparison.unpaired_comparison import ModelTable
    from steelyard.ingest.source import Source
    from steelyard.metrics.spec import SpecLike


@refuses_other_keywords
def compare(
    y_true: ArrayLike | Frame | Source | Paired | Mapping[str, ModelTable],
    models: ComparedModels = None,
    *,
    scores: bool = False,
    threshold: Thresholds = None,
    metrics: Iterable[SpecLike] | None = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Rng = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    average: str | None = NATIVE,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    margin: float | None = None,
    true: str | None = None,
    pred: ComparedModels = None,
    score: ComparedModels = None,
    weight: str | None = None,
    cluster: ArrayLike | str | None = None,
    label_sep: str | None = None,
) -> Comparison:
    """Whether models differ: every metric's difference with its interval and tests, of all pairs of models.

    `models` are named columns of predicted labels, or with scores=True of scores of the positive class, of which
    `threshold` (a number, or one per model) makes labels; or of scores of all classes, a column for each (n x K).
    Or give a Paired table alone, or a frame and the names of its columns: true, and those of the models with pred
    or score, as a list (or by name); score may name a column for each class, by patterns such as ["a_*", "b_*"].
    `sample_weight` (of a frame weight) gives sample weights, `cluster` the cluster of each row, such as the
    patient, and `frequency` frequency weights, where labels are compared. Of yes/no and the like the positive class
    is taken by convention and stated in `assumed`. Models of different rows are given by name alone, as evaluations
    or tables: compare({"old": ..., "new": ...}); they are taken as independent, and read at the prevalence and the
    design that all were evaluated with. Where rows may have several labels each, a model is a matrix with a column
    for each label, lists of labels, or of a frame a pattern, as the truth is: true="y_*", or columns of text that
    `label_sep` divides.

    The intervals of labels draw truth x A x B from the posterior with 1/2 row in each cell, or whole clusters. A
    p-value is the larger of that posterior's and of the mid-p of swapping the models' predictions at random; where few
    rows disagree it is conservative, and the interval holds 0 where the test does not reject it. Metrics of scores are
    tested by Student's t on the influence of each row or cluster, which is DeLong's test of roc_auc; those without
    influence by a Bayesian bootstrap. `p_holm` holds for all rows of the result together. Of more than two models the
    `simultaneous` intervals hold for all pairs by a metric, and `omnibus` tests whether all are equal. `margin` asks
    whether each model is not worse than the next by more.

    >>> compare([0] * 90 + [1] * 10, {"A": [0] * 85 + [1] * 14 + [0], "B": [0] * 98 + [1] * 2}, metrics=["recall"])
    A against B on the same 100 rows: differences with 95 % intervals
    metric      A      B  difference    low   high  p_value  p_holm
    recall  0.900  0.200       0.700  0.132  0.883   0.0215  0.0215
    McNemar: A alone is right in 8 rows, B alone in 6; p = 0.607 (mid-p), 0.791 (exact)
    """
    inference = Inference(level, draws=draws, rng=rng)
    models, scores = model_columns.named_models(models, scores, true, pred, score)
    options = CallOptions(pos_label, labels, average)
    if average is None:
        raise InputError("compare takes one value per metric: name a class with pos_label=, or average='macro'.")
    specs = None if metrics is None else tuple(MetricSpec.all_of(metrics))
    question = Question(specs, options, inference, _checked_margin(margin))
    rows = model_columns.RowColumns(frequency, sample_weight if weight is None else weight, cluster)
    if (counted := _of_counted(question, y_true, models, rows)) is not None:
        return counted
    sets = LabelSetModels(y_true, models, true, scores, rows, labels, threshold, label_sep)
    if sets.are_sets:
        return compared_label_sets(question, sets)
    if scores and frequency is not None:
        raise InputError("Scores are compared row by row, each row once; leave frequency= out.")
    if column_models.are_columns(models, scores=scores, frame=true is not None):
        return compared_columns(question, _class_columns(y_true, true, models, rows, labels), threshold)  # type: ignore[arg-type]  # a frame, or arrays
    if true is None:
        columns = model_columns.of_arrays(y_true, models, rows)  # type: ignore[arg-type]  # no frame without true=
    else:
        columns = model_columns.of_frame(y_true, true, models, rows, scores=scores)  # type: ignore[arg-type]  # a frame, with true=
        present = label_codes.distinct(columns.truth, f"The column {true!r}")[1]
        question = replace(question, options=replace(options, pos_label=match_label(pos_label, present)))
    return question.of_scores(columns, threshold) if scores else question.of_labels(columns, threshold)


def _of_counted(
    question: Question, data: object, models: ComparedModels, rows: model_columns.RowColumns
) -> Comparison | None:
    """The comparison of a paired table, or of models of different rows; None where rows are given."""
    if isinstance(data, Paired):
        rows.refuse("A paired table holds counted rows")
        return question.of_table(data, models)
    if isinstance(data, Mapping) and models is None:
        rows.refuse("Models of different rows are counted already")
        return question.of_models(data)
    return None


def _class_columns(
    data: Frame | Source | ArrayLike,
    true: str | None,
    models: ComparedModels,
    rows: model_columns.RowColumns,
    labels: LabelSet | None,
) -> ColumnModels:
    """The models of a column of scores for each class."""
    if rows.frequency is not None:
        raise InputError("Scores are compared row by row, each row once; leave frequency= out.")
    if true is None:
        return column_models.columns_of_arrays(data, models, rows, labels)  # type: ignore[arg-type]  # arrays
    return column_models.columns_of_frame(data, true, models, rows, labels)  # type: ignore[arg-type]  # a frame


def _checked_margin(margin: float | None) -> float | None:
    """The margin of non-inferiority: a number above 0."""
    if margin is None:
        return None
    if isinstance(margin, bool) or not isinstance(margin, (int, float, np.number)) or not 0 < margin < math.inf:
        raise InputError(f"margin= is how much worse a model may be, a number above 0 such as 0.02, not {margin!r}.")
    return float(margin)
