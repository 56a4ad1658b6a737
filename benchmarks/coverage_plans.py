"""How well labels that a plan chose show a metric, beside as many labels at random: coverage, and the error of the values.

Scores are of two normal distributions, calibrated, overconfident, or useless; and those of a logistic regression, or of
boosted trees, on real data, of whose other half rows are drawn at several prevalences. The truth is that of the population. The threshold has
the highest F1, or flags a tenth of the rows where scores are useless.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steelyard import Counts, get_metric, label_plan, score_table
from steelyard.analysis.distributions import normal_quantile
from steelyard.analysis.intervals.inference import Inference
from steelyard.analysis.intervals.intervals import table_intervals
from steelyard.analysis.intervals.planned_rows import GivenLabels
from steelyard.ingest.frame_columns import FrameColumns
from steelyard.metrics.call_options import CallOptions
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steelyard._types import Array
    from steelyard.analysis.planning.label_plan_result import LabelPlan

METRICS = ("recall", "f1", "mcc", "ac_score", "roc_auc")
ROWS, LABELS, POPULATION, SETS, DRAWS = 50_000, 1_000, 1_000_000, 5, 500
PREVALENCES = (0.05, 0.01, 0.002)
SCORES = {"AUC .7": (0.7, 1.0, 0.0), "AUC .9": (0.9, 1.0, 0.0), "AUC .9, logits x 2 + 2": (0.9, 2.0, 2.0)}
USELESS = {"useless": (0.5, 1.0, 0.0), "useless, logits x 2": (0.5, 2.0, 0.0)}
SEEMING = 0.85  # the area that useless scores seem to have


@dataclass(frozen=True)
class World:
    """The scores of both classes in a population, the share of positives, the threshold, and who is how likely."""

    name: str
    positives: Array
    negatives: Array
    prevalence: float
    threshold: float
    posterior: Callable[[Array], Array] | None = None  # of a score, where it is known

    @classmethod
    def of(cls, name: str, positives: Array, negatives: Array, prevalence: float) -> World:
        """The world with the threshold of the highest F1."""
        sizes = [len(positives), len(negatives)]
        weights = np.repeat([prevalence / sizes[0], (1 - prevalence) / sizes[1]], sizes)
        table = score_table(np.repeat([1, 0], sizes), np.concatenate([positives, negatives]), sample_weight=weights)
        best = int(np.nanargmax(np.asarray(get_metric("f1")(table.counts))))
        return cls(name, positives, negatives, prevalence, float(table.thresholds[best]))

    def rows(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The labels and the scores of some rows of it."""
        labels = (rng.random(ROWS) < self.prevalence).astype(np.int64)
        return labels, np.where(labels == 1, rng.choice(self.positives, ROWS), rng.choice(self.negatives, ROWS))

    def labels(self, scores: Array, labels: Array, rng: np.random.Generator) -> Array:
        """Labels of rows, drawn anew where it is known how likely each is positive."""
        return labels if self.posterior is None else (rng.random(len(scores)) < self.posterior(scores)).astype(np.int64)

    def truth(self, metric: str) -> float:
        """The metric in the population."""
        if get_metric(metric).function is None:
            classes = np.repeat([1, 0], [len(self.positives), len(self.negatives)])
            return float(get_metric(metric)(classes, np.concatenate([self.positives, self.negatives])))
        recall, fpr = ((scores >= self.threshold).mean() for scores in (self.positives, self.negatives))
        p, q = self.prevalence, 1 - self.prevalence
        return float(get_metric(metric)(Counts(p * recall, p * (1 - recall), q * fpr, q * (1 - fpr))))


@cache
def simulated_world(name: str, prevalence: float, auc: float, factor: float, shift: float) -> World:
    """Two normal distributions with that area between them; the logits of their probabilities moved and stretched."""
    rng, useless = np.random.default_rng(7), auc == 0.5
    apart = float(np.sqrt(2) * normal_quantile(SEEMING if useless else auc))
    middle = float(np.log(prevalence / (1 - prevalence)))
    sides = []
    for label, n in ((1, POPULATION // 5), (0, POPULATION)):
        seems = rng.random(n) < prevalence if useless else label
        logits = middle + apart * (rng.normal(size=n) + apart * seems) - apart**2 / 2
        sides.append(_logistic(middle + factor * (logits - middle) + shift))

    def posterior(scores: Array) -> Array:
        if useless:
            return np.full(len(scores), prevalence)
        logits = np.log(scores) - np.log1p(-scores)
        return _logistic(middle + (logits - shift - middle) / factor)

    world = World.of(f"{100 * prevalence:g} % positive | {name}", *sides, prevalence)
    at = float(np.quantile(sides[1], 0.9)) if useless else world.threshold
    return replace(world, posterior=posterior, threshold=at)


def _logistic(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-logits)))


class Runs(NamedTuple):
    """What the runs of one world and metric show, one value each: by the plan, and by labels at random."""

    at_random: Array
    planned: Array
    low: Array
    high: Array
    warned: Array
    truth: float

    @property
    def coverage(self) -> float:
        """The share of intervals that hold the truth."""
        return float(((self.low <= self.truth) & (self.truth <= self.high)).mean())

    def error(self, values: Array) -> float:
        """The root mean squared error where both have a value."""
        both = np.isfinite(self.planned) & np.isfinite(self.at_random)
        return float(np.sqrt(np.mean((values[both] - self.truth) ** 2)))

    @property
    def ratio(self) -> float:
        """The error of the plan, as a multiple of that of labels at random."""
        return self.error(self.planned) / self.error(self.at_random)


_RUNS: dict[tuple[str, str, int], Runs] = {}


def runs_of(world: World, metric: str, repeats: int) -> Runs:
    """The runs of one world and metric, simulated once for all sections."""
    key = (world.name, metric, repeats)
    if key not in _RUNS:
        rng = np.random.default_rng([len(metric), len(world.name), repeats])
        sets = SETS if world.posterior is not None else max(repeats // SETS, 1)  # labels stay, and so need other rows
        each = [
            run for part in np.array_split(np.arange(repeats), sets) for run in _runs(world, metric, len(part), rng)
        ]
        _RUNS[key] = Runs(*map(np.array, zip(*each, strict=True)), truth=world.truth(metric))
    return _RUNS[key]


def _runs(world: World, metric: str, repeats: int, rng: np.random.Generator) -> Iterator[tuple[float, ...]]:
    """Runs on one set of rows, in each of which rows are chosen, and labels drawn, anew."""
    labels, scores = world.rows(rng)
    plan = label_plan(scores, LABELS, metric, threshold=world.threshold, rng=rng)
    codes = np.searchsorted([stratum.lowest_score for stratum in plan.strata[1:]], scores, side="right")
    members = [np.flatnonzero(codes == code) for code in range(len(plan.strata))]
    for _ in range(repeats):
        some = rng.choice(ROWS, LABELS, replace=False, shuffle=False)
        at_random = _value(metric, world.labels(scores[some], labels[some], rng), scores[some], world.threshold)
        drawn = [
            rng.choice(rows, stratum.labels, replace=False, shuffle=False)
            for rows, stratum in zip(members, plan.strata, strict=True)
        ]
        index = np.concatenate(drawn)
        anew = replace(plan, index=index, score=scores[index], stratum=codes[index], batch=np.ones(len(index), int))
        yield at_random, *_planned(anew, metric, world.labels(scores[index], labels[index], rng), rng)


def _planned(plan: LabelPlan, metric: str, labels: Array, rng: np.random.Generator) -> tuple[float, ...]:
    """The value, the interval, and whether it warns; undefined, and without bounds, where labels are of one class."""
    if labels.min() == labels.max():
        return np.nan, -np.inf, np.inf, 0.0
    rows, spec = plan.labelled(GivenLabels(labels, None, None, FrameColumns())), MetricSpec.of(metric)
    warned = any("do not show" in sentence for sentence in rows.stated)
    of_scores = spec.metric.scores is not None
    table, options = (rows.score_table(), CallOptions()) if of_scores else (rows.confusion(), CallOptions(pos_label=1))
    interval = table_intervals([spec], table, options, Inference(draws=DRAWS, rng=rng, planned=rows))[0]
    return float(interval.value), float(interval.low), float(interval.high), float(warned)


def _value(metric: str, labels: Array, scores: Array, threshold: float) -> float:
    """The metric on labels at random; NaN where they are of one class."""
    if labels.min() == labels.max():
        return np.nan
    if get_metric(metric).function is None:
        return float(get_metric(metric)(labels, scores))
    flagged = scores >= threshold
    tp, fp = int((labels * flagged).sum()), int(((1 - labels) * flagged).sum())
    return float(get_metric(metric)(Counts(tp, int(labels.sum()) - tp, fp, int((1 - labels).sum()) - fp)))


def worlds(scores: dict[str, tuple[float, float, float]]) -> Iterator[World]:
    """The simulated worlds of some scores, at every prevalence."""
    for prevalence in PREVALENCES:
        for name, (auc, factor, shift) in scores.items():
            yield simulated_world(name, prevalence, auc, factor, shift)


# ---------------------------------------------------------------- real data


def real_worlds() -> Iterator[World]:
    """Real data, scored by what was fitted to their other half, at two prevalences."""
    for name, sides in _scored().items():
        for prevalence in PREVALENCES[:2]:
            yield World.of(f"{100 * prevalence:g} % positive | {name}", *sides, prevalence)


@cache
def _scored() -> dict[str, tuple[Array, Array]]:
    """The scores of the positives and of the negatives in each set of data that is there."""
    from sklearn.decomposition import PCA
    from sklearn.feature_extraction.text import TfidfVectorizer

    from steelyard.datasets import paper_datasets
    from steelyard.exceptions import InputError

    sides = {}
    try:
        pulsars = paper_datasets.htru2()
        sides["HTRU2"] = _half_scored(pulsars.X, pulsars.y)
        news = paper_datasets.newsgroups20()
        rows = TfidfVectorizer(max_features=5_000).fit_transform(news.texts)
        sides["20 Newsgroups"] = _half_scored(rows, np.array(news.labels) == min(news.labels))
        digits = paper_datasets.svhn_1_6()
        pixels = PCA(30, random_state=0).fit_transform(digits.images.reshape(len(digits.images), -1)[:8_000])
        sides["SVHN"] = _half_scored(pixels, digits.labels[:8_000] == digits.labels.max(), trees=True)
    except InputError as error:
        print(error)
    return sides


def _half_scored(rows: Array, positive: Array, *, trees: bool = False) -> tuple[Array, Array]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fitted, other, labels, truth = train_test_split(rows, np.asarray(positive) == 1, test_size=0.5, random_state=0)
    line = make_pipeline(StandardScaler(with_mean=False), LogisticRegression(C=0.01, max_iter=500))
    model = HistGradientBoostingClassifier(random_state=0) if trees else line
    scores = model.fit(fitted, labels).predict_proba(other)[:, 1]
    return scores[truth], scores[~truth]


# ---------------------------------------------------------------- sections


def coverage_rows(repeats: int) -> Iterator[tuple[str, dict[str, float]]]:
    """The coverage of each metric's own plan."""
    for world in [*worlds(SCORES), *real_worlds(), *worlds(USELESS)]:
        yield world.name, {metric: runs_of(world, metric, repeats).coverage for metric in METRICS}


def _errors(world: World, repeats: int) -> dict[str, float | list[float]]:
    runs = {metric: runs_of(world, metric, repeats) for metric in METRICS}
    found: dict[str, float | list[float]] = {metric: each.ratio for metric, each in runs.items()}
    for metric in ("recall", "f1"):
        found[f"{metric} error"] = [
            runs[metric].error(values) for values in (runs[metric].planned, runs[metric].at_random)
        ]
    shares = [[float(np.isnan(values).mean()) for values in (each.planned, each.at_random)] for each in runs.values()]
    return {**found, "undefined": np.max(shares, axis=0).tolist()}


def error_rows(repeats: int) -> Iterator[tuple[str, dict[str, float | list[float]]]]:
    """The errors of each metric's own plan beside those of labels at random."""
    for world in [*worlds(SCORES), *real_worlds()]:
        yield world.name, _errors(world, repeats)


def useless_rows(repeats: int) -> Iterator[tuple[str, dict[str, float | list[float]]]]:
    """The same of useless scores."""
    for world in worlds(USELESS):
        warned = [float(runs_of(world, metric, repeats).warned.mean()) for metric in METRICS]
        yield world.name, {**_errors(world, repeats), "warned": float(np.mean(warned))}


if __name__ == "__main__":
    for rows in (coverage_rows, error_rows, useless_rows):
        for setting, shares in rows(100):
            print(setting, shares, flush=True)
