"""How often the verdict on a sampler is right where resampling helps, hurts and does nothing.

A world is a distribution, a model that people use on it, and a sampler. Which kind it is follows from its true gain: the
mean over training sets, as large as those of the study, of the metric of the sampler less that of the plain model on
20,000 new rows, of a metric of labels each at the threshold that nested folds choose. It "helps" with a true gain of
twice the margin of 0.02 or more, "hurts" with a loss of as much, and does "nothing" where the true gain lies within half
of the margin. What the study has to say was written down with the worlds: "helps", "hurts", and of nothing "same" of
every sampler. Rows and metrics were chosen in a pilot of six data sets with other seeds, so that the interval of the
study can show a difference of that size: with fewer rows the verdict is more often "open" or "no gain". The study is
that of resampling_study with its defaults, and the true gain over 12 training sets stands beside.

"Called a help" counts any sampler of a run that is called a help where none is, with the margin of 0.02 and with none, so
that the level of the test alone decides. In its last world there is no difference at all: the plain model drops a random
half of its rows, and so does the sampler's, another half.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NEW_ROWS, TRAINING_SETS, MARGIN = 20_000, 12, 0.02


def shifted(rng, rows, prevalence, shift, correlation=0.0):
    """Normal features with equal correlations, those of positives shifted."""
    y = (rng.random(rows) < prevalence).astype(int)
    common = rng.normal(size=(rows, 1))
    X = np.sqrt(1 - correlation) * rng.normal(size=(rows, len(shift))) + np.sqrt(correlation) * common
    return X + np.outer(y, shift), y


def ring(rng, rows, prevalence, spread):
    """Four normal features; those of positives lie nearer to the middle."""
    y = (rng.random(rows) < prevalence).astype(int)
    X = rng.normal(size=(rows, 4))
    X[y == 1] *= spread
    return X, y


class Shuffle:
    """A sampler that keeps every row, in another order."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def get_params(self, deep=True):  # noqa: ARG002 - scikit-learn's own
        """As an estimator has them."""
        return {"random_state": self.random_state}

    def set_params(self, **parameters):
        """As an estimator takes them."""
        self.random_state = parameters.get("random_state", self.random_state)
        return self

    def kept(self, y):
        """The places of the rows, in their new order."""
        return np.random.default_rng(self.random_state).permutation(len(y))

    def fit_resample(self, X, y):
        """The rows that are kept."""
        rows = self.kept(y)
        return X[rows], y[rows]


class Half(Shuffle):
    """A sampler that keeps a random half of the rows."""

    def kept(self, y):
        """The first half of the new order."""
        return super().kept(y)[: len(y) // 2]


def _penalised():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=3e-4)


def _logistic():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1_000)


def _halved():
    from steelyard.protocol.sampled_classifier import SampledClassifier

    return SampledClassifier(_logistic(), Half())


def _stopped_tree():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_impurity_decrease=3e-3)


def _leafy_tree():
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=5, min_samples_leaf=60)


@dataclass(frozen=True)
class World:
    """Rows, a model, its samplers, the metric that decides, and what the study has to say."""

    text: str
    verdict: str
    rows: int
    draw: Callable
    model: Callable
    samplers: tuple
    metric: str = "ac_score"

    @property
    def spec(self):
        """The metric that decides."""
        from steelyard.metrics.spec import MetricSpec

        return MetricSpec.of(self.metric)

    def runs(self, X, y, rng, split=None):
        """The nested runs of resampling_study, with its own folds or on one split."""
        from steelyard.protocol.cross_evaluate import read_data
        from steelyard.protocol.resampling_study import USUAL_SPLIT, StudyPlan, study_runs

        plan = StudyPlan(self.model(), list(self.samplers), USUAL_SPLIT if split is None else split)
        return study_runs(plan, read_data(X, y, None, None), rng)


SIGNAL = np.array([1.2, 1.0, 0.0, 0.0, 0.0])
TRADE = np.array([1.0, 0.0, 0.5, -0.5, 0.5, -0.3])
RIGHT = "over, under and class weights, logistic regression where it is right"
WORLDS = (
    World("over, logistic regression under a strong penalty, which few positives cannot outweigh", "helps", 6_000,
          lambda rng, rows: shifted(rng, rows, 0.04, TRADE, 0.85), _penalised, ("over",)),
    World("over, a tree that stops where the impurity falls by little", "helps", 2_000,
          lambda rng, rows: ring(rng, rows, 0.05, 0.45), _stopped_tree, ("over",)),
    World("under, a tree with 60 rows or more to a leaf, by average precision", "hurts", 3_000,
          lambda rng, rows: ring(rng, rows, 0.05, 0.45), _leafy_tree, ("under",), "average_precision"),
    World(RIGHT, "same", 10_000,
          lambda rng, rows: shifted(rng, rows, 0.10, SIGNAL), _logistic, ("over", "under", "class_weight")),
)  # fmt: skip
NOTHING = (
    WORLDS[-1],
    World("no difference at all: two random halves of the rows, logistic regression", "same", 1_000,
          lambda rng, rows: shifted(rng, rows, 0.10, SIGNAL), _halved, (Shuffle(),)),
)  # fmt: skip


@cache
def outcome(world: World, run: int) -> tuple[list[str], list[str]]:
    """The verdicts on the samplers in one data set, with the margin and without any."""
    from steelyard.protocol.resampling_result import ResamplingRows

    rng = np.random.default_rng([25, run])
    X, y = world.draw(rng, world.rows)
    rows = ResamplingRows(world.runs(X, y, rng), [world.spec], 0.95)
    differences = rows.differences()
    both = [[row.verdict for row in rows.verdicts(differences, world.spec, margin)] for margin in (MARGIN, 0.0)]
    return both[0], both[1]


def true_gains(world: World) -> np.ndarray:
    """The mean gain of each sampler on new rows, each model at the threshold that nested folds choose."""
    from steelyard.protocol.resampling_result import use_of

    spec, trained, use = world.spec, int(0.8 * world.rows), use_of(world.spec)
    gains = []
    for place in range(TRAINING_SETS):
        rng = np.random.default_rng([26, place])
        X, y = world.draw(rng, trained + NEW_ROWS)
        runs = world.runs(X, y, rng, [(np.arange(trained), np.arange(trained, trained + NEW_ROWS))])
        plain = runs.values("plain", use, spec)
        gains.append([float((runs.values(name, use, spec) - plain)[0]) for name in runs.samplers])
    return np.mean(gains, axis=0)


def kind(gains: np.ndarray) -> str:
    """What the study has to say of these true gains; nothing where they are between the kinds."""
    if (np.abs(gains) <= MARGIN / 2).all():
        return "same"
    return "helps" if (gains >= 2 * MARGIN).all() else "hurts" if (gains <= -2 * MARGIN).all() else ""


def rows(repeats: int = 100) -> Iterator[tuple[str, dict[str, float]]]:
    """Each world, how often all of its samplers are judged as they are, and their true gains."""
    for world in WORLDS:
        gains = true_gains(world)
        right = [all(each == world.verdict for each in outcome(world, run)[0]) for run in range(repeats)]
        assert kind(gains) == world.verdict, (world.text, gains)
        beside = {"true gain, least": float(gains.min()), "true gain, most": float(gains.max())}
        yield f"{world.verdict} | {world.text}", {"verdict": float(np.mean(right)), **beside}


def false_rows(repeats: int = 100) -> Iterator[tuple[str, dict[str, float]]]:
    """How often any sampler is called a help where none is, with the margin and without any."""
    for world in NOTHING:
        for place, margin in enumerate((MARGIN, 0.0)):
            called = ["helps" in outcome(world, run)[place] for run in range(repeats)]
            yield f"{margin:g} | {world.text}", {"called a help": float(np.mean(called))}


if __name__ == "__main__":
    import sys
    import time

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for source in (rows, false_rows):
        for text, shares in source(count):
            print(f"{time.strftime('%X')} {text}", shares, flush=True)
