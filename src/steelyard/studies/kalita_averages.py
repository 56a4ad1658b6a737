"""Kalita on averages: over classes, over runs, and what they say of a classifier."""

from __future__ import annotations

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.claims import Effect, Finding, judged, tiny
from steelyard.studies.kalita import KALITA_STUDY, MACRO_RECALL, MEAN_F, MICRO_F, TREE, KalitaResults, ProtocolOutcome
from steelyard.studies.kalita_claims import FOLD_SHARE, NEAR, balance_gains, by_task

_HELD_OUT = 0.2  # the share of the rows that a hold-out tests, from 1/3 to 1/10


@KALITA_STUDY.claim("The higher the average F over all runs, the better the classifier.", place="Section 3.1.5")
def _average_f(results: KalitaResults) -> Finding:
    def order(outcome: ProtocolOutcome, metric: str) -> str:
        return " > ".join(str(row.model).removeprefix(f"{TREE} + ") for row in outcome.folds.ranking(metric))

    effects = []
    for outcome in results.outcomes:
        by_f, by_recall = (balance_gains(outcome.folds, metric, "under") for metric in (MEAN_F, "balanced_accuracy"))
        higher = by_recall if by_f.mean() > 0 else -by_recall
        effects.append(Effect(f"{outcome.task.name}: balanced accuracy", higher, test_share=FOLD_SHARE))
    why = (
        "Balanced accuracy of the one with the higher mean F less that of the other, of the tree and the tree trained "
        f"on fewer rows of the large classes. By mean F the order is {by_task(results, lambda o: order(o, MEAN_F))}; "
        f"by balanced accuracy {by_task(results, lambda o: order(o, 'balanced_accuracy'))}. Which is better is a "
        "question about the cost of a false alarm, which F decides unasked."
    )
    return Finding.of(effects, why, seeds="folds")


@KALITA_STUDY.claim("One reports the average or the best performance over the repeats.", place="Section 2.1.1")
def _best_run(results: KalitaResults) -> Finding:
    effects = []
    for outcome in results.outcomes:
        rows = [result[TREE].summarised(MEAN_F) for result in outcome.holdouts.values()]
        above = [row.best - row.mean for row in rows]
        name = f"{outcome.task.name}: mean F of the best run less the average"
        effects.append(Effect(name, above, (-NEAR, NEAR), test_share=_HELD_OUT))
    runs = results.effort.holdouts
    why = (
        f"The average says what to expect. The best of {runs} runs is always above it, the further the smaller the "
        "test part and the more the runs: it depends on the number of runs, and is no estimate of anything."
    )
    return Finding.of(effects, why, seeds="values of k")


@KALITA_STUDY.claim(
    "In macro-averaging each class counts the same, however many examples it has.", place="Section 3.1.3"
)
def _macro(results: KalitaResults) -> Finding:
    models = [result for outcome in results.outcomes for result in outcome.folds.models.values()]
    gap = float(max(np.abs(m.values(MACRO_RECALL) - m.values("balanced_accuracy")).max() for m in models))
    few, many = (float(get_metric("balanced_accuracy")(Counts(8, 2, 3 * n, 7 * n))) for n in (1, 10**6))
    return Finding(
        f"macro recall is the mean of the classes' recalls, to within {tiny(gap)} in every fold",
        "no seed: the formula",
        judged(holds=gap < 1e-12 and abs(few - many) < 1e-12, partly=gap < 1e-12),
        f"With a million times the negatives it stays {few:.3f} where the recalls do. Of precision and F it is true of "
        "the weights alone: the precision of a class falls where the others grow.",
    )


@KALITA_STUDY.claim(
    "If the classes are more or less balanced, micro and macro averaging both work.", place="Section 3.1.4"
)
def _either(results: KalitaResults) -> Finding:
    sizes = np.unique(results.topics[TREE].data.codes, return_counts=True)[1]
    gap = np.asarray(results.topics[TREE].values(MICRO_F) - results.topics[TREE].values(MEAN_F))
    effect = Effect("F, micro less macro", gap, (-NEAR, NEAR), test_share=FOLD_SHARE)
    why = (
        f"The 20 topics have {sizes.min()} to {sizes.max()} texts here. The two averages differ by the covariance of "
        f"the classes' shares and their F, which is nearly nothing where the shares are nearly equal; to within {NEAR} "
        "they are then the same number."
    )
    return Finding.of([effect], why, seeds="folds of all 20 topics")


@KALITA_STUDY.claim(
    "Where classes are unbalanced the smaller ones contribute well to the micro average, so it is preferred.",
    place="Section 3.1.4",
)
def _micro(results: KalitaResults) -> Finding:
    def smallest(outcome: ProtocolOutcome) -> tuple[float, float]:
        sizes = np.unique(outcome.task.y, return_counts=True)[1]
        return float(sizes.min() / sizes.sum()), 1 / len(sizes)

    def words(outcome: ProtocolOutcome) -> str:
        by_rows, by_class = smallest(outcome)
        return f"weight {by_rows:.3f} in micro, {by_class:.3f} in macro"

    def values(outcome: ProtocolOutcome) -> str:
        macro, micro = (outcome.folds[TREE].summarised(m).mean for m in (MEAN_F, MICRO_F))
        return f"micro {micro:.3f}, macro {macro:.3f}"

    def heavier(outcome: ProtocolOutcome) -> bool:
        by_rows, by_class = smallest(outcome)
        return by_rows > by_class

    return Finding(
        by_task(results, words),
        "the smallest class; no seed",
        judged(holds=all(map(heavier, results.outcomes))),
        f"The opposite: the paper's micro average weights a class by its rows. F here: {by_task(results, values)}. "
        f"Recall averaged so is the accuracy: they differ by {tiny(_recall_less_accuracy(results))} at most over all "
        "folds.",
    )


def _recall_less_accuracy(results: KalitaResults) -> float:
    """How far recall averaged by the classes' shares is from accuracy, in any fold of any learner."""
    models = [result for outcome in results.outcomes for result in outcome.folds.models.values()]
    return float(max(np.abs(m.values("recall[average=weighted]") - m.values("accuracy")).max() for m in models))


@KALITA_STUDY.claim(
    "3 right of 4 flagged is a precision of 75 %, 8 found of 10 a recall of 80 %.",
    paper="0.75 and 0.8",
    place="Section 3.1.1",
)
def _examples(_: KalitaResults) -> Finding:
    precision = float(get_metric("precision")(Counts(tp=3, fn=0, fp=1, tn=0)))
    recall = float(get_metric("recall")(Counts(tp=8, fn=2, fp=0, tn=0)))
    return Finding(
        f"{precision:.2f} and {recall:.1f}",
        "no seed: counts",
        judged(holds=precision == 0.75 and recall == 0.8),
        "The text says training examples and must mean those of the test set.",
    )
