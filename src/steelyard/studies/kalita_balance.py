"""What balancing the training part changes in Kalita's protocol, and what balancing before the split leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.studies.kalita import MEAN_F, TREE
from steelyard.studies.study import Claim, Verdict, judged

if TYPE_CHECKING:
    from steelyard.protocol.cross_evaluation import CrossEvaluation
    from steelyard.studies.kalita import ProtocolOutcome

_LEVEL = 0.05
_ENOUGH = 10  # folds: those of a full run
_WAYS = ("over", "under", "class_weight")
_METRICS = {MEAN_F: "mean F", "balanced_accuracy": "balanced accuracy"}


def both_trees(outcome: ProtocolOutcome) -> dict[str, CrossEvaluation]:
    """The repeated folds of the tree grown until its leaves are pure, and of the small one."""
    return {"": outcome.folds, "small ": outcome.small}


def _changes(folds: CrossEvaluation, metric: str) -> dict[str, tuple[float, float]]:
    """What each way to balance adds to a metric, with its p-value."""
    rows = folds.differences(list(_METRICS))
    return {
        row.b.removeprefix(f"{TREE} + "): (-row.difference, row.p_holm)
        for row in rows
        if row.a == TREE and row.metric == metric
    }


def balance_words(outcome: ProtocolOutcome) -> str:
    """What the three ways to balance do to both metrics of both trees."""
    trees = []
    for kind, folds in both_trees(outcome).items():
        spans = []
        for metric in _METRICS:
            gains = [gain for gain, _ in _changes(folds, metric).values()]
            spans.append(f"{min(gains):+.3f} to {max(gains):+.3f}")
        trees.append(f"{spans[0]} and {spans[1]} for {'a small tree' if kind else 'a full tree'}")
    name = outcome.task.name
    return f"{name}: balancing the training part changes mean F and balanced accuracy by {', '.join(trees)}."


def balance_claim(outcome: ProtocolOutcome) -> Claim:
    """The paper's advice to balance, tried on one data set."""
    better, sure, trees, n = [], [], [], len(outcome.folds[TREE].runs)
    for kind, folds in both_trees(outcome).items():
        changes = {word: _changes(folds, metric) for metric, word in _METRICS.items()}
        for word, by_way in changes.items():
            beyond_chance = {way: gain for way, (gain, p) in by_way.items() if p < _LEVEL}
            better.append(any(gain > 0 for gain in beyond_chance.values()))
            sure += [f"{word} of the {kind}tree {gain:+.3f} by {way}" for way, gain in beyond_chance.items()]
        mean_f, recall = changes.values()
        ways = ", ".join(f"{way} {mean_f[way][0]:+.3f} / {recall[way][0]:+.3f}" for way in _WAYS)
        trees.append(f"{kind}tree: {ways}")
    return Claim(
        f"For a tree to train correctly on imbalanced classes they should be balanced ({outcome.task.name}).",
        "stated, no numbers",
        f"mean F / balanced accuracy, {'; '.join(trees)}",
        f"corrected t-tests over {n} folds",
        _decided(better, n),
        f"Beyond chance (p < {_LEVEL}, adjusted for all pairs): {'; '.join(sure) or 'nothing'}. A tree grown until its "
        "leaves are pure fits the rare class anyway; balancing moves errors from one class to the other."
        + ("" if n >= _ENOUGH else f" {n} folds of a part of the rows cannot say that there is no gain."),
        "Section 2.1.2",
    )


def _decided(better: list[bool], folds: int) -> Verdict:
    """That few folds show no gain beyond chance does not say that there is none."""
    enough = any(better) or folds >= _ENOUGH
    return judged(holds=all(better), partly=any(better)) if enough else "not tested"


def leak_words(outcome: ProtocolOutcome) -> str:
    """What repeating rows before the split pretends."""
    right, wrong = (
        result.summarised("balanced_accuracy").mean
        for result in (outcome.folds[f"{TREE} + over"], outcome.repeated_before[TREE])
    )
    before = f"rows repeated before the split give a balanced accuracy of {wrong:.3f}"
    inside = f"inside the training part {right:.3f}"
    return f"{outcome.task.name}: {before}, {inside}: the paper does not say which, and the first is a leak."
