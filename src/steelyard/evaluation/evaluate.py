"""Evaluate: predictions, scores or a table in, an Evaluation out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from steelyard.analysis.rows import Rows
from steelyard.errors import InputError, InputTypeError
from steelyard.evaluation.asking import Asked, asked
from steelyard.evaluation.evaluation import FIRST, Evaluation
from steelyard.evaluation.groups import Group
from steelyard.evaluation.inputs import cut_at, positive_of, refuse_rows, rest, weighed
from steelyard.evaluation.rows import beats, measured, per_class
from steelyard.ingest.frame_tally import cluster_columns, tally
from steelyard.ingest.label_overlap import check_label_overlap, overlap_problems
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.tally import Tally

if TYPE_CHECKING:
    from steelyard.statistics.score_table import ScoreTable

BEHIND = (
    "recall",
    "specificity",
    "precision",
    "accuracy",
    "balanced_accuracy",
    "ac_score",
    "informedness",
)  # what the words need


def evaluate(
    data: Any,
    y_pred: Any = None,
    *,
    y_score: Any = None,
    threshold: float | None = None,
    metrics: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
    prevalence: Any = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
    true: str | None = None,
    pred: str | None = None,
    score: str | None = None,
    weight: str | None = None,
    by: Any = None,
    cluster: str | None = None,
    exact: bool | None = None,
) -> Evaluation:
    """Evaluate predictions, scores or a table: every metric with its interval beside chance, and a verdict in words.

    Scores alone are cut at 0.5 where they lie between 0 and 1, and it says so; other scores are ranked only, until a
    threshold is given. `prevalence` reads everything where that share of the rows is positive. Of a frame (pandas,
    Polars, PyArrow, DuckDB, Dask, PySpark) name the columns: true, pred or score, weight, frequency, and by for groups;
    it is counted where it lives. `cluster` names the column of what the rows belong to, such as the patient, where
    they are not independent: the intervals then allow for it. `exact` keeps every score of a frame, or asks for bins.
    A Tally is taken as well.

    >>> from steelyard import Counts
    >>> report = evaluate(Counts(tp=28, fn=23, fp=72, tn=2680))
    >>> report["ac_score"].value
    0.7021746453568889
    >>> print(report.verdict[0])
    Rare positives: 51 of 2,803 (1.82 %).
    """
    weights = {"sample_weight": sample_weight, "frequency": frequency}
    shard = labels is not None or isinstance(data, (Confusion, Tally))  # of which other parts may hold the rest
    clustered = None if cluster is None else _clustered(data, true, pred, score, weight, prevalence, cluster, frequency)
    if true is not None:
        refuse_rows(y_pred=y_pred, y_score=y_score, sample_weight=sample_weight)
        names = {"true": true, "pred": pred, "score": score, "weight": weight, "by": by}
        options = {"frequency": frequency, "pos_label": pos_label, "labels": labels, "threshold": threshold}
        options["exact"] = exact
        data, weights, labels = tally(data, **names, **options), {}, None
    elif any(name is not None for name in (pred, score, weight, by, exact)):
        raise InputTypeError(
            "pred=, score=, weight=, by= and exact= are about columns of a frame; name that of the truth with true=."
        )
    table, scores, cut, assumed = weighed(data, y_pred, y_score, threshold, pos_label, labels, weights)
    if table is not None and not shard:
        check_label_overlap(table)
    assumed = (*assumed, *overlap_problems(table))
    positive = positive_of(table, scores, pos_label)
    how = {"level": level, "draws": draws, "rng": rng, "prevalence": prevalence}
    parts = data if isinstance(data, Tally) else None
    if clustered is not None:
        how["clustered"] = clustered
        assumed = (*assumed, f"Rows of one {cluster} belong together; the intervals draw whole clusters.")
    return evaluate_tables(table, scores, positive, cut=cut, assumed=assumed, metrics=metrics, parts=parts, **how)


def _clustered(
    data: Any, true: Any, pred: Any, score: Any, weight: Any, prevalence: Any, cluster: str, frequency: Any
) -> dict[str, Any]:
    """The rows of each cluster as intervals take them."""
    if true is None or pred is None:
        raise InputError("cluster= names a column of a frame of labels; name those of truth and prediction as well.")
    if score is not None or weight is not None or prevalence is not None:
        raise InputError("cluster= is for metrics of unweighted labels, as they stand: no score, weight or prevalence.")
    truth, guess, member, rows = cluster_columns(data, true, pred, cluster, frequency)
    return {"y_true": truth, "y_pred": guess, "groups": member, "frequency": rows}


def evaluate_tables(
    table: Confusion | None,
    scores: ScoreTable | None,
    positive: Any,
    *,
    cut: float | None = None,
    assumed: Iterable[str] = (),
    metrics: Any = None,
    parts: Tally | None = None,
    prevalence: Any = None,
    level: float = 0.95,
    draws: int | None = None,
    rng: Any = None,
    clustered: dict[str, Any] | None = None,
) -> Evaluation:
    """The evaluation of rows that are weighed already, as labels, as scores or as both; `parts` holds their groups."""
    how = {"level": level, "draws": draws, "rng": rng, "prevalence": prevalence}
    groups_how = dict(how)
    if clustered is not None:
        how["clustered"] = clustered
    chosen = _chosen(metrics, table, scores)
    extra = [Asked(get_metric(name)) for name in BEHIND if metrics is not None]
    found, behind = (
        measured(table, scores, positive, some, how) for some in (chosen, [a for a in extra if a not in chosen])
    )
    whole = table.rows.sum() if table is not None else scores.positive.n + scores.negative.n if scores else 0
    return Evaluation(
        table,
        scores,
        Rows(found),
        per_class(table, how),
        positive,
        cut,
        level,
        None if clustered is not None else beats(table, scores, positive),
        tuple(assumed),
        prevalence,
        int(whole),
        0 if rng is None else None,
        Rows(behind),
        FIRST if metrics is None else None,
        _groups(parts, cut, positive, metrics, chosen, groups_how),
    )


def _groups(data: Tally | None, cut: Any, positive: Any, metrics: Any, chosen: Any, how: dict[str, Any]) -> Rows[Group]:
    """The metrics of each group: those asked for, or the usual few."""
    if data is None:
        return Rows()
    some = [asked for asked in chosen if metrics is not None or asked.metric.name in FIRST]
    found = Rows[Group]()
    for key, part in data.groups.items():
        table = (
            part.confusion
            if part.confusion is not None or cut is None
            else cut_at(part.scores, cut, rest(data.labels, part.scores)).table
        )
        rows = measured(table, part.scores, positive, some, how)
        found.append(Group(data.by, key, part.rows, Rows(rows), table))
    return found


def _chosen(metrics: Any, table: Confusion | None, scores: ScoreTable | None) -> list[Asked]:
    """The metrics asked for, each of which the data must allow; all that they allow where none are named."""
    if metrics is None:
        # With scores a metric of both has the value of the whole curve, not that of one cut.
        return [Asked(m) for m in list_metrics() if m.scores is not None or m.function is not None]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InputTypeError(f"metrics= takes a list of metrics, not {metrics!r}.")
    known = [asked(m) for m in metrics]
    for m in known:
        m.check(labels=table is not None, scores=scores is not None)
    if not known:
        raise InputError("No metric was named; name at least one, or leave the choice out for all.")
    return known
