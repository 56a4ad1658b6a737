"""Calibration: whether predicted probabilities agree with the shares of positives that are observed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.calibration.reliability_curve import CurveView
from steelyard.analysis.calibration.table_calibration import columns_calibration, table_calibration
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.interval_rows import IntervalRows
from steelyard.exceptions import InputError
from steelyard.ingest.array_groups import grouped_tally
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.frame_tables import given_scores
from steelyard.metrics.ranking import missing
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Frame, Label, LabelSet, Rng, Weights
    from steelyard.analysis.calibration.calibration_result import Calibration
    from steelyard.analysis.prevalence.estimated_prevalence import PrevalenceLike
    from steelyard.ingest.array_groups import By
    from steelyard.ingest.source import Source
    from steelyard.statistics.score_table import ScoreTable


@refuses_other_keywords
def calibration(
    y_true: ScoreTable | Tally | Frame | Source | ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    strategy: str = "isotonic",
    bins: int = 10,
    level: float = 0.95,
    prevalence: PrevalenceLike | None = None,
    rng: Rng = None,
    by: By | None = None,
    cluster: ArrayLike | str | None = None,
    pos_label: Label = None,
    labels: LabelSet | None = None,
    sample_weight: Weights = None,
    frequency: Weights | str = None,
    true: str | None = None,
    score: str | None = None,
    weight: str | None = None,
) -> Calibration:
    """Whether probabilities agree with outcomes: slope, intercept, curve, parts of the Brier score, and what to do.

    The curve is isotonic, or binned where `strategy` is "uniform" (equal width) or "quantile" (equal mass), with so
    many `bins`; its band holds the whole curve of a calibrated model at the level. `prevalence` reads all of it where
    that share of the rows is positive. Rows of one `cluster` are not independent; `by` reports groups as well. Of a
    column of probabilities for each class, `pos_label` names one against the rest; without it all columns are judged
    together and each class in `groups`. Other options as in roc_curve.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> logits = rng.normal(-2, 2, 2000)
    >>> y_true = rng.random(2000) < 1 / (1 + np.exp(1 - 0.5 * logits))
    >>> found = calibration(y_true, 1 / (1 + np.exp(-logits)))
    >>> print(found.verdict[0].partition(",")[0])
    Overconfident: the calibration slope is 0.5...
    """
    view = CurveView(strategy, bins)
    tally, y_true = (y_true, _scores_of(y_true)) if isinstance(y_true, Tally) else (None, y_true)
    columns = FrameColumns(true, None, score, weight)
    call = CallOptions(pos_label, labels, sample_weight=sample_weight, frequency=frequency)
    if y_score is not None and np.ndim(y_score) == 2:
        if by is not None:
            raise InputError("by= takes the probabilities of one class; give its column alone and pos_label=.")
        inference = Inference(level, rng=rng, prevalence=prevalence)
        return columns_calibration(y_true, y_score, call, cluster, inference, view)  # type: ignore[arg-type]  # rows
    rows = IntervalRows(y_true, None, y_score, cluster, columns, call).brought()
    inference = Inference(level, rng=rng, prevalence=prevalence, clustered=rows.clustered())
    table = given_scores(rows.y_true, rows.y_score, rows.call, rows.columns)  # type: ignore[arg-type]  # scores
    whole = table_calibration(table, inference, view)
    if by is not None and cluster is not None:
        raise InputError("by= and cluster= cannot be given together; give calibration the rows of one group.")
    tally = _grouped(y_true, y_score, columns, call, by) if by is not None else tally
    if tally is None:
        return whole
    named = {_name(tally, key): _scores_of(part) for key, part in tally.groups.items()}
    both = {name: part for name, part in named.items() if missing(part) is None}
    return replace(whole, groups={name: table_calibration(part, inference, view) for name, part in both.items()})


def _scores_of(tally: Tally) -> ScoreTable:
    if tally.scores is None:
        raise InputError("This tally holds no scores, which calibration is about; count them with score=.")
    return tally.scores


def _grouped(
    y_true: ScoreTable | Frame | Source | ArrayLike,
    y_score: ArrayLike | None,
    columns: FrameColumns,
    call: CallOptions,
    by: By,
) -> Tally:
    """The scores of each group, of a frame or of arrays."""
    if columns.true is not None:
        names = {"labels": call.labels, "frequency": call.frequency}
        return columns.tally(y_true, by=by, pos_label=call.pos_label, **names)  # type: ignore[arg-type]  # a frame
    weights = {"sample_weight": call.sample_weight, "frequency": call.frequency}
    return grouped_tally(y_true, None, y_score, by, pos_label=call.pos_label, labels=call.labels, **weights)  # type: ignore[arg-type]  # rows


def _name(tally: Tally, key: Sequence[Label]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in zip(tally.by, key, strict=True))
