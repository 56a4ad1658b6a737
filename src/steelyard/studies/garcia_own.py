"""García's experiment on a table of one's own: metrics over distortions of own scores, or over own models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.results.formatting import listed, number_of
from steelyard.auditing.correlation import NO_CONCLUSION, RATES
from steelyard.auditing.laws import CHANGED_CELLS
from steelyard.auditing.own_correlation import by_chance, metric_correlation
from steelyard.auditing.properties import MORE, invariance
from steelyard.exceptions import InputError
from steelyard.ingest.array_tables import confusion
from steelyard.metrics.registry import metrics_with_role
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.studies.claims import signed
from steelyard.studies.garcia import GARCIA_NAMES, GARCIA_STUDY
from steelyard.studies.garcia_own_models import OwnModels, own_models, read_threshold
from steelyard.studies.garcia_tables import matrix_rows
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.pictures import Picture
from steelyard.studies.study import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.auditing.correlation import Correlation, CorrelationStudy
    from steelyard.studies.claims import TableRow
    from steelyard.studies.declared_study import RunPlan

_SEEDS, _QUICK_SEEDS = 20, 5
_SHORTS = {name: short for short, name in GARCIA_NAMES.items()}


@GARCIA_STUDY.own_data
def _own(
    table: OwnTable,
    plan: RunPlan,
    *,
    positives: Sequence[str] | None = None,
    threshold: str | None = None,
    metrics: Sequence[str] | None = None,
    repeats: int | None = None,
) -> OwnFindings:
    y, seed = table.two_class_y, plan.seeds(1)[0]
    plan.progress("predictions")
    models = own_models(table, y, read_threshold(threshold), seed)
    plan.progress("correlations of the metrics")
    seeds = plan.times(repeats, _SEEDS, _QUICK_SEEDS)
    study = _study(models, y, metrics, positives=_shares(positives), seeds=seeds, rng=seed)
    first = next(iter(models.flagged))
    return OwnFindings(
        _summary(study),
        [_correlations(study), _invariances(study, y, first, models.flagged[first]), *_others(study)],
        [Picture(name, display, width=4.4) for name, display in _heat_maps(study).items()],
        {"predictions": models.source, "threshold": models.threshold, **_choices(study)},
    )


def _study(models: OwnModels, y: Array, metrics: Sequence[str] | None, **options: Any) -> CorrelationStudy:
    """The correlations of the metrics named, or of García's; over several models with scores those of their order."""
    names = [*GARCIA_NAMES.values()] if metrics is None else [*metrics]
    if len(models.flagged) > 1:
        if metrics is None and models.scores:
            names += [metric.name for metric in metrics_with_role("order of scores")]
        return metric_correlation(y, models.scores or None, y_pred=models.flagged, metrics=names, **options)
    if not models.scores:
        name = next(iter(models.flagged))
        raise InputError(f"{name} gives labels alone, which cannot be distorted; give probabilities, or more models.")
    (score,) = models.scores.values()
    return metric_correlation(y, score, metrics=names, threshold=models.threshold, **options)


def _shares(texts: Sequence[str] | None) -> list[float] | None:
    try:
        return None if texts is None else [float(text) for text in texts]
    except ValueError:
        raise InputError(
            f"The shares of positives are numbers such as 0.05,0.1, not {','.join(map(str, texts or []))!r}."
        ) from None


def _choices(study: CorrelationStudy) -> dict[str, Any]:
    shares = ", ".join(map(_percent, study.positives))
    if "models" in study.choices:
        return {"observations": f"{len(study.choices['models'])} models", "share of positives": shares}
    steps, tuples = study.choices["steps"], study.choices["tuples"]
    return {
        "share of positives": shares,
        "distortions": f"{steps} shares of a range of {study.choices['total_range']} between the classes, {tuples} "
        "times each, every score moved evenly within its range and kept between 0 and 1",
        "seeds": study.choices["seeds"],
    }


# ---------------------------------------------------------------- words


def _summary(study: CorrelationStudy) -> list[str]:
    rows = [row for row in study.rows()[: len(study.names)] if row.metric not in RATES]  # at the first share
    return [_leaning(study, rows), *_caveats(study), *_conclusions(study)]


def _leaning(study: CorrelationStudy, rows: list[Correlation]) -> str:
    if "models" in study.choices:
        k = len(study.choices["models"])
        sides = [[_short(row.metric) for row in rows if getattr(row, rate) > by_chance(k)] for rate in RATES]
        return (
            f"Over {k} models {_several(sides[0], 'follow')} recall and {_several(sides[1], 'follow')} specificity: "
            f"Pearson's r is above {by_chance(k):.2f}, which that of two unrelated metrics leaves in size in 1 of 20 "
            "cases."
        )
    to_recall = [_short(row.metric) for row in rows if row.recall > row.specificity]
    to_other = [_short(row.metric) for row in rows if row.recall < row.specificity]
    return (
        f"Over distortions of these scores with {_percent(study.positives[0])} positives "
        f"{_several(to_recall, 'correlate')} more with recall, {_several(to_other, 'correlate')} more with specificity "
        "(Pearson's r)."
    )


def _several(names: list[str], verb: str) -> str:
    """How many metrics do what the verb says, and which."""
    who = f"{number_of(len(names), 'metric')} ({listed(names)})" if names else "no metric"
    return f"{who} {verb if len(names) > 1 else f'{verb}s'}"


def _caveats(study: CorrelationStudy) -> list[str]:
    recall, specificity = (study.names.index(name) for name in RATES)
    r = float(study.matrix(study.positives[0])[recall, specificity])
    both = f"Recall and specificity correlate at {signed(r)}"
    if "models" in study.choices:
        return [
            f"{both} over these models. They are few and not drawn at random: the columns 'left out' show how much one "
            "of them decides."
        ]
    if r < 0:
        return [
            f"{both} by design, since the distortions of the two classes share one range: a metric that follows one of "
            "them alone tends to fall with the other."
        ]
    return [
        f"{both}: where most positives score below the threshold, distorting them raises recall, and the design does "
        "not set the classes against each other as García's list does; try the threshold prior."
    ]


def _conclusions(study: CorrelationStudy) -> list[str]:
    results = study.conclusions()
    if not results:
        return [f"{NO_CONCLUSION}."]
    if "models" in study.choices:
        return [
            f"García's conclusion {c.number}, that {c.words}, {'holds' if c.holds else 'does not hold'} over them."
            for c in results
        ]
    seeds = study.choices["seeds"]
    return [
        f"García's conclusion {c.number}, that {c.words}, holds on these scores in {round(c.share * seeds)} of "
        f"{number_of(seeds, 'seed')}{f'; it fails for {c.fails}' if c.fails else ''}."
        for c in results
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _short(name: str) -> str:
    return _SHORTS.get(name, name)


# ---------------------------------------------------------------- tables and figures


def _correlations(study: CorrelationStudy) -> Table:
    note = "Pearson's r and Spearman's rank correlation. " + (
        "Left out: the lowest and the highest Pearson's r when one model is left out."
        if study.left_out is not None
        else f"Means over {number_of(study.choices['seeds'], 'seed')}; sd: of Pearson's r over the seeds."
    )
    rows = [_correlation_row(study, row) for row in study.rows()]
    return Table("correlations", "Correlation of each metric with recall and specificity", rows, note, unfolded=True)


def _correlation_row(study: CorrelationStudy, row: Correlation) -> TableRow:
    several = len(study.positives) > 1
    name = f"{_percent(row.positives)}  {_short(row.metric)}" if several else _short(row.metric)
    cells: TableRow = {"positives and metric" if several else "metric": name}
    for rate in RATES:
        cells |= {rate: _rounded(getattr(row, rate)), f"{rate}, rank": _rounded(getattr(row, f"rank_{rate}"))}
        if study.left_out is not None:
            ends = study.left_out[:, study.names.index(row.metric), study.names.index(rate)]
            cells[f"{rate}, left out"] = " to ".join(signed(float(end)) for end in (ends.min(), ends.max()))
        else:
            cells[f"{rate}, sd"] = _rounded(getattr(row, f"sd_{rate}"))
    return cells


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 3)


def _invariances(study: CorrelationStudy, y: Array, model: str, flagged: Array) -> Table:
    counts = confusion(y, flagged.astype(int), labels=[0, 1]).counts()
    of_counts = [metric for metric in study.metrics if metric.function]
    changes = {(row.metric, row.transformation): row.words for row in invariance(of_counts, counts)}
    heads = {"p1": "p1: classes exchanged"} | {name: f"{name}: {cell.upper()}" for name, cell in CHANGED_CELLS.items()}
    rows: list[TableRow] = [
        {"metric": _short(metric.name)} | {head: changes[metric.name, name] for name, head in heads.items()}
        for metric in of_counts
    ]
    note = (
        f"On the table of {model}: p1 exchanges the classes, p2 to p5 make one cell larger by {100 * MORE:g} %. A "
        "number is the change here, and shows that the metric changes in general; 'stays' holds for every table."
    )
    return Table("invariance", "What each metric does when the table changes, here and in general", rows, note)


def _others(study: CorrelationStudy) -> list[Table]:
    kinds = {"pearson": ("Pearson's correlation", False), "rank": ("Spearman's rank correlation", True)}
    return [
        Table(
            f"{kind}{_suffix(study, share)}",
            f"{title} of all pairs of metrics with {_percent(share)} positives",
            matrix_rows(study, share, rank=rank),
        )
        for share in study.positives
        for kind, (title, rank) in kinds.items()
    ]


def _suffix(study: CorrelationStudy, share: float) -> str:
    return f"_{study.positives.index(share) + 1}" if len(study.positives) > 1 else ""


def _heat_maps(study: CorrelationStudy) -> dict[str, CorrelationDisplay]:
    return {
        f"{kind}{_suffix(study, share)}": CorrelationDisplay.from_study(study, positives=share, rank=rank)
        for share in study.positives
        for kind, rank in (("pearson", False), ("rank", True))
    }
