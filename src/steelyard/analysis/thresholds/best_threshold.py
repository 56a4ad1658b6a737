"""The best threshold of a metric, how near others come, the limits that it keeps and its value on new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypedDict, Unpack, overload

import numpy as np

from steelyard._types import Label
from steelyard.analysis.distributions import normal_reach
from steelyard.analysis.intervals.draws import generator
from steelyard.analysis.intervals.rate_intervals import exact, hits_and_trials, is_rate
from steelyard.analysis.levels import check_level, tails
from steelyard.analysis.prevalence.prevalence import stated_prevalence
from steelyard.analysis.results.blocks import Block, Sentence, Table
from steelyard.analysis.results.formatting import (
    count_text,
    filled,
    interval_text,
    percent_interval,
    percent_text,
    three_digits,
    value_text,
)
from steelyard.analysis.results.result import Flat
from steelyard.analysis.thresholds.asked_sample import asked_sample, between_bins, planned_scores
from steelyard.analysis.thresholds.found_rates import RECALL, found_precision, found_rate, guaranteed_recall
from steelyard.analysis.thresholds.guarantees import (
    Promise,
    broken_shares,
    check_confidence,
    run_around,
    unkept_sentence,
)
from steelyard.analysis.thresholds.label_thresholds import best_label_thresholds, refuse_with_label_sets
from steelyard.analysis.thresholds.limits import SLACK, Capacity, rate_limit, read_limits
from steelyard.analysis.thresholds.resampled_threshold import ByMerit, Resampling
from steelyard.analysis.thresholds.threshold_sample import (
    Criterion,
    costs_by_row,
    limits_with_costs,
    plateau_width,
    read_aim,
    refuse_few_clusters,
    threshold_of,
)
from steelyard.exceptions import InputError, InputTypeError, UndefinedError, UnknownNameError
from steelyard.metrics.spec import MetricSpec
from steelyard.metrics.uses import read_use
from steelyard.predictions import Predictions, question, refuse_unused, rows_and_metric
from steelyard.tables.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from steelyard._types import Array, Rng
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.analysis.thresholds.label_thresholds import LabelThresholds
    from steelyard.analysis.thresholds.limits import Limit, LimitsLike
    from steelyard.analysis.thresholds.resampled_threshold import Resamples
    from steelyard.analysis.thresholds.threshold_sample import Aim, AimLike, CostsLike, ThresholdSample
    from steelyard.metrics.uses import UseLike
    from steelyard.predictions import RowOptions, RowsLike
    from steelyard.tables.multilabel_table import MultilabelTable
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- BestThreshold
# The threshold at which a metric is best, in a sentence, a row and JSON.


_OUTCOMES = {"tp": "true positives", "fn": "false negatives", "fp": "false positives", "tn": "true negatives"}
LIKELY = 0.8  # a limit that is less likely to hold on new rows is warned of
REFITTED = "No limit is promised on new rows, as the classifier that predicts was fitted again on all rows."


@dataclass(frozen=True)
class KeptLimit:
    """A limit at the threshold: its metric's value there, and how likely it holds on new rows.

    `chance` is how likely it holds, by what the rows at the threshold leave open; None where `confidence` promises it.
    `exceeded` is the chance that a day has more alerts than its capacity.
    """

    limit: str
    value: float
    chance: float | None = None
    confidence: float | None = None
    exceeded: float | None = None

    @property
    def here(self) -> str:
        """The value on these rows, in the limit's own terms: alerts out of the rows of a day."""
        from steelyard.analysis.thresholds.limits import Capacity, read_limits

        (limit,) = read_limits(self.limit, any_bound=True)
        if isinstance(limit, Capacity):
            return limit.shown(self.value)
        return value_text(self.value, share=limit.metric.is_share)

    def __str__(self) -> str:
        day = "" if self.exceeded is None else f" (a day exceeds it with probability {self.exceeded:.2g})"
        if self.confidence is not None:
            return f"{self.limit} holds on new rows with {100 * self.confidence:g} % confidence{day}"
        if self.chance is None:
            return f"{self.limit} holds on these rows{day}"
        return f"{self.limit} holds on new rows with a chance of about {100 * self.chance:.0f} %{day}"


@dataclass(frozen=True, eq=False, repr=False)
class BestThreshold(Flat):
    """The best threshold of a metric: rows are predicted positive where score >= threshold.

    `observed` is the lowest flagged score; the threshold lies half-way between it and the next score, which is not
    flagged. `plateau` is the lowest and the highest threshold next to it that is about as good, `interval` holds the
    best threshold of all rows that there might be, `optimism` is how much the value flatters it, `out_of_sample` the
    value without that, with its interval, and `regret` how much worse than the best threshold of such rows it is to be
    expected. `flagged` is the share of the rows that is flagged; the intervals of `precision` and `recall` allow for a
    threshold that was found on the same rows. Of costs, `nobody` and `everybody` are what it costs to flag these.
    `limits` are those of `where=`; `trivial` says that everybody, or nobody, is flagged.
    """

    threshold: float
    value: float
    counts: Counts
    plateau: tuple[float, float]
    metric: str
    interval: tuple[float, float] | None = None
    out_of_sample: float | None = None
    optimism: float | None = None
    level: float = 0.95
    positive: Label = None
    assumed: tuple[str, ...] = ()
    observed: float = math.nan
    limits: tuple[KeptLimit, ...] = ()
    out_of_sample_interval: tuple[float, float] | None = None
    regret: float | None = None
    needed: str = ""
    flagged: float = math.nan
    precision: float = math.nan
    precision_interval: tuple[float, float] | None = None
    recall: float = math.nan
    recall_interval: tuple[float, float] | None = None
    nobody: float | None = None
    everybody: float | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.observed):  # as saved by a version whose thresholds were observed scores
            object.__setattr__(self, "observed", self.threshold)

    @classmethod
    def from_held(cls, data: dict[str, Any]) -> Self:
        """The threshold that was saved; one that flags low scores, as version 0.1 found them too, is refused."""
        if data.get("direction", 1) == -1:
            raise InputError("This threshold flags low scores; negate the scores, and choose it again.")
        return super().from_held(data)

    @property
    def trivial(self) -> bool:
        """Whether the threshold flags everybody, or nobody, which keeps many a limit without a model."""
        return not (self.counts.predicted_positives and self.counts.predicted_negatives)

    @property
    def notes(self) -> Sequence[str]:
        """What to know of the limits, and what was assumed."""
        unlikely = [kept.limit for kept in self.limits if kept.chance is not None and kept.chance < LIKELY]
        notes = []
        if unlikely:
            notes.append(
                f"{' and '.join(unlikely)} may not hold on new rows; confidence=0.95 finds a threshold that keeps it."
            )
        if self.trivial and self.limits:
            who = "everybody" if self.counts.predicted_positives else "nobody"
            notes.append(f"This is the trivial threshold: it flags {who}, which needs no model.")
        if self.needed:
            notes.append(self.needed)
        return (*notes, *self.assumed)

    def of_refit(self) -> Self:
        """The same threshold for a classifier that was fitted again: what was promised held for those that scored."""
        limits = tuple(replace(kept, confidence=None) for kept in self.limits)
        return replace(self, limits=limits, assumed=(*self.assumed, REFITTED))

    @property
    def headline(self) -> str:
        """The threshold, the value there, and the value to expect on new rows."""
        rule = f"At threshold {three_digits(self.threshold)}"
        if self.trivial:
            rule = "If everybody is flagged" if self.counts.predicted_positives else "If nobody is flagged"
        new = "" if self.out_of_sample is None else f" here and about {self._on_new_rows} on new rows"
        trivial = ""
        if self.nobody is not None and self.everybody is not None:
            nobody, everybody = three_digits(self.nobody), three_digits(self.everybody)
            trivial = f"; with nobody flagged it is {nobody}, with everybody {everybody}"
        phrase, share = _phrase(self.metric)
        return f"{rule}, {phrase} is {value_text(self.value, share=share)}{new}{trivial}."

    @property
    def outcome(self) -> str:
        """How many rows are flagged, with precision and recall, in a sentence; nothing where an older file lacks it."""
        if math.isnan(self.flagged):
            return ""
        flagged, total = self.counts.predicted_positives, self.counts.total
        is_counted = float(flagged).is_integer() and float(total).is_integer()
        if is_counted and math.isclose(flagged / total, self.flagged, abs_tol=1e-12):
            share = f"{int(flagged):,} of {int(total):,} rows"
        else:
            share = f"{percent_text(self.flagged)} of the rows"
        rates = [
            f"{name} {self._rate(name)}" for name in ("precision", "recall") if not math.isnan(getattr(self, name))
        ]
        return f"{share} are flagged: {', '.join(rates)}."

    @property
    def lead(self) -> Sequence[str]:
        """How near other thresholds come, and how likely each limit holds on new rows."""
        sentences = []
        if self.plateau[0] != self.plateau[1]:
            sentences.append(f"{_thresholds(*self.plateau)} about as good.")
        if self.interval is not None and self.out_of_sample is not None:
            low, high = map(_end, self.interval)
            best = "The best threshold for all such rows lies between"
            sentences.append(f"{best} {low} and {high} ({100 * self.level:g} %).")
        known = (kept for kept in self.limits if kept.chance is not None or kept.confidence is not None)
        return [*sentences, *(f"{kept}." for kept in known)]

    def __repr__(self) -> str:
        lines = [self.headline, *([self.outcome] if self.outcome else []), *self.lead, *self.assumed]
        return "\n".join(map(filled, lines))

    def blocks(self) -> list[Block]:
        """What is flagged, how near other thresholds come, each limit with its value here, and all digits."""
        cells, outcome = self.counts.to_dict(), [self.outcome] if self.outcome else []
        texts = ", ".join(f"{count_text(cells[key])} {words}" for key, words in _OUTCOMES.items())
        limits = (f"{kept.limit}: {kept.here} here;{str(kept).removeprefix(kept.limit)}." for kept in self.limits)
        observed = "" if math.isinf(self.observed) else f"; the lowest flagged score: {self.observed!r}"
        digits = f"The threshold with all its digits: {self.threshold!r}{observed}."
        near = replace(self, limits=()).lead
        lead = [*outcome, f"At this threshold: {texts}.", *near, *limits, digits]
        sentences = [Sentence(self.headline, "headline"), *(Sentence(text, "lead") for text in lead)]
        return [*sentences, Table((), data=self.to_dicts), *map(Sentence, self.notes)]

    @property
    def _on_new_rows(self) -> str:
        """The value to expect on new rows, with its interval."""
        share, value = _phrase(self.metric)[1], self.out_of_sample
        if value is None or self.out_of_sample_interval is None:
            return "–" if value is None else value_text(value, share=share)
        return interval_text(value, *self.out_of_sample_interval, share=share)

    def _rate(self, name: str) -> str:
        bounds = getattr(self, f"{name}_interval") or (math.nan, math.nan)
        return percent_interval(getattr(self, name), *bounds)

    def row(self) -> dict[str, Any]:
        """The result as a row of a table."""
        low, high = self.interval or (None, None)
        new_low, new_high = self.out_of_sample_interval or (None, None)
        precision_low, precision_high = self.precision_interval or (None, None)
        recall_low, recall_high = self.recall_interval or (None, None)
        return {
            "metric": self.metric,
            "value": self.value,
            "threshold": self.threshold,
            "observed": self.observed,
            "plateau_low": self.plateau[0],
            "plateau_high": self.plateau[1],
            "low": low,
            "high": high,
            "out_of_sample": self.out_of_sample,
            "out_of_sample_low": new_low,
            "out_of_sample_high": new_high,
            "optimism": self.optimism,
            "regret": self.regret,
            "flagged": self.flagged,
            "precision": self.precision,
            "precision_low": precision_low,
            "precision_high": precision_high,
            "recall": self.recall,
            "recall_low": recall_low,
            "recall_high": recall_high,
            "nobody": self.nobody,
            "everybody": self.everybody,
            **self.counts.to_dict(),
            "positive": self.positive,
            "trivial": self.trivial,
        }

    def shown_row(self) -> dict[str, Any]:
        """The columns that a notebook has room for; the headline has the rest."""
        return {
            "threshold": self.threshold,
            self.metric: value_text(self.value, share=_phrase(self.metric)[1]),
            "on new rows": None if self.out_of_sample is None else self._on_new_rows,
            "flagged": percent_text(self.flagged),
            "precision": self._rate("precision"),
            "recall": self._rate("recall"),
        }


def _phrase(name: str) -> tuple[str, bool]:
    """The metric inside a sentence, one with parameters by its written form, and whether it is a share of rows."""
    try:
        spec = MetricSpec.of(name)
    except UnknownNameError:  # costs by row, or a function of one's own
        return name.replace("_", " "), False
    return name if "[" in name else spec.metric.phrase, spec.is_share


def _thresholds(low: float, high: float) -> str:
    """Which thresholds, as the start of a sentence."""
    if math.isinf(low):
        return "All thresholds are" if math.isinf(high) else f"Thresholds up to {three_digits(high)} are"
    first = f"Thresholds from {three_digits(low)}"
    return f"{first} on are" if math.isinf(high) else f"{first} to {three_digits(high)} are"


def _end(threshold: float) -> str:
    """A threshold in a sentence: an infinite one flags nobody, or everybody."""
    if math.isfinite(threshold):
        return three_digits(threshold)
    return "nobody" if threshold > 0 else "everybody"


# ---------------------------------------------------------------- threshold search
# The best threshold of a sample, the limits that it keeps, and its value on new rows.


_CHANCE_DRAWS = 2_000


class Choice(NamedTuple):
    """The index of the best threshold, the merit of each, NaN if not allowed, and which thresholds keep the promise."""

    best: int
    merits: Array
    kept: Array | None

    @property
    def is_empty(self) -> bool:
        """Whether no threshold is allowed and has a value."""
        return bool(np.isnan(self.merits[self.best]))


@dataclass(frozen=True)
class Search:
    """How to choose a threshold, the metric to report at it, and the confidence with which limits are to be kept."""

    criterion: Criterion
    report: Aim
    level: float = 0.95
    confidence: float | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        check_confidence(self.confidence)
        if self.confidence is not None and not self.criterion.limits:
            raise InputError(
                argument="confidence", expected="that of limits", do="give them too, such as where='recall >= 0.9'"
            )

    def best(self, sample: ThresholdSample, draws: int, rng: np.random.Generator) -> BestThreshold:
        """The best threshold of a sample, with its variation over so many resamples of the rows."""
        if not isinstance(draws, (int, np.integer)) or isinstance(draws, bool) or draws < 0:
            raise InputError(argument="draws", expected="a whole number, 0 or more", given=draws)
        choice, needed = self.choice(sample, rng), ""
        promise, kept = self._promise, choice.kept
        if promise is not None and (kept is None or not kept[1:-1].any()):
            needed = unkept_sentence(promise, sample)
        if choice.is_empty:
            if kept is None or kept.any():
                raise UndefinedError(self.criterion.undefined(sample.every))
            texts, confidence = " and ".join(limit.text for limit in self.criterion.limits), self.confidence or 0
            raise InputError(f"No threshold keeps {texts} with {100 * confidence:g} % confidence. {needed}")
        best = replace(self._best_at(choice, sample, rng), needed=needed)
        return self._resampled(best, choice, sample, int(draws), rng) if draws else best

    @property
    def _promise(self) -> Promise | None:
        return None if self.confidence is None else Promise(self.criterion.limits, float(self.confidence))

    def choice(self, sample: ThresholdSample, rng: np.random.Generator) -> Choice:
        """The index of the best threshold of a sample that keeps the limits, or their promise."""
        if self.confidence is not None and sample.clusters is not None:
            refuse_few_clusters(self.criterion.limits, sample.clusters)
        allowed = self.criterion.check(sample.every)
        kept = None if self._promise is None else self._promise.kept(sample, rng, allowed)
        merits = replace(self.criterion, limits=()).merits(sample.merits_of.counts)
        if self.criterion.limits:
            merits = np.where(allowed if kept is None else allowed & kept, merits, np.nan)
        return Choice(int(self.criterion.chosen(merits)), merits, kept)

    def _best_at(self, choice: Choice, sample: ThresholdSample, rng: np.random.Generator) -> BestThreshold:
        every, index, merits = sample.every, choice.best, choice.merits
        observed = float(every.observed[index])
        near = plateau_width(float(merits[index]), merits[[0, -1]])
        run = run_around(index, merits >= merits[index] - near - SLACK)
        plateau = float(every.observed[run.start]), float(every.observed[run.stop - 1])
        limits = (self._kept_limit(limit, index, sample, rng) for limit in self.criterion.limits)
        trivial = self.report.values(sample.merits_of.counts[[0, -1]]).tolist() if self.report.is_cost else (None, None)
        here = every.counts[index]
        return BestThreshold(
            threshold=threshold_of(sample.table, observed),
            value=float(self.report.values(sample.merits_of.counts[index])),
            counts=sample.rows.counts[index],
            plateau=_thresholds_of(sample.table, plateau),
            metric=self.report.name,
            level=float(self.level),
            positive=sample.table.label,
            observed=observed,
            limits=tuple(limits),
            flagged=float(here.predicted_positives / here.total),
            precision=found_precision(sample, index).value,
            recall=found_rate(RECALL, sample, index).value,
            nobody=trivial[0],
            everybody=trivial[1],
        )

    def _kept_limit(self, limit: Limit, index: int, sample: ThresholdSample, rng: np.random.Generator) -> KeptLimit:
        value = float(limit.values(sample.every.counts[index]))
        equal = sample.has_equal_rows and not sample.are_trivial(index)
        exact = equal and sample.prevalence is None
        drawn, exceeded = math.nan, None
        if self.confidence is None or (isinstance(limit, Capacity) and not exact):
            rates = sample.rates_at(np.array([index]))
            drawn = float(broken_shares([limit], sample, rates, _CHANCE_DRAWS, rng).item())
        if isinstance(limit, Capacity):
            rows = sum(sample.effective_sizes)
            exceeded = limit.exceeded_after(value * rows, rows) if exact else drawn
        if self.confidence is not None:
            return KeptLimit(limit.text, value, confidence=float(self.confidence), exceeded=exceeded)
        rate = rate_limit(limit)
        if exceeded is not None:
            broken = exceeded
        elif rate is not None and (exact or (equal and rate.part.is_of_class)):
            broken = float(rate.broken_chance(*rate.part.trials(sample.rows.counts[index])).item())
        else:
            broken = drawn
        return KeptLimit(limit.text, value, chance=1 - broken, exceeded=exceeded)

    def _resampled(
        self, best: BestThreshold, choice: Choice, sample: ThresholdSample, draws: int, rng: np.random.Generator
    ) -> BestThreshold:
        """The result with the interval of the threshold, and the value of the resamples' thresholds on rows left out.

        Efron's optimism, the value on the resample less that of the same threshold on all rows, leaves 40 % of the
        bias: informedness of 100 rows of noise is 0.117 at its best, 0.047 by that and 0.002 by rows left out.
        """
        criterion = self.criterion if choice.kept is None else replace(self.criterion, limits=())
        (drawn,) = Resampling(sample).resamples([ByMerit(choice.best, criterion, choice.kept)], draws, rng)
        if drawn is None:
            return best
        expected = float(self.report.values(drawn.unseen))
        # By chance a resample may do better on rows it left out than the best of all rows does on these.
        merits_all = self.criterion.aim.sign * self.criterion.aim.values(sample.merits_of.counts)
        regret = float(np.nanmean(np.nanmax(choice.merits) - merits_all[drawn.indices]))
        # The value on new rows varies at the threshold, with the threshold, and with the prevalence.
        shifted = sample.at_drawn_prevalence(choice.best, _CHANCE_DRAWS, rng)
        variance = 0.0
        for table in (drawn.there, sample.merits_of.counts[drawn.indices], shifted):
            if table is not None:
                values = self.report.values(table)
                part = float(np.var(values[np.isfinite(values)]))
                variance += part if part > 0 else 0.0
        half_width = normal_reach(self.level) * math.sqrt(variance)
        rate_low, rate_high = self._bounds_without_variation(sample, choice.best)
        low, high = self.report.range
        interval = None
        if choice.kept is None:
            interval = _thresholds_of(sample.table, _range(choice, sample, drawn, self.level))
        precision = found_precision(sample, choice.best, drawn, self.level)
        recall = found_rate(RECALL, sample, choice.best, drawn, self.level)
        bounds = max(min(expected - half_width, rate_low), low), min(max(expected + half_width, rate_high), high)
        intervals = {"precision": precision.interval, "recall": recall.interval}
        if self.report.name in intervals:  # which is looked for itself
            intervals[self.report.name] = bounds
        if self.confidence is not None and any(_is_least_recall(limit) for limit in self.criterion.limits):
            intervals["recall"] = guaranteed_recall(sample, choice.best, self.confidence)
        return replace(
            best,
            interval=interval,
            out_of_sample=expected,
            out_of_sample_interval=bounds,
            optimism=self.report.sign * (best.value - expected),
            regret=max(regret, 0.0),
            precision_interval=intervals["precision"],
            recall_interval=intervals["recall"],
        )

    def _bounds_without_variation(self, sample: ThresholdSample, index: int) -> tuple[float, float]:
        """Clopper and Pearson's bounds of a rate of which all rows are hits, or none: no resample of them varies."""
        metrics = self.report.metrics
        if len(metrics) != 1 or not is_rate(metrics[0]) or sample.costs is not None:
            return math.inf, -math.inf
        hits, trials = hits_and_trials(metrics[0], sample.rows.counts[index])
        if 0 < hits < trials or not trials:
            return math.inf, -math.inf
        independent = sum(sample.effective_sizes) / float(sample.table.total)
        low, high = exact(hits * independent, trials * independent, self.level)
        return float(low), float(high)


def _is_least_recall(limit: Limit) -> bool:
    rate = rate_limit(limit)
    return rate is not None and rate.part == RECALL and rate.wants_high


def _range(choice: Choice, sample: ThresholdSample, drawn: Resamples, level: float) -> tuple[float, float]:
    """The lowest and the highest score at which the best threshold of the population may lie.

    The range holds the best scores of the middle resamples, and all scores at which the metric is not worse than at the
    best by more than it is in resamples: there the best threshold of all rows plays the part that the best of the
    population plays in these rows. With limits only the resamples say where the best threshold lies.
    """
    merits = choice.merits
    here = np.append(drawn.indices, choice.best)
    first, last = (int(np.quantile(here, tail, method="inverted_cdf")) for tail in tails(level))
    if np.isfinite(drawn.lost).all():
        lost = float(np.quantile(drawn.lost, level, method="higher"))
        near = np.flatnonzero(merits >= merits[choice.best] - lost - SLACK)
        first, last = min(first, int(near[0])), max(last, int(near[-1]))
    return float(sample.every.observed[first]), float(sample.every.observed[last])


def _thresholds_of(table: ScoreTable, observed: tuple[float, float]) -> tuple[float, float]:
    """The thresholds at the lower and at the higher one of two observed scores."""
    low, high = (threshold_of(table, score) for score in sorted(observed))
    return low, high


# ---------------------------------------------------------------- best threshold


class SearchOptions(TypedDict, total=False):
    """What a search for a threshold takes beside the scores and the metric."""

    where: LimitsLike | None
    confidence: float | None
    cost: CostsLike | None
    use: UseLike | None
    prevalence: PrevalenceLike | None
    level: float
    draws: int
    rng: Rng


NO_AIM = (
    "Name what is to be best: a metric such as 'f1', cost={'cost_fn': 10, 'cost_fp': 1}, where='recall >= 0.9', or "
    "use='alerts' (F1) or 'balance' (AC-score); operating_points lists what each of them gives."
)
BY_LIMITS = (
    "Limits alone were given: among the thresholds that keep them the AC-score is best; name a metric for another."
)
_NO_AIM_OF = {
    "ranking": "use='ranking' orders the rows and takes no threshold; name a metric, costs, or use='alerts'.",
    "probabilities": "use='probabilities' has no threshold of its own: say what errors cost, cost={'cost_fn': 10, "
    "'cost_fp': 1}.",
}


def aim_of(metric: AimLike | None, where: LimitsLike | None, use: UseLike | None) -> tuple[AimLike, tuple[str, ...]]:
    """What is to be best: the metric, that of the use, or with limits alone the AC-score, which is stated."""
    if isinstance(metric, str) and any(sign in metric for sign in "<>≤≥"):
        raise InputError(f"{metric!r} is a limit; give it by where={metric!r}, beside the metric that is to be best.")
    if metric is not None:
        return metric, ()
    if (stated := read_use(use)) is not None:
        if stated.aim is None:
            raise InputError(_NO_AIM_OF[stated.name])
        return stated.aim, ()
    if where is None:
        raise InputTypeError(NO_AIM)
    return "ac_score", (BY_LIMITS,)


@overload
def best_threshold(
    data: MultilabelTable,
    scored: AimLike | None = None,
    /,
    metric: AimLike | None = None,
    *,
    use: UseLike | None = None,
    level: float = 0.95,
    draws: int = 200,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> LabelThresholds: ...
@overload
def best_threshold(
    data: RowsLike = None,
    scored: ArrayLike | AimLike | None = None,
    /,
    metric: AimLike | None = None,
    *,
    where: LimitsLike | None = None,
    confidence: float | None = None,
    cost: CostsLike | None = None,
    use: UseLike | None = None,
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int = 200,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> BestThreshold: ...
@question
def best_threshold(
    data: RowsLike | MultilabelTable = None,
    scored: ArrayLike | AimLike | None = None,
    /,
    metric: AimLike | None = None,
    *,
    where: LimitsLike | None = None,
    confidence: float | None = None,
    cost: CostsLike | None = None,
    use: UseLike | None = None,
    prevalence: PrevalenceLike | None = None,
    level: float = 0.95,
    draws: int = 200,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> BestThreshold | LabelThresholds:
    """The threshold at which a metric is best, over every set of highest scores, the smallest of equally good sets.

    It takes an aim: a metric, costs, limits, or a use that has one; operating_points lists what several of them give.

    It lies half-way between the lowest flagged score, `observed`, and the highest that is not, so that scores which
    rounding or a refit moves a little stay on their side. Nobody is infinity; everybody is 0 for probabilities, else
    minus infinity. Where low scores are positive, give -y_score.

    The metric stands after the rows, best_threshold(p, "f1") or best_threshold(y_true, y_score, "f1"): a name such as
    "f_beta[beta=2]", a Metric, a function of tp, fn, fp, tn (more is better), a list of them (their mean), or a 2 x 2
    matrix of costs with rows true. `use="alerts"` stands for F1 and `use="balance"` for the AC-score. `cost` says what
    errors cost instead: {"cost_fn": 10, "cost_fp": 1}, with "cost_tp", "cost_tn" and their "benefit_tp" and
    "benefit_tn"; each is a number, or differs by row: an array, or the name of a column of a frame, of `columns=`, or
    of a tally that was counted with `cost=` of it.

    `where` sets limits, such as "specificity >= 0.99" or "alerts <= 200 of 10000" (rows a day). With `confidence` the
    threshold keeps all of them on new rows with that probability; without it the result says how likely each holds.
    Limits alone leave the choice among the thresholds that keep them to the AC-score.
    `prevalence` is that of the rows to come, a number or a Prevalence; `design` may be the plan of `label_plan` by
    which rows were labelled.

    The plateau reaches as far as the value is within 2 % of the best, and of its gain over flagging nobody or
    everybody. So many resamples of the rows (`draws`) give the interval of the threshold and, on the rows that each
    leaves out, the value, precision and recall to expect on new ones; 0 leaves these out.

    Of rows that may have several labels each, with a column of scores for each label, the answer is a threshold for
    each label, `LabelThresholds`: those at which a metric averaged over labels, such as "f1[average=macro]" or
    "f1[average=micro]", is best; the value to expect on new rows is that of rows by which they were not chosen.

    >>> best_threshold([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "ac_score", draws=0)
    At threshold 0.450, AC-score is 0.800.
    2 of 6 rows are flagged: precision 100 %, recall 66.7 %.
    >>> best = best_threshold([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], cost={"cost_fn": 10}, draws=0)
    >>> best.threshold, best.observed
    (0.25, 0.3)
    """
    scored, metric = rows_and_metric(data, scored, metric, rows)
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "best_threshold", "by", "threshold")
    if p.are_sets:
        refuse_unused(p, "best_threshold", "design")
        given = {"where": where, "confidence": confidence, "cost": cost, "prevalence": prevalence}
        refuse_with_label_sets(**given, pos_label=p.given.pos_label)
        if metric is None and use is not None:
            metric = f"{aim_of(None, None, use)[0]}[average=macro]"
        return best_label_thresholds(p, metric, draws=draws, level=level, rng=generator(rng))
    if cost is not None and metric is not None:
        raise InputTypeError("metric= and cost= both say what is best; give one of them.")
    if p.kind == "class scores" and p.collect().kind == "class scores":
        raise InputError(
            "A threshold is of one column of scores, and these are of several classes: best_decision finds a threshold "
            "for each class; or name the positive class with pos_label=."
        )
    costs = metric if isinstance(metric, Mapping) else cost
    by_row = costs is not None and costs_by_row(costs)
    by_limits: tuple[str, ...] = ()
    aim: Aim | None = None
    if costs is not None:
        aim = None if by_row else read_aim(costs)
        limits = limits_with_costs(where, aim)
    else:
        if metric is None and where is None and use is None:
            asked_sample(p, stated_prevalence(prevalence))  # what is wrong with the rows is said first
        named, by_limits = aim_of(metric, where, use)
        aim, limits = read_aim(named), read_limits(where)
    stated = None
    if not isinstance(p.design, str):
        p, stated = planned_scores(p, confidence)
    refuse_unused(p, "best_threshold", "design")
    sample, cost_aim = asked_sample(p, stated_prevalence(prevalence), costs if by_row else None)
    aim = cost_aim or aim
    assert aim is not None  # noqa: S101 - that of costs by row where there is no other
    best = Search(Criterion(aim, limits), aim, level, confidence).best(sample, draws, generator(rng))
    assumed = (*(p.assumed if stated is None else stated), *by_limits)
    if stated is None and not by_row:
        assumed = (*assumed, *between_bins(p))
    return replace(best, assumed=assumed)


@question
def roc_then_tpnr(
    data: RowsLike = None,
    scored: ArrayLike | None = None,
    /,
    *,
    level: float = 0.95,
    draws: int = 200,
    rng: Rng = None,
    **rows: Unpack[RowOptions],
) -> BestThreshold:
    """The TPNR at the threshold where the ROC curve is farthest above its diagonal, as Asawa advises.

    The options are those of best_threshold; the plateau is that of informedness, by which the threshold is chosen.

    >>> roc_then_tpnr([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], draws=0)
    At threshold 0.450, TPNR is 0.667.
    2 of 6 rows are flagged: precision 100 %, recall 66.7 %.
    """
    p = Predictions.of(data, scored, second_is="y_score", **rows)
    refuse_unused(p, "roc_then_tpnr", "cluster", "design", "by", "threshold", "columns")
    search = Search(Criterion(read_aim("informedness")), read_aim("tpnr"), level)
    best = search.best(asked_sample(p)[0], draws, generator(rng))
    return replace(best, assumed=p.assumed)
