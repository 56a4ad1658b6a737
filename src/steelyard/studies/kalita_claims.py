"""Kalita's statements, each tried by what the run gave."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.studies.kalita import (
    KALITA_STUDY,
    MACRO_RECALL,
    MEAN_F,
    MICRO_F,
    SET_ASIDE,
    SEVEN_CLASSES,
    TREE,
    TWO_CLASSES,
    KalitaResults,
    ProtocolOutcome,
    times_tested,
)
from steelyard.studies.study import ABOVE_0, Effect, Finding, judged, signed, tiny
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard._types import Array
    from steelyard.protocol.cross_evaluation import CrossEvaluation


_WAYS = ("over", "under")  # the paper's two; class weights stand in the tables
_METRICS = {MEAN_F: "mean F", "balanced_accuracy": "balanced accuracy"}
FOLD_SHARE = 0.2  # the share of the rows that a fold tests
NEAR = 0.01  # of F: what a value may be off by and still be called the same


@KALITA_STUDY.summary
def _summary(results: KalitaResults) -> list[str]:
    return [
        "The protocol runs as it is written, with three repairs: a tree is chosen on validation rows, rows are "
        "repeated inside the training part, and the intervals allow for training rows that runs share.",
        *(_balance_words(outcome) for outcome in results.outcomes),
        *(_leak_words(outcome) for outcome in results.outcomes),
        "The average that the paper calls micro is the accuracy where recall is averaged, and the small classes, for "
        "which it is recommended, hardly count in it.",
    ]


def balance_gains(folds: CrossEvaluation, metric: str, way: str) -> Array:
    """What a way to balance adds to a metric, fold by fold."""
    return np.asarray(folds[f"{TREE} + {way}"].values(metric) - folds[TREE].values(metric))


def _balance_words(outcome: ProtocolOutcome) -> str:
    """What the paper's two ways to balance do to both metrics of both trees."""
    trees = []
    for kind, folds in outcome.both_trees.items():
        ways = [
            " and ".join(signed(balance_gains(folds, metric, way).mean(), 3) for metric in _METRICS) for way in _WAYS
        ]
        trees.append(f"{kind or 'full '}tree {ways[0]} by oversampling, {ways[1]} by undersampling")
    return f"{outcome.task.name}: balancing changes mean F and balanced accuracy by, {'; '.join(trees)}."


def _leak_words(outcome: ProtocolOutcome) -> str:
    """What repeating rows before the split pretends."""
    right, wrong = (
        result.summarised("balanced_accuracy").mean
        for result in (outcome.folds[f"{TREE} + over"], outcome.repeated_before[TREE])
    )
    before = f"rows repeated before the split give a balanced accuracy of {wrong:.3f}"
    inside = f"inside the training part {right:.3f}"
    return f"{outcome.task.name}: {before}, {inside}: the paper does not say which, and the first is a leak."


def by_task(results: KalitaResults, words: Callable[[ProtocolOutcome], str]) -> str:
    """What there is to say of each data set, behind its name."""
    return "; ".join(f"{outcome.task.name}: {words(outcome)}" for outcome in results.outcomes)


# ---------------------------------------------------------------- splits


@KALITA_STUDY.claim(
    "With k from 2 to 9 the training set is 3 to 10 times the test set.", paper="3 to 10 times", place="Section 2.1"
)
def _sizes(results: KalitaResults) -> Finding:
    ratios = [len(r.runs[0].part.train) / len(r.runs[0].part.test) for r in results.outcomes[0].holdouts.values()]

    def values(outcome: ProtocolOutcome) -> str:
        ends = [outcome.holdouts[k][TREE].summarised(MEAN_F) for k in (2, 9)]
        return " → ".join(f"{row.mean:.3f} (sd {row.sd:.3f})" for row in ends)

    return Finding(
        f"{min(ratios):.1f} to {max(ratios):.1f} times",
        "all runs",
        judged(holds=abs(min(ratios) - 3) < 0.1 and abs(max(ratios) - 10) < 0.1),
        "k is that ratio; all the data are k + 1 times the test set. Mean F from k = 2 to k = 9: "
        f"{by_task(results, values)}.",
    )


@KALITA_STUDY.claim("Ten hold-outs of 24 rows ameliorate the small test set a little.", place="Section 2.1.1")
def _few(results: KalitaResults) -> Finding:
    def words(outcome: ProtocolOutcome) -> str:
        means = np.array([result[TREE].summarised(MEAN_F).mean for result in outcome.few])
        means = means[np.isfinite(means)]
        span = f"mean F from {means.min():.2f} to {means.max():.2f}" if len(means) else "no mean F"
        return f"{span}, undefined in {_lost(outcome)} of {10 * len(outcome.few)} runs"

    effects = [Effect(f"{o.task.name}: error of one hold-out less that of ten", _nearer(o)) for o in results.outcomes]
    why = (
        "Error: how far mean F is from that of all the data. Rows of the rare class decide: a test part of 8 rows may "
        "hold none, and where none is flagged either there is no F of that class, hence no mean F. Repeating does not "
        "make more of them."
    )
    return Finding.of(effects, why, seeds="sets of 24 rows", ours=by_task(results, words))


def _nearer(outcome: ProtocolOutcome) -> list[float]:
    """By how much ten hold-outs are nearer to the mean F of all the data than the first, in sets with two or more."""
    truth = outcome.folds[TREE].summarised(MEAN_F).mean
    runs = [np.asarray(result[TREE].values(MEAN_F)) for result in outcome.few]
    defined = [values[np.isfinite(values)] for values in runs]
    return [abs(values[0] - truth) - abs(values.mean() - truth) for values in defined if len(values) > 1]


def _lost(outcome: ProtocolOutcome) -> int:
    """The runs on few rows that have no mean F."""
    return sum(result[TREE].summarised(MEAN_F).undefined or 0 for result in outcome.few)


@KALITA_STUDY.claim(
    "Choosing 16 of 24 rows at random ten times is a 3-fold cross-validation.",
    paper="3-fold, run 8 times",
    place="Section 2.1.1",
)
def _folds_by_name(results: KalitaResults) -> Finding:
    often = np.concatenate([times_tested(result) for outcome in results.outcomes for result in outcome.few])
    proper = np.concatenate([times_tested(outcome.folds) for outcome in results.outcomes])
    return Finding(
        f"a row is tested {often.min()} to {often.max()} times in ten runs",
        "over all sets of 24 rows",
        judged(holds=bool(often.min() == often.max())),
        f"It is a repeated hold-out, and r = 10 means ten runs; in folds every row is tested equally often, here "
        f"{proper.min()} times. The paper defines k-fold cross-validation so in its next paragraph.",
    )


# ---------------------------------------------------------------- balance


def _balancing(results: KalitaResults, task: int) -> Finding:
    outcome = results.outcomes[task]
    effects = [
        Effect(
            f"{word} of the {kind or 'full '}tree by {way}sampling",
            balance_gains(folds, metric, way),
            test_share=FOLD_SHARE,
        )
        for kind, folds in outcome.both_trees.items()
        for metric, word in _METRICS.items()
        for way in _WAYS
    ]
    why = (
        "A tree grown until its leaves are pure fits the rare class anyway; balancing moves errors from one class to "
        "the other, which raises the recalls' mean and may lower precision, hence F."
    )
    return Finding.of(effects, why, seeds=f"folds of {results.effort.repeats} seeds")


for _i, _name in enumerate((TWO_CLASSES, SEVEN_CLASSES)):
    KALITA_STUDY.claim(
        f"For a tree to train correctly on imbalanced classes they should be balanced ({_name}).", place="Section 2.1.2"
    )(partial(_balancing, task=_i))


# ---------------------------------------------------------------- trees


@KALITA_STUDY.claim("One can keep the tree that does best on the test data.", place="Section 2.1.3")
def _best(results: KalitaResults) -> Finding:
    def words(outcome: ProtocolOutcome) -> str:
        first = outcome.selections[0]
        return f"mean F {first.grown.value:.3f} there, {first.grown_unseen:.3f} on unseen rows"

    effects = [_over_selections(o, "mean F there less that on unseen rows", flattery=True) for o in results.outcomes]
    why = (
        f"It is a way to choose, not to measure. Tried is whether its value there is that on unseen rows, to within "
        f"{NEAR}: the value by which the best of ten was chosen tends to flatter it."
    )
    return Finding.of(effects, why, seeds="selections", ours=by_task(results, words))


def _over_selections(outcome: ProtocolOutcome, name: str, *, flattery: bool = False) -> Effect:
    """How much higher F is where the tree was chosen than on unseen rows, or what pruning adds on these."""
    pairs = [(c.grown.value if flattery else c.chosen_unseen, c.grown_unseen) for c in outcome.selections]
    claimed = (-NEAR, NEAR) if flattery else ABOVE_0
    return Effect(f"{outcome.task.name}: {name}", [a - b for a, b in pairs], claimed, test_share=SET_ASIDE)


@KALITA_STUDY.claim("Better: prune the best trees, and keep the best with the fewest nodes.", place="Section 2.1.3")
def _pruned(results: KalitaResults) -> Finding:
    shares = [c.selection.chosen.complexity / c.grown.complexity for o in results.outcomes for c in o.selections]

    def words(outcome: ProtocolOutcome) -> str:
        c = outcome.selections[0]
        nodes = f"{int(c.grown.complexity):,} → {int(c.selection.chosen.complexity):,} nodes"
        return f"{nodes}, mean F on unseen rows {c.grown_unseen:.3f} → {c.chosen_unseen:.3f}"

    effects = [_over_selections(outcome, "gain in mean F") for outcome in results.outcomes]
    why = (
        f"It has {100 * min(shares):.1f} to {100 * max(shares):.1f} % of the nodes. Which of two near equals is best "
        "the paper leaves open; taken is the smallest tree within one standard error of the best, a rule of Breiman, "
        "Friedman, Olshen and Stone (1984), chosen on validation rows and judged on others."
    )
    return Finding.of(effects, why, seeds="selections", ours=by_task(results, words))


# ---------------------------------------------------------------- kalita on averages
# Over classes, over runs, and what they say of a classifier.


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
