"""Kalita's statements, each tried by what the run gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.declared_study import Finding
from steelyard.studies.kalita import KALITA_STUDY, MEAN_F, MICRO_F, TREE, KalitaResults, ProtocolOutcome
from steelyard.studies.kalita_balance import balance_claim, balance_words, leak_words
from steelyard.studies.kalita_tables import times_tested
from steelyard.studies.study import judged, tiny

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.studies.study import Claim


@KALITA_STUDY.summary
def _summary(results: KalitaResults) -> list[str]:
    return [
        "The protocol runs as it is written, with three repairs: a tree is chosen on validation rows, rows are "
        "repeated inside the training part, and the intervals allow for training rows that runs share.",
        *(balance_words(outcome) for outcome in results.outcomes),
        *(leak_words(outcome) for outcome in results.outcomes),
        "The average that the paper calls micro is the accuracy where recall is averaged, and the small classes, for "
        "which it is recommended, hardly count in it.",
    ]


def _each(results: KalitaResults, words: Callable[[ProtocolOutcome], str]) -> str:
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
        f"{_each(results, values)}.",
    )


@KALITA_STUDY.claim(
    "Ten hold-outs of 24 rows ameliorate the small test set a little.",
    paper="stated, no numbers",
    place="Section 2.1.1",
)
def _few(results: KalitaResults) -> Finding:
    def words(outcome: ProtocolOutcome) -> str:
        means = np.array([result[TREE].summarised(MEAN_F).mean for result in outcome.few])
        means = means[np.isfinite(means)]
        span = (
            f"mean F from {means.min():.2f} to {means.max():.2f} over {len(means)} sets" if len(means) else "no mean F"
        )
        return f"{span}, undefined in {_lost(outcome)} of {10 * len(outcome.few)} runs"

    return Finding(
        _each(results, words),
        f"{len(results.outcomes[0].few)} sets of 24 rows each",
        judged(holds=not any(map(_lost, results.outcomes)), partly=True),
        "Rows of the rare class decide: a test part of 8 rows may hold none, and where none is flagged either there is "
        "no F of that class, hence no mean F. Repeating does not make more of them.",
    )


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


@KALITA_STUDY.claims
def _balancing(results: KalitaResults) -> list[Claim]:
    return [balance_claim(outcome) for outcome in results.outcomes]


# ---------------------------------------------------------------- trees


@KALITA_STUDY.claim(
    "One can keep the tree that does best on the test data.", paper="stated, no numbers", place="Section 2.1.3"
)
def _best(results: KalitaResults) -> Finding:
    gaps = [c.grown.value - c.grown_unseen for outcome in results.outcomes for c in outcome.selections]

    def words(outcome: ProtocolOutcome) -> str:
        first = outcome.selections[0]
        return f"mean F {first.grown.value:.3f} there, {first.grown_unseen:.3f} on unseen rows"

    return Finding(
        _each(results, words),
        f"{min(gaps):+.3f} to {max(gaps):+.3f} too high over {len(gaps)} selections",
        judged(holds=max(gaps) <= 0, partly=True),
        "It is a way to choose, not to measure: the value by which a tree was chosen flatters it "
        f"in {sum(g > 0 for g in gaps)} of {len(gaps)} selections, by {np.mean(gaps):.3f} on average.",
    )


@KALITA_STUDY.claim(
    "Better: prune the best trees, and keep the best with the fewest nodes.",
    paper="stated, no numbers",
    place="Section 2.1.3",
)
def _pruned(results: KalitaResults) -> Finding:
    choices = [c for outcome in results.outcomes for c in outcome.selections]
    gains = [c.chosen_unseen - c.grown_unseen for c in choices]
    shares = [c.selection.chosen.complexity / c.grown.complexity for c in choices]

    def words(outcome: ProtocolOutcome) -> str:
        c = outcome.selections[0]
        nodes = f"{int(c.grown.complexity):,} → {int(c.selection.chosen.complexity):,} nodes"
        return f"{nodes}, mean F on unseen rows {c.grown_unseen:.3f} → {c.chosen_unseen:.3f}"

    return Finding(
        _each(results, words),
        f"{100 * min(shares):.1f} to {100 * max(shares):.1f} % of the nodes, mean F {min(gains):+.3f} to "
        f"{max(gains):+.3f}, {len(gains)} selections",
        judged(holds=min(gains) >= 0, partly=float(np.mean(gains)) >= 0 or min(gains) > -0.02),
        "The smallest tree within one standard error of the best; chosen on validation rows, judged on others.",
    )


# ---------------------------------------------------------------- averages


@KALITA_STUDY.claim(
    "The higher the average F over all runs, the better the classifier.",
    paper="stated, no numbers",
    place="Section 3.1.5",
)
def _average_f(results: KalitaResults) -> Finding:
    def order(outcome: ProtocolOutcome, metric: str) -> list[str]:
        return [str(row.model).removeprefix(f"{TREE} + ") for row in outcome.folds.ranking(metric)]

    same = [order(outcome, MEAN_F) == order(outcome, "balanced_accuracy") for outcome in results.outcomes]
    return Finding(
        _each(results, lambda outcome: " > ".join(order(outcome, MEAN_F))),
        "by mean F over all folds",
        judged(holds=all(same), partly=True),
        "By balanced accuracy the order is "
        + _each(results, lambda outcome: " > ".join(order(outcome, "balanced_accuracy")))
        + ". Which is better is a question about the cost of a false alarm, which F decides unasked.",
    )


@KALITA_STUDY.claim(
    "Where classes are unbalanced the smaller ones contribute well to the micro average, so it is preferred.",
    paper="stated, no numbers",
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
        _each(results, words),
        "the smallest class; no seed",
        judged(holds=all(map(heavier, results.outcomes))),
        f"The opposite: the paper's micro average weights a class by its rows. F here: {_each(results, values)}. "
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
