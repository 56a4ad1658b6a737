"""García, Sánchez and Mollineda 2012: which class each of 13 metrics listens to, and what changes it notices.

Section 3.1 perturbs a list of true probabilities, negatives and positives by different amounts, and correlates the
metrics over the perturbed predictions at five imbalances. Section 3.2 asks which changes of the confusion matrix leave
a metric as it is. The paper prints no correlations, only three conclusions, and leaves the list, its length, the
threshold, the weight w of cwA and the bands of wAUC unsaid; so each conclusion is also tried under other choices.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from steelyard.analysis.results.formatting import listed, number_of
from steelyard.arrays.label_codes import predicted_codes
from steelyard.auditing.correlation import (
    CONCLUSIONS,
    NO_CONCLUSION,
    RATES,
    STRONG,
    Conclusion,
    CorrelationStudy,
    RateBounds,
    by_chance,
    by_metric,
    correlation,
    correlation_study,
    metric_correlation,
)
from steelyard.auditing.laws import CHANGED_CELLS
from steelyard.auditing.model_tables import metric_values
from steelyard.auditing.properties import MORE, garcia_row, invariance
from steelyard.exceptions import InputError, TooFewRowsError
from steelyard.metrics.registry import get_metric
from steelyard.protocol.splits import seeded
from steelyard.report.figures.caption_text import percent
from steelyard.report.figures.correlation import CorrelationDisplay
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.study import Picture, Table, published, signed
from steelyard.tables.array_tables import confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array, Estimator
    from steelyard.auditing.correlation import ConclusionResult, Correlation
    from steelyard.studies.study import TableRow
    from steelyard.tables.counts import Counts


GARCIA_PAPER = published("garcia")
GARCIA_NAMES: dict[str, str] = GARCIA_PAPER["metrics"]  # the paper's short names, and ours
ROWS = 1000  # the paper does not say how long its list is; 100 and 5,000 are tried as well
READINGS: dict[str, dict[str, Any]] = {
    "each class evenly spaced, on its side of 0.5; 1,000 rows": {},
    "the same, 100 rows": {"n": 100},
    "the same, 5,000 rows": {"n": 5000},
    "each class at random on its side of 0.5": {"list_kind": "class_uniform"},
    "one ramp from 0 to 1 for all rows": {"list_kind": "global_linear"},
    "one ramp, thresholded at the prior": {"list_kind": "global_linear", "threshold": "prior"},
    "true probabilities 0 and 1": {"list_kind": "extreme"},
}
WEIGHTS = {w: f"class_weighted_accuracy[w={w}]" for w in (0.5, 0.6, 0.7, 0.8, 0.9)}
SIZES = (100, 300, 1000, 3000, 10_000)
LISTED = ("AUC", "Gm", "IBA", "wAUC", "cwA")  # more suitable for dealing with imbalance, by the paper's last section
LATER = ("ac_score", "tpnr", "informedness", "mcc", "alpha_f1")  # metrics that the other four papers argue for


def _one_edge(c: Counts, *, rho: float = 0.1) -> Array:
    """Equation (1) on two areas, below and above the single ROC point: the other reading of the unsaid bands."""
    tpr, tnr = (np.asarray(get_metric(name)(c)) for name in ("recall", "specificity"))
    return np.asarray((1 - rho) * tpr * (1 + tnr) / 2 + (1 + rho) * (1 - tpr) * tnr / 2)


ONE_EDGE = Conclusion(
    2,
    "weighted AUC with the ROC point as the only edge rises with recall",
    (_one_edge,),
    RateBounds(recall=(0, np.inf)),
)


@dataclass(frozen=True, eq=False)
class GarciaResults:
    """Both analyses: correlations by seed and imbalance under each reading, and Table 2 decided anew."""

    readings: dict[str, CorrelationStudy]  # the study's own reading first
    sizes: dict[int, CorrelationStudy]
    weights: CorrelationStudy
    later: CorrelationStudy
    table_2: dict[str, str]

    @property
    def main(self) -> CorrelationStudy:
        """The study's own reading."""
        return next(iter(self.readings.values()))

    @property
    def seeds(self) -> int:
        """How many seeds that was run with."""
        return len(self.main.pearson)

    @cached_property
    def conclusions(self) -> list[dict[str, ConclusionResult]]:
        """The paper's three conclusions, each tried under every reading."""
        return [
            {words: study.conclusions([conclusion])[0] for words, study in self.readings.items()}
            for conclusion in CONCLUSIONS
        ]

    @property
    def auc_by_size(self) -> tuple[float, float]:
        """The mean correlation of AUC with TPr at 5 % positives, on the shortest list and on the longest."""
        shortest, longest = (
            float(np.nanmean(with_rate(self.sizes[n], "AUC", "TPr")[:, 0])) for n in (SIZES[0], SIZES[-1])
        )
        return shortest, longest


GARCIA_STUDY = DeclaredStudy[GarciaResults]("garcia", "Which metrics listen to the rare class?", cite="garcia2012")


@GARCIA_STUDY.experiment
def _experiment(plan: RunPlan) -> GarciaResults:
    """The correlations over seeds and readings, and Table 2 decided by proof or counterexample."""
    seeds, fewer = (10, 4) if plan.quick else (100, 20)
    printed = GARCIA_PAPER["combinations"]
    design = {key: printed[key] for key in ("total_range", "steps", "tuples")}
    study = partial(
        correlation_study, positives=GARCIA_PAPER["positives"]["values"], n=ROWS, seeds=fewer, rng=plan.seed, **design
    )
    plan.progress(f"correlations of 13 metrics at five imbalances, {seeds} seeds")
    main = study(metrics=GARCIA_NAMES.values(), seeds=seeds)
    plan.progress(f"the conclusions under {len(READINGS)} readings of the paper, {fewer} seeds each")
    readings = {words: study(**options) if options else main for words, options in READINGS.items()}
    plan.progress("the effect of the size, and of the weight of cwA")
    sizes = {n: study(metrics=["balanced_accuracy", "g_mean"], n=n) for n in SIZES}
    weights, later = study(metrics=WEIGHTS.values(), seeds=seeds), study(metrics=LATER)
    plan.progress("Table 2: 65 cells, each proved or refuted")
    table_2 = {short: garcia_row(name, anew=True) for short, name in GARCIA_NAMES.items()}
    return GarciaResults(readings, sizes, weights, later, table_2)


def with_rate(study: CorrelationStudy, short: str, rate: str) -> Array:
    """Pearson's correlation of a metric with TPr or TNr, all in the paper's names, by seed and imbalance."""
    return pearson_between(study, GARCIA_NAMES[short], GARCIA_NAMES[rate])


def pearson_between(study: CorrelationStudy, name: str, rate: str) -> Array:
    """Pearson's correlation of two metrics by seed and imbalance."""
    names = study.names
    return study.pearson[:, :, names.index(get_metric(name).name), names.index(rate)]


def margin(study: CorrelationStudy, conclusion: Conclusion) -> Array:
    """By how much a conclusion holds in each seed: the least distance of any correlation from the bound that it claims.

    Of all its metrics at all imbalances; a correlation that is undefined, as where a rate never moves, is left out.
    """
    metrics = [get_metric(name) for name in conclusion.metrics]
    values = by_metric(metric_values([*map(get_metric, RATES), *metrics], study.counts))
    margins = []
    for i, (low, high) in enumerate(astuple(conclusion.bounds)):
        r = correlation(values[..., i, None, :], values[..., 2:, :], rank=False)
        margins += [r - low] if np.isfinite(low) else []
        margins += [high - r] if np.isfinite(high) else []
    cells = np.stack(margins).reshape(len(margins), len(study.pearson), -1)
    known = np.isfinite(cells)
    return np.where(known.any((0, 2)), np.where(known, cells, np.inf).min((0, 2)), np.nan)


@GARCIA_STUDY.choices
def _choices(results: GarciaResults) -> dict[str, Any]:
    return {
        "seeds": results.seeds,
        "seeds of the other readings": len(results.later.pearson),
        "rows of a list": ROWS,
        "threshold": 0.5,
        "list of true probabilities": next(iter(READINGS)),
        "weight of cwA": 0.6,
        "bands of wAUC": 10,
        "strong correlation": f"above {STRONG}",
        "a conclusion holds": "by the mean over seeds of its least margin, of all its metrics at all imbalances",
    }


# ---------------------------------------------------------------- garcia own models
# The models of García's experiment on a table of one's own: columns of predictions, or models fitted on folds.


Threshold: TypeAlias = "float | Literal['prior']"
_FOLDS = 5
_DEFAULT = "logistic"
_HALF = 0.5


@dataclass(frozen=True, eq=False)
class OwnModels:
    """Which rows each model flags, and its scores where all models have them; `source` is where they are from."""

    flagged: dict[str, Array]
    scores: dict[str, Array]
    threshold: Threshold
    source: str


def read_threshold(text: str | None) -> Threshold | None:
    """A threshold as it is written: a number from 0 to 1, or "prior"."""
    if text is None:
        return None
    if text == "prior":
        return "prior"
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise InputError(f"The threshold is a number from 0 to 1, or prior, not {text!r}.")
    return value


def own_models(table: OwnTable, y: Array, threshold: Threshold | None, seed: int) -> OwnModels:
    """The predictions in the table, or those of models for rows that did not train them."""
    if table.preds and (table.scores or table.models):
        raise InputError("Give the predictions by pred= or by score=, or models to fit, not several of these.")
    if table.preds:
        positive = table.labels.index(table.positive)
        flagged = {
            name: predicted_codes(pred, table.labels, f"The column {name!r}") == positive
            for name, pred in table.preds.items()
        }
        return OwnModels(flagged, {}, _HALF, f"the columns {', '.join(flagged)}")
    if table.scores:
        return _thresholded(table.scores, y, threshold, f"the columns {', '.join(table.scores)}")
    models = table.models or {_DEFAULT: table.prepared(_DEFAULT)}
    source = f"{', '.join(models)}, of rows that did not train them ({_FOLDS} folds)"
    if all(hasattr(model, "predict_proba") for model in models.values()):
        scores = {name: _unseen(model, table.X, y, seed)[:, 1] for name, model in models.items()}
        return _thresholded(scores, y, threshold, source)
    flagged = {name: _unseen(model, table.X, y, seed, "predict") == 1 for name, model in models.items()}
    return OwnModels(flagged, {}, _HALF, source)


def _thresholded(scores: dict[str, Array], y: Array, threshold: Threshold | None, source: str) -> OwnModels:
    """The rows that scores flag: from 0.5 on unless a threshold is given, or by the prior where none reaches it."""
    for name, score in scores.items():
        if threshold is None and not (score.min() >= 0 and score.max() <= 1):
            raise InputError(
                f"The scores {name!r} lie outside 0 to 1, so 0.5 is no threshold of them; give threshold='prior'."
            )
    at: Threshold
    if threshold is not None:
        at = threshold
    else:
        at = _HALF if any((score >= _HALF).any() for score in scores.values()) else "prior"
    flagged = {}
    for name, score in scores.items():
        flagged[name] = score >= (np.quantile(score, 1 - y.mean()) if at == "prior" else at)
    return OwnModels(flagged, scores, at, source)


def _unseen(model: Estimator, X: Array, y: Array, seed: int, method: str = "predict_proba") -> Any:
    """What a model predicts for each row, fitted on folds that do not hold it."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    scarce = int(np.bincount(y, minlength=2).min())
    if scarce < _FOLDS:
        raise TooFewRowsError(
            f"One class has {number_of(scarce, 'row')}, and {_FOLDS} folds need one each; give {_FOLDS} or "
            "more, or columns with score=."
        )
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed)
    return cross_val_predict(seeded(model, seed), X, y, cv=folds, method=method)


# ---------------------------------------------------------------- garcía's tables and heat maps
# Correlations, readings, invariances.


SIGN_WORDS = {"-": "stays", "+": "changes", "?": "undecided"}
_RATES = ("TPr", "TNr")


def _mean_note(results: GarciaResults) -> str:
    return f"Pearson's r, mean of {results.seeds} seeds."


@GARCIA_STUDY.table("correlations_with_rates", "Correlation with TPr and TNr, by the share of positives", _mean_note)
def _rates(results: GarciaResults) -> list[TableRow]:
    return [_rates_row(results.main, short, name) for short, name in GARCIA_NAMES.items()]


def _rates_row(study: CorrelationStudy, words: str, name: str) -> TableRow:
    row: TableRow = {"metric": words}
    for i, share in enumerate(study.positives):
        for rate in _RATES:
            row[f"{100 * share:g} % {rate}"] = _mean(pearson_between(study, name, GARCIA_NAMES[rate])[:, i])
    return row


def _mean(values: Array) -> float:
    """The mean of the seeds in which the correlation is defined, rounded as a correlation is."""
    defined = values[~np.isnan(values)]
    return round(float(defined.mean()), 3) if len(defined) else float("nan")


@GARCIA_STUDY.table(
    "intervals",
    "The same with its spread: 95 % of the seeds lie between",
    lambda results: f"Quantiles 2.5 % and 97.5 % of {results.seeds} seeds.",
)
def _spreads(results: GarciaResults) -> list[TableRow]:
    rows = []
    for short in GARCIA_NAMES:
        for i, share in enumerate(results.main.positives):
            row: TableRow = {"metric": short, "positives": f"{100 * share:g} %"}
            for rate in _RATES:
                values = with_rate(results.main, short, rate)[:, i]
                low, high = np.nanquantile(values, [0.025, 0.975])
                row |= {rate: _mean(values), f"{rate} from": round(float(low), 3), f"{rate} to": round(float(high), 3)}
            rows.append(row)
    return rows


@GARCIA_STUDY.table(
    "conclusions",
    "Share of the seeds in which each conclusion holds, by the reading of the paper",
    "Of all metrics of the conclusion at all five imbalances. The first row is the study's reading.",
)
def _readings(results: GarciaResults) -> list[TableRow]:
    heads = ("1: Acc follows TNr", "2: five metrics rise with TPr", "3: four metrics follow TNr", "wAUC with one edge")
    rows = []
    for words, study in results.readings.items():
        shares = [percent(conclusion.share) for conclusion in study.conclusions([*CONCLUSIONS, ONE_EDGE])]
        row: TableRow = {"reading": words, "seeds": len(study.pearson)}
        rows.append(row | dict(zip(heads, shares, strict=True)))
    return rows


@GARCIA_STUDY.table(
    "invariance",
    "Table 2: what each metric does when the table changes",
    "p1 exchange of the classes; p2 to p5 a change of TN, FP, TP, FN alone. Stays is the paper's −, changes its +; "
    "where the paper prints another sign, it is given.",
)
def _signs(results: GarciaResults) -> list[TableRow]:
    printed, rows = GARCIA_PAPER["table_2"], []
    for short, name in GARCIA_NAMES.items():
        row: TableRow = {"metric": short, "is": name}
        for change, here, there in zip(printed["order"], results.table_2[short], printed["signs"][short], strict=True):
            row[change] = SIGN_WORDS[here] if here == there else f"{SIGN_WORDS[here]} (printed: {SIGN_WORDS[there]})"
        rows.append(row)
    return rows


@GARCIA_STUDY.table(
    "size",
    "How the correlations at 5 % positives depend on the length of the list",
    "sd: of TPr and of TNr over the tuples of one distortion, mean over distortions and seeds.",
)
def _sizes(results: GarciaResults) -> list[TableRow]:
    rows = []
    for n, study in results.sizes.items():
        row: TableRow = {"rows of the list": n, "positives": round(0.05 * n)}
        for short in ("AUC", "Gm"):
            row |= {f"{short} with {rate}": _mean(with_rate(study, short, rate)[:, 0]) for rate in _RATES}
        for rate in _RATES:
            values = np.asarray(get_metric(GARCIA_NAMES[rate])(study.counts))[:, 0]
            row[f"sd {rate}"] = round(float(values.std(-1).mean()), 4)
        rows.append(row)
    return rows


@GARCIA_STUDY.table("weights", "Class-weighted accuracy by its weight w: correlation with TPr and TNr")
def _weights(results: GarciaResults) -> list[TableRow]:
    return [_rates_row(results.weights, f"w = {w}", name) for w, name in WEIGHTS.items()]


@GARCIA_STUDY.table(
    "later_metrics",
    "Metrics of the other papers in the same experiment",
    "AC-score, TPNR and informedness give both recalls equal weight, and correlate like AUC and Gm.",
)
def _later(results: GarciaResults) -> list[TableRow]:
    return [_rates_row(results.later, get_metric(name).title, name) for name in LATER]


@GARCIA_STUDY.tables
def _matrices(results: GarciaResults) -> list[Table]:
    note = _mean_note(results)
    return [
        Table(
            f"matrix_{round(100 * share):02d}",
            f"All pairs of metrics with {100 * share:g} % positives",
            matrix_rows(results.main, share),
            note,
        )
        for share in results.main.positives
    ]


def matrix_rows(study: CorrelationStudy, share: float, *, rank: bool = False) -> list[TableRow]:
    """The correlations of all pairs of metrics, by the paper's names where it has one."""
    shorts = {name: short for short, name in GARCIA_NAMES.items()}
    order = [shorts.get(name, name) for name in study.names]
    return [
        {"metric": short, **{other: round(float(r), 3) for other, r in zip(order, line, strict=True)}}
        for short, line in zip(order, study.matrix(share, rank=rank), strict=True)
    ]


@GARCIA_STUDY.pictures
def _heat_maps(results: GarciaResults) -> list[Picture]:
    """A heat map an imbalance."""
    return [
        Picture(
            f"heat_{round(100 * share):02d}", CorrelationDisplay.from_study(results.main, positives=share), width=4.2
        )
        for share in results.main.positives
    ]


# ---------------------------------------------------------------- garcia own
# García's experiment on a table of one's own: metrics over distortions of own scores, or over own models.


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
    try:
        shares = None if positives is None else [float(share) for share in positives]
    except ValueError:
        raise InputError(
            f"The shares of positives are numbers such as 0.05,0.1, not {','.join(map(str, positives or []))!r}."
        ) from None
    study = _study(models, y, metrics, positives=shares, seeds=seeds, rng=seed)
    first = next(iter(models.flagged))
    return OwnFindings(
        _summary(study),
        [_correlations(study), _invariances(study, y, first, models.flagged[first]), *_others(study)],
        [Picture(name, display, width=4.4) for name, display in _own_heat_maps(study).items()],
        {"predictions": models.source, "threshold": models.threshold, **_own_choices(study)},
    )


def _study(models: OwnModels, y: Array, metrics: Sequence[str] | None, **options: Any) -> CorrelationStudy:
    """The correlations of the metrics named, or of García's; over several models with scores those of their order."""
    names = [*GARCIA_NAMES.values()] if metrics is None else [*metrics]
    if len(models.flagged) > 1:
        if metrics is None and models.scores:
            names += ["roc_auc", "average_precision"]
        scores = models.scores if {*models.scores} == {*models.flagged} else None
        return metric_correlation(y, scores, y_pred=models.flagged, metrics=names, **options)
    if not models.scores:
        name = next(iter(models.flagged))
        raise InputError(f"{name} gives labels alone, which cannot be distorted; give probabilities, or more models.")
    (score,) = models.scores.values()
    at: Any = models.threshold  # a number, or "prior"
    return metric_correlation(y, score, metrics=names, threshold=at, **options)


def _own_choices(study: CorrelationStudy) -> dict[str, Any]:
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
    return [_followed(study), *_caveats(study), *_conclusions(study)]


def _followed(study: CorrelationStudy) -> str:
    """Which metrics follow recall and which specificity, at the first share of positives."""
    rows = [row for row in study.rows()[: len(study.names)] if row.metric not in RATES]
    if "models" in study.choices:
        k = len(study.choices["models"])
        with_recall = [_short(row.metric) for row in rows if row.recall > by_chance(k)]
        with_specificity = [_short(row.metric) for row in rows if row.specificity > by_chance(k)]
        return (
            f"Over {k} models {_several(with_recall, 'follow')} recall and {_several(with_specificity, 'follow')} "
            f"specificity: Pearson's r is above {by_chance(k):.2f}, which that of two unrelated metrics leaves in size "
            "in 1 of 20 cases."
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


def _own_heat_maps(study: CorrelationStudy) -> dict[str, CorrelationDisplay]:
    return {
        f"{kind}{_suffix(study, share)}": CorrelationDisplay.from_study(study, positives=share, rank=rank)
        for share in study.positives
        for kind, rank in (("pearson", False), ("rank", True))
    }
