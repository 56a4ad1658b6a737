"""Coverage with clusters: how often 95 % intervals of rows in clusters hold the truth, of labels and of scores.

Half of the settings are drawn at random: 8 to 40 clusters of 4 to 25 rows, even or log-normal in size, a prevalence of
10 to 50 %, AUCs of 0.55 to 0.97, and scores of which up to 60 % is the cluster's own luck. In some the class belongs to
the cluster, as a patient is sick or not: about 6 clusters are then positive. Runs in which a class is in one cluster
alone have no interval, and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

LABELLED, SCORED = (
    ("recall", "precision", "mcc", "balanced_accuracy"),
    ("roc_auc", "average_precision", "brier", "log_loss"),
)
REPEATS, POPULATION = 400, 200_000  # runs of a setting, and rows whose values are the truth


@dataclass(frozen=True)
class Setting:
    """How many clusters of how many rows, how uneven in size, and what their rows are like."""

    clusters: int
    size: float
    uneven: float
    prevalence: float
    auc: float
    luck: float
    by_cluster: bool = False  # whether all rows of a cluster are of one class

    def __str__(self) -> str:
        sizes = "log-normal" if self.uneven else "even"
        whose = "class of the cluster, " if self.by_cluster else ""
        shares = f"{whose}prevalence {self.prevalence:g}, AUC {self.auc:.2f}, {self.luck:.0%} luck of the cluster"
        return f"{self.clusters} clusters of {self.size:g} rows, {sizes}: {shares}"


def rows(repeats: int = REPEATS, seed: int = 0, drawn: int = 6):
    """Each setting, and of each metric how often its interval holds the truth."""
    rng = np.random.default_rng(seed)
    named = [Setting(c, 10, u, 0.3, 0.8, 0.3) for c in (8, 15, 40) for u in (0.0, 1.0)]
    named += [Setting(c, 10, u, 6 / c, 0.85, 0.5, by_cluster=True) for c in (60, 100) for u in (0.0, 1.0)]
    for setting in [*named, *(_random(rng) for _ in range(drawn))]:
        yield str(setting), coverage(setting, repeats, rng)


def _random(rng):
    return Setting(
        int(rng.integers(8, 41)),
        float(rng.choice([4, 10, 25])),
        float(rng.choice([0.0, 1.0])),
        float(rng.choice([0.1, 0.3, 0.5])),
        float(rng.uniform(0.55, 0.97)),
        float(rng.uniform(0, 0.6)),
    )


def simulated(setting, clusters, rng):
    """Truth, probabilities, and the cluster of each row."""
    spread = np.exp(setting.uneven * rng.normal(size=clusters) - setting.uneven**2 / 2)
    member = np.repeat(np.arange(clusters), np.maximum(1, rng.poisson(setting.size * spread)))
    y = rng.random(clusters)[member] if setting.by_cluster else rng.random(len(member))
    y = y < setting.prevalence
    own, of_cluster = rng.normal(size=len(member)), rng.normal(size=clusters)[member]
    shift = np.sqrt(2) * ndtri(setting.auc)
    score = shift * y + np.sqrt(setting.luck) * of_cluster + np.sqrt(1 - setting.luck) * own
    return y.astype(int), expit(shift * score - shift**2 / 2 + logit(setting.prevalence)), member


def coverage(setting, repeats, rng, labelled=LABELLED, scored=SCORED):
    """How often the interval of each metric holds its value of very many clusters; runs without both classes left out."""
    from steelyard import get_metric, interval

    y, score, _ = simulated(setting, int(POPULATION / setting.size), rng)
    truth = {name: get_metric(name)(y, score >= setting.prevalence) for name in labelled}
    truth |= {name: get_metric(name)(y, score) for name in scored}
    held = {name: [] for name in truth}
    for _ in range(repeats):
        y, score, member = simulated(setting, setting.clusters, rng)
        if min(len(set(member[y == 1])), len(set(member[y == 0]))) < 2:
            continue
        flagged = (score >= setting.prevalence).astype(int)
        asked = {"cluster": member, "draws": 1_000, "rng": rng}
        for names, rows in ((labelled, {"y_pred": flagged}), (scored, {"y_score": score})):
            for each in interval(names, y, **rows, **asked) if names else ():
                held[each.metric].append(each.low <= truth[each.metric] <= each.high)
    return {name: float(np.mean(column)) for name, column in held.items()}


def score_coverage(clusters, uneven, repeats, rng):
    """The same of scores alone in a setting of the middle."""
    setting = Setting(clusters, 12, uneven, 0.3, 0.8, 0.3)
    return coverage(setting, repeats, rng, labelled=(), scored=("roc_auc", "average_precision"))


if __name__ == "__main__":
    for setting, shares in rows():
        print(setting, {name: round(share, 3) for name, share in shares.items()}, flush=True)
