"""Wu and Cannistraci 2025: whether the AC-score unmasks a lopsided classifier that other metrics prefer.

Figure 1 draws AC-score, GM and AUROC over both rates. Figure 2 compares a nearest mean classifier, thresholded at its
best operating point, with linear discriminant analysis on the house numbers 1 and 6 at three imbalances, and ranks
twelve metrics by their difference. The paper prints no numbers. Which digit is positive is not stated: there are enough
1s (18,960) for the 18,000 positives of N:P = 1:3, and too few 6s (7,704). What the paper lacks is added: LDA with a
searched threshold, which shows how much of the difference is the threshold, and the no-skill baseline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.datasets.paper_datasets import svhn_1_6
from steelyard.protocol.nearest_mean_result import TRAINED
from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.wu_trials import CONDITIONS, FULL_PLAN, HELD_OUT, QUICK_PLAN, DigitTrials, run_trials

if TYPE_CHECKING:
    from steelyard.datasets.paper_datasets import Digits
    from steelyard.studies.wu_trials import DrawPlan

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
