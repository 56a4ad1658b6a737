"""Gates by rules: how often they fail a model that is no worse, and pass one that is worse by the margin.

Two models on the same rows flag each class at known rates and share some of their luck. A gate that fails where a metric
is shown to be worse is asked of equal models; one that passes where each is shown to be not worse of a model whose recall
lies below by exactly the margin, all else being equal. Metrics, groups, clusters, scores, an earlier report of other rows,
and rules on one model. Each error is held at 0.025 by intervals of 95 %. Power: of a model whose recall is lower by 0.1,
and of an equal one; beside it what the result states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from steelyard import compare, evaluate, gate

if TYPE_CHECKING:
    from collections.abc import Iterator

MARGIN, DRAWS, GROUPS = 0.1, 1_999, 4
METRICS = ("recall", "specificity", "precision", "mcc")
RATES = (0.75, 0.1)  # recall and false positive rate of the released model


@dataclass(frozen=True)
class Setting:
    """Rows and positives, how much luck two models share, and what the gate asks."""

    kind: str
    positives: int
    rows: int
    shared: float

    def __str__(self) -> str:
        return f"{self.kind}: {self.positives} positives of {self.rows}, {self.shared:.0%} of the luck shared"


KINDS = ("one metric", "metrics", "groups", "clusters", "scores", "different rows", "one model in groups")


def rows(repeats: int = 500, seed: int = 0) -> Iterator[tuple[str, dict[str, float]]]:
    """Each setting with its errors and its power; half of the settings are drawn at random."""
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        several = GROUPS if "groups" in kind else 1
        drawn = several * int(rng.integers(30, 121))
        random = Setting(kind, drawn, int(drawn / rng.uniform(0.05, 0.4)), round(float(rng.uniform(0.3, 0.9)), 2))
        for setting in (Setting(kind, several * 60, several * 600, 0.5), random):
            yield str(setting), rates(setting, repeats, rng)


def rates(setting: Setting, repeats: int, rng: np.random.Generator) -> dict[str, float]:
    """The shares of runs in which the gate errs, and in which it is right."""
    judge = {"scores": _of_scores, "one model in groups": _of_one}.get(setting.kind, _of_labels)
    outcomes: dict[str, list[float]] = {}
    for run in range(repeats):
        for name, outcome in judge(setting, rng, powers=run % 4 == 0):
            outcomes.setdefault(name, []).append(outcome)
    return {name: float(np.mean(values)) for name, values in outcomes.items()}


# ---------------------------------------------------------------- two models, labels


def _of_labels(setting: Setting, rng: np.random.Generator, *, powers: bool) -> Iterator[tuple[str, float]]:
    worse = _labels(setting, rng, MARGIN)
    equal = _labels(setting, rng, 0.0)
    result = _gated(setting, equal, "worse")
    yield "unchanged fails", result.passed is False
    yield "worse passes", _gated(setting, worse, "not-worse").passed is True
    if powers:
        caught = _gated(setting, worse, "worse")
        passing = _gated(setting, equal, "not-worse")
        yield "drop caught", _recall(caught).passed is False
        yield "drop caught, stated", _recall(result).power or 0.0
        yield "equal passes", _recall(passing).passed is True
        yield "equal passes, stated", _recall(passing).power or 0.0


def _labels(setting: Setting, rng: np.random.Generator, lower: float) -> tuple[np.ndarray, ...]:
    """The truth, the released model's labels, the new model's, and the group or cluster of each row."""
    y = np.arange(setting.rows) < setting.positives
    part = rng.permutation(setting.rows) % GROUPS
    clustered = setting.kind == "clusters"
    members = np.concatenate([np.arange(setting.positives), np.arange(setting.rows - setting.positives)]) // 4
    of = np.where(y, members, members + setting.rows) if clustered else np.arange(setting.rows)
    mine, other, same = (_by_cluster(rng, of) if clustered else rng.random(setting.rows) for _ in range(3))
    rate = np.where(y, *RATES)
    # In groups one of them alone is worse.
    where = y & ((part == 0) if setting.kind == "groups" else True)
    new = np.where(same < setting.shared, mine, other) < rate - lower * where
    return y, mine < rate, new, of if clustered else part


def _by_cluster(rng: np.random.Generator, of: np.ndarray) -> np.ndarray:
    """Uniform luck that rows of a cluster have in common half of the time."""
    of_cluster, own, common = rng.random(2 * len(of)), rng.random(len(of)), rng.random(len(of))
    return np.where(common < 0.5, of_cluster[of], own)


def _gated(setting: Setting, drawn: tuple[np.ndarray, ...], prove: str):
    y, old, new, part = drawn
    metrics = ("recall",) if setting.kind == "one metric" else METRICS
    if prove == "not-worse":  # of the others a model that is lower in recall is worse by another margin
        metrics = ("recall", "specificity")[: 1 if setting.kind == "one metric" else 2]
    asked = {"metrics": metrics, "prove": prove, "margin": MARGIN}
    options = {"metrics": metrics, "draws": DRAWS}
    if setting.kind == "different rows":
        released = evaluate(y, _labels(setting, np.random.default_rng(new.sum() + 7 * old.sum()), 0.0)[1], **options)
        required = [_required(metric, prove) for metric in metrics]
        return gate(evaluate(y, new, **options), *required, baseline=released, margin=MARGIN)
    options["cluster"] = part if setting.kind == "clusters" else None
    compared = {"": compare(y, {"new": new, "old": old}, **options)}
    if setting.kind == "groups":
        for group in range(GROUPS):
            models = {"new": new[part == group], "old": old[part == group]}
            compared[f"group {group}"] = compare(y[part == group], models, **options | {"cluster": None})
    return gate(compared, **asked)


def _required(metric: str, prove: str) -> str:
    return f"high({metric} - baseline) >= 0" if prove == "worse" else f"low({metric} - baseline) >= -{MARGIN}"


def _recall(result):
    """The judgement of recall in all rows, or in the group that is worse."""
    of_recall = [each for each in result if "recall" in each.rule]
    return next((each for each in of_recall if each.group == "group 0"), of_recall[0])


# ---------------------------------------------------------------- two models, scores


def _of_scores(setting: Setting, rng: np.random.Generator, *, powers: bool) -> Iterator[tuple[str, float]]:
    y = np.arange(setting.rows) < setting.positives
    auc = 0.85

    def compared(lower: float):
        luck, own, other = rng.standard_normal((3, setting.rows))
        new, old = (np.sqrt(setting.shared) * luck + np.sqrt(1 - setting.shared) * each for each in (own, other))
        scores = {"new": new + y * np.sqrt(2) * ndtri(auc - lower), "old": old + y * np.sqrt(2) * ndtri(auc)}
        return compare(y, y_score=scores, metrics=["roc_auc", "average_precision"], draws=DRAWS)

    equal, worse = compared(0.0), compared(MARGIN)
    rule = f"low(roc_auc - versus) >= -{MARGIN}"
    result = gate(equal, margin=MARGIN)
    yield "unchanged fails", result.passed is False
    yield "worse passes", gate(worse, rule).passed is True
    if powers:
        passing = gate(equal, rule)
        yield "drop caught", gate(worse, margin=MARGIN).rules[0].passed is False
        yield "drop caught, stated", result.rules[0].power or 0.0
        yield "equal passes", passing.passed is True
        yield "equal passes, stated", passing.rules[0].power or 0.0


# ---------------------------------------------------------------- one model


def _of_one(setting: Setting, rng: np.random.Generator, *, powers: bool) -> Iterator[tuple[str, float]]:
    y, old, new, part = _labels(setting, rng, MARGIN)
    options = {"metrics": ["recall", "specificity"], "by": {"group": part}, "draws": DRAWS}
    recall, rejected = RATES[0], 1 - RATES[1]
    far = (f"high(recall) >= {recall}", f"high(specificity) >= {rejected}")
    evaluation, lower = evaluate(y, old, **options), evaluate(y, new, **options)
    yield "unchanged fails", gate(evaluation, *far).passed is False
    yield "worse passes", gate(evaluation, f"low(recall) >= {recall}").passed is True
    if powers:
        yield "drop caught", gate(lower, *far).passed is False
        yield "equal passes", gate(evaluation, f"low(recall) >= {recall - MARGIN}").passed is True


if __name__ == "__main__":
    for text, by_rate in rows(100):
        print(text, {name: round(share, 3) for name, share in by_rate.items()}, flush=True)
