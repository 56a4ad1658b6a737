"""Kalita's statements, each tried by what the run gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.metrics.registry import get_metric
from steelyard.statistics.counts import Counts
from steelyard.studies.kalita_tables import MEAN_F, MICRO_F, TREE, grown, times_tested
from steelyard.studies.study import Claim, Verdict, tiny, verdict

if TYPE_CHECKING:
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.studies.kalita import Outcome

_LEVEL = 0.05
ENOUGH = 10  # folds: those of a full run
WAYS = ("over", "under", "class_weight")


def claims(found: list[Outcome]) -> list[Claim]:
    """What the paper says that this run can try."""
    return [
        _sizes(found),
        _few(found),
        _folds_by_name(found),
        *(_balancing(one) for one in found),
        _best(found),
        _pruned(found),
        _average_f(found),
        _micro(found),
        _examples(),
    ]


def summary(found: list[Outcome]) -> list[str]:
    """What was found, in sentences."""
    return [
        "The protocol runs as it is written, with three repairs: a tree is chosen on validation rows, rows are "
        "repeated inside the training part, and the intervals allow for training rows that runs share.",
        *(_balance_words(one) for one in found),
        *(_leak_words(one) for one in found),
        "The average that the paper calls micro is the accuracy where recall is averaged, and the small classes, for "
        "which it is recommended, hardly count in it.",
    ]


def _each(found: list[Outcome], words: Any) -> str:
    return "; ".join(f"{one.task.name}: {words(one)}" for one in found)


# ---------------------------------------------------------------- splits


def _sizes(found: list[Outcome]) -> Claim:
    ratios = [len(r.runs[0].part.train) / len(r.runs[0].part.test) for r in found[0].holdouts.values()]

    def values(one: Outcome) -> str:
        ends = [one.holdouts[k][TREE].summarised(MEAN_F) for k in (2, 9)]
        return " → ".join(f"{row.mean:.3f} (sd {row.sd:.3f})" for row in ends)

    return Claim(
        "With k from 2 to 9 the training set is 3 to 10 times the test set.",
        "3 to 10 times",
        f"{min(ratios):.1f} to {max(ratios):.1f} times",
        "all runs",
        verdict(holds=abs(min(ratios) - 3) < 0.1 and abs(max(ratios) - 10) < 0.1),
        "k is that ratio; all the data are k + 1 times the test set. Mean F from k = 2 to k = 9: "
        f"{_each(found, values)}.",
        "Section 2.1",
    )


def _few(found: list[Outcome]) -> Claim:
    def told(one: Outcome) -> str:
        means = np.array([result[TREE].summarised(MEAN_F).mean for result in one.few])
        known = means[np.isfinite(means)]
        seen = (
            f"mean F from {known.min():.2f} to {known.max():.2f} over {len(known)} sets" if len(known) else "no mean F"
        )
        return f"{seen}, undefined in {_lost(one)} of {10 * len(one.few)} runs"

    return Claim(
        "Ten hold-outs of 24 rows ameliorate the small test set a little.",
        "said, no numbers",
        _each(found, told),
        f"{len(found[0].few)} sets of 24 rows each",
        verdict(holds=not any(map(_lost, found)), partly=True),
        "Rows of the rare class decide: a test part of 8 rows may hold none, and where none is flagged either there is "
        "no F of that class, hence no mean F. Repeating does not make more of them.",
        "Section 2.1.1",
    )


def _lost(one: Outcome) -> int:
    """The runs on few rows that have no mean F."""
    return sum(result[TREE].summarised(MEAN_F).undefined or 0 for result in one.few)


def _folds_by_name(found: list[Outcome]) -> Claim:
    often = np.concatenate([times_tested(result) for one in found for result in one.few])
    proper = np.concatenate([times_tested(one.folds) for one in found])
    return Claim(
        "Choosing 16 of 24 rows at random ten times is a 3-fold cross-validation.",
        "3-fold, run 8 times",
        f"a row is tested {often.min()} to {often.max()} times in ten runs",
        "over all sets of 24 rows",
        verdict(holds=bool(often.min() == often.max())),
        f"It is a repeated hold-out, and r = 10 means ten runs; in folds every row is tested equally often, here "
        f"{proper.min()} times. The paper defines k-fold cross-validation so in its next paragraph.",
        "Section 2.1.1",
    )


# ---------------------------------------------------------------- balance


def _changes(folds: CrossEvaluation, metric: str) -> dict[str, tuple[float, float]]:
    """What each way to balance adds to a metric, with its p-value."""
    rows = folds.differences([MEAN_F, "balanced_accuracy"])
    return {
        row.b.removeprefix(f"{TREE} + "): (-row.difference, row.p_holm)
        for row in rows
        if row.a == TREE and row.metric == metric
    }


def _balance_words(one: Outcome) -> str:
    """What the three ways to balance do to both metrics of both trees."""
    said = []
    for kind, part in grown(one).items():
        spans = []
        for metric in (MEAN_F, "balanced_accuracy"):
            gains = [gain for gain, _ in _changes(part, metric).values()]
            spans.append(f"{min(gains):+.3f} to {max(gains):+.3f}")
        said.append(f"{spans[0]} and {spans[1]} for {'a small tree' if kind else 'a full tree'}")
    return f"{one.task.name}: balancing the training part changes mean F and balanced accuracy by {', '.join(said)}."


def _balancing(one: Outcome) -> Claim:
    better, said, told, folds = [], [], [], len(one.folds[TREE].runs)
    for kind, part in grown(one).items():
        for metric, word in ((MEAN_F, "mean F"), ("balanced_accuracy", "balanced accuracy")):
            gains = _changes(part, metric)
            sure = {way: gain for way, (gain, p) in gains.items() if p < _LEVEL}
            better.append(any(gain > 0 for gain in sure.values()))
            said += [f"{word} of the {kind}tree {gain:+.3f} by {way}" for way, gain in sure.items()]
        mean_f, recall = (_changes(part, metric) for metric in (MEAN_F, "balanced_accuracy"))
        ways = ", ".join(f"{way} {mean_f[way][0]:+.3f} / {recall[way][0]:+.3f}" for way in WAYS)
        told.append(f"{kind}tree: {ways}")
    return Claim(
        f"For a tree to train correctly on unequal classes they should be balanced ({one.task.name}).",
        "said, no numbers",
        f"mean F / balanced accuracy, {'; '.join(told)}",
        f"corrected t-tests over {folds} folds",
        _decided(better, folds),
        f"Beyond chance (p < {_LEVEL}, adjusted for all pairs): {'; '.join(said) or 'nothing'}. A tree grown until its "
        "leaves are pure fits the rare class anyway; balancing moves errors from one class to the other."
        + ("" if folds >= ENOUGH else f" {folds} folds of a part of the rows cannot say that there is no gain."),
        "Section 2.1.2",
    )


def _decided(better: list[bool], folds: int) -> Verdict:
    """That few folds show no gain beyond chance does not say that there is none."""
    enough = any(better) or folds >= ENOUGH
    return verdict(holds=all(better), partly=any(better)) if enough else "not tested"


def _leak_words(one: Outcome) -> str:
    right, wrong = (
        result.summarised("balanced_accuracy").mean
        for result in (one.folds[f"{TREE} + over"], one.repeated_before[TREE])
    )
    return (
        f"{one.task.name}: rows repeated before the split give a balanced accuracy of {wrong:.3f}, inside the training "
        f"part {right:.3f}: the paper does not say which, and the first is a leak."
    )


# ---------------------------------------------------------------- trees


def _best(found: list[Outcome]) -> Claim:
    gaps = [c.grown.value - c.grown_unseen for one in found for c in one.selections]

    def told(one: Outcome) -> str:
        first = one.selections[0]
        return f"mean F {first.grown.value:.3f} there, {first.grown_unseen:.3f} on unseen rows"

    return Claim(
        "One can keep the tree that does best on the test data.",
        "said, no numbers",
        _each(found, told),
        f"{min(gaps):+.3f} to {max(gaps):+.3f} too high over {len(gaps)} selections",
        verdict(holds=max(gaps) <= 0, partly=True),
        "It is a way to choose, not to measure: the value by which a tree was chosen flatters it "
        f"in {sum(g > 0 for g in gaps)} of {len(gaps)} selections, by {np.mean(gaps):.3f} on average.",
        "Section 2.1.3",
    )


def _pruned(found: list[Outcome]) -> Claim:
    all_of_them = [c for one in found for c in one.selections]
    gains = [c.chosen_unseen - c.grown_unseen for c in all_of_them]
    shares = [c.selection.chosen.complexity / c.grown.complexity for c in all_of_them]

    def told(one: Outcome) -> str:
        c = one.selections[0]
        nodes = f"{int(c.grown.complexity):,} → {int(c.selection.chosen.complexity):,} nodes"
        return f"{nodes}, mean F on unseen rows {c.grown_unseen:.3f} → {c.chosen_unseen:.3f}"

    return Claim(
        "Better: prune the best trees, and keep the best with the fewest nodes.",
        "said, no numbers",
        _each(found, told),
        f"{100 * min(shares):.1f} to {100 * max(shares):.1f} % of the nodes, mean F {min(gains):+.3f} to "
        f"{max(gains):+.3f}, {len(gains)} selections",
        verdict(holds=min(gains) >= 0, partly=float(np.mean(gains)) >= 0 or min(gains) > -0.02),
        "The smallest tree within one standard error of the best; chosen on validation rows, judged on others.",
        "Section 2.1.3",
    )


# ---------------------------------------------------------------- averages


def _average_f(found: list[Outcome]) -> Claim:
    def order(one: Outcome, metric: str) -> list[str]:
        return [str(row.model).removeprefix(f"{TREE} + ") for row in one.folds.ranking(metric)]

    same = [order(one, MEAN_F) == order(one, "balanced_accuracy") for one in found]
    return Claim(
        "The higher the average F over all runs, the better the classifier.",
        "said, no numbers",
        _each(found, lambda one: " > ".join(order(one, MEAN_F))),
        "by mean F over all folds",
        verdict(holds=all(same), partly=True),
        "By balanced accuracy the order is "
        + _each(found, lambda one: " > ".join(order(one, "balanced_accuracy")))
        + ". Which is better is a question about the cost of a false alarm, which F decides unasked.",
        "Section 3.1.5",
    )


def _micro(found: list[Outcome]) -> Claim:
    def told(one: Outcome) -> str:
        sizes = np.unique(one.task.y, return_counts=True)[1]
        return f"weight {sizes.min() / sizes.sum():.3f} in micro, {1 / len(sizes):.3f} in macro"

    def values(one: Outcome) -> str:
        macro, micro = (one.folds[TREE].summarised(m).mean for m in (MEAN_F, MICRO_F))
        return f"micro {micro:.3f}, macro {macro:.3f}"

    heavier = []
    for one in found:
        sizes = np.unique(one.task.y, return_counts=True)[1]
        heavier.append(bool(sizes.min() / sizes.sum() > 1 / len(sizes)))
    return Claim(
        "Where classes are unbalanced the smaller ones contribute well to the micro average, so it is preferred.",
        "said, no numbers",
        _each(found, told),
        "the smallest class; no seed",
        verdict(holds=all(heavier)),
        f"The opposite: the paper's micro average weighs a class by its rows. F here: {_each(found, values)}. Recall "
        f"averaged so is the accuracy: they differ by {tiny(_recall_less_accuracy(found))} at most over all folds.",
        "Section 3.1.4",
    )


def _recall_less_accuracy(found: list[Outcome]) -> float:
    """How far recall averaged by the classes' shares is from accuracy, in any fold of any learner."""
    models = [result for one in found for result in one.folds.models.values()]
    return float(max(np.abs(m.values("recall[average=weighted]") - m.values("accuracy")).max() for m in models))


def _examples() -> Claim:
    precision = float(get_metric("precision")(Counts(tp=3, fn=0, fp=1, tn=0)))
    recall = float(get_metric("recall")(Counts(tp=8, fn=2, fp=0, tn=0)))
    return Claim(
        "3 right of 4 flagged is a precision of 75 %, 8 found of 10 a recall of 80 %.",
        "0.75 and 0.8",
        f"{precision:.2f} and {recall:.1f}",
        "no seed: counts",
        verdict(holds=precision == 0.75 and recall == 0.8),
        "The text says training examples and must mean those of the test set.",
        "Section 3.1.1",
    )
