"""How often the interval of a decision rule's value on new rows holds it, and what flatters the value that chose it.

Classes are normal with one mean each and shares that fall geometrically; the probabilities are those of the truth,
sharpened and moved off the true shares, as a classifier's may be. The value of the rule that was found is that on
50,000 new rows. Half of the settings are fixed, half drawn by a seed that changes with the version.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard import __version__, best_decision, get_metric
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard._types import Array
    from steelyard.analysis.decisions.best_decision_result import BestDecision

METRICS = ("f1[average=macro]", "balanced_accuracy", "g_mean", "accuracy")
NEW = 50_000


class World(NamedTuple):
    """How many rows and classes there are, how fast their shares fall, how far they are apart, how sharp p is."""

    rows: int
    classes: int
    ratio: float  # of the commonest class to the rarest
    apart: float
    sharp: float = 1.0

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> World:
        """One at random."""
        rows, ratio = (float(np.exp(rng.uniform(*np.log(ends)))) for ends in ((300, 3_000), (3, 30)))
        return cls(int(rows), int(rng.integers(3, 9)), ratio, rng.uniform(1.5, 3), rng.uniform(0.6, 1.6))

    @property
    def shares(self) -> Array:
        """The share of each class."""
        given = self.ratio ** -np.linspace(0, 1, self.classes)
        return given / given.sum()

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Labels, drawn anew where a class has less than two rows, and probabilities."""
        k, y = self.classes, np.zeros(n, dtype=np.int64)
        while np.bincount(y, minlength=k).min() < 2:
            y = rng.choice(k, n, p=self.shares)
        x = rng.standard_normal((n, k)) + self.apart * np.eye(k)[y]
        odds = self.sharp * (self.apart * x + 0.7 * np.log(self.shares))
        p = np.exp(odds - odds.max(1, keepdims=True))
        return y, p / p.sum(1, keepdims=True)

    def __str__(self) -> str:
        return f"{self.rows:,} rows, {self.classes} classes, {self.ratio:.0f} : 1, apart {self.apart:.1f}, sharp {self.sharp:.1f}"


FIXED = (World(300, 3, 10, 2.0), World(1_000, 5, 20, 2.0, 1.5), World(1_500, 12, 10, 2.5))


class Question(NamedTuple):
    """What is asked of best_decision."""

    name: str
    options: dict[str, Any]

    def value(self, best: BestDecision, y: Array, p: Array) -> tuple[float, float]:
        """What the rule is worth on new rows, and the most probable class there."""
        decided, argmax, kept = best.decide(p), p.argmax(1), ~best.sent(p)
        if "cost_matrix" in self.options:
            costs = np.asarray(self.options["cost_matrix"])
            return float(costs[y, decided].mean()), float(costs[y, argmax].mean())
        spec = MetricSpec.of(best.metric)
        options = {} if spec.is_native else {"average": spec.average}
        of = get_metric(spec.metric)
        return float(of(y[kept], decided[kept], **options)), float(of(y, argmax, **options))


def questions(k: int) -> list[Question]:
    """Each metric, costs of which some are high, and a tenth of the rows sent to a person."""
    costs = np.abs(np.arange(k)[:, None] - np.arange(k)) * np.linspace(1, 8, k)[:, None]
    asked = [Question(metric, {"metric": metric}) for metric in METRICS]
    return [*asked, Question("cost matrix", {"cost_matrix": costs}), Question("reject 10 %", {"reject": 0.1})]


class Judged(NamedTuple):
    """One run: whether the intervals of the value and of the gain hold, and by how much each value is off."""

    held: float
    gain_held: float
    off: float
    naive_off: float


def judged(world: World, question: Question, run: int, rng: np.random.Generator) -> Judged:
    """One sample."""
    y, p = world.sample(world.rows, rng)
    best = best_decision(y, p, **question.options, labels=range(world.classes), rng=run)
    value, argmax = question.value(best, *world.sample(NEW, rng))
    sign = -1 if "cost" in best.metric or best.metric == "error_rate" else 1
    low, high = best.out_of_sample_interval or (np.nan, np.nan)
    gain = sign * (value - argmax)
    gained = np.nan if best.gain_interval is None else best.gain_interval[0] <= gain <= best.gain_interval[1]
    off = np.nan if best.out_of_sample is None else sign * (best.out_of_sample - value)
    return Judged(low <= value <= high, gained, off, sign * (best.value - value))


def rows(repeats: int = 200, worlds: tuple[World, ...] | None = None) -> Iterator[tuple[str, dict[str, float]]]:
    """How often the value on new rows is held, how often the gain, and the mean optimism with and without folds."""
    rng = np.random.default_rng(zlib.crc32(__version__.encode()))
    for world in worlds or (*FIXED, *(World.drawn(rng) for _ in FIXED)):
        shares: dict[str, float] = {}
        for question in questions(world.classes):
            runs = np.array([judged(world, question, run, rng) for run in range(repeats)], dtype=float)
            held, gained, off, naive = (
                float(np.nanmean(column)) if np.isfinite(column).any() else np.nan for column in runs.T
            )
            shares[question.name] = held
            if np.isfinite(gained):
                shares[f"{question.name}, gain"] = gained
            shares |= {f"{question.name}, optimism": off, f"{question.name}, optimism in sample": naive}
        yield str(world), shares
