"""Resampling verdicts: whether a sampler gains anything that a moved threshold of the plain model does not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.results.formatting import difference_text, three_digits
from steelyard.analysis.results.rows import Flat
from steelyard.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from steelyard.protocol.run_difference import RunDifference

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
        numbers = ("gain", "low", "high", "p_value", "p_holm", "seeming")
        metric = {"metric": self.spec.name}
        return {
            "sampler": self.sampler,
            "verdict": self.verdict,
            **metric,
            **{key: getattr(self, key) for key in numbers},
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
    kind = _kind(gain, low, high, shown=test.p_holm < 1 - level, margin=margin)
    numbers = (gain, low, high, test.p_value, test.p_holm, sign * seeming, margin)
    return SamplerVerdict(sampler, kind, test.spec, *numbers, why=(why or test.why) if kind == FAILED else None)


def _kind(gain: float, low: float, high: float, *, shown: bool, margin: float) -> str:
    if math.isnan(low):
        return FAILED
    if -margin < low and high < margin:
        return NO_CHANGE
    if shown and gain > 0 and gain >= margin:
        return HELPS
    if shown and gain < 0 and low <= -margin:
        return HURTS
    return NO_GAIN if high < margin else OPEN
