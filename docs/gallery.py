"""The gallery: every figure from real predictions; run `python docs/gallery.py FOLDER [png|svg|pdf]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate, train_test_split
from sklearn.naive_bayes import GaussianNB

import steelyard

if TYPE_CHECKING:
    from steelyard.report.figures.display import Display


def figures() -> dict[str, Display]:
    """Every kind of figure, of classifiers of the digit 8 against the others, in pictures of 4 x 4 dots."""
    images, digits = load_digits(return_X_y=True)
    X = images.reshape(-1, 4, 2, 4, 2).mean((2, 4)).reshape(-1, 16)
    y = (digits == 8).astype(int)
    train, test, y_train, y_test, d_train, d_test = train_test_split(
        X, y, digits, test_size=0.5, random_state=0, stratify=digits
    )
    logistic = LogisticRegression(max_iter=2_000).fit(train, y_train)
    bayes = GaussianNB().fit(train, y_train)
    both = {"logistic": logistic, "naive Bayes": bayes}
    ten = LogisticRegression(max_iter=2_000).fit(train, d_train)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
    options = {"cv": folds, "return_estimator": True, "return_indices": True}
    results = {name: cross_validate(model, X, y, **options) for name, model in both.items()}
    probability = logistic.predict_proba(test)[:, 1]
    report = steelyard.evaluate(y_test, y_score=probability)
    return {
        "confusion": steelyard.ConfusionDisplay.from_evaluation(report),
        "confusion-many": steelyard.ConfusionDisplay.from_estimator(ten, test, d_test),
        "confusion-tornado": steelyard.ConfusionDisplay.from_evaluation(
            steelyard.evaluate(steelyard.Counts(tp=28, fn=23, fp=72, tn=2680))
        ),
        "roc": steelyard.RocDisplay.from_evaluation(report),
        "roc-two": steelyard.RocDisplay.from_estimator(both, test, y_test),
        "roc-folds": steelyard.RocDisplay.from_cv_results(results["logistic"], X, y),
        "pr": steelyard.PrecisionRecallDisplay.from_evaluation(report),
        "pr-two": steelyard.PrecisionRecallDisplay.from_estimator(both, test, y_test),
        "pr-folds": steelyard.PrecisionRecallDisplay.from_cv_results(results["logistic"], X, y),
        "threshold": steelyard.ThresholdDisplay.from_evaluation(report),
        "threshold-band": steelyard.ThresholdDisplay.from_evaluation(report, metrics=["ac_score", "precision"]),
        "prevalence": steelyard.PrevalenceDisplay.from_evaluation(report),
        "prevalence-band": steelyard.PrevalenceDisplay.from_evaluation(report, metrics=["precision", "f1"]),
        "intervals": steelyard.IntervalDisplay.from_evaluation(report),
        "intervals-two": steelyard.IntervalDisplay.from_estimator(
            both, test, y_test, metrics=["recall", "specificity", "precision", "f1", "ac_score", "mcc"]
        ),
        "surface": steelyard.SurfaceDisplay.of(),
        "surface-contour": steelyard.SurfaceDisplay.from_evaluation(
            report, metrics=["f1", "mcc", "ac_score"], shape="contour"
        ),
        "ranking": steelyard.RankingDisplay.from_estimator(both, test, y_test, scores=True, threshold=0.5),
        "correlation": steelyard.CorrelationDisplay.from_study(seeds=5),
        "runs": steelyard.RunsDisplay.from_cv_results(results["logistic"], X, y),
        "runs-two": steelyard.RunsDisplay.from_cv_results(results, X, y),
        "reliability": steelyard.ReliabilityDisplay.from_evaluation(report),
        "reliability-two": steelyard.ReliabilityDisplay.from_estimator(both, test, y_test, strategy="quantile", bins=8),
        "decision": steelyard.DecisionCurveDisplay.from_estimator(both, test, y_test),
        "murphy": steelyard.MurphyDisplay.from_evaluation(report),
        "murphy-two": steelyard.MurphyDisplay.from_estimator(both, test, y_test),
        "gain": steelyard.GainDisplay.from_evaluation(report),
        "gain-two": steelyard.GainDisplay.from_estimator(both, test, y_test),
        "lift": steelyard.GainDisplay.from_estimator(both, test, y_test, kind="lift"),
        "cost": steelyard.CostCurveDisplay.from_evaluation(report),
        "cost-two": steelyard.CostCurveDisplay.from_estimator(both, test, y_test),
        "brier": steelyard.CostCurveDisplay.from_estimator(both, test, y_test, kind="brier"),
        "triptych": steelyard.TriptychDisplay.from_evaluation(report),
        "triptych-two": steelyard.TriptychDisplay.from_estimator(both, test, y_test),
        "dots": steelyard.DotsDisplay.from_evaluation(report),
        "dots-two": steelyard.DotsDisplay.from_estimator(both, test, y_test, threshold=0.2),
        "density": steelyard.DensityDisplay.from_evaluation(report),
        "density-two": steelyard.DensityDisplay.from_predictions(
            y_test,
            {"logistic": logistic.decision_function(test), "naive Bayes": bayes.predict_log_proba(test)[:, 1]},
            threshold=-1.0,
        ),
    }


def main(folder: str = "docs/images/gallery", kind: str = "png") -> None:
    """Write every figure into the folder, and its caption to the terminal."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, display in figures().items():
        options = {"dpi": 200} if kind == "png" else {}
        sys.stdout.write(f"{display.save(place / f'{name}.{kind}', **options)}\n    {display.caption()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
