"""Own correlation: how metrics correlate over distortions of the user's own scores, or over the user's own models.

García's study (section 3.1) with the user's scores in place of the list of true probabilities that the paper made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.distributions import student_quantile
from steelyard.auditing.correlation import (
    CorrelationStudy,
    check_distortions,
    chosen_with_rates,
    collection_of,
    correlated,
    generators,
    read_shares,
    widths_of,
)
from steelyard.auditing.model_tables import (
    counts_at_half,
    counts_of_predictions,
    metric_values,
    scores_of_models,
    stated_positive,
)
from steelyard.exceptions import InputError, InputTypeError, TooFewRowsError
from steelyard.ingest.refused_keywords import refuses_other_keywords
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Label, Rng
    from steelyard.auditing.model_tables import CountsByModel, ScoresByModel
    from steelyard.metrics.metric import Metric
    from steelyard.metrics.registry import MetricLike
    from steelyard.statistics.score_table import ScoreTable

_FEWEST_MODELS = 4  # two always correlate at 1 or -1, and three do when one is left out
_MOST_ROWS = 20_000  # of which 130 distortions take some 40 MB; of more so many are drawn


@refuses_other_keywords
def metric_correlation(
    y_true: ArrayLike,
    y_score: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    y_pred: Mapping[str, ArrayLike] | None = None,
    metrics: Iterable[MetricLike] | None = None,
    positives: float | Sequence[float] | None = None,
    total_range: float = 0.6,
    steps: int = 13,
    tuples: int = 10,
    threshold: float | str = 0.5,
    seeds: int = 20,
    rng: Rng = None,
    pos_label: Label = None,
) -> CorrelationStudy:
    """How metrics correlate with recall, specificity and one another, on the user's own scores (García 3.1).

    One column of probabilities is distorted as in correlation_study, each class by its share of `total_range`, over
    `seeds`; `positives` are shares of positives at which rows are drawn from it, by default its own. Several columns by
    name, of scores (`y_score`) or of labels (`y_pred`), are taken as they are: the correlations are over the models,
    four or more, and `left_out` holds them with each model left out. Metrics of scores, such as roc_auc, need scores.

    >>> import numpy as np
    >>> y = np.repeat([0, 1], [900, 100])
    >>> score = np.clip(np.random.default_rng(0).normal(0.3 + 0.4 * y, 0.15), 0, 1)
    >>> study = metric_correlation(y, score, metrics=["accuracy", "g_mean"], seeds=3)
    >>> for row in study.rows()[2:]:
    ...     print(row.metric, round(row.recall, 1), round(row.specificity, 1))
    accuracy -0.9 1.0
    g_mean 0.2 0.2
    """
    check_distortions(total_range, threshold, steps=(steps, 2), tuples=(tuples, 2), seeds=(seeds, 1))
    chosen = chosen_with_rates(metrics)
    if y_pred is None and y_score is None:
        raise InputTypeError("Give y_score, the scores of one model or {model: scores}, or y_pred={model: labels}.")
    models = _column_names(y_score if y_pred is None else y_pred)
    positive, remarks = stated_positive(y_true, pos_label)
    if len(models) > 1:
        if positives is not None:
            raise InputError("positives= draws rows of one model's scores to distort; leave it out of several models.")
        return replace(_over_models(y_true, y_score, y_pred, chosen, positive), remarks=remarks)
    if y_pred is not None or y_score is None:
        raise InputError("Labels of one model cannot be distorted; give its probabilities as y_score, or more models.")
    ((_, table),) = scores_of_models(y_true, y_score, positive).items()
    design = {"total_range": total_range, "steps": steps, "tuples": tuples, "threshold": threshold, "seeds": seeds}
    return replace(_over_distortions(table, chosen, positives, design, rng), remarks=remarks)


def _column_names(columns: Any) -> list[str]:
    return list(map(str, columns)) if isinstance(columns, Mapping) else [""]


# ---------------------------------------------------------------- one model, distorted


def _over_distortions(
    table: ScoreTable,
    chosen: tuple[Metric, ...],
    positives: float | Sequence[float] | None,
    design: dict[str, Any],
    rng: Rng,
) -> CorrelationStudy:
    _refuse_scores(chosen, "Distorted scores are read at one threshold")
    negative, positive = _class_scores(table)
    shares = (len(positive) / (len(negative) + len(positive)),) if positives is None else read_shares(positives)
    sizes = [_drawn_rows(share, len(negative), len(positive)) for share in shares]
    widths = widths_of(design["total_range"], design["steps"])
    tables = [
        [
            collection_of(
                _sorted_draw(negative, n, seeded),
                _sorted_draw(positive, p, seeded),
                widths,
                design["tuples"],
                design["threshold"],
                seeded,
            )
            for n, p in sizes
        ]
        for seeded in generators(design["seeds"], rng)
    ]
    counts = Counts.stack(Counts.stack(levels) for levels in tables)
    rows = [n + p for n, p in sizes]
    return correlated(chosen, shares, counts, metric_values(chosen, counts), design | {"n": max(rows), "own": "scores"})


def _class_scores(table: ScoreTable) -> tuple[Array, Array]:
    """The scores of the negatives and of the positives, one for each row."""
    if not table.has_probabilities:
        raise InputError(
            "Scores outside 0 to 1 have no share of a range to be distorted by; give probabilities (a Recalibrator "
            "makes them of scores), or several models, which are not distorted."
        )
    sides = (table.negative, table.positive)
    if any(side.total < 1 for side in sides):
        raise TooFewRowsError("y_true holds one class only; give rows of both.")
    negative, positive = (np.repeat(side.scores, side.rows) for side in sides)
    return negative, positive


def _drawn_rows(share: float, negatives: int, positives: int) -> tuple[int, int]:
    """How many rows of each class are drawn for a share of positives: as many as there are for it."""
    if not 0 < share < 1:
        raise InputError(f"positives are shares of the rows above 0 and below 1, not {share:g}.")
    total = min(positives / share, negatives / (1 - share), _MOST_ROWS)
    p = round(share * total)
    n = round(total) - p
    if min(n, p) < 2:
        raise TooFewRowsError(
            f"With {100 * share:g} % positives the {positives:,} positives and {negatives:,} negatives give "
            f"{p} positives and {n} negatives; 2 or more of each are needed, so give more rows or another share."
        )
    return n, p


def _sorted_draw(scores: Array, rows: int, rng: np.random.Generator) -> Array:
    """So many of the scores, none twice; all of them where that is asked."""
    return scores if rows >= len(scores) else rng.choice(scores, rows, replace=False)


# ---------------------------------------------------------------- several models, as they are


def _over_models(
    y_true: ArrayLike, y_score: Any, y_pred: Any, chosen: tuple[Metric, ...], pos_label: Label
) -> CorrelationStudy:
    scores: ScoresByModel = {} if y_score is None else scores_of_models(y_true, y_score, pos_label)
    tables = counts_at_half(scores) if y_pred is None else counts_of_predictions(y_true, y_pred, pos_label)
    if not tables:
        raise InputError("Scores outside 0 to 1 have no usual threshold; give the labels as y_pred={model: labels}.")
    _check_models(tables, scores, chosen)
    counts = Counts.stack(tables.values())
    columns = [
        np.asarray(m(counts)) if m.function else np.array([float(m(scores[name])) for name in tables]) for m in chosen
    ]
    values = np.stack(columns, -1)[None, None, None]  # as by seed, imbalance, distortion and tuple
    share = float(np.mean(counts.positives / counts.total))
    choices = {"models": list(tables), "n": int(np.max(counts.total)), "own": "models"}
    whole = Counts(*(np.asarray(cell)[None, None, None] for cell in counts))
    return correlated(chosen, (share,), whole, values, choices, leave_out=True)


def _check_models(tables: CountsByModel, scores: ScoresByModel, chosen: tuple[Metric, ...]) -> None:
    if len(tables) < _FEWEST_MODELS:
        raise InputError(
            f"{len(tables)} models are too few to correlate metrics over; give {_FEWEST_MODELS} or more, or the "
            "probabilities of one to distort."
        )
    if set(scores) != set(tables):
        _refuse_scores(chosen, "There are labels and no scores of every model")


def _refuse_scores(chosen: tuple[Metric, ...], why: str) -> None:
    of_scores = [metric.name for metric in chosen if metric.function is None]
    if of_scores:
        raise InputError(f"{why}, and {of_scores[0]} reads the order of scores; leave it out.")


def by_chance(models: int) -> float:
    """How large a correlation of unrelated metrics gets over so many models in 1 of 20 cases (Student's t).

    >>> round(by_chance(5), 3)
    0.878
    """
    t = float(student_quantile(0.975, models - 2))
    return t / float(np.sqrt(models - 2 + t * t))
