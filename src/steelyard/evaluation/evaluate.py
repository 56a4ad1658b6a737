"""Evaluate: predictions, scores or a table in, an Evaluation out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from steelyard.analysis.chance import ChanceTest, beats_guessing, chance
from steelyard.analysis.prevalence import at_prevalence
from steelyard.analysis.rows import Rows
from steelyard.analysis.sampling import Interval
from steelyard.analysis.uncertainty import intervals
from steelyard.errors import InputError, InputTypeError
from steelyard.evaluation.asking import Asked, asked, averaged_suffix
from steelyard.evaluation.evaluation import AVERAGED, FIRST, ClassRow, Evaluation, Row
from steelyard.evaluation.groups import Group
from steelyard.ingest import arrays, encoding
from steelyard.ingest import labels as ingest
from steelyard.ingest.label_tables import resolved
from steelyard.ingest.tallying import cluster_columns, tally
from steelyard.metrics.bounds import bounds
from steelyard.metrics.registry import get_metric, list_metrics
from steelyard.statistics.blurs import inside
from steelyard.statistics.confusion import Confusion
from steelyard.statistics.counts import Counts
from steelyard.statistics.scores import ScoreTable
from steelyard.statistics.tally import Tally

USUAL_CUT = 0.5
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
    """Evaluate predictions, scores or a table: every measure with its interval beside chance, and a verdict in words.

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
    clustered = None if cluster is None else _clustered(data, true, pred, score, weight, prevalence, cluster, frequency)
    if true is not None:
        _refuse_rows(y_pred=y_pred, y_score=y_score, sample_weight=sample_weight)
        names = {"true": true, "pred": pred, "score": score, "weight": weight, "by": by}
        options = {"frequency": frequency, "pos_label": pos_label, "labels": labels, "threshold": threshold}
        options["exact"] = exact
        data, weights, labels = tally(data, **names, **options), {}, None
    elif any(name is not None for name in (pred, score, weight, by, exact)):
        raise InputTypeError(
            "pred=, score=, weight=, by= and exact= are about columns of a frame; name that of the truth with true=."
        )
    table, scores, cut, assumed = _weighed(data, y_pred, y_score, threshold, pos_label, labels, weights)
    assumed = [*assumed, *_strangers(table)]
    positive = _positive(table, scores, pos_label)
    how = {"level": level, "draws": draws, "rng": rng, "prevalence": prevalence}
    parts = data if isinstance(data, Tally) else None
    if clustered is not None:
        how["clustered"] = clustered
        assumed = [*assumed, f"Rows of one {cluster} belong together; the intervals draw whole clusters."]
    return evaluate_tables(table, scores, positive, cut=cut, assumed=assumed, metrics=metrics, parts=parts, **how)


def _clustered(
    data: Any, true: Any, pred: Any, score: Any, weight: Any, prevalence: Any, cluster: str, frequency: Any
) -> dict[str, Any]:
    """The rows of each cluster as intervals take them."""
    if true is None or pred is None:
        raise InputError("cluster= names a column of a frame of labels; name those of truth and prediction as well.")
    if score is not None or weight is not None or prevalence is not None:
        raise InputError(
            "cluster= is for measures of unweighted labels, as they stand: no score, weight or prevalence."
        )
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
        _measured(table, scores, positive, some, how) for some in (chosen, [a for a in extra if a not in chosen])
    )
    whole = table.rows.sum() if table is not None else scores.positive.n + scores.negative.n if scores else 0
    return Evaluation(
        table, scores, Rows(found), per_class(table, how), positive, cut, level,
        None if clustered is not None else _beats(table, scores, positive),
        tuple(assumed), prevalence, int(whole), 0 if rng is None else None, Rows(behind),
        FIRST if metrics is None else None, _groups(parts, cut, positive, metrics, chosen, groups_how),
    )  # fmt: skip


def _refuse_rows(**given: Any) -> None:
    wrong = [name for name, column in given.items() if column is not None]
    if wrong:
        raise InputTypeError(
            f"{' and '.join(wrong)} is for arrays; of a frame name the columns: pred=, score=, weight=."
        )


def _groups(data: Tally | None, cut: Any, positive: Any, metrics: Any, chosen: Any, how: dict[str, Any]) -> Rows[Group]:
    """The measures of each group: those asked for, or the usual few."""
    if data is None:
        return Rows()
    some = [asked for asked in chosen if metrics is not None or asked.metric.name in FIRST]
    found = Rows[Group]()
    for key, part in data.groups.items():
        table = (
            part.confusion
            if part.confusion is not None or cut is None
            else _cut(part.scores, cut, _rest(data.labels, part.scores))[0]
        )
        rows = _measured(table, part.scores, positive, some, how)
        found.append(Group(data.by, key, part.rows, Rows(rows), table))
    return found


def _weighed(
    data: Any, y_pred: Any, y_score: Any, threshold: Any, pos_label: Any, labels: Any, weights: dict[str, Any]
) -> tuple[Confusion | None, ScoreTable | None, float | None, list[str]]:
    """The table of labels, the table of scores, the cut between them, and what was assumed."""
    if isinstance(data, Tally):
        return _of_tally(data, threshold, pos_label)
    if isinstance(data, (Counts, Confusion, ScoreTable)):
        if y_pred is not None or y_score is not None:
            raise InputTypeError("Give either a table or rows (y_true, y_pred or y_score=), not both.")
        if labels is not None or any(column is not None for column in weights.values()):
            raise InputError(
                "labels= and weights are about rows, and this is a table; give them when weighing the rows."
            )
        if isinstance(data, ScoreTable):
            return _cut(data, threshold, None)
        if threshold is not None:
            raise InputError("A table of labels is cut already; a threshold= needs scores.")
        return _as_confusion(data, pos_label), None, None, []
    if y_pred is not None and threshold is not None:
        raise InputError("Predictions and a threshold together contradict each other; give scores and the threshold.")
    if y_pred is None and y_score is None:
        raise InputTypeError("There is nothing to evaluate: give y_pred (labels) or y_score= (scores) beside y_true.")
    scores = None
    if y_score is not None:
        if np.ndim(y_score) == 2:
            raise InputError(
                f"y_score has {np.shape(y_score)[1]} columns; give that of the positive class, such as y_score[:, 1]."
            )
        scores = ingest.score_table(data, y_score, pos_label=pos_label, labels=labels, **weights)
        ingest.check_both_classes(scores)
    if y_pred is None:
        return _cut(scores, threshold, _other_label(data, scores))
    table = ingest.confusion(data, y_pred, labels=labels, pos_label=pos_label, **weights)
    ingest.check_whole(table)
    return table, scores, None, []


def _strangers(table: Confusion | None) -> list[str]:
    """That no prediction could be right, since its labels are not those of the truth."""
    if table is None:
        return []
    true, pred = ([label for label, n in zip(table.labels, table.rows.sum(axis), strict=True) if n] for axis in (1, 0))
    if not true or not pred or not {*true}.isdisjoint(pred):
        return []
    told = f"No label occurs both in the truth, such as {true[0]!r}, and among the predictions, such as {pred[0]!r}"
    return [f"{told}; are they written alike?"]


def _of_tally(
    data: Tally, threshold: Any, pos_label: Any
) -> tuple[Confusion | None, ScoreTable | None, float | None, list[str]]:
    scores, table = data.scores, data.confusion
    told = [] if scores is None else _bounds_told(scores)
    if scores is not None:
        ingest.check_both_classes(scores)
    if table is None:
        if scores is None:
            raise InputError("This tally holds two models side by side; compare it instead.")
        *found, assumed = _cut(scores, threshold, _rest(data.labels, scores))
        return *found, [*assumed, *told]  # type: ignore[return-value]
    if threshold is not None:
        raise InputError("Predictions and a threshold together contradict each other; give scores and the threshold.")
    table = table if pos_label is None else table.with_positive(resolved(pos_label, table.labels))
    ingest.check_whole(table)
    return table, scores, None, told


def _bounds_told(scores: ScoreTable) -> list[str]:
    """How far the areas of binned scores may be from those of the scores themselves."""
    if not len(scores.blurs):
        return []
    ends = {name: " and ".join(f"{end:.6f}" for end in pair) for name, pair in bounds(scores).items()}
    told = ", ".join(f"{name} lies between {pair}" for name, pair in ends.items())
    return [f"Scores were counted in bins: {told}, whatever their order inside a bin."]


def _as_confusion(data: Counts | Confusion, pos_label: Any) -> Confusion:
    if isinstance(data, Confusion):
        return data if pos_label is None else data.with_positive(pos_label)
    if data.shape:
        raise InputError(
            f"One table is evaluated at a time, not {np.prod(data.shape):,} of them; take one by its index."
        )
    matrix = data.matrix()
    if matrix.dtype.kind == "i":
        return Confusion.of_rows((0, 1), matrix, 1)
    return Confusion((0, 1), np.round(matrix).astype(np.int64), matrix, matrix, 1)


def _other_label(y_true: Any, scores: Any) -> Any:
    """The label of the negatives, where there is one."""
    _, labels = encoding.encode(arrays.column(y_true, "y_true"))
    return _rest(labels, scores)


def _rest(labels: Iterable[Any], scores: Any) -> Any:
    """The one label that is not the positive one; None where there are none or more."""
    others = [label for label in labels if label != scores.label]
    return others[0] if len(others) == 1 else None


def _cut(scores: Any, threshold: Any, other: Any) -> tuple[Confusion | None, ScoreTable, float | None, list[str]]:
    """Scores cut into labels: where told, at 0.5 where they are probabilities, else not at all."""
    assumed = []
    if threshold is None:
        ends = [side.scores[i] for side in (scores.positive, scores.negative) if len(side.scores) for i in (0, -1)]
        if min(ends) < 0 or max(ends) > 1:
            return None, scores, None, ["The scores are not probabilities: ranked only. Give threshold= to cut them."]
        threshold = USUAL_CUT
        assumed = [f"Scores were cut at {USUAL_CUT}; best_threshold looks for a better cut."]
    elif not isinstance(threshold, (int, float, np.number)) or math.isnan(threshold):
        raise InputError(f"A threshold is a number, not {threshold!r}.")
    divided = inside(scores.blurs, float(threshold))
    if divided is not None:
        raise InputError(
            f"The scores were counted in bins, and {threshold:g} would divide the one from {divided[0]:.9g} to "
            f"{divided[1]:.9g}; cut at an end of it, or weigh the rows again with this threshold."
        )
    counts = scores.at(float(threshold))
    other = _other(scores.label) if other is None else other
    matrix = counts.matrix()
    if not scores.weighted:
        return Confusion.of_rows((other, scores.label), matrix, scores.label), scores, float(threshold), assumed
    rows, squares = (_at(scores, float(threshold), key) for key in ("rows", "squares"))
    return (
        Confusion((other, scores.label), rows.astype(np.int64), matrix, squares, scores.label),
        scores,
        float(threshold),
        assumed,
    )


def _other(label: Any) -> Any:
    """A name for the other class, whose labels the scores do not keep."""
    if isinstance(label, bool):
        return not label
    return 1 - label if label in (0, 1) else f"not {label}"


def _at(scores: ScoreTable, threshold: float, column: str) -> Any:
    """The rows or squared weights of the four cells at a cut, as scikit-learn lays them out."""
    cells = []
    for side in (scores.negative, scores.positive):
        values = getattr(side, column)
        above = float(values[side.scores >= threshold].sum())
        cells.append([float(values.sum()) - above, above])
    return np.array(cells)


def _positive(table: Confusion | None, scores: ScoreTable | None, pos_label: Any) -> Any:
    if table is None or pos_label is not None:
        return scores.label if scores is not None else pos_label if table is None else table.positive
    try:
        return table.positive_label()
    except InputError:
        return None


def _label_rows(
    table: Confusion | None, scores: ScoreTable | None, positive: Any, metrics: Any, how: dict[str, Any]
) -> list[Row]:
    if table is None:
        return []
    known = [m for m in metrics if m.function is not None and (m.scores is None or scores is None)]
    known = known if "clustered" not in how else [m for m in known if m.scores is None]
    if positive is not None:
        options = {"pos_label": positive}
        return _rows(known, table, how, options)
    rows = _rows([m for m in known if m.classes], table, how, {})
    for average in ("macro", "weighted"):
        named = [m for m in known if m.name in AVERAGED]
        rows += _rows(named, table, how, {"average": average}, suffix=averaged_suffix(average))
    return rows


def _score_rows(scores: ScoreTable | None, metrics: Any, how: dict[str, Any]) -> list[Row]:
    """The measures of scores; undefined where the rows are of one class, as in a group or a small test part."""
    if scores is None:
        return []
    if not (scores.positive.n and scores.negative.n):
        why = "no negatives" if scores.positive.n else "no positives"
        return [Row(m.name, *(math.nan,) * 4, why) for m in metrics if m.scores]
    ends = [end for side in (scores.positive, scores.negative) for end in (side.scores[0], side.scores[-1])]
    calibrated = min(ends) >= 0 and max(ends) <= 1
    known = [m for m in metrics if m.scores and (calibrated or m.family != "calibration")]
    total = scores.positive.total + scores.negative.total
    return _rows([m for m in known if m.name != "precision_at_k" or total >= m.parameters["k"]], scores, how, {})


def _chosen(metrics: Any, table: Confusion | None, scores: ScoreTable | None) -> list[Asked]:
    """The measures asked for, each of which the data must allow; all that they allow where none are named."""
    if metrics is None:
        # With scores a measure of both has the value of the whole curve, not that of one cut.
        return [Asked(m) for m in list_metrics() if m.scores is not None or m.function is not None]
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        raise InputTypeError(f"metrics= takes a list of measures, not {metrics!r}.")
    known = [asked(m) for m in metrics]
    for m in known:
        m.check(labels=table is not None, scores=scores is not None)
    if not known:
        raise InputError("No measure was named; name at least one, or leave the choice out for all.")
    return known


def _measured(
    table: Confusion | None, scores: ScoreTable | None, positive: Any, some: list[Asked], how: dict[str, Any]
) -> list[Row]:
    """The rows of the measures: of labels, of scores, and of each class averaged where that was asked for."""
    plain = [asked.metric for asked in some if asked.average is None]
    rows = [*_label_rows(table, scores, positive, plain, how), *_score_rows(scores, plain, how)]
    for one in some:
        if one.average is not None and table is not None:
            rows += _averaged(one.metric, one.average, table, how)
    return rows


def _averaged(metric: Any, average: str, table: Confusion, how: dict[str, Any]) -> list[Row]:
    return _rows([metric], table, how, {"average": average}, suffix=averaged_suffix(average))


def _rows(known: list[Any], table: Any, how: dict[str, Any], options: dict[str, Any], suffix: str = "") -> list[Row]:
    at = table if how["prevalence"] is None else at_prevalence(table, how["prevalence"])
    found = _intervals(known, table, how, options) if known else []
    return [_row(part, _guess(part.metric, at, options), suffix) for part in found]


def _intervals(known: list[Any], table: Any, how: dict[str, Any], options: dict[str, Any]) -> list[Interval]:
    """The intervals of rows that are independent, or of whole clusters."""
    rows = how.get("clustered")
    if rows is None:
        return intervals(known, table, **how, **options)
    given = {key: rows[key] for key in ("groups", "frequency")} | {"labels": table.labels}
    ways = {key: value for key, value in how.items() if key != "clustered"}
    return intervals(known, rows["y_true"], rows["y_pred"], **ways, **given, **options)


def _guess(metric: str, table: Any, options: dict[str, Any]) -> float:
    """What guessing scores; NaN where a table, or a group, holds one class only."""
    try:
        return float(chance(metric, table, **options).same_margins)
    except InputError:
        return math.nan


def _row(part: Interval, guess: float, suffix: str) -> Row:
    undefined = part.why if math.isnan(part.value) or math.isinf(part.value) else None
    return Row(
        part.metric + suffix, part.value, part.low, part.high, guess, undefined, part.undefined_share, part.method
    )


def _beats(table: Confusion | None, scores: ScoreTable | None, positive: Any) -> ChanceTest | None:
    try:
        if table is not None:
            return beats_guessing(table.counts(positive) if positive is not None and not table.weighted else table)
        return beats_guessing(scores)
    except (InputError, InputTypeError):
        return None


def per_class(table: Confusion | None, how: dict[str, Any]) -> Rows[ClassRow]:
    """Each class against the rest."""
    if table is None or not len(table.labels):
        return Rows()
    measures = [get_metric(name) for name in AVERAGED]
    each = {part.metric: part for part in _intervals(measures, table, how, {"average": None})}

    def picked(name: str, i: int) -> Interval:
        part = each[name]
        why = part.why[i] if part.why is not None else None
        ends = (float(np.asarray(end)[i]) for end in (part.value, part.low, part.high))
        value, low, high = ends
        return Interval(name, value, low, high, part.level, part.method, part.undefined_share, None, why)

    return Rows(
        ClassRow(label, int(table.rows[i].sum()), *(picked(name, i) for name in AVERAGED))
        for i, label in enumerate(table.labels)
    )
