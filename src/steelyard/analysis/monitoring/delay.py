"""Expected delay: after how many batches a monitor would notice a stated change, and where its limits come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.intervals.rate_intervals import rate_cells
from steelyard.analysis.monitoring.alarms import (
    counted_rows,
    followed_rule,
    group_shares,
    reference_bound,
    reference_share,
    watched_windows,
)
from steelyard.analysis.requirements import COST
from steelyard.analysis.results.formatting import three_digits, value_text
from steelyard.exceptions import InputError
from steelyard.tables.counts import CELLS
from steelyard.tables.thresholding import HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard._types import Array
    from steelyard.analysis.monitoring.alarms import FollowedRule
    from steelyard.analysis.monitoring.monitor import Monitor
    from steelyard.analysis.requirements import Requirement

_RUNS = 201  # that are simulated; their median delay is stated
_JOINT_RUNS = 9  # of a metric such as MCC, whose evidence is searched for over all rates
SIMULATED = f"Delays are the medians of {_RUNS} simulated runs; half of them took longer."
_GOOD_BATCHES = 6  # before the change: evidence that starts later weighs less
_LOOKS = (16, 64, 256)  # batches after the change that are looked at, one number after the other
_ROWS = 25  # of a batch whose size is not known, of those that the metric rests on
_HALVINGS = 60


@dataclass(frozen=True)
class ExpectedDelay:
    """After how many batches a change from one value of a metric to another is expected to raise an alarm.

    `batches` is None where that takes more than 256. `rows` is how many of a batch the metric rests on, which `counted`
    names, and `is_known` whether batches have that many, or that was chosen to count the rows.
    """

    rule: str
    title: str
    before: float
    after: float
    batches: int | None
    rows: float
    counted: str
    is_known: bool
    is_share: bool

    def __str__(self) -> str:
        verb = "falling" if self.after < self.before else "rising"
        before, after = (value_text(value, share=self.is_share) for value in (self.before, self.after))
        each = f"{self.rows:,.0f}" if self.rows >= 10 else three_digits(self.rows)
        if self.batches is None:
            when = f"after more than {_LOOKS[-1]} batches of {each} {self.counted}"
        elif self.is_known:
            when = f"after about {self.batches:,} batch{'es' * (self.batches != 1)} of {each} {self.counted}"
        else:
            when = f"after about {self.batches * self.rows:,.0f} {self.counted}"
        return f"{self.title} {verb} from {before} to {after} would raise an alarm {when}."


def expected_delays(
    monitor: Monitor, to: float | Mapping[str, float] | None, batch_rows: int | None, *, quick: bool = False
) -> list[ExpectedDelay]:
    """The delay of each rule of all rows whose value before the change is known; quick leaves slow ones out.

    The monitor is run on drawn batches: good ones, then those of the changed metric.
    """
    before, known = _cells_before(monitor), _rows_of_a_batch(monitor, batch_rows)
    if before is None:
        return []
    if to is not None and not isinstance(to, Mapping):
        if len(monitor.rules) > 1:
            names = ", ".join(f"{rule.metric!r}: ..." for rule in monitor.rules)
            raise InputError(f"This monitor has several rules; give to={{{names}}}.")
        to = {monitor.rules[0].metric: to}
    if unknown := [name for name in to or {} if name not in {rule.metric for rule in monitor.rules}]:
        raise InputError(
            f"No rule is on {unknown[0]!r}; the rules are on {', '.join(r.metric for r in monitor.rules)}."
        )
    share = group_shares([], grouped=monitor.by is not None)[None]
    alpha = (1 - monitor.level) * share / len(monitor.rules)
    found = []
    for rule in monitor.rules:
        if rule.metric == COST:
            continue
        follower = followed_rule(monitor, rule, alpha, None)
        if quick and follower.joint is not None:
            continue
        delay = _delay(rule, follower, before, known, None if to is None else to.get(rule.metric))
        found += [] if delay is None else [delay]
    return found


def _cells_before(monitor: Monitor) -> Array | None:
    """What a batch is like before the change: like all so far, else like the reference."""
    if monitor.batches:
        return np.asarray(np.sum([batch.cells for batch in monitor.batches], axis=0, dtype=np.float64))
    return None if monitor.reference is None else np.asarray(monitor.reference.cells, dtype=np.float64)


def _rows_of_a_batch(monitor: Monitor, given: int | None) -> float | None:
    if given is not None:
        if isinstance(given, bool) or not given >= 1:
            raise InputError(argument="batch_rows", expected="how many rows a batch has, 1 or more", given=given)
        return float(given)
    return float(np.mean([batch.rows for batch in monitor.batches])) if monitor.batches else None


def _delay(
    rule: Requirement, follower: FollowedRule, before: Array, known: float | None, to: float | None
) -> ExpectedDelay | None:
    """The delay of one rule; None where the value before the change breaks the limit, or no change breaks it."""
    start, (low, high) = float(follower.values(before)), rule.spec.metric.range
    # As far beyond the limit as the value lies inside, if nothing else is asked for.
    after = 2 * follower.limit - start if to is None else to
    if to is not None and not low <= to <= high:
        raise InputError(argument="to", expected=f"a value of {rule.metric}", given=to)
    after = min(max(after, low), high)
    if not rule.direction * (start - follower.limit) > 0:
        return None
    if not rule.direction * (follower.limit - after) > 0:
        if to is None:
            return None
        raise InputError(f"{rule.metric} of {to:g} keeps its limit of {follower.limit:.3g}; give one that breaks it.")
    changed = _changed(rule, follower, before, after)
    if changed is None:
        return None
    weights, counted = counted_rows(rule.metric)
    if len(weights) > 1:  # of both classes the smaller one is named
        counted = ("positives", "negatives")[int((weights @ before).argmin())]
    rows = (weights @ before).min()
    size = (_ROWS / rows) if known is None else known / before.sum()
    batches, each, spec = _median_delay(follower, before * size, changed * size), float(rows * size), rule.spec
    return ExpectedDelay(
        rule.text, spec.title, start, after, batches, each, counted, is_known=known is not None, is_share=spec.is_share
    )


def _changed(rule: Requirement, follower: FollowedRule, before: Array, after: float) -> Array | None:
    """The counts with the metric at its new value.

    Of a rate the hits become misses, or the reverse, of as many rows; of another metric positives are missed or found,
    or false alarms come or go where that cannot change it as far.
    """
    if (rate := rate_cells(rule.spec.metric)) is not None:
        hits, misses = (np.array([cell in part for cell in CELLS]) for part in (rate[0], rate[1] - rate[0]))
        rows = before[hits | misses].sum()
        factor = np.ones(len(CELLS))
        with np.errstate(divide="ignore"):
            factor[hits], factor[misses] = rows * after / before[hits].sum(), rows * (1 - after) / before[misses].sum()
        return before * factor if np.isfinite(factor).all() else None
    tp, fn, fp, tn = before

    def moved(positives: float, negatives: float) -> Array:
        lost, added = positives * (tp if positives > 0 else fn), negatives * (tn if negatives > 0 else fp)
        return np.array([tp - lost, fn + lost, fp + added, tn - added])

    for step in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        first, last = (float(follower.values(moved(*(share * part for part in step)))) for share in (0.0, 1 - 1e-9))
        if not min(first, last) <= after <= max(first, last) or first == last:
            continue
        low, high = 0.0, 1 - 1e-9
        for _ in range(_HALVINGS):
            half = (low + high) / 2
            value = float(follower.values(moved(*(half * part for part in step))))
            low, high = (half, high) if (value - after) * (first - after) > 0 else (low, half)
        return moved(*(high * part for part in step))
    return None


def _median_delay(follower: FollowedRule, good: Array, bad: Array) -> int | None:
    """How many changed batches an alarm takes in half of the simulated runs; None where that is more than are drawn."""
    for looks in _LOOKS:  # the expected counts show how many are needed, with some to spare for bad luck
        expected = _noticed(follower, np.repeat([good, bad], [_GOOD_BATCHES, looks], axis=0))
        if expected <= looks:
            break
    else:
        return None
    looks, rng = 2 * expected + 4, np.random.default_rng(0)
    sizes = np.repeat([good, bad], [_GOOD_BATCHES, looks], axis=0)
    delays = [
        _noticed(follower, rng.poisson(sizes).astype(np.float64))
        for _ in range(_RUNS if follower.joint is None else _JOINT_RUNS)
    ]
    return max(int(np.median(delays)), 1)


def _noticed(follower: FollowedRule, batches: Array) -> int:
    """How many of the batches after the good ones an alarm takes; one more than there are where none is raised."""
    sums = np.concatenate([np.zeros((1, 4)), np.cumsum(batches, axis=0)])
    alarm = follower.first_alarm(sums, watched_windows(len(batches)))[1]
    return (len(batches) if alarm is None else alarm) + 1 - _GOOD_BATCHES


# ---------------------------------------------------------------- limits of a reference


def limit_sentences(monitor: Monitor) -> list[str]:
    """Where each limit that comes from a reference comes from: its value, the margin, and its own uncertainty."""
    if monitor.reference is None:
        return []
    share = group_shares([], grouped=monitor.by is not None)[None]
    alpha, cells = (1 - monitor.level) * share / len(monitor.rules), monitor.reference.cells
    return [
        _limit_sentence(rule, followed_rule(monitor, rule, alpha, None), cells, reference_share(cells) * alpha)
        for rule in monitor.rules
        if rule.other is not None
    ]


def _limit_sentence(rule: Requirement, follower: FollowedRule, cells: Array, alpha: float) -> str:
    is_share = rule.spec.is_share
    value = float(follower.values(cells))
    noise = abs(value - reference_bound(rule, rule.spec.metric, cells, alpha))
    sign = "minus" if rule.direction > 0 else "plus"
    margin = ""
    if rule.number:
        margin = f" {'minus' if rule.number < 0 else 'plus'} {_points(abs(rule.number), is_share=is_share)}"
    limit, own = value_text(follower.limit, share=is_share), value_text(value, share=is_share)
    return (
        f"The limit of {rule.metric} is {limit}: the reference's {own}{margin}, {sign} "
        f"{_points(noise, is_share=is_share)} for its own uncertainty."
    )


def _points(difference: float, *, is_share: bool) -> str:
    return f"{three_digits(100 * difference).removesuffix('.00')} points" if is_share else three_digits(difference)


def started(monitor: Monitor) -> Sequence[str]:
    """What is known before the first batch: the limits of the reference, and the delays of changes."""
    read_at = None if monitor.reference is None else monitor.reference.threshold
    if monitor.threshold is None and read_at not in (None, HALF):  # scores, where they come, read it elsewhere
        return []
    delays = expected_delays(monitor, None, None, quick=True)
    return [*limit_sentences(monitor), *map(str, delays), *([SIMULATED] if delays else [])]
