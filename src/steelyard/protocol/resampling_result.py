"""ResamplingStudy: a verdict on each sampler, the numbers and the sentences behind it."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from steelyard.analysis.calibration.calibration import Calibration, calibration
from steelyard.analysis.comparison.classical_tests import corrected_t_test
from steelyard.analysis.holm import holm
from steelyard.analysis.prevalence.prevalence import correct_prior
from steelyard.analysis.results.blocks import Table
from steelyard.analysis.results.formatting import (
    bounds_text,
    difference_text,
    interval_text,
    listed,
    three_digits,
)
from steelyard.analysis.results.result import Flat, Result, Rows
from steelyard.analysis.thresholds.best_threshold import best_threshold
from steelyard.arguments import names_wrong_arguments
from steelyard.auditing.model_tables import value_change
from steelyard.exceptions import SteelyardError, UndefinedError, UnknownNameError, did_you_mean
from steelyard.metrics.families import FAMILIES
from steelyard.metrics.registry import default_metric, get_metrics
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.usual import HEADLINE
from steelyard.protocol import run_values
from steelyard.protocol.resample import PLAIN
from steelyard.protocol.run_values import Extent, RunDifference, Summary, score_table_value
from steelyard.protocol.runs import COST_KINDS
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard._types import Array
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.metrics.spec import SpecLike
    from steelyard.protocol.runs import Run
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- resampling runs
# The plain model and each sampler on the same folds, every metric at thresholds that nest in them.
#
# A threshold is chosen on rows that the training part leaves out in folds of its own, so no test row is seen by it.


DEFAULT, BEST, PRIOR, SCORES = "default threshold", "best threshold", "equal prior", "scores"


@dataclass(frozen=True, eq=False)
class NestedRun:
    """A run on one test part, and those on folds inside its training part, by which its thresholds are chosen."""

    outer: Run
    inner: Sequence[Run]

    @cached_property
    def unseen(self) -> ScoreTable | None:
        """The scores of the training rows, each by a model that was not fitted on it; None where there are none."""
        tables = [run.scores for run in self.inner if run.scores is not None]
        whole = reduce(operator.add, tables) if tables else None
        return whole if whole is not None and whole.positive.n and whole.negative.n else None

    def threshold(self, spec: MetricSpec) -> float:
        """Where the metric is best on the training rows; NaN where that is not known."""
        if self.unseen is None:
            return np.nan
        try:
            return float(best_threshold(self.unseen, spec.metric, draws=0).threshold)
        except UndefinedError:  # as of scores that are all the same
            return np.nan

    @property
    def prevalence(self) -> float:
        """The share of positives in the training part."""
        data = self.outer.data
        return float((data.codes[self.outer.part.train] == data.labels.index(data.positive)).mean())

    def with_trained_share(self, share: float) -> NestedRun:
        """The same with the share of positives that the fit amounts to."""
        run = self.outer
        return replace(self, outer=replace(run, predictions=replace(run.predictions, trained=share)))

    def counts_at(self, use: str, spec: MetricSpec) -> tuple[float, float, float, float]:
        """The cells of the test part by one use of the model; NaN where the run failed."""
        predictions = self.outer.predictions
        if predictions.error is not None or predictions.codes is None:
            return (np.nan,) * 4
        data = self.outer.data
        place = data.labels.index(data.positive)
        true = data.codes[self.outer.part.test] == place
        if use == DEFAULT:
            flagged = predictions.codes == place
        else:
            assert predictions.scores is not None  # noqa: S101 - asked before any fit
            at = self.threshold(spec) if use == BEST else self.prevalence
            if np.isnan(at):
                return (np.nan,) * 4
            flagged = predictions.scores >= at
        return tuple(float(part.sum()) for part in (true & flagged, true & ~flagged, ~true & flagged, ~true & ~flagged))  # type: ignore[return-value]  # four


@dataclass(frozen=True, eq=False)
class ResamplingRuns:
    """The runs of the plain model and of each sampler by name, on the same parts."""

    runs: Mapping[str, Sequence[NestedRun]]
    probabilities: bool

    @property
    def samplers(self) -> list[str]:
        """The names without that of the plain model."""
        return [name for name in self.runs if name != PLAIN]

    def uses(self, name: str) -> list[str]:
        """How a model is thresholded: the plain one also by a corrected prior, which takes no further fit."""
        return [DEFAULT, *([PRIOR] if name == PLAIN and self.probabilities else []), BEST]

    def values(self, name: str, use: str, spec: MetricSpec) -> Array:
        """The metric in each run by one use of a model; NaN where the run failed or it is undefined."""
        if use == SCORES:
            return np.array([_of_scores(spec, run.outer) for run in self.runs[name]])
        cells = np.array([run.counts_at(use, spec) for run in self.runs[name]]).T
        values = np.full(cells.shape[1], np.nan)
        done = np.isfinite(cells).all(0)
        if done.any():
            values[done] = spec.metric(Counts(*cells[:, done]))
        return values


def _of_scores(spec: MetricSpec, run: Run) -> float:
    return np.nan if run.scores is None else score_table_value(spec.metric, run.scores)


def threshold_specs() -> list[MetricSpec]:
    """The metrics that a threshold is chosen by unless others are named: of those shown first, what sums up a table."""
    shown = get_metrics(HEADLINE)
    return [
        MetricSpec(m) for m in shown if m.function is not None and m.scores is None and FAMILIES[m.family].is_summary
    ]


def score_specs(*, probabilities: bool) -> list[MetricSpec]:
    """The metrics of scores unless others are named: of their order, and of them as probabilities where they are."""
    names = ("roc_auc", "average_precision", "log_loss", "brier_skill_score")
    return [MetricSpec(metric) for metric in get_metrics(names if probabilities else names[:2])]


# ---------------------------------------------------------------- resampling verdicts
# Whether a sampler gains anything that a moved threshold of the plain model does not.


HELPS, HURTS, NO_CHANGE, NO_GAIN, OPEN, FAILED = "helps", "hurts", "same", "no gain", "open", "failed"
VERDICTS = {
    HELPS: "it is shown to be better, by the margin or more",
    HURTS: "it is shown to be worse, and the interval does not exclude losses of the margin or more",
    NO_CHANGE: "the interval of the difference lies within the margin on both sides",
    NO_GAIN: "the interval excludes gains of the margin or more, not losses",
    OPEN: "no gain of the margin or more is shown, and none is excluded",
    FAILED: "fewer than two runs have a value of both models",
}


@dataclass(frozen=True, eq=False)
class SamplerVerdict(Flat):
    """What a sampler gains on the plain model, each at its own best threshold, with its interval and test.

    `verdict` is "helps", "hurts", "same", "no gain", "open" or "failed", as VERDICTS has them in words. `gain` is the
    mean over the runs of how much better the sampler is, whichever way the metric runs; `p_holm` is adjusted for all
    samplers. `seeming` is its gain where both predict at their default thresholds.
    """

    sampler: str
    verdict: str
    spec: MetricSpec = field(metadata={"key": "metric"})
    gain: float
    low: float
    high: float
    p_value: float
    p_holm: float
    seeming: float
    margin: float
    why: str | None = None

    def row(self) -> dict[str, Any]:
        """The verdict as a row of a table."""
        return {
            "sampler": self.sampler,
            "verdict": self.verdict,
            "metric": self.spec.name,
            "gain": self.gain,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "p_holm": self.p_holm,
            "seeming": self.seeming,
        }

    @property
    def between(self) -> str:
        """The gain or, of a loss, the loss with its interval."""
        sign = -1 if self.verdict == HURTS else 1
        low, high = sorted((sign * self.low, sign * self.high))
        scale = 100 if self.spec.is_share else 1
        return f"{self._text(sign * self.gain)} ({three_digits(scale * low)} to {three_digits(scale * high)})"

    def _text(self, gain: float) -> str:
        return difference_text(gain, share=self.spec.is_share)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        better, worse = ("raises", "lowers") if self.spec.sign > 0 else ("lowers", "raises")
        title = self.spec.title
        match self.verdict:
            case "failed":
                return f"{self.sampler} could not be judged: {self.why}"
            case "helps":
                return f"{self.sampler} {better} {title} by {self.between} beyond a moved threshold."
            case "hurts":
                return f"{self.sampler} {worse} {title} by {self.between}, each model at its own best threshold."
            case "same":
                return (
                    f"Moving the threshold gives the same as {self.sampler} for free: {title} differs by "
                    f"{self.between}, within the margin of {self._text(self.margin)}.{self._at_default()}"
                )
            case "no gain":
                return (
                    f"No gain by {self.sampler} could be shown: {title} changes by {self.between}, which excludes "
                    f"gains above {self._text(max(self.high, 0.0))}.{self._at_default()}"
                )
        return (
            f"No gain of {self._text(self.margin)} or more by {self.sampler} could be shown: {title} changes by "
            f"{self.between}, which excludes gains above {self._text(self.high)} only; more rows would decide."
        )

    def _at_default(self) -> str:
        """What it seemed to gain where nothing was moved, if that was more than the margin."""
        if not self.seeming > self.margin:
            return ""
        return f" The gain of {self._text(self.seeming)} at the default threshold is the threshold's."


def sampler_verdict(
    sampler: str, test: RunDifference, seeming: float, margin: float, level: float, *, why: str | None = None
) -> SamplerVerdict:
    """The verdict on a sampler by its difference from the plain model, each at its best threshold."""
    sign = test.spec.sign
    gain = sign * test.difference
    low, high = sorted((sign * test.low, sign * test.high))
    is_shown = test.p_holm < 1 - level
    if math.isnan(low):
        verdict = FAILED
    elif -margin < low and high < margin:
        verdict = NO_CHANGE
    elif is_shown and gain > 0 and gain >= margin:
        verdict = HELPS
    elif is_shown and gain < 0 and low <= -margin:
        verdict = HURTS
    else:
        verdict = NO_GAIN if high < margin else OPEN
    numbers = (gain, low, high, test.p_value, test.p_holm, sign * seeming, margin)
    return SamplerVerdict(sampler, verdict, test.spec, *numbers, why=(why or test.why) if verdict == FAILED else None)


# ---------------------------------------------------------------- resampling rows
# The values, differences, verdicts, calibrations and costs of the runs of a resampling study.


CORRECTED = "prior corrected"  # of probabilities, from the class shares of the resampled rows to those of the data
_COSTS = ("fit_seconds", "predict_seconds_per_1000", "model_bytes")


def use_name(model: str, use: str) -> str:
    """A model and how it is used, as rows name them.

    >>> use_name("SMOTE", "best threshold")
    'SMOTE, best threshold'
    """
    return f"{model}, {use}"


def use_of(spec: MetricSpec) -> str:
    """The use by which samplers are judged: the best threshold of a metric of labels, else the scores."""
    return SCORES if spec.metric.scores is not None else BEST


@dataclass(frozen=True, eq=False)
class ResamplingRows:
    """The rows of a study: of these runs, by these metrics."""

    runs: ResamplingRuns
    specs: Sequence[MetricSpec]
    level: float

    def uses(self, model: str, spec: MetricSpec) -> list[str]:
        """How a model is used for a metric."""
        return [SCORES] if use_of(spec) == SCORES else self.runs.uses(model)

    @cached_property
    def _values(self) -> dict[tuple[str, str, MetricSpec], Array]:
        return {
            (model, use, spec): self.runs.values(model, use, spec)
            for model in self.runs.runs
            for spec in self.specs
            for use in self.uses(model, spec)
        }

    @cached_property
    def _extent(self) -> Extent:
        return Extent.of([run.outer.part for run in self.runs.runs[PLAIN]])

    def values(self) -> Rows[Summary]:
        """Every metric of every use of every model over the runs."""
        return Rows(
            Summary.of(use_name(model, use), spec, values, self._extent, self.level)
            for (model, use, spec), values in self._values.items()
        )

    def differences(self) -> Rows[RunDifference]:
        """Each sampler from the plain model used alike, and the plain model moved from it as it predicts.

        Those of one metric and use are tested together by Holm's method.
        """
        families: dict[tuple[str, MetricSpec, bool], list[RunDifference]] = {}
        for model, use, spec in self._values:
            if model != PLAIN:
                plain = (PLAIN, use)
            elif use not in (DEFAULT, SCORES):
                plain = (PLAIN, DEFAULT)
            else:
                continue
            difference = self._difference((model, use), plain, spec)
            families.setdefault((use, spec, model == PLAIN), []).append(difference)
        rows = Rows[RunDifference]()
        for family in families.values():
            adjusted = holm(row.p_value for row in family)
            rows += [replace(row, p_holm=p) for row, p in zip(family, adjusted, strict=True)]
        return rows

    def _difference(self, a: tuple[str, str], b: tuple[str, str], spec: MetricSpec) -> RunDifference:
        differences = value_change(self._values[*a, spec], self._values[*b, spec])
        finite = differences[np.isfinite(differences)]
        names = (use_name(*a), use_name(*b), spec, len(finite))
        if len(finite) < 2:
            return RunDifference(*names)
        tested = corrected_t_test(finite, n_train=self._extent.train, n_test=self._extent.test, level=self.level)
        width = spec.metric.range[1] - spec.metric.range[0]  # which no difference exceeds
        return RunDifference(
            *names, tested.difference, max(tested.low, -width), min(tested.high, width), tested.p_value
        )

    def verdicts(self, differences: Sequence[RunDifference], spec: MetricSpec, margin: float) -> Rows[SamplerVerdict]:
        """The verdict on each sampler by one metric."""
        by_names = {(row.a, row.spec): row for row in differences}
        use = use_of(spec)
        rows: Rows[SamplerVerdict] = Rows()
        for name in self.runs.samplers:
            test = by_names[use_name(name, use), spec]
            seeming = by_names[use_name(name, DEFAULT), spec].difference if use == BEST else np.nan
            every = [run for nested in self.runs.runs[name] for run in (nested.outer, *nested.inner)]
            why = next((run.error for run in every if run.error is not None), None)
            rows.append(sampler_verdict(name, test, seeming, margin, self.level, why=why))
        return rows

    def costs(self) -> Rows[Summary]:
        """What each model took, of its fits on the training parts of the study."""
        return Rows(self._cost(model, kind) for model in self.runs.runs for kind in _COSTS)

    def _cost(self, model: str, kind: str) -> Summary:
        values = np.array([run.outer.cost.values()[kind] for run in self.runs.runs[model]])
        row = Summary.of(model, COST_KINDS[kind], values, self._extent, self.level)
        return row if np.isnan(values).all() else replace(row, median=float(np.nanmedian(values)))

    # ---------------------------------------------------------------- probabilities

    def calibrations(self) -> dict[str, Calibration]:
        """How the probabilities of each model agree with outcomes, and those of a sampler with the prior corrected."""
        if not self.runs.probabilities:
            return {}
        by_name: dict[str, list[Run]] = {}
        for name, runs in self.runs.runs.items():
            by_name[name] = [run.outer for run in runs]
            if name != PLAIN:
                by_name[use_name(name, CORRECTED)] = [_corrected(run) for run in runs]
        calibrations: dict[str, Calibration] = {}
        for name, judged in by_name.items():
            first = run_values.first_tests(judged)  # each row as it was first tested
            scores = run_values.once_each(first)[1] if first else None
            if scores is None:
                continue
            try:
                calibrations[name] = calibration(scores, level=self.level)
            except SteelyardError:  # it is not defined for these rows
                continue
        return calibrations


def _corrected(nested: NestedRun) -> Run:
    """A run whose probabilities are corrected from the class shares of its fit to those of its training part."""
    run, predictions = nested.outer, nested.outer.predictions
    share = predictions.trained
    if predictions.scores is None or share is None or not 0 < share < 1:
        return run
    moved = correct_prior(predictions.scores, trained=share, deployed=nested.prevalence)
    return replace(run, predictions=replace(predictions, scores=moved))


# ---------------------------------------------------------------- the sentences of a resampling study
# The answer, each sampler, other metrics, the threshold, the probabilities.


_FIT = "fit_seconds"
_LONG = 0.1  # seconds of a fit below which nobody asks how long it takes
_SLOWER = 1.5  # times as long as the plain fit, from which the cost is worth a sentence


def study_head(study: ResamplingStudy) -> str:
    """What was done."""
    at, samplers = study.setting, len(study.samplers)
    return (
        f"{at['model']} on {at['rows']:,} rows, {at['positives']:,} of them {at['positive']!r}: {at['runs']} runs of "
        f"the plain model and {samplers} sampler{'s' if samplers > 1 else ''} on the same folds, thresholds chosen in "
        f"{at['inner']} folds of each training part. The {100 * study.level:g} % intervals are Nadeau and Bengio's."
    )


def study_sentences(study: ResamplingStudy) -> list[str]:
    """All that was found, the answer first."""
    answer = _answer(study)
    return [
        answer,
        *(row.sentence for row in study.verdicts if row.sentence not in answer),
        *_other_metrics(study),
        *_orders(study),
        *_threshold(study),
        *_probabilities(study),
        *_cost(study),
    ]


def _answer(study: ResamplingStudy) -> str:
    """Whether it was worth it, by the metric that the study is about."""
    title = study.spec.title
    helps, open_ = _of_kind(study, HELPS), _of_kind(study, OPEN)
    if helps:
        return f"Resampling was worth it by {title}: {max(helps, key=lambda row: row.gain).sentence}"
    if open_:
        most = [f"{difference_text(row.high, share=study.spec.is_share)} by {row.sampler}" for row in open_]
        return (
            f"Whether resampling was worth it by {title} is open: no gain of the margin or more is shown, and gains of "
            f"up to {listed(most)} are not excluded."
        )
    harmful = [row.sampler for row in _of_kind(study, HURTS)]
    as_good = [row.sampler for row in (*_of_kind(study, NO_CHANGE), *_of_kind(study, NO_GAIN))]
    parts = [f"{listed(harmful)} did harm"] if harmful else []
    if as_good:
        within = difference_text(study.margin, share=study.spec.is_share)
        parts.append(f"the plain model at a moved threshold is as good as with {listed(as_good)}, to within {within}")
    return f"Resampling was not worth it by {title}: {'; '.join(parts)}." if parts else "No sampler could be judged."


def _of_kind(study: ResamplingStudy, kind: str) -> list[SamplerVerdict]:
    return [row for row in study.verdicts if row.verdict == kind]


def _other_metrics(study: ResamplingStudy) -> list[str]:
    """What each sampler is shown to do to other metrics of labels and of the order of scores."""
    sentences = []
    for name in study.samplers:
        better, worse = [], []
        for row in study.differences:
            spec = row.spec
            if row.a != use_name(name, use_of(spec)) or spec == study.spec or spec.metric.of_probabilities:
                continue
            if row.p_holm < 1 - study.level:
                sign = "+" if row.difference > 0 else "−"
                change = f"{spec.title} ({sign}{three_digits(abs(row.difference))})"
                if spec.sign * row.difference > 0:
                    better.append(change)
                elif spec.sign * row.difference < 0:
                    worse.append(change)
        parts = [f"is better by {listed(better)}"] if better else []
        parts += [f"is worse by {listed(worse)}"] if worse else []
        if parts:
            sentences.append(f"By other metrics {name} {' and '.join(parts)}.")
    return sentences


def _orders(study: ResamplingStudy) -> list[str]:
    """Whom the metric puts first where nobody moves a threshold, and whom the order of the scores does."""
    free = study.spec if use_of(study.spec) == SCORES else MetricSpec.of("average_precision")
    fixed = MetricSpec(default_metric()) if use_of(study.spec) == SCORES else study.spec
    means = {(str(row.model), row.name): row.mean for row in study.values}
    first = []
    for spec, use in ((free, SCORES), (fixed, DEFAULT)):
        names = (PLAIN, *study.samplers)
        by_model = {name: spec.sign * means.get((use_name(name, use), spec.name), math.nan) for name in names}
        if not all(map(math.isfinite, by_model.values())):
            return []
        first.append(max(by_model, key=lambda name: by_model[name]))
    if first[0] == first[1]:
        return []
    return [
        f"At the default threshold {fixed.metric.phrase} puts {first[1]} first, and {free.metric.phrase}, which needs "
        f"none, {first[0]}: that difference is the threshold's."
    ]


def _threshold(study: ResamplingStudy) -> list[str]:
    """What moving the threshold of the plain model alone does."""
    if use_of(study.spec) != BEST:
        return []
    moved = study.moved()
    if math.isnan(moved.difference):
        return []
    before, after = (three_digits(row.mean) for row in (study.value(PLAIN, use=DEFAULT), study.value(PLAIN)))
    change = interval_text(moved.difference, moved.low, moved.high)
    return [
        f"Moving the threshold of the plain model takes {study.spec.title} from {before} to {after}, a change of "
        f"{change}, without resampling."
    ]


def _probabilities(study: ResamplingStudy) -> list[str]:
    """Whose probabilities are wrong in the mean, and whether a corrected prior corrects that mean.

    The slope is another question, which correct_prior does not answer: it moves all logits alike.
    """
    wrong: list[str] = []
    corrected: list[str] = []
    still: list[str] = []
    unknown: list[str] = []
    for name in study.samplers:
        ratio = _observed_to_expected(study, name)
        if ratio is None or _may_be_one(ratio) is not False:
            continue
        wrong.append(f"{name} ({three_digits(float(ratio.value))})")
        after = _observed_to_expected(study, use_name(name, CORRECTED))
        right = None if after is None else _may_be_one(after)
        if after is None or right is None:
            unknown.append(name)
        else:
            (corrected if right else still).append(f"{name} ({after.text()})")
    if not wrong:
        return []
    rest = f" correct_prior corrects that for {listed(corrected)}." if corrected else ""
    rest += f" correct_prior does not correct that for {listed(still)}." if still else ""
    rest += f" Whether correct_prior corrects that for {listed(unknown)} is not known." if unknown else ""
    plain = study.calibrations[PLAIN]["calibration_slope"] if PLAIN in study.calibrations else None
    slope = ""
    if plain is not None and not math.isnan(plain.low):
        slope = f" The plain model has a slope of {bounds_text(plain.low, plain.high)}."
    return [f"Positives observed for each one expected are not 1 after {listed(wrong)}.{rest}{slope}"]


def _observed_to_expected(study: ResamplingStudy, name: str) -> Interval | None:
    part = study.calibrations.get(name)
    return None if part is None else part["observed_to_expected"]


def _may_be_one(ratio: Interval) -> bool | None:
    """Whether the interval holds 1; None where there is no interval."""
    return None if math.isnan(ratio.low) or math.isnan(ratio.high) else bool(ratio.low <= 1 <= ratio.high)


def _cost(study: ResamplingStudy) -> list[str]:
    """Which samplers make the fit slower than the plain one, or faster."""
    seconds = {row.model: row.median for row in study.costs if row.name == _FIT}
    plain = seconds.get(PLAIN)
    if not plain or max(filter(None, seconds.values())) < _LONG:
        return []
    times = {name: (seconds.get(name) or math.nan) / plain for name in study.samplers}
    slow = [f"{name} {three_digits(ratio)}" for name, ratio in times.items() if ratio > _SLOWER or ratio < 1 / _SLOWER]
    return [f"Times as long as the plain fit, resampling included: {listed(slow)}."] if slow else []


# ---------------------------------------------------------------- ResamplingStudy


_Row = TypeVar("_Row", Summary, RunDifference)


@dataclass(frozen=True, eq=False, repr=False)
class ResamplingStudy(Result[SamplerVerdict]):
    """Whether resampling was worth it: each sampler against the plain model with a moved threshold, on the same folds.

    The rows are the verdicts on the samplers. `values` has every metric of every model over the runs, as "over, best
    threshold", "over, default threshold" or "over, scores"; `differences` those of each sampler from the plain model
    used alike, and of the plain model moved from it as it predicts, with Nadeau and Bengio's interval and test;
    `calibrations` how each model's probabilities agree with outcomes, also with the prior corrected to that of the
    rows; `costs` what the fits took, resampling included. A gain of less than `margin` counts as none.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from steelyard.studies import resampling_study
    >>> study = resampling_study(GaussianNB(), *load_breast_cancer(return_X_y=True), ["over"], split=3)
    >>> study["over"].verdict, round(study.value("plain", "roc_auc").mean, 2)
    ('same', 0.99)
    """

    verdicts: Rows[SamplerVerdict]
    values: Rows[Summary]
    differences: Rows[RunDifference]
    calibrations: dict[str, Calibration]
    costs: Rows[Summary]
    spec: MetricSpec = field(metadata={"key": "metric"})
    margin: float
    level: float
    setting: dict[str, Any]
    remarks: tuple[str, ...] = ()

    also_saved = ("verdict",)

    def __iter__(self) -> Iterator[SamplerVerdict]:
        return iter(self.verdicts)

    def __getitem__(self, sampler: str) -> SamplerVerdict:
        for row in self.verdicts:
            if row.sampler == sampler:
                return row
        names = self.samplers
        raise UnknownNameError(
            f"No sampler is called {sampler!r}; there are {listed(names)}.{did_you_mean(sampler, names)}"
        )

    @property
    def samplers(self) -> list[str]:
        """The names of the samplers."""
        return [row.sampler for row in self.verdicts]

    @names_wrong_arguments
    def value(self, model: str, metric: SpecLike | None = None, use: str | None = None) -> Summary:
        """A metric of a model, "plain" or a sampler, over the runs: at the best threshold unless a use is named."""
        spec, rows = self._spec_of(metric), {(row.model, row.name): row for row in self.values}
        return _row_of(rows, (use_name(model, use or use_of(spec)), spec.name))

    @names_wrong_arguments
    def difference(self, sampler: str, metric: SpecLike | None = None, use: str | None = None) -> RunDifference:
        """How much a sampler differs from the plain model used alike; at their best thresholds unless named."""
        spec, rows = self._spec_of(metric), {(row.a, row.b, row.metric): row for row in self.differences}
        used = use or use_of(spec)
        return _row_of(rows, (use_name(sampler, used), use_name(PLAIN, used), spec.name))

    @names_wrong_arguments
    def moved(self, use: str = BEST, metric: SpecLike | None = None) -> RunDifference:
        """What moving the threshold of the plain model changes, without any resampling."""
        rows = {(row.a, row.b, row.metric): row for row in self.differences}
        return _row_of(rows, (use_name(PLAIN, use), use_name(PLAIN, DEFAULT), self._spec_of(metric).name))

    def _spec_of(self, metric: SpecLike | None) -> MetricSpec:
        return self.spec if metric is None else MetricSpec.of(metric)

    @property
    def verdict(self) -> list[str]:
        """What was found, in sentences: the answer, each sampler, other metrics, the threshold, the probabilities."""
        return study_sentences(self)

    @property
    def notes(self) -> list[str]:
        """The sentences of the verdict but the first, and what is to be known of the runs."""
        return [*self.verdict[1:], *self.remarks]

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.verdict[0]

    def value_rows(self, *, scores: bool) -> list[dict[str, Any]]:
        """The mean of each metric over the runs, by model and use of its labels, or by model of its scores."""
        rows: dict[str, dict[str, Any]] = {}
        for value in self.values:
            model, use = str(value.model).rsplit(", ", 1)
            if (use == SCORES) == scores:
                first = {"model": model} if scores else {"model": model, "at": use}
                rows.setdefault(str(value.model), first)[value.name] = value.mean
        return list(rows.values())

    def calibration_rows(self) -> list[dict[str, Any]]:
        """One row per model: slope, intercept and observed to expected positives with their intervals."""
        return [
            {
                "probabilities": name,
                "slope": part["calibration_slope"].text(),
                "intercept": part["calibration_intercept"].text(),
                "observed to expected": part["observed_to_expected"].text(),
            }
            for name, part in self.calibrations.items()
        ]

    def cost_rows(self) -> list[dict[str, Any]]:
        """One row per model: the median of each cost over the runs."""
        rows: dict[str, dict[str, Any]] = {}
        for cost in self.costs:
            rows.setdefault(str(cost.model), {"model": cost.model})[cost.name.replace("_", " ")] = cost.median
        return list(rows.values())

    @property
    def lead(self) -> list[str]:
        """What was done."""
        return [study_head(self)]

    def shown_tables(self) -> list[Table]:
        """The verdicts, then the means of all metrics, the calibration and the costs."""
        return [
            Table.of(self),
            Table(self.value_rows(scores=False), "labels", keys=2),
            Table(self.value_rows(scores=True), "scores"),
            Table(self.calibration_rows(), "probabilities"),
            Table(self.cost_rows(), "costs"),
        ]


def _row_of(rows: Mapping[Any, _Row], key: tuple[str, ...]) -> _Row:
    if key not in rows:
        every = [", ".join(names) for names in rows]
        raise UnknownNameError(f"The study has no {', '.join(key)}.{did_you_mean(', '.join(key), every)}")
    return rows[key]
