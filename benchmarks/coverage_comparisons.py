"""Levels of comparisons: how often equal models are called different at 0.05, and a model worse by the margin not worse.

Few positives, weights, clusters, several models, different rows. Half of the settings are drawn at random: 5 to 30
positives among 50 to 400 rows, AUCs of 0.55 to 0.95, scores that share up to 90 % of their luck, some of them tied.
The margin's share is to be at most 0.025.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from scipy.special import expit, ndtri

RANKED = ("roc_auc", "average_precision", "brier")
LABELLED = ("recall", "precision", "mcc", "accuracy")
REPEATS, MARGIN, THRESHOLD = 500, 0.05, 0.4


@dataclass(frozen=True)
class Setting:
    """How many rows and positives, how good the models are, how much luck they share, and how they are compared."""

    kind: str
    positives: int
    rows: int
    auc: float
    shared: float
    steps: float = 0.0  # to the unit, where scores are tied
    clusters: int = 20

    def __str__(self) -> str:
        tied = ", tied" if self.steps else ""
        clusters = f" ({self.clusters} uneven ones)" if self.kind == "clusters" else ""
        return (
            f"{self.kind}{clusters}: {self.positives} positives of {self.rows}, AUC {self.auc:.2f}, "
            f"{self.shared:.0%} of the luck shared{tied}"
        )


KINDS = ("scores", "labels", "weights", "clusters", "three models", "different rows", "margin")


def rows(repeats: int = REPEATS, seed: int = 0, drawn: int = 2):
    """Each setting, and by each metric how often equal models are called different."""
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        named = [Setting(kind, 5, 200, 0.7, 0.5), Setting(kind, 20, 200, 0.85, 0.5)]
        for setting in [*named, *(_random(kind, rng) for _ in range(drawn))]:
            yield str(setting), levels(setting, repeats, rng)


def _random(kind, rng):
    positives, total = int(rng.integers(5, 31)), int(rng.choice([50, 150, 400]))
    steps = float(rng.choice([0, 0, 2]))
    return Setting(
        kind, positives, total, rng.uniform(0.55, 0.95), rng.uniform(0, 0.9), steps, int(rng.integers(8, 41))
    )


def levels(setting, repeats, rng):
    """The share of runs in which each comparison rejects; runs in which a value is undefined are left out."""
    rejected: dict[str, list[bool]] = {}
    for _ in range(repeats):
        for name, value in _rejections(setting, rng):
            rejected.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in rejected.items()}


def _simulated(setting, rng, models, worse=0.0):
    """Truth, each model's probabilities, and the cluster of each row."""
    y = rng.permutation(np.arange(setting.rows) < setting.positives)
    sizes = np.exp(rng.normal(size=setting.clusters))
    member = rng.choice(setting.clusters, setting.rows, p=sizes / sizes.sum())
    common, scores = rng.normal(size=setting.rows), {}
    for i, name in enumerate("abc"[:models]):
        luck = np.sqrt(setting.shared) * common + np.sqrt(1 - setting.shared) * rng.normal(size=setting.rows)
        if setting.kind == "clusters":
            luck = np.sqrt(0.3) * rng.normal(size=setting.clusters)[member] + np.sqrt(0.7) * luck
        shift = np.sqrt(2) * ndtri(setting.auc - (worse if i == 0 else 0))
        score = luck + shift * y
        scores[name] = expit((np.round(score * setting.steps) / setting.steps if setting.steps else score) - 1)
    return y.astype(int), scores, member


def _rejections(setting, rng):
    from steelyard import compare, confusion, score_table

    asked = {"draws": 1_000, "rng": rng, "metrics": RANKED}
    if setting.kind == "different rows":
        parts = [_simulated(setting, rng, 1) for _ in range(2)]
        of_rows = ((y, scores["a"]) for y, scores, _ in parts)
        counted = (SimpleNamespace(confusion=confusion(y, s >= THRESHOLD, pos_label=1), scores=score_table(y, s)) for y, s in of_rows)  # fmt: skip
        tables = dict(zip("ab", counted, strict=True))
        found = compare(tables, **{**asked, "metrics": (*RANKED, "recall", "mcc")})
    elif setting.kind == "margin":
        y, scores, _ = _simulated(setting, rng, 2, worse=MARGIN)
        found = compare(y, y_score=scores, margin=MARGIN, **{**asked, "metrics": ("roc_auc",)})
        return [(row.metric, bool(row.p_not_worse < 0.025)) for row in found]
    else:
        y, scores, member = _simulated(setting, rng, 3 if setting.kind == "three models" else 2)
        extra = {"clusters": {"cluster": member}, "weights": {"sample_weight": rng.uniform(0.3, 3, len(y))}}.get(setting.kind, {})  # fmt: skip
        if setting.kind != "scores":
            asked |= {"metrics": (*RANKED, *LABELLED), "threshold": THRESHOLD}
        found = compare(y, y_score=scores, **asked, **extra)
    if setting.kind == "three models":
        apart = {row.metric: False for row in found}
        for row in found:
            apart[row.metric] |= row.simultaneous_low > 0 or row.simultaneous_high < 0
        tests = [(f"{test.metric}, omnibus", test.p_value < 0.05) for test in found.omnibus]
        return [*tests, *((f"{name}, any pair", bool(value)) for name, value in apart.items())]
    return [(row.metric, bool(row.p_value < 0.05)) for row in found if np.isfinite(row.difference)]


if __name__ == "__main__":
    for setting, shares in rows():
        print(setting, {name: round(share, 3) for name, share in shares.items()}, flush=True)
