"""The sentences of a resampling study: the answer, each sampler, other metrics, the threshold, the probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.analysis.results.formatting import bounds_text, difference_text, interval_text, listed, three_digits
from steelyard.protocol.named_samplers import PLAIN
from steelyard.protocol.resampling_rows import CORRECTED, use_name, use_of
from steelyard.protocol.resampling_runs import BEST, DEFAULT
from steelyard.protocol.resampling_verdict import HELPS, HURTS, NO_CHANGE, NO_GAIN, OPEN

if TYPE_CHECKING:
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.protocol.resampling_result import ResamplingStudy
    from steelyard.protocol.resampling_verdict import SamplerVerdict
    from steelyard.protocol.run_difference import RunDifference

_FIT = "fit_seconds"
_LONG = 0.1  # seconds of a fit below which nobody asks how long it takes
_SLOWER = 1.5  # times as long as the plain fit, from which the cost is worth a sentence


def study_head(study: ResamplingStudy) -> str:
    """What was done."""
    at, samplers = study.setting, len(study.samplers)
    return (
        f"{at['model']} on {at['rows']:,} rows, {at['positives']:,} of them {at['positive']!r}: {at['runs']} runs of "
        f"the plain model and {samplers} sampler{'s' * (samplers > 1)} on the same folds, thresholds chosen in "
        f"{at['inner']} folds of each training part. The {100 * study.level:g} % intervals are Nadeau and Bengio's."
    )


def study_sentences(study: ResamplingStudy) -> list[str]:
    """All that was found, the answer first."""
    answer = _answer(study)
    return [
        answer,
        *(row.sentence for row in study.verdicts if row.sentence not in answer),
        *_other_metrics(study),
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
    found = []
    for name in study.samplers:
        others = [
            row for row in _compared(study, name) if row.spec != study.spec and not row.spec.metric.of_probabilities
        ]
        shown = [row for row in others if row.p_holm < 1 - study.level]
        better, worse = ([row for row in shown if sign * row.spec.sign * row.difference > 0] for sign in (1, -1))
        parts = [_changes(rows, words) for rows, words in ((better, "is better"), (worse, "is worse")) if rows]
        if parts:
            found.append(f"By other metrics {name} {' and '.join(parts)}.")
    return found


def _compared(study: ResamplingStudy, name: str) -> list[RunDifference]:
    """The differences of a sampler from the plain model by which it is judged, of every metric."""
    names = {row.spec: use_of(row.spec) for row in study.differences}
    return [row for row in study.differences if row.a == use_name(name, names[row.spec])]


def _changes(rows: list[RunDifference], words: str) -> str:
    return f"{words} by {listed([f'{row.spec.title} ({_change(row)})' for row in rows])}"


def _change(row: RunDifference) -> str:
    sign = "+" if row.difference > 0 else "−"
    return f"{sign}{three_digits(abs(row.difference))}"


def _threshold(study: ResamplingStudy) -> list[str]:
    """What moving the threshold of the plain model alone does."""
    if use_of(study.spec) != BEST:
        return []
    moved, spec = study.moved(), study.spec
    before, after = study.value(PLAIN, use=DEFAULT), study.value(PLAIN)
    if math.isnan(moved.difference):
        return []
    values = (three_digits(before.mean), three_digits(after.mean))
    change = interval_text(moved.difference, moved.low, moved.high)
    return [
        f"Moving the threshold of the plain model takes {spec.title} from {values[0]} to {values[1]}, a change of "
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
