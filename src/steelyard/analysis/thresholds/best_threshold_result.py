"""BestThreshold: the threshold at which a metric is best, in a sentence, a row and JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from steelyard._types import Label
from steelyard.analysis.results.formatting import three_digits
from steelyard.analysis.results.rows import Flat
from steelyard.statistics.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        from steelyard.analysis.thresholds.threshold_limits import Capacity, read_limits

        (limit,) = read_limits(self.limit, any_bound=True)
        return limit.shown(self.value) if isinstance(limit, Capacity) else three_digits(self.value)

    def __str__(self) -> str:
        day = "" if self.exceeded is None else f" (a day exceeds it with probability {self.exceeded:.2g})"
        if self.confidence is not None:
            return f"{self.limit} holds on new rows with {100 * self.confidence:g} % confidence{day}"
        if self.chance is None:
            return f"{self.limit} holds on these rows{day}"
        return f"{self.limit} holds on new rows with a chance of about {100 * self.chance:.0f} %{day}"


@dataclass(frozen=True, eq=False, repr=False)
class BestThreshold(Flat):
    """The best threshold of a metric: rows are predicted positive where score >= threshold, or <= in direction -1.

    `observed` is the lowest flagged score (the highest in direction -1); the threshold lies half-way between it and the
    next score, which is not flagged. `plateau` is the lowest and the highest threshold next to it that is about as
    good, `interval` holds the best threshold of all rows that there might be, `optimism` is how much the value flatters
    it, `out_of_sample` the value without that, with its interval, and `regret` how much worse than the best threshold
    of such rows it is to be expected. `limits` are those of `where=`; `trivial` says that everybody, or nobody, is
    flagged.
    """

    threshold: float
    value: float
    counts: Counts
    plateau: tuple[float, float]
    metric: str
    direction: int = 1
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

    def __post_init__(self) -> None:
        if math.isnan(self.observed):  # as saved by a version whose thresholds were observed scores
            object.__setattr__(self, "observed", self.threshold)

    @property
    def trivial(self) -> bool:
        """Whether the threshold flags everybody, or nobody, which keeps many a limit without a model."""
        return not (self.counts.predicted_positives and self.counts.predicted_negatives)

    @property
    def notes(self) -> Sequence[str]:
        """What to know of the limits, and what was assumed."""
        return (*self._warnings(), *self.assumed)

    def of_refit(self) -> Self:
        """The same threshold for a classifier that was fitted again: what was promised held for those that scored."""
        limits = tuple(replace(kept, confidence=None) for kept in self.limits)
        return replace(self, limits=limits, assumed=(*self.assumed, REFITTED))

    def _warnings(self) -> list[str]:
        unlikely = [kept.limit for kept in self.limits if kept.chance is not None and kept.chance < LIKELY]
        warnings = []
        if unlikely:
            warnings.append(
                f"{' and '.join(unlikely)} may not hold on new rows; confidence=0.95 finds a threshold that keeps it."
            )
        if self.trivial and self.limits:
            who = "everybody" if self.counts.predicted_positives else "nobody"
            warnings.append(f"This is the trivial threshold: it flags {who}, which needs no model.")
        return [*warnings, self.needed] if self.needed else warnings

    def __repr__(self) -> str:
        text = f"{self.metric} {three_digits(self.value)} {self._rule()}"
        low, high = map(self._end, self.plateau)
        text += f", about as good from {low} to {high}" if low != high else ""
        limits = (f"; {kept}" for kept in self.limits if kept.chance is not None or kept.confidence is not None)
        stated = (f"; {sentence[0].lower()}{sentence[1:-1]}" for sentence in self.assumed)
        return "".join([text, self._expected(), *limits, *stated])

    def _expected(self) -> str:
        """What the resamples say, in words."""
        if self.out_of_sample is None:
            return ""
        best, ends = "", self.out_of_sample_interval
        if self.interval is not None:
            low, high = map(self._end, self.interval)
            best = f"; the best one lies between {low} and {high} ({100 * self.level:g} %)"
        between = "" if ends is None else f" ({three_digits(ends[0])} to {three_digits(ends[1])})"
        return f"{best}; on new rows about {three_digits(self.out_of_sample)}{between}"

    def _end(self, threshold: float) -> str:
        """A threshold in a sentence: an infinite one flags nobody, or everybody."""
        if math.isfinite(threshold):
            return three_digits(threshold)
        return "nobody" if threshold * self.direction > 0 else "everybody"

    def _rule(self) -> str:
        if not self.counts.predicted_positives:
            return "with nobody flagged"
        if not self.counts.predicted_negatives:
            return "with everybody flagged"
        return f"where score {'>=' if self.direction > 0 else '<='} {three_digits(self.threshold)}"

    def row(self) -> dict[str, Any]:
        """The result as a row of a table."""
        low, high = self.interval or (None, None)
        new_low, new_high = self.out_of_sample_interval or (None, None)
        return {
            "metric": self.metric,
            "value": self.value,
            "threshold": self.threshold,
            "observed": self.observed,
            "direction": self.direction,
            "plateau_low": self.plateau[0],
            "plateau_high": self.plateau[1],
            "low": low,
            "high": high,
            "out_of_sample": self.out_of_sample,
            "out_of_sample_low": new_low,
            "out_of_sample_high": new_high,
            "optimism": self.optimism,
            "regret": self.regret,
            **self.counts.to_dict(),
            "positive": self.positive,
            "trivial": self.trivial,
        }
