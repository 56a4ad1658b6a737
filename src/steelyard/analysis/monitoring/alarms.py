"""Alarms of a monitor: how its rules are read and followed over batches, and when one raises an alarm."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard._types import Array
from steelyard.analysis.intervals.evidence import LinearRatio, log_returns, mean_wealth
from steelyard.analysis.intervals.metric_sequence import SEQUENCE_METHODS, MetricSequence, RateRegion
from steelyard.analysis.intervals.rate_intervals import exact, is_rate, rate_cells
from steelyard.analysis.requirements import COST, REFERENCE, Requirement, Terms, read_requirements
from steelyard.analysis.results.formatting import interval_text, value_text
from steelyard.analysis.results.result import Flat, Result
from steelyard.analysis.sequential.anytime import NODES, CostTable
from steelyard.arrays.sorting import chunks
from steelyard.exceptions import InputError
from steelyard.metrics.spec import MetricSpec
from steelyard.tables.counts import CELLS
from steelyard.tables.thresholding import ASSUMED_HALF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard.analysis.intervals.metric_sequence import JointEvidence
    from steelyard.analysis.monitoring.batches import Batch
    from steelyard.analysis.monitoring.monitor import Monitor
    from steelyard.metrics.measure import Metric


# ---------------------------------------------------------------- rules
# What a monitor holds a metric against, as it is written.


RULE_OF_A_MONITOR = Terms(
    "A monitor",
    "rule",
    ("recall >= 0.8", "cost <= 12", "precision >= reference - 0.05"),
    others=(REFERENCE,),
    end="its alarms allow for noise by themselves",
    has_cost=True,
    is_inside=True,
)


def read_rules(rules: Iterable[str] | str) -> tuple[Requirement, ...]:
    """The rules, each once; one that stands alone need not be in a list."""
    listed = rules if isinstance(rules, str) else list(rules)
    read = tuple(dict.fromkeys(read_requirements(listed, RULE_OF_A_MONITOR)))
    if not read:
        raise InputError('A monitor needs a rule, such as "recall >= 0.8"; give at least one.')
    for rule in read:
        if rule.metric != COST:
            MetricSequence.of(rule.spec)  # refuses a metric that has no confidence sequence
    return read


# ---------------------------------------------------------------- reference limits
# The limit that a reference sets, allowing for the noise of the reference.
#
# A limit that is estimated from a reference and then taken as fixed is too high in half of the cases, and a model that
# has not changed breaks it in time. So the limit is a bound of an exact interval of the reference, which has its part
# of the error, and the sequence has the rest. With a reference of 50 positives this finds a fall of recall from 80 to
# 60 % in 77 % of runs, a joint test of both samples in 32 % (300 runs of 3,000 positives).


_SMALL_REFERENCE = 500  # trials of a reference below which it has most of the error


def reference_share(cells: Array) -> float:
    """The part of the error that the reference has: more where its smaller class is small.

    With 50 positives 0.8 found a fall from 80 to 60 % in 77 % of runs and 0.5 in 71 %; with 1,000 positives the median
    delay was 72 and 61 positives.
    """
    return 0.8 if min(cells[0] + cells[1], cells[2] + cells[3]) < _SMALL_REFERENCE else 0.5


def reference_limit(rule: Requirement, metric: Metric, cells: Array, alpha: float) -> float:
    """The bound of the reference's interval that is missed with probability alpha, and the margin of the rule."""
    return float(np.clip(reference_bound(rule, metric, cells, alpha) + rule.number, *metric.range))


def reference_bound(rule: Requirement, metric: Metric, cells: Array, alpha: float) -> float:
    """The bound of the reference's interval that is missed with probability alpha."""
    side = -rule.direction  # a lower limit is the lower bound
    ratio = LinearRatio.of(metric)
    if ratio is not None and is_rate(metric):
        hits, trials = cells @ ratio.above, cells @ ratio.below
        return float((_lowest if side < 0 else _highest)(hits, trials - hits, alpha))
    return float(RateRegion.of(metric).extreme(cells[None], alpha, side, _lowest, _highest)[0])


def _lowest(hits: Array, misses: Array, alpha: Array | float) -> Array:
    """Clopper and Pearson's lower bound, with all of the error on one side."""
    return exact(np.asarray(hits), np.asarray(hits + misses), 1 - 2 * np.asarray(alpha))[0]


def _highest(hits: Array, misses: Array, alpha: Array | float) -> Array:
    return 1 - _lowest(misses, hits, alpha)


# ---------------------------------------------------------------- watched windows
# The stretches of batches at whose evidence a monitor looks, and what each may spend of the error.
#
# A model that was good for a year hides a bad week in the counts since its release. So evidence is gathered from later
# starts as well, as if the monitor had been begun anew there. The weights of all starts add up to 1, and the weighted
# sum of their evidence is evidence again: the limit on false alarms holds over all starts and looks together. Half of
# the weight is the release's; the other starts share the rest, most of it those at multiples of high powers of two.


_RELEASE_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class Windows:
    """Stretches of batches in the order of their looks: from `start` up to, and without, `look`."""

    look: Array
    start: Array
    log_weight: Array

    @property
    def first_indices(self) -> Array:
        """Where the windows of each look begin."""
        return np.flatnonzero(np.diff(self.look, prepend=0))


def start_weights(starts: Array) -> Array:
    """The weight of each start, of which there may be infinitely many: they add up to 1.

    >>> float(start_weights(np.arange(2**16)).sum()) <= 1
    True
    """
    after = np.maximum(starts, 1)
    block = np.floor(np.log2(after)).astype(np.int64)  # starts from 2**block on
    level = np.round(np.log2(after & -after)).astype(np.int64)  # how often it can be halved
    alike = np.exp2(np.maximum(block - 1 - level, 0))  # how many of the block can be halved as often
    return np.where(starts == 0, _RELEASE_WEIGHT, (1 - _RELEASE_WEIGHT) / ((block + 1) ** 2 * (block + 2) * alike))


def watched_windows(looks: int) -> Windows:
    """The windows of all looks from 1 on: the last batch, all since the release, and one for each power of two.

    That one starts at the last multiple but one of the power, so that it is about as long as the power or twice that.
    """
    look = np.arange(1, looks + 1)
    between = [(((look - 1) >> power) - 1) << power for power in range(max(looks - 1, 1).bit_length())]
    pairs = np.concatenate([np.stack([look, starts], 1) for starts in (np.zeros_like(look), look - 1, *between)])
    pairs = np.unique(pairs[pairs[:, 1] >= 0], axis=0) if looks else pairs[:0]
    return Windows(pairs[:, 0], pairs[:, 1], np.log(start_weights(pairs[:, 1])))


# ---------------------------------------------------------------- joint windows
# The evidence of a metric of several rates over all windows of a look, looked for where it may be.
#
# The least wealth over all rates at a limit is a search for each window. Most looks need none: an upper bound in closed
# form, and then the wealth at one point, show that they have too little.


_WINDOWS = 16_384  # whose tables are in memory at once
_LOOKS = 8  # looks that are searched before the next ones, which an alarm makes needless
_NEGLIGIBLE = 8.0  # a window with so much less evidence than an alarm needs, as a logarithm, is left out


def joint_log_p(joint: JointEvidence, sums: Array, windows: Windows, alpha: float) -> Array:
    """The logarithm of the p-value at each look up to the first alarm; 0 where there is too little evidence for one."""
    needed, log_p = -np.log(alpha), np.zeros(len(sums) - 1)
    possible = [np.zeros(0, dtype=np.int64)]  # looks at which some window may have enough: weights add up to 1 at most
    for part in chunks(len(windows.look), _WINDOWS):
        cells = sums[windows.look[part]] - sums[windows.start[part]]
        possible.append(windows.look[part][~joint.stays_below(cells, needed)])
    looks = np.unique(np.concatenate(possible))
    looks = looks[_evidence_at(looks, joint, sums, windows, needed) >= needed]
    for part in chunks(len(looks), _LOOKS):
        evidence = _evidence_at(looks[part], joint, sums, windows, needed, searched=True)
        log_p[looks[part] - 1] = -np.maximum(evidence, 0.0)
        if (evidence >= needed).any():
            break
    return log_p


def _evidence_at(
    looks: Array, joint: JointEvidence, sums: Array, windows: Windows, needed: float, *, searched: bool = False
) -> Array:
    """The weighted evidence of all windows of each look, or a bound of it where it is not searched for."""
    indices = np.flatnonzero(np.isin(windows.look, looks))
    total = np.full(len(sums), -np.inf)
    for part in chunks(len(indices), _WINDOWS):
        here = indices[part]
        cells, weight = sums[windows.look[here]] - sums[windows.start[here]], windows.log_weight[here]
        evidence = joint.most(cells) + weight
        large = evidence >= needed - _NEGLIGIBLE
        if searched:
            evidence[large] = joint.least(cells[large]) + weight[large]
        np.logaddexp.at(total, windows.look[here][large], evidence[large])
    return total[looks]


# ---------------------------------------------------------------- evidence against a limit
# What a rule shows at each look: its confidence sequence, the p-value, and the first alarm.


@dataclass(frozen=True, eq=False)
class FollowedRule:
    """A rule with its limit, what it may spend, and what is followed: a metric of counts, or a mean of costs."""

    rule: Requirement
    limit: float
    alpha: float  # of the sequence alone: a reference has had its part
    level: float
    sequence: MetricSequence | None = None
    costs: LinearRatio | None = None

    @property
    def _source(self) -> MetricSequence | LinearRatio:
        source = self.costs if self.sequence is None else self.sequence
        assert source is not None  # noqa: S101 - one of the two
        return source

    def values(self, cells: Array) -> Array:
        """The metric of each table."""
        return self._source.value(cells)

    def ends(self, cells: Array) -> tuple[Array, Array]:
        """Both bounds of the confidence sequence at each table."""
        each, source = (1 - self.level) / 2, self._source
        if isinstance(source, LinearRatio):
            return source.anytime_ends(cells, each, each)
        return source.ends(cells, each, each)

    def log_evidence(self, cells: Array) -> Array | None:
        """The logarithm of the evidence of each table that the limit is broken; None for a region, which has none."""
        return self._source.log_evidence(cells, self.limit, self.rule.direction) if self.has_evidence else None

    def first_alarm(self, sums: Array, windows: Windows) -> tuple[float, int | None, int]:
        """The p-value, the first look with an alarm, and the start of the window with most evidence then, or now."""
        if not len(windows.look):
            return 1.0, None, 0
        log_p = self._log_p(sums, windows)
        crossed = np.flatnonzero(log_p <= np.log(self.alpha) + 1e-12)
        alarm = int(crossed[0]) if len(crossed) else None
        evidence, start = self._strongest_window(sums, windows, len(log_p) if alarm is None else alarm + 1)
        return float(np.exp(min(log_p.min(), -evidence, 0.0))), alarm, start

    def _log_p(self, sums: Array, windows: Windows) -> Array:
        """The logarithm of the p-value at each look, over all windows that end there."""
        if self.joint is not None:
            return joint_log_p(self.joint, sums, windows, self.alpha)
        log_returned = self._log_returns()
        if log_returned is not None:  # the logarithm of a bet adds up over batches, so that it is taken once for each
            sums = sums @ log_returned.T
        evidence = []
        for part in chunks(len(windows.look), _WINDOWS):
            of_windows = sums[windows.look[part]] - sums[windows.start[part]]
            if log_returned is not None:
                evidence.append(mean_wealth(of_windows))
            else:
                evidence.append(self._window_evidence(of_windows, windows.log_weight[part]))
        combined = np.logaddexp if self.has_evidence else np.maximum  # evidence adds up, what is excluded does not
        return -combined.reduceat(np.concatenate(evidence) + windows.log_weight, windows.first_indices)

    @cached_property
    def joint(self) -> JointEvidence | None:
        """Evidence on all rates behind the metric together; None for a ratio, which has evidence by itself."""
        return None if self.sequence is None else self.sequence.joint_evidence(self.limit, self.rule.direction)

    def _log_returns(self) -> Array | None:
        """What each gambler's wealth grows by at each kind of row; None where no bet can be lost, or none is made."""
        if self.sequence is not None and self.sequence.method != "betting":
            return None
        ratio = self.costs if self.sequence is None else self.sequence.ratio
        assert ratio is not None  # noqa: S101 - of costs, or of a metric that is one
        payoffs = ratio.payoffs(self.limit) if self.rule.direction > 0 else ratio.negated.payoffs(-self.limit)
        return log_returns(payoffs) if payoffs.min() < 0 else None

    @property
    def has_evidence(self) -> bool:
        """Whether each table has evidence; a region excludes values, or does not."""
        return self.sequence is None or self.sequence.ratio is not None

    def _window_evidence(self, cells: Array, weight: Array) -> Array:
        """The logarithm of the evidence of windows; a region has just as much as the weight asks for, or none."""
        evidence = self.log_evidence(cells)
        if evidence is not None:
            return evidence
        assert self.sequence is not None  # noqa: S101 - a region
        excluded = self.sequence.excluded(cells, self.limit, self.rule.direction, self.alpha * np.exp(weight))
        return np.where(excluded, -np.log(self.alpha) - weight, -np.inf)

    def _strongest_window(self, sums: Array, windows: Windows, look: int) -> tuple[float, int]:
        """The most evidence, weighted, of the windows that end at this look, and the start of that window."""
        here = windows.look == look
        starts, cells = windows.start[here], sums[look] - sums[windows.start[here]]
        evidence = self.log_evidence(cells) if self.joint is None else self.joint.least(cells)
        if evidence is None:
            assert self.sequence is not None  # noqa: S101 - a region
            evidence = -self.sequence.log_p(cells, self.limit, self.rule.direction)
        weighted = evidence + windows.log_weight[here]
        return float(weighted.max()), int(starts[np.argmax(weighted)])


# ---------------------------------------------------------------- recent batches
# What the metric was lately, which shows a fall weeks before all rows so far do, and before it is certain.


_RECENT_ROWS = 100  # that recent batches have at least, of those that the metric rests on
_TRIALS = {
    frozenset({"tp", "fn"}): "positives",
    frozenset({"fp", "tn"}): "negatives",
    frozenset({"tp", "fp"}): "flagged rows",
    frozenset({"fn", "tn"}): "rows that are not flagged",
}


def counted_rows(metric: str) -> tuple[Array, str]:
    """The rows that a metric rests on, as sums of the cells, and what they are: its trials, else those of each class.

    >>> counted_rows("recall")
    (array([[1., 1., 0., 0.]]), 'positives')
    """
    if metric == COST:
        return np.ones((1, NODES)), "rows"
    rate = rate_cells(MetricSpec.of(metric).metric)
    if rate is None:
        return np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]), "rows of either class"
    return np.array([[float(cell in rate[1]) for cell in CELLS]]), _TRIALS.get(rate[1], "rows")


def recent_starts(sums: Array, metric: str) -> Array:
    """The start of the shortest window up to each look that has enough rows; -1 where all batches have too few.

    >>> recent_starts(np.cumsum([[0, 0, 0, 0], [70, 20, 0, 0], [20, 0, 0, 0], [90, 15, 0, 0]], axis=0), "recall")
    array([-1,  0,  2])
    """
    counts = counted_rows(metric)[0] @ np.asarray(sums, dtype=np.float64).T
    starts = [np.searchsorted(count, count[1:] - _RECENT_ROWS + 1e-9, side="right") - 1 for count in counts]
    return np.asarray(np.min(starts, axis=0))


# ---------------------------------------------------------------- tracks
# A rule over all batches: the metric with its confidence sequence, and the first alarm.


@dataclass(frozen=True, eq=False)
class RuleTrack(Flat):
    """A rule, of all rows or of one group, after each batch.

    `value`, `low` and `high` are of all rows so far, `by_batch` of each batch alone, and `recent` of the last
    `recent_batches`, the fewest that have 100 of the rows that the metric rests on. The last batch alone has
    `last_rows` of those. `alarm` is the batch of the first
    alarm, `since` the one from which on the evidence says that the limit was broken, and `since_value` the value from
    there on. `alpha` is the part of the error that this track has, `p_value` what the alarm compares with it.
    """

    rule: str
    metric: str
    group: str | None
    sign: int
    limit: float
    alpha: float
    value: Array = field(repr=False)
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    by_batch: Array = field(repr=False)
    recent: Array = field(repr=False)
    recent_batches: Array = field(repr=False)
    p_value: float
    method: str
    alarm: str | None = None
    since: str | None = None
    since_value: float | None = None
    last_rows: int = 0

    @property
    def is_share(self) -> bool:
        """Whether it is a share of rows, shown in percent."""
        return self.metric != COST and MetricSpec.of(self.metric).is_share

    @property
    def title(self) -> str:
        """The metric in words, and the group."""
        name = "Mean cost" if self.metric == COST else MetricSpec.of(self.metric).title
        return name if self.group is None else f"{name}, {self.group}"

    def text(self) -> str:
        """The last value with its interval."""
        if not len(self.value):
            return "–"
        return interval_text(*(float(part[-1]) for part in (self.value, self.low, self.high)), share=self.is_share)

    def recent_text(self) -> str:
        """The recent value and the batches that it is of; a dash where these are all batches so far."""
        if self.has_few_rows:
            counted = counted_rows(self.metric)[1].replace("either", "the rarer")
            return f"{self._last_text} (last batch, {self.last_rows:,} {counted})"
        if not len(self.recent) or self.recent_batches[-1] >= len(self.value) or np.isnan(self.recent[-1]):
            return "–"
        return f"{value_text(float(self.recent[-1]), share=self.is_share)} ({self._recent_words})"

    @property
    def has_few_rows(self) -> bool:
        """Whether all of several batches have fewer rows than a recent value rests on, and the last has some."""
        return len(self.value) > 1 and not self.recent_batches[-1] and not np.isnan(self.by_batch[-1])

    @property
    def _last_text(self) -> str:
        return value_text(float(self.by_batch[-1]), share=self.is_share)

    @property
    def short_recent_text(self) -> str:
        """The recent value as in a column that a note explains: with its batches, or the rows of the last one."""
        if self.has_few_rows:
            return f"{self._last_text} of {self.last_rows:,}"
        return self.recent_text().replace("last batch)", "1)").replace("last ", "").replace(" batches)", ")")

    @property
    def _recent_words(self) -> str:
        number = int(self.recent_batches[-1])
        return "last batch" if number == 1 else f"last {number:,} batches"

    @property
    def is_suspect(self) -> bool:
        """Whether the recent value breaks the limit, and no alarm was raised."""
        return self.alarm is None and len(self.recent) > 0 and bool(self.sign * (self.recent[-1] - self.limit) < 0)

    @property
    def suspicion(self) -> str:
        """That the recent value breaks the limit, in a sentence."""
        value, side = value_text(float(self.recent[-1]), share=self.is_share), "below" if self.sign > 0 else "above"
        limit = value_text(self.limit, share=self.is_share)
        return f"{self.title} was {value} in the {self._recent_words}, {side} its limit of {limit}: not yet certain."

    def limit_text(self) -> str:
        """The limit with its sign."""
        return f"{'≥' if self.sign > 0 else '≤'} {value_text(self.limit, share=self.is_share)}"

    def row(self) -> dict[str, Any]:
        """The track as a row of a table: after the last batch."""
        last = {
            name: float(getattr(self, name)[-1]) if len(self.value) else np.nan for name in ("value", "low", "high")
        }
        head = {"rule": self.rule, "group": self.group, **last, "recent": None, "recent_batches": None}
        if len(self.recent):
            head.update(recent=float(self.recent[-1]), recent_batches=int(self.recent_batches[-1]))
        found = {"p_value": self.p_value, "alarm": self.alarm, "since": self.since, "since_value": self.since_value}
        return {**head, "limit": self.limit, **found}

    def __repr__(self) -> str:
        of = "" if self.group is None else f" of {self.group}"
        state = "no alarm" if self.alarm is None else f"ALARM at {self.alarm}"
        return f"{self.metric}{of} {self.text()}, limit {self.limit_text()}: {state}"


# ---------------------------------------------------------------- monitoring
# What a monitor has found so far: each rule over all batches, and the alarms.


_SHOWN = ("p_value", "alarm", "since")
_SUSPECTS = 3  # that the headline names


@dataclass(frozen=True, eq=False, repr=False)
class Monitoring(Result[RuleTrack]):
    """The rules of a monitor after each batch; iterates over them, all rows first, then groups."""

    batches: tuple[str, ...]
    rows: Array
    tracks: tuple[RuleTrack, ...]
    level: float
    waiting: int = 0
    stated: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[RuleTrack]:
        return iter(self.tracks)

    @property
    def alarms(self) -> list[RuleTrack]:
        """The rules that have raised an alarm."""
        return [track for track in self.tracks if track.alarm is not None]

    @property
    def headline(self) -> str:
        """The alarm, or that there is none, in one sentence."""
        size = f"{len(self.batches):,} batch{'es' * (len(self.batches) != 1)}, {int(self.rows.sum()):,} labelled rows"
        if not self.batches:
            return "No labelled rows yet."
        suspects = [track.suspicion for track in self.tracks if track.is_suspect][:_SUSPECTS]
        if not self.alarms:
            return " ".join([f"No alarm after {size}.", *suspects])
        return " ".join([*map(_alarm_sentence, self.alarms), *suspects, f"Seen: {size}."])

    @property
    def guarantee(self) -> str:
        """What the alarms guarantee, of the labelled rows alone while labels are awaited."""
        awaited = ""
        if self.waiting:
            wait = "1 prediction waits" if self.waiting == 1 else f"{self.waiting:,} predictions wait"
            awaited = f", of the labelled rows; {wait} for labels, and labels that come late may differ"
        return (
            f"As long as every limit holds, the chance of ever seeing a false alarm is {100 * (1 - self.level):.6g} % "
            f"at most, over all rules, groups and looks together{awaited}."
        )

    @property
    def notes(self) -> Sequence[str]:
        """The guarantee, what is recent, and what was noticed about limits and labels."""
        return (self.guarantee, *self._recent_note, *self.stated, *self._advice)

    @property
    def _advice(self) -> Sequence[str]:
        """What to do about an alarm, or about a fall that is not yet certain."""
        if self.alarms:
            since = self.alarms[0].since
            rows = f"the rows since {since} with those before"
            if since == self.batches[0]:
                rows = "these rows with those that the model was tested on"
            return [f"Compare {rows} (drift), then choose the threshold again or refit."]
        return ["Wait for the next batches before you act."] if any(track.is_suspect for track in self.tracks) else []

    @property
    def _recent_note(self) -> Sequence[str]:
        """Which batches are recent, where some are not."""
        shown = [track for track in self.tracks if track.recent_text() != "–"]
        least, few = (
            dict.fromkeys(
                f"{_RECENT_ROWS} {counted_rows(track.metric)[1]} ({track.metric})"
                for track in shown
                if track.has_few_rows == wanted
            )
            for wanted in (False, True)
        )
        notes = []
        if least:
            notes = [f"Recent: the fewest last batches (number in brackets) with at least {' or '.join(least)}."]
        if few:
            notes.append(f"Recent: the last batch alone, as all together have fewer than {' or '.join(few)}.")
        return notes

    def shown_rows(self) -> list[dict[str, Any]]:
        """The rules after the last batch, values in the digits that stand everywhere."""
        rows = []
        for track in self.tracks:
            row = track.row()
            rule = track.rule if track.group is None else f"{track.rule}, {track.group}"  # a wide table repeats it
            named = {"rule": rule, "value": track.text(), "limit": track.limit_text()}
            named["recent"] = track.short_recent_text
            rows.append({**named, **{name: row[name] for name in _SHOWN}})
        return rows


def _alarm_sentence(track: RuleTrack) -> str:
    of, value = "" if track.group is None else f" of {track.group}", track.since_value
    after = "" if value is None else f" ({value_text(value, share=track.is_share)} since then)"
    return f"ALARM: {track.rule}{of} has been broken since about {track.since}{after}; {track.alarm} showed it."


# ---------------------------------------------------------------- followed rules
# What each rule of a monitor may spend of the error, its limit, and its track over all batches.


_SHARE_OF_ALL_ROWS = 0.5  # of the error, where there are groups


def groups_seen(batches: Sequence[Batch]) -> list[str]:
    """The groups in the order in which they came."""
    return list(dict.fromkeys(group for batch in batches for group in batch.groups))


def group_shares(groups: Sequence[str], *, grouped: bool) -> dict[str | None, float]:
    """The part of the error of all rows and of each group; the parts of any number of groups add up to 1 at most."""
    if not grouped:
        return {None: 1.0}
    parts: dict[str | None, float] = {
        group: (1 - _SHARE_OF_ALL_ROWS) / (number * (number + 1)) for number, group in enumerate(groups, 1)
    }
    return {None: _SHARE_OF_ALL_ROWS} | parts


def followed(monitor: Monitor, limits: Iterable[str]) -> Monitoring:
    """The rules of a monitor after each batch; `limits` says where those of a reference come from."""
    shares = group_shares(groups_seen(monitor.batches), grouped=monitor.by is not None)
    windows = watched_windows(len(monitor.batches))
    tracks = tuple(
        _track(monitor, rule, group, share, windows) for group, share in shares.items() for rule in monitor.rules
    )
    rows = np.array([batch.rows for batch in monitor.batches], dtype=np.int64)
    pending = monitor.pending
    reference = monitor.reference if any(rule.other for rule in monitor.rules) else None
    threshold_assumed = monitor.threshold_assumed or (reference is not None and reference.threshold_assumed)
    stated = [
        *([ASSUMED_HALF] if threshold_assumed else []),
        *limits,
        *([] if reference is None else reference.sentences(groups_seen(monitor.batches))),
        *monitor.labels.sentences(monitor.pos_label),
        *pending.delay.warnings,
        *pending.sentences,
    ]
    names = tuple(batch.name for batch in monitor.batches)
    return Monitoring(names, rows, tracks, monitor.level, pending.waiting, tuple(stated))


def _track(monitor: Monitor, rule: Requirement, group: str | None, share: float, windows: Windows) -> RuleTrack:
    alpha = (1 - monitor.level) * share / len(monitor.rules)
    sums = _cumulated(monitor.batches, rule.metric, group)
    follower = followed_rule(monitor, rule, alpha, group)
    low, high = follower.ends(sums[1:])
    p_value, alarm, start = follower.first_alarm(sums, windows)
    names = [batch.name for batch in monitor.batches]
    alarmed: dict[str, Any] = {}
    if alarm is not None:
        after = float(follower.values(sums[-1] - sums[start]))
        alarmed = {"alarm": names[alarm], "since": names[start], "since_value": after}
    recent = recent_starts(sums, rule.metric)
    return RuleTrack(
        rule=rule.text,
        metric=rule.metric,
        group=group,
        sign=rule.direction,
        limit=follower.limit,
        alpha=alpha,
        value=follower.values(sums[1:]),
        low=low,
        high=high,
        by_batch=follower.values(np.diff(sums, axis=0)),
        recent=np.where(recent < 0, np.nan, follower.values(sums[1:] - sums[np.maximum(recent, 0)])),
        recent_batches=np.where(recent < 0, 0, np.arange(1, len(sums)) - recent),
        last_rows=int(np.min(counted_rows(rule.metric)[0] @ (sums[-1] - sums[-2]))) if len(sums) > 1 else 0,
        p_value=min(p_value * alpha / follower.alpha, 1.0),
        method=SEQUENCE_METHODS["betting" if follower.sequence is None else follower.sequence.method],
        **alarmed,
    )


def followed_rule(monitor: Monitor, rule: Requirement, alpha: float, group: str | None) -> FollowedRule:
    """A rule with its limit and what it may spend."""
    if rule.metric == COST:
        between = monitor.cost_between or (0.0, 1.0)
        return FollowedRule(rule, rule.number, alpha, monitor.level, costs=CostTable(*between).ratio)
    sequence = MetricSequence.of(MetricSpec.of(rule.metric))
    if not rule.other or monitor.reference is None:
        return FollowedRule(rule, rule.number, alpha, monitor.level, sequence)
    cells = monitor.reference.of_group(group)
    part = reference_share(cells)
    limit = reference_limit(rule, sequence.metric, cells, part * alpha)
    return FollowedRule(rule, limit, (1 - part) * alpha, monitor.level, sequence)


def _cumulated(batches: Sequence[Batch], metric: str, group: str | None) -> Array:
    """The cells, or the weights of costs, of the first 0, 1, 2, ... batches together."""
    none = np.zeros(NODES if metric == COST else 4)
    parts: list[Array] = [none]
    for batch in batches:
        whole, groups = (batch.costs, batch.group_costs) if metric == COST else (batch.cells, batch.groups)
        part = whole if group is None else groups.get(group)
        parts.append(none if part is None else np.asarray(part, dtype=np.float64))
    return np.cumsum(parts, axis=0)
