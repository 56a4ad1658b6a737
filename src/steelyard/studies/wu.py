"""Wu and Cannistraci 2025: whether the AC-score unmasks a lopsided classifier that other metrics prefer.

Figure 1 draws AC-score, GM and AUROC over both rates. Figure 2 compares a nearest mean classifier, thresholded at its
best operating point, with linear discriminant analysis on the house numbers 1 and 6 at three imbalances, and ranks
twelve metrics by their difference. The paper prints no numbers. Which digit is positive is not stated: there are enough
1s (18,960) for the 18,000 positives of N:P = 1:3, and too few 6s (7,704). What the paper lacks is added: LDA with a
searched threshold, which shows how much of the difference is the threshold, and the no-skill baseline.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.chance.chance import chance
from steelyard.analysis.comparison.compare import compare
from steelyard.analysis.results.formatting import listed, number_of
from steelyard.datasets.paper_datasets import svhn_1_6
from steelyard.estimators.nearest_mean import NearestMeanClassifier
from steelyard.estimators.threshold import ThresholdClassifier
from steelyard.evaluation.evaluate import evaluate
from steelyard.exceptions import InputError
from steelyard.protocol.nearest_mean_result import (
    NEAREST,
    NO_SIDE,
    TRAINED,
    RatioTrial,
    RatioTrials,
    draw_rows,
    tabulated,
)
from steelyard.protocol.nearest_mean_study import nearest_mean_study
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.ranking import RankingDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.report.figures.surface import SurfaceDisplay
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.own_table import OwnFindings, OwnTable
from steelyard.studies.study import Picture, Table, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard._types import Array, Progress
    from steelyard.datasets.paper_datasets import Digits
    from steelyard.protocol.nearest_mean_result import NearestMeanStudy
    from steelyard.studies.study import TableRow


# ---------------------------------------------------------------- wu trials
# Wu and Cannistraci's trials on house numbers, draw after draw.
#
# Section 3.2 draws training and test rows of the digits 1 and 6 at three imbalances; section 3.3 says how the nearest
# mean classifier (NMC) and linear discriminant analysis (LDA) are trained. The other LDAs are what the paper lacks: the
# same axis, another threshold.


WU_PAPER = published("wu")
CONDITIONS: tuple[str, ...] = tuple(WU_PAPER["sizes"]["test"])  # N:P
SKEWED = ("1:3", "3:1")
WU_METRICS: dict[str, str] = WU_PAPER["metrics"]
NMC, LDA = "NMC", "LDA"
HELD_OUT, SEEN, EQUAL = "LDA + search", "LDA + search on seen rows", "LDA, equal priors"
DIGIT_MODELS = (NMC, LDA, HELD_OUT, SEEN, EQUAL)
_SCORE = "operating_point_score"


@dataclass(frozen=True)
class DrawPlan:
    """The size of the experiment: how many draws, the share of the paper's rows, and how coarse the pictures are."""

    draws: int
    share: int
    coarse: int

    def test(self, condition: str) -> tuple[int, int]:
        """The positives and the negatives of the test part."""
        size = WU_PAPER["sizes"]["test"][condition]
        return size["positives"] // self.share, size["negatives"] // self.share


FULL_PLAN, QUICK_PLAN = DrawPlan(draws=10, share=1, coarse=1), DrawPlan(draws=3, share=3, coarse=4)


@dataclass(frozen=True, eq=False, kw_only=True)
class DigitTrials(RatioTrials):
    """All draws at all imbalances, every metric of every model in them, and what they were drawn from."""

    digits: Digits
    plan: DrawPlan
    seed: int
    folded: dict[str, Array]  # where LDA puts the rows of the first draw by the mean of the discriminants of the folds


def run_trials(digits: Digits, plan: DrawPlan, seed: int, progress: Progress) -> DigitTrials:
    """Draw, train and test, at each imbalance and as often as the plan says.

    By one thread: the SVDs in LDA are small, and two threads that wait for each other on a busy machine take six times
    as long; and the digits do not depend on the number of cores.
    """
    from threadpoolctl import threadpool_limits  # which scikit-learn brings

    with threadpool_limits(1, "blas"):
        return _trials(digits, plan, seed, progress)


def _trials(digits: Digits, plan: DrawPlan, seed: int, progress: Progress) -> DigitTrials:
    X, y = _pixels(digits.images, plan.coarse), (digits.labels == 1).astype(int)
    trials: list[dict[str, RatioTrial]] = []
    folded: dict[str, Array] = {}
    for i in range(plan.draws):
        rng, by_condition = np.random.default_rng([seed, i]), {}
        for condition in CONDITIONS:
            progress(f"draw {i + 1} of {plan.draws}, N:P = {condition}")
            train, test = draw_rows(y, *plan.test(condition), rng)
            by_condition[condition] = fit_models(X, y, train, test, rng)
            if i == 0:
                folded[condition] = _folded_discriminant(X, y, train, test, WU_PAPER["folds"]["folds"])
        trials.append(by_condition)
    values, tables = tabulated(trials, DIGIT_MODELS, WU_METRICS)
    return DigitTrials(
        ratios=CONDITIONS,
        models=DIGIT_MODELS,
        metrics=WU_METRICS,
        values=values,
        tables=tables,
        trials=trials,
        digits=digits,
        plan=plan,
        seed=seed,
        folded=folded,
    )


def _pixels(images: Array, coarse: int) -> Array:
    """The grey values from 0 to 1, a picture in a row, each square of `coarse` x `coarse` dots as its mean."""
    n, side = len(images), images.shape[1] // coarse
    return np.asarray(images.reshape(n, side, coarse, side, coarse).mean((2, 4)).reshape(n, -1) / 255)


def fit_models(X: Array, y: Array, train: Array, test: Array, rng: np.random.Generator) -> RatioTrial:
    """Fit on one part and place the rows of the other.

    NMC searches its threshold on the training parts of 5 folds, 10 times. LDA has nothing to search, so it is fitted on
    all training rows. For its searched threshold a fifth of the training rows is held out from a fit of its own.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit

    folds, seed = WU_PAPER["folds"], int(rng.integers(2**31))
    cv = RepeatedStratifiedKFold(n_splits=folds["folds"], n_repeats=folds["repeats"], random_state=seed)
    nearest = NearestMeanClassifier("best", _SCORE, cv=cv).fit(X[train], y[train])
    part = StratifiedShuffleSplit(1, test_size=1 / folds["folds"], random_state=seed)
    method = "decision_function"
    lda = LinearDiscriminantAnalysis(solver="lsqr")
    searched = ThresholdClassifier(lda, _SCORE, cv=part, response_method=method).fit(X[train], y[train])
    plain = searched.estimator_  # fitted on all training rows
    seen = ThresholdClassifier(plain, _SCORE, cv="prefit", response_method=method).fit(X[train], y[train])
    prior = float(np.log(np.divide(*plain.priors_[::-1])))
    z = plain.decision_function(X[test])
    thresholds = {NMC: nearest.threshold_, LDA: 0.0, HELD_OUT: searched.threshold_, SEEN: seen.threshold_, EQUAL: prior}
    scores = dict.fromkeys(DIGIT_MODELS, z) | {NMC: nearest.project(X[test])}
    floats = {model: float(threshold) for model, threshold in thresholds.items()}
    return RatioTrial(y[test], scores, floats, nearest.centroid_)


def _folded_discriminant(X: Array, y: Array, train: Array, test: Array, folds: int) -> Array:
    """The mean of the discriminants and biases of LDAs fitted on the training parts of the folds.

    The paper's words on training may also mean this.
    """
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import cross_validate

    lda = LinearDiscriminantAnalysis(solver="lsqr")
    fitted = cross_validate(lda, X[train], y[train], cv=folds, return_estimator=True)["estimator"]
    return np.asarray(np.mean([fold.decision_function(X[test]) for fold in fitted], axis=0))


# ---------------------------------------------------------------- wu and Cannistraci 2025


WU_STUDY = DeclaredStudy[DigitTrials]("wu", "Does the AC-score unmask a lopsided classifier?", cite="wu2025")


@WU_STUDY.experiment
def _experiment(plan: RunPlan) -> DigitTrials:
    """Draws at three imbalances: both models, and the control with a searched threshold."""
    plan.progress("reading the house numbers")
    results = run_trials(svhn_1_6(plan.data), QUICK_PLAN if plan.quick else FULL_PLAN, plan.seed, plan.progress)
    plan.progress("drawing")
    return results


@WU_STUDY.choices
def _choices(results: DigitTrials) -> dict[str, Any]:
    plan, side = results.plan, results.digits.images.shape[1] // results.plan.coarse
    sizes = {c: " + ".join(f"{n:,}" for n in plan.test(c)) for c in CONDITIONS}
    return {
        "draws": f"{plan.draws}; {_shared(results.digits, plan)}",
        "positive": "the digit 1",
        "features": f"{side * side:,} grey values of {side} x {side}",
        "test rows, positives + negatives": "; ".join(f"{c}: {n}" for c, n in sizes.items()),
        "training rows": "three times the test rows, none shared",
        "NMC": "mean or median centre, the better by the "
        "operating point score; its threshold the mean of those of 5 folds, 10 times",
        "LDA": "scikit-learn's, solver lsqr, empirical priors, fitted once on all training rows",
        HELD_OUT: "LDA, thresholded where the same score is best on a held-out fifth of the training rows",
    }


def _shared(digits: Digits, plan: DrawPlan) -> str:
    """How much of each class every draw at 1:3 takes, so how much the draws have in common."""
    taken = [(1 + TRAINED) * n for n in plan.test("1:3")]
    there = [int((digits.labels == digit).sum()) for digit in (1, 6)]
    ones, sixes = (f"{100 * n / of:.0f} %" for n, of in zip(taken, there, strict=True))
    return (
        f"at 1:3 each takes {ones} of all 1s and {sixes} of all 6s for training and testing together, so draws share "
        "rows and their spread is narrower than that of new digits"
    )


# ---------------------------------------------------------------- wu pair
# Tables and figures of two models over draws at several ratios: ranking, stability, control, thresholds, no skill.


_SHOWN = ("ac_score", "g_mean", "balanced_accuracy", "mcc")
CONTROL = ("AC-score", "GM", "BA", "sensitivity", "specificity", "MCC", "AUROC")


def file_name(ratio: str) -> str:
    """A ratio as a part of the name of a file."""
    return ratio.replace(":", "_to_")


def difference_name(results: RatioTrials) -> str:
    """What the difference of the two models is called."""
    return " − ".join(results.models[:2])


def stability_rows(results: RatioTrials) -> list[TableRow]:
    """The place of each metric in the ranking by the mean difference, and whom it favours."""
    places, moved = results.mean_places(), results.places_moved()
    sides, one_sided = results.mean_sides(), results.one_sided()
    rows = []
    for short in results.metrics:
        row: TableRow = {"metric": short}
        row |= {f"place at {c}": place for c, place in zip(results.ratios, places[short], strict=True)}
        row |= {"moves by": moved[short]}
        for ratio, side in zip(results.ratios, sides[short], strict=True):
            why = f" ({results.undefined_reason(ratio, short)})" if side == NO_SIDE else ""
            row[f"favours at {ratio}"] = f"{side}{why}"
        rows.append(row | {"same side": "yes" if short in one_sided else "no"})
    return sorted(rows, key=lambda row: row[f"place at {results.ratios[0]}"] or len(rows) + 1)


def control_rows(results: RatioTrials, ratio: str, shown: Sequence[str] = CONTROL) -> list[TableRow]:
    """The metrics of every model at one ratio, means over the draws with the standard deviation."""
    rows = []
    for model in results.models:
        row: TableRow = {"model": model}
        for short in shown:
            values = results.of(ratio, model, short)
            defined = values[np.isfinite(values)]
            row[short] = f"{defined.mean():.3f} ({defined.std(ddof=1):.3f})" if len(defined) > 1 else "–"
        rows.append(row)
    return rows


def no_skill_rows(results: RatioTrials) -> list[TableRow]:
    """The AC-score of every model beside the no-skill baseline of the same prediction rate."""
    rows: list[TableRow] = []
    for ratio in results.ratios:
        for model in results.models:
            baseline = chance("ac_score", results.counts(ratio, model)).value
            flagged = np.mean([trial[ratio].passed(model) for trial in results.trials])
            rows.append(
                {
                    "N:P and model": f"{ratio}  {model}",
                    "rows flagged": f"{100 * flagged:.1f} %",
                    "AC-score": float(results.of(ratio, model, "AC-score").mean()),
                    "no-skill baseline": float(np.mean(baseline)),
                    "AUROC": float(results.of(ratio, model, "AUROC").mean()),
                    "MCC": float(results.of(ratio, model, "MCC").mean()),
                }
            )
    return rows


def ranking_rows(results: RatioTrials, ratio: str) -> list[TableRow]:
    """The metrics at one ratio, ranked by the difference of the two models."""
    rows, difference, first = [], difference_name(results), results.models[0]
    for short in results.metrics:
        gap = results.gap(ratio, short)
        row: TableRow = {"metric": short}
        row |= {model: float(results.of(ratio, model, short).mean()) for model in results.models[:2]}
        row |= {difference: float(gap.mean()), "sd": float(gap.std(ddof=1))}
        rows.append(row | {f"draws that favour {first}": f"{int((gap > 0).sum())} of {len(gap)}"})
    return sorted(rows, key=lambda row: -row[difference])


def threshold_rows(results: RatioTrials) -> list[TableRow]:
    """Where the thresholds lie, and how many rows pass them."""
    return [
        {
            "N:P and model": f"{c}  {model}",
            "place of the threshold": float(np.mean([t[c].place(model) for t in results.trials])),
            "rows above it": f"{100 * np.mean([t[c].passed(model) for t in results.trials]):.1f} %",
            "rows positive": f"{100 * np.mean([t[c].y.mean() for t in results.trials]):.1f} %",
        }
        for c in results.ratios
        for model in results.models
    ]


# ---------------------------------------------------------------- figures


def density_picture(results: RatioTrials, ratio: str, name: str) -> Picture:
    """Figure 2a to c: where both models put the test rows of the first draw, by class."""
    trial, evaluations = results.trials[0][ratio], {}
    for model in results.models[:2]:
        z, threshold = trial.normalised(model)
        evaluations[model] = evaluate(trial.y, y_score=z, threshold=threshold)
    densities = DensityDisplay.from_evaluation(evaluations)
    what = f"Projections of the test rows at N:P = {ratio}, from the lowest (0) to the highest (1), by class"
    return Picture(name, densities, f"{what} (Figure 2a to c). {densities.caption()}", width=4.5)


def ranking_picture(results: RatioTrials, ratio: str, name: str, place: str, seed: int) -> Picture:
    """Figure 2d to f: the metrics of the first draw ranked by the difference; `place` is which of these it is."""
    trial, pair = results.trials[0][ratio], results.models[:2]
    columns, thresholds = {m: trial.scores[m] for m in pair}, {m: trial.thresholds[m] for m in pair}
    metrics = list(results.metrics.values())
    comparison = compare(trial.y, y_score=columns, threshold=thresholds, metrics=metrics, rng=seed)
    display = RankingDisplay.from_comparison(comparison)
    words = f"N:P = {ratio}, first draw ({place}). {display.caption()}"
    return Picture(name, display, words, width=5)


def control_picture(results: RatioTrials, ratio: str, models: Mapping[str, str], what: str) -> Picture:
    """What the threshold does over all draws, of models by what they are called below their boxes."""
    runs = {label: results.counts(ratio, name) for label, name in models.items()}
    display = RunsDisplay.from_runs(runs, metrics=_SHOWN)
    words = f"The control at N:P = {ratio}: {what} {display.caption()}"
    return Picture(f"control_{file_name(ratio)}", display, words, width=5)


# ---------------------------------------------------------------- wu own
# Wu's experiment on a table of one's own: nearest mean against any model over ratios, and the control of both.


_DRAWS, _QUICK_DRAWS = 10, 3
_PLACES = "Place: from the lowest (0) to the highest (1) score of the test rows."
_STABLE = (
    f"place 1 speaks most for {NEAREST}, and equal differences share a place. Neither: equal means; –: undefined in "
    "every draw. Same side: one model is ahead at every ratio."
)
_INTERVALS = (
    "Low and high: 95 % intervals, each by itself, Nadeau and Bengio's as draws share rows. Same search: the "
    "difference where both get the same search for a threshold."
)


@WU_STUDY.own_data
def _own(
    table: OwnTable, plan: RunPlan, *, ratios: Sequence[str] = CONDITIONS, repeats: int | None = None
) -> OwnFindings:
    if table.preds or table.scores:
        raise InputError("Wu's models are fitted at each ratio; name one with model=, in place of pred= or score=.")
    nearest = table.prepared("nearest-mean")
    study = nearest_mean_study(
        table.models or {"lda": table.prepared("lda")},
        table.X,
        table.two_class_y,
        ratios=ratios,
        metrics=WU_METRICS,
        draws=plan.times(repeats, _DRAWS, _QUICK_DRAWS, least=2),
        prepare=nearest.steps[0][1],  # type: ignore[attr-defined]  # a pipeline
        rng=plan.seeds(1)[0],
        progress=plan.progress,
    )
    return OwnFindings(study.sentences, _tables(study), _own_pictures(study, plan.seeds(1)[0]), _own_choices(study))


def _own_choices(study: NearestMeanStudy) -> dict[str, str]:
    sizes = "; ".join(f"{ratio}: {p:,} + {n:,}" for ratio, (p, n) in study.sizes.items())
    return {
        "ratios, negatives to positives": ", ".join(study.ratios),
        "draws": str(study.draws),
        "test rows, positives + negatives": sizes,
        "training rows": "three times the test rows, none shared",
        NEAREST: "mean or median centre, the better by the operating point score; its threshold the mean of those of "
        "5 folds, 10 times",
        study.models[1]: "its own threshold",
        "same search": "for both the threshold at which the operating point score is best on 5 folds of the training "
        "rows, each scored by a fit on the others",
    }


def _tables(study: NearestMeanStudy) -> list[Table]:
    difference, means = difference_name(study), f"Means over {number_of(study.draws, 'draw')}"
    ranked = f"Twelve metrics at each ratio, ranked by {difference}"
    controls = "Every model at each ratio: its own threshold, and the same search"
    places = f"The place of each metric in the ranking by {difference}, and whom it favours"
    skill = "AC-score beside the no-skill baseline (same prediction rate)"
    return [
        Table("comparison", ranked, _comparison(study), f"{means}. {_INTERVALS}", unfolded=True),
        Table("control", controls, _own_controls(study), f"{means}, and in brackets the standard deviation."),
        Table("stability", places, stability_rows(study), f"{means}; {_STABLE}"),
        Table("thresholds", "The thresholds of the models", threshold_rows(study), _PLACES),
        Table("no_skill", skill, no_skill_rows(study), f"{means}. AUROC of a random predictor is 0.5 for all."),
    ]


def _comparison(study: NearestMeanStudy) -> list[TableRow]:
    return [
        {
            "N:P and metric": f"{row.ratio}  {row.metric}",
            NEAREST: row.nearest_mean,
            study.models[1]: row.model,
            "difference": row.difference,
            "low": row.low,
            "high": row.high,
            f"{NEAREST} ahead": f"{row.favour} of {number_of(row.draws, 'draw')}",
            "same search": row.control,
            "its low": row.control_low,
            "its high": row.control_high,
        }
        for row in sorted(study.rows, key=lambda row: (study.ratios.index(row.ratio), _descending(row.difference)))
    ]


def _descending(value: float) -> float:
    """A key that sorts the largest first, and what is undefined last."""
    return float("inf") if math.isnan(value) else -value


def _own_controls(study: NearestMeanStudy) -> list[TableRow]:
    rows = [(ratio, row) for ratio in study.ratios for row in control_rows(study, ratio)]
    return [{"N:P and model": f"{ratio}  {row.pop('model')}", **row} for ratio, row in rows]


def _own_pictures(study: NearestMeanStudy, seed: int) -> list[Picture]:
    """Figure 2 of the first draw at each ratio, and what the threshold does over all draws."""
    boxes = {model.replace(NEAREST, "NMC"): model for model in study.models}
    what = f"{NEAREST} (NMC) and {study.models[1]} by their own thresholds, and by the same search."
    return [
        *(density_picture(study, ratio, f"projections_{file_name(ratio)}") for ratio in study.ratios),
        *(
            ranking_picture(study, ratio, f"ranking_{file_name(ratio)}", "as Figure 2d to f", seed)
            for ratio in study.ratios
        ),
        *(control_picture(study, ratio, boxes, what) for ratio in study.ratios),
    ]


# ---------------------------------------------------------------- wu ranking
# Wu's ranking of the metrics by NMC − LDA: which keep their place, and which their side, as the imbalance changes.


def drawn_places(results: DigitTrials) -> Array:
    """The place of each metric in the ranking of one draw, by draw, condition and metric."""
    gaps = np.array([[results.gap(c, short) for short in results.metrics] for c in results.ratios]).transpose(2, 0, 1)
    return np.argsort(np.argsort(-gaps, axis=2, kind="stable"), axis=2) + 1


def _keeping_place(results: DigitTrials) -> list[str]:
    """The metrics whose place moves by one at most."""
    return [short for short, moved in results.places_moved().items() if moved is not None and moved <= 1]


def stability_sentence(results: DigitTrials) -> str:
    """The finding on stability, in a sentence."""
    by_place, by_side, sides = _keeping_place(results), results.one_sided(), results.mean_sides()
    favoured = "; ".join(f"{s} favours {', '.join(sides[s])} at {', '.join(CONDITIONS)}" for s in ("AC-score", "GM"))
    return (
        f"The same model is favoured at all three ratios by {listed(by_side) if by_side else 'no metric'}; the place "
        f"in the ranking is kept within one by {listed(by_place) if by_place else 'no metric'}; {favoured}."
    )


# ---------------------------------------------------------------- wu's tables and figures
# Values, ranking, stability, thresholds and no-skill baselines.


WU_STUDY.table(
    "stability",
    "The place of each metric in the ranking by NMC − LDA, and whom it favours",
    lambda results: f"By the mean difference over {len(results.trials)} draws; place 1 speaks most for NMC.",
)(stability_rows)


@WU_STUDY.tables
def _controls(results: DigitTrials) -> list[Table]:
    note = f"Means over {len(results.trials)} draws, and in brackets the standard deviation."
    title = "The control at N:P = {}: the same axis, another threshold"
    return [Table(f"control_{file_name(c)}", title.format(c), control_rows(results, c), note) for c in CONDITIONS]


WU_STUDY.table(
    "no_skill",
    "Distance from no skill: AC-score beside the no-skill baseline (same prediction rate)",
    lambda results: f"Means over {len(results.trials)} draws. AUROC of a random predictor is 0.5 for all.",
)(no_skill_rows)


@WU_STUDY.tables
def _rankings(results: DigitTrials) -> list[Table]:
    note = f"Means over {len(results.trials)} draws; sd is that of the difference over the draws."
    title = "Twelve metrics at N:P = {}, ranked by NMC − LDA"
    return [Table(f"ranking_{file_name(c)}", title.format(c), ranking_rows(results, c), note) for c in CONDITIONS]


WU_STUDY.table(
    "thresholds",
    "The thresholds of the models",
    "Place: from the lowest (0) to the highest (1) projection of the test rows.",
)(threshold_rows)


@WU_STUDY.table(
    "folded",
    "LDA by the other reading of its training: the mean of the discriminants of five folds",
    "The first draw. The paper repeats the folds ten times; elsewhere LDA is fitted once.",
)
def _folded(results: DigitTrials) -> list[TableRow]:
    """LDA fitted once and by folds, on the test rows of the first draw."""
    rows = []
    for c, trial in results.trials[0].items():
        ways = {"fitted once": trial.scores[LDA], "mean of the folds": results.folded[c]}
        for way, z in ways.items():
            placed = replace(trial, scores={LDA: z}, thresholds={LDA: 0.0})
            rows.append({"N:P and LDA": f"{c}  {way}"} | {s: placed.value(LDA, WU_METRICS[s]) for s in CONTROL})
    return rows


@WU_STUDY.table("draws", "NMC − LDA in every draw")
def _draws(results: DigitTrials) -> list[TableRow]:
    return [
        {"draw and N:P": f"{i + 1}  {c}", "centre": results.trials[i][c].centroid}
        | {short: round(float(results.gap(c, short)[i]), 4) for short in WU_METRICS}
        for i in range(len(results.trials))
        for c in CONDITIONS
    ]


# ---------------------------------------------------------------- figures


@WU_STUDY.pictures
def _pictures(results: DigitTrials) -> list[Picture]:
    """Figure 1, Figure 2 of the first draw, and what the threshold does over all draws."""
    letters, models = dict(zip(CONDITIONS, "def", strict=True)), {name: name for name in (NMC, LDA, HELD_OUT)}
    return [
        Picture("figure_1", SurfaceDisplay.of(), f"Figure 1. {SurfaceDisplay.of().caption()}"),
        density_picture(results, "1:3", "figure_2_abc"),
        *(ranking_picture(results, c, f"figure_2_{x}", f"Figure 2{x}", results.seed) for c, x in letters.items()),
        *(control_picture(results, c, models, "LDA with a searched threshold beside both.") for c in SKEWED),
    ]
