"""Wu and Cannistraci 2025: whether the AC-score unmasks a lopsided classifier that other metrics prefer.

Figure 1 draws AC-score, GM and AUROC over both rates. Figure 2 compares a nearest mean classifier, cut at its best
operating point, with linear discriminant analysis on the house numbers 1 and 6 at three imbalances, and ranks twelve
metrics by their difference. The paper prints no numbers. Which digit is positive is not said: there are enough 1s
(18,960) for the 18,000 positives of N:P = 1:3, and too few 6s (7,704). What the paper lacks is added: LDA with a
searched cut, which tells how much of the difference is the cut, and what guessing would score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison import compare
from steelyard.datasets.paper_datasets import svhn_1_6
from steelyard.evaluation.evaluate import evaluate
from steelyard.metrics.references import reference
from steelyard.report.figures.density import DensityDisplay
from steelyard.report.figures.ranking import RankingDisplay
from steelyard.report.figures.runs import RunsDisplay
from steelyard.report.figures.surface import SurfaceDisplay
from steelyard.studies import wu_claims, wu_tables
from steelyard.studies.study import Picture, Study
from steelyard.studies.wu_trials import (
    CONDITIONS,
    FULL,
    HELD_OUT,
    LDA,
    METRICS,
    NMC,
    QUICK,
    TRAINED,
    Plan,
    Trial,
    Trials,
    trials,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.datasets.paper_datasets import Digits

_SHOWN = ("ac_score", "g_mean", "balanced_accuracy", "mcc")


def run(*, quick: bool, data: Any, seed: int, progress: Callable[[str], Any]) -> Study:
    """Both figures, the ranking under both readings of "stable", and the control."""
    plan = QUICK if quick else FULL
    progress("reading the house numbers")
    digits = svhn_1_6(data)
    found = trials(digits, plan, seed, progress)
    progress("drawing")
    side = digits.images.shape[1] // plan.coarse
    sizes = {c: " + ".join(f"{n:,}" for n in plan.test(c)) for c in CONDITIONS}
    return Study(
        "wu",
        "Does the AC-score unmask a lopsided classifier?",
        reference("wu2025"),
        _summary(found),
        wu_tables.tables(found),
        pictures(found, seed),
        wu_claims.claims(found),
        {
            "draws": f"{plan.draws}; {_shared(digits, plan)}",
            "positive": "the digit 1",
            "features": f"{side * side:,} grey values of {side} x {side}",
            "test rows, positives + negatives": "; ".join(f"{c}: {n}" for c, n in sizes.items()),
            "training rows": "three times the test rows, none shared",
            "NMC": "mean or median centre, the better by the "
            "operating point score; its cut the mean of those of 5 folds, 10 times",
            "LDA": "scikit-learn's, solver lsqr, empirical priors, fitted once on all training rows",
            HELD_OUT: "LDA, cut where the same score is best on a held-out fifth of the training rows",
        },
    )


def _shared(digits: Digits, plan: Plan) -> str:
    """How much of each class every draw at 1:3 takes, so how much the draws have in common."""
    taken = [(1 + TRAINED) * n for n in plan.test("1:3")]
    there = [int((digits.labels == digit).sum()) for digit in (1, 6)]
    ones, sixes = (f"{100 * n / of:.0f} %" for n, of in zip(taken, there, strict=True))
    return (
        f"at 1:3 each takes {ones} of all 1s and {sixes} of all 6s for training and testing together, so draws share "
        "rows and their spread is narrower than that of new digits"
    )


def _summary(found: Trials) -> list[str]:
    """What was found, in sentences made of this run's numbers."""
    n = len(found.trials)
    more = [sum(abs(found.gap(c, "AC-score")) > abs(found.gap(c, "GM"))) for c in ("1:3", "3:1")]
    ahead = [sum(found.gap(c, "AC-score") > 0) for c in ("1:3", "3:1")]
    control = [sum(found.gap(c, "AC-score", HELD_OUT, NMC) > 0) for c in ("1:3", "3:1")]

    def mean(condition: str, model: str, short: str) -> str:
        return f"{found.of(condition, model, short).mean():.2f}"

    cut = "; but what it sees is the cut" if min(control) > n / 2 else ""
    return [
        f"Under imbalance (N:P = 1:3 and 3:1) the AC-score puts NMC ahead of LDA in {sum(ahead)} of {2 * n} draws, and "
        f"further apart than GM in {sum(more)}{cut}.",
        f"With the cut searched for LDA as well, LDA is ahead of NMC on the AC-score in {control[0]} and {control[1]} "
        f"of {n} draws: {mean('1:3', HELD_OUT, 'AC-score')} against {mean('1:3', NMC, 'AC-score')} at 1:3, where LDA "
        f"with its own cut has {mean('1:3', LDA, 'AC-score')}.",
        f"Guessing has an AUROC of 0.50; NMC has {mean('1:3', NMC, 'AUROC')} and LDA {mean('1:3', LDA, 'AUROC')} at "
        f"1:3, {mean('3:1', NMC, 'AUROC')} and {mean('3:1', LDA, 'AUROC')} at 3:1. A coin that flags half of the rows "
        f"has an AC-score of 0.50, too; NMC has {mean('1:3', NMC, 'AC-score')} and {mean('3:1', NMC, 'AC-score')}.",
        *wu_claims.said_of_sides(found),
    ]


# ---------------------------------------------------------------- the figures


def pictures(found: Trials, seed: int) -> list[Picture]:
    """Figure 1, Figure 2 of the first draw, and what the cut does over all draws."""
    first = found.trials[0]
    spread = DensityDisplay.from_evaluation({name: _placed(first["1:3"], name) for name in (NMC, LDA)})
    why = (
        "Projections of the test rows at N:P = 1:3, from the lowest (0) to the highest (1), by class (Figure 2a to c)."
    )
    letters = dict(zip(CONDITIONS, "def", strict=True))
    return [
        Picture("figure_1", SurfaceDisplay.of(), f"Figure 1. {SurfaceDisplay.of().caption()}"),
        Picture("figure_2_abc", spread, f"{why} {spread.caption()}", width=4.5),
        *(_ranked(first[c], c, letters[c], seed) for c in CONDITIONS),
        *(_runs(found, c) for c in ("1:3", "3:1")),
    ]


def _placed(trial: Trial, model: str) -> Any:
    z, cut = trial.normalised(model)
    return evaluate(trial.y, y_score=z, threshold=cut)


def _ranked(trial: Trial, condition: str, letter: str, seed: int) -> Picture:
    columns, cuts = ({name: part[name] for name in (NMC, LDA)} for part in (trial.scores, trial.cuts))
    found = compare(trial.y, columns, scores=True, threshold=cuts, metrics=list(METRICS.values()), rng=seed)
    drawn = RankingDisplay.from_comparison(found)
    words = f"N:P = {condition}, first draw (Figure 2{letter}). {drawn.caption()}"
    return Picture(f"figure_2_{letter}", drawn, words, width=5)


def _runs(found: Trials, condition: str) -> Picture:
    runs = {name: found.counts(condition, name) for name in (NMC, LDA, HELD_OUT)}
    drawn = RunsDisplay.from_runs(runs, metrics=_SHOWN)
    name = f"control_{condition.replace(':', '_to_')}"
    words = f"The control at N:P = {condition}: LDA with a searched cut beside both. {drawn.caption()}"
    return Picture(name, drawn, words, width=5)
