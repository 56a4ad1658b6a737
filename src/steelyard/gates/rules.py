"""Rules: how a gate's rules are read, what they are held against, and what became of each in every group."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from steelyard.analysis.comparison.comparison import Comparison
from steelyard.analysis.distributions import normal_below, normal_reach
from steelyard.analysis.intervals.inference import STRATIFIED
from steelyard.analysis.intervals.intervals import interval
from steelyard.analysis.requirements import (
    BASELINE,
    VERSUS,
    Requirement,
    Terms,
    range_words,
    read_requirements,
)
from steelyard.analysis.results.formatting import value_text
from steelyard.analysis.results.result import Flat
from steelyard.evaluation.evaluation import Evaluation
from steelyard.exceptions import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from steelyard.analysis.comparison.comparison import Difference
    from steelyard.analysis.intervals.interval import Interval
    from steelyard.analysis.prevalence.prevalence import PrevalenceLike
    from steelyard.evaluation.evaluation import Group, MetricRow
    from steelyard.gates.baseline import Baseline
    from steelyard.metrics.spec import MetricSpec
    from steelyard.tables.confusion import Confusion
    from steelyard.tables.score_table import ScoreTable


# ---------------------------------------------------------------- rules
# What a gate requires where no rule is given.


RULE_OF_A_GATE = Terms(
    "A gate",
    "rule",
    ("ac_score >= 0.8", "low(mcc) >= 0.5", "mcc >= baseline - 0.02", "low(mcc - versus) >= -0.02"),
    others=(VERSUS, BASELINE),
    has_differences=True,
)
WORSE, NOT_WORSE = "worse", "not-worse"  # what a gate without rules asks to be shown


def check_prove(prove: str) -> None:
    """Refuse a prove= that is unknown."""
    if prove not in (WORSE, NOT_WORSE):
        raise InputError(argument="prove", expected=f"{WORSE!r} or {NOT_WORSE!r}, what has to be shown", given=prove)


def usual_rules(specs: Iterable[MetricSpec], other: str, prove: str, margin: float) -> list[Requirement]:
    """The rules of a gate that is given none: no metric is shown to be worse, or each to be not worse by the margin.

    >>> from steelyard.metrics.spec import MetricSpec
    >>> [rule.text for rule in usual_rules([MetricSpec.of("mcc")], "versus", "not-worse", 0.02)]
    ['low(mcc - versus) >= -0.02']
    """
    check_prove(prove)
    rules = []
    for spec in (spec for spec in specs if spec.sign):
        end, sign = ("low", ">=") if spec.sign > 0 else ("high", "<=")
        if prove == WORSE:
            end = "high" if end == "low" else "low"
        number = -spec.sign * margin if prove == NOT_WORSE else 0.0
        rules.append(Requirement(spec.name, sign, number + 0.0, end, other, is_difference=True))  # no -0
    return rules


# ---------------------------------------------------------------- estimate
# A metric or a difference with its interval, which a rule reads at the level that it needs.


_NEAR_BOUND = 0.02  # of the range: nearer to its bounds the value does not show how many rows may change


@dataclass(frozen=True)
class Estimate:
    """A value, its interval at a level, and why it is undefined; of a difference both values and the p-value of 0.

    Where there is a table the interval of another level is made from it; of a difference, of clusters and of label sets
    the interval is widened as that of a normal distribution is.
    """

    spec: MetricSpec
    value: float
    low: float
    high: float
    level: float
    why: str | None = None
    table: Confusion | ScoreTable | None = None
    prevalence: PrevalenceLike | None = None
    design: str = "random"
    p_value: float | None = None
    values: tuple[float, float] | None = None
    first_error: float = math.nan  # of a difference: that of the first model alone

    @classmethod
    def of_row(cls, row: MetricRow, level: float) -> Estimate:
        """That of a row of an evaluation."""
        return cls(row.spec, row.value, row.low, row.high, level, row.undefined or row.no_interval)

    @classmethod
    def of_interval(cls, row: Interval) -> Estimate:
        """That of one model of a comparison."""
        return cls(row.spec, float(row.value), float(row.low), float(row.high), row.level, row.why)

    @classmethod
    def of_difference(cls, row: Difference, level: float, first: Estimate | None = None) -> Estimate:
        """That of a difference of two models; `first` is the estimate of the first one alone."""
        return cls(
            row.spec,
            row.difference,
            row.low,
            row.high,
            level,
            row.why,
            p_value=row.p_value,
            values=(row.value_a, row.value_b),
            first_error=math.nan if first is None else first.error,
        )

    @property
    def error(self) -> float:
        """The standard error that the width of the interval stands for."""
        return (self.high - self.low) / (2 * normal_reach(self.level))

    def at(self, level: float) -> Estimate:
        """The same with its interval at another level."""
        if math.isclose(level, self.level, rel_tol=1e-12) or math.isnan(self.low):
            return self
        if self.table is not None:
            return self.from_table(self.table, level)
        wider = normal_reach(level) / normal_reach(self.level)
        least, most = self.spec.metric.of_many_columns.range
        if self.values is not None:  # the range of a difference
            least, most = least - most, most - least
        low = max(self.value - wider * (self.value - self.low), least)
        high = min(self.value + wider * (self.high - self.value), most)
        if self.p_value is not None and self.p_value > 1 - level:  # the test does not reject 0 at this level
            low, high = min(low, 0.0), max(high, 0.0)
        return replace(self, low=low, high=high, level=level)

    def from_table(self, table: Confusion | ScoreTable, level: float) -> Estimate:
        """The same with its interval made anew from its table."""
        bounds = interval(self.spec, table, level=level, prevalence=self.prevalence, design=self.design)
        return replace(self, low=float(bounds.low), high=float(bounds.high), level=level)

    def chance_beyond(self, distance: float, drop: float = 0.0) -> float | None:
        """How often a bound of the interval stays short of a limit at that distance from the true value.

        A drop changes rows on which both models agreed, so that the difference scatters more than it does here: by as
        much as the share of such rows would, read from the error of the first model. Without that a drop of 10 points
        of recall would be stated to be caught in 90 % of runs, and is in 79 %.
        """
        if not self.error > 0:
            return None
        error = math.hypot(self.error, self._added_error(drop) if drop else 0.0)
        return float(normal_below(distance / error - normal_reach(self.level)))

    def _added_error(self, drop: float) -> float:
        """What a drop adds to the standard error of the difference."""
        least, most = self.spec.metric.of_many_columns.range
        if self.values is None or not math.isfinite(most - least) or not self.first_error > 0:
            return 0.0
        share, changed = (self.values[0] - least) / (most - least), drop / (most - least)
        share = min(max(share, _NEAR_BOUND), 1 - _NEAR_BOUND)
        return self.first_error * math.sqrt(changed * (1 - changed) / (share * (1 - share)))


# ---------------------------------------------------------------- gate parts
# All rows and each group, with the estimates that rules read.


GatedResult: TypeAlias = Evaluation | Comparison
Gated: TypeAlias = GatedResult | Mapping[str, GatedResult | str]


@dataclass(frozen=True)
class GatePart:
    """All rows, or a group: its rows and positives, its metrics and differences by name, and its table of labels.

    `why` says why nothing can be judged here, such as a group of one class.
    """

    group: str | None
    level: float
    rows: int = 0
    positives: int | None = None
    metric: Callable[[str], Estimate] | None = None
    differences: Mapping[str, Comparison] = field(default_factory=dict)  # from each other model
    confusion: Confusion | None = None
    is_clustered: bool = False
    why: str | None = None

    def estimate(self, rule: Requirement) -> Estimate:
        """What a rule is about."""
        if not rule.is_difference and rule.other != VERSUS:
            if self.metric is None:
                raise InputError(f"The rule {rule.text!r} is on one model; give its evaluation.")
            return self.metric(rule.metric)
        other = rule.other or ""
        if other not in self.differences:
            how = "compare both models on the same rows" if other == VERSUS else "give a baseline that holds its tables"
            raise InputError(f"The rule {rule.text!r} speaks of another model, {other}; {how}.")
        comparison = self.differences[other]
        row = next((row for row in comparison.rows if row.metric == rule.metric), None)
        if row is None:
            named = ", ".join(dict.fromkeys(row.metric for row in comparison.rows))
            raise InputError(f"The models were not compared by {rule.metric}; there are {named}.")
        alone = next((each for each in comparison.intervals.get(row.a, ()) if each.metric == rule.metric), None)
        return Estimate.of_difference(row, comparison.level, None if alone is None else Estimate.of_interval(alone))


def gate_parts(gated: Gated) -> list[GatePart]:
    """All rows first, then the groups; of several by name one part each."""
    if isinstance(gated, Mapping):
        if not gated:
            raise InputError("A gate was given no evaluation, an empty mapping; give what evaluate or compare returns.")
        parts = []
        for name, each in gated.items():
            if isinstance(each, str):  # why there is none
                parts.append(GatePart(str(name) or None, 0.95, why=each))
                continue
            for part in gate_parts(each):
                label = ", ".join(text for text in (str(name), part.group) if text)
                parts.append(replace(part, group=label or None))
        return parts
    if isinstance(gated, Evaluation):
        return [_evaluated(gated), *(_evaluated(gated, group) for group in gated.groups)]
    if isinstance(gated, Comparison):
        return [_compared(gated)]
    raise InputTypeError(
        f"A gate takes what evaluate or compare returns, or several of these by name, not {type(gated).__name__}."
    )


def _evaluated(evaluation: Evaluation, group: Group | None = None) -> GatePart:
    """All rows of an evaluation, or one of its groups."""
    part: Evaluation | Group = evaluation if group is None else group
    scores: ScoreTable | None = getattr(part, "scores", None)
    table: Confusion | None = getattr(part, "confusion", None)
    if table is not None and evaluation.positive in table.labels:
        table = table.with_positive(evaluation.positive)

    def metric(name: str) -> Estimate:
        """The estimate of a metric, with the table that its interval was made from where that says all of it."""
        if group is not None and name not in group:
            raise InputError(f"{name} was not evaluated in the groups; name it with metrics= when you evaluate.")
        row: MetricRow = part[name]
        estimate = Estimate.of_row(row, evaluation.level)
        source: Confusion | ScoreTable | None = None
        if row.spec.is_native and row.spec.metric.scores is not None and scores is not None:
            source = scores
        elif row.spec.metric.function is not None:
            source = table
        if row.method in ("cluster", "plan") or source is None:
            return estimate
        design = "stratified" if STRATIFIED in evaluation.assumed else "random"
        estimate = replace(estimate, table=source, prevalence=evaluation.prevalence, design=design)
        return estimate.from_table(source, evaluation.level) if evaluation.was_read else estimate

    return GatePart(
        group=None if group is None else group.label,
        level=evaluation.level,
        rows=part.rows,
        positives=_positives(table, scores),
        metric=metric,
        confusion=table,
        is_clustered=evaluation.is_clustered,
    )


def _compared(comparison: Comparison) -> GatePart:
    """The first model of a comparison against the second."""
    if len(comparison.models) != 2:
        raise InputError(
            f"A gate holds one model against another, and {len(comparison.models)} were compared; compare two, the one "
            "that is judged first."
        )
    first, tables = comparison.models[0], comparison.tables
    by_name = {row.metric: row for row in comparison.intervals.get(first, ())}

    def metric(name: str) -> Estimate:
        if name not in by_name:
            raise InputError(f"The models were not compared by {name}; there are {', '.join(by_name)}.")
        return Estimate.of_interval(by_name[name])

    table = tables.labels.get(first)
    return GatePart(
        group=None,
        level=comparison.level,
        rows=comparison.n,
        positives=_positives(table, tables.scores.get(first)),
        metric=metric,
        differences={VERSUS: comparison},
    )


def _positives(table: Confusion | None, scores: ScoreTable | None) -> int | None:
    """The rows of the positive class; of the rarest class where none is positive."""
    if scores is not None:
        return int(scores.positive.rows.sum())
    if table is None:
        return None
    rows = table.rows.sum(1)
    return int(rows.min() if table.positive is None else rows[table.labels.index(table.positive)])


# ---------------------------------------------------------------- rule judgements
# Whether all rows and each group keep every rule, with the error that the rules hold together.


PASS, FAIL, UNDECIDED, SKIPPED = "pass", "FAIL", "undefined", "left out"
_SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


@dataclass(frozen=True, eq=False, repr=False)
class Judgement(Flat):
    """What became of a rule: passed is None where it is undefined, or the group is too small and left out.

    `level` is that of the interval whose bound is read, `power` how often rows like these catch a drop by the margin,
    or pass an equal model; both are None where the rule is on no interval of a difference.
    """

    passed: bool | None
    outcome: str
    rule: str
    group: str | None = None
    text: str = ""
    value: float = math.nan
    limit: float = math.nan
    low: float = math.nan
    high: float = math.nan
    level: float | None = None
    p_value: float | None = None
    power: float | None = None
    verdict: str | None = None
    why: str | None = None

    def __repr__(self) -> str:
        where = "" if self.group is None else f"{self.group}: "
        return f"{self.outcome}  {where}{self.text}"


@dataclass(frozen=True)
class PartRule:
    """A rule in one part: the estimate that it reads, and the number that is required, NaN if it is not known."""

    rule: Requirement
    part: GatePart
    estimate: Estimate
    limit: float
    why: str | None = None

    @classmethod
    def of(cls, rule: Requirement, part: GatePart, baseline: Baseline | None) -> PartRule:
        """The rule in that part."""
        estimate = part.estimate(rule)
        if rule.is_difference or rule.other is None:
            return cls(rule, part, estimate, rule.number, _reason(rule, estimate))
        if rule.other == VERSUS and estimate.values is not None:  # the value of one model against that of the other
            value, other = estimate.values
            why = None if math.isfinite(value + other) else estimate.why or "not defined here"
            return cls(rule, part, estimate, _limit_beside(rule, estimate, other), why)
        old = baseline_of(rule, baseline).of_group(part.group)
        before = None if old is None else old.metrics.get(rule.metric)
        if before is None:
            why = f"the baseline has no {rule.metric} of this group"
            return cls(rule, part, estimate, math.nan, why)
        return cls(rule, part, estimate, _limit_beside(rule, estimate, before), _reason(rule, estimate))

    def judged(self, level: float, margin: float) -> Judgement:
        """Whether it is kept, its interval being at that level."""
        rule, share = self.rule, self.estimate.spec.is_share
        estimate = self.estimate if rule.end == "value" else self.estimate.at(level)
        value: float = getattr(estimate, rule.end)
        if rule.end == "value" and estimate.values is not None and not rule.is_difference:
            value = estimate.values[0]  # that of the first model
        unit = Unit.of(rule, is_share=share)
        if self.why is not None:
            required = f", required {rule.sign} {unit.factor * self.limit:.6g}{unit.text}"
            text = f"{rule.quantity}{'' if math.isnan(self.limit) else required}: {self.why}"
            return Judgement(None, UNDECIDED, rule.text, self.part.group, text, limit=self.limit, why=self.why)
        passed = bool(_SIGNS[rule.sign](value, self.limit))
        shown, required = _distinct_texts(value, self.limit, unit)
        text = f"{rule.quantity} is {shown}, required {rule.sign} {required}"
        if rule.alerts is not None:
            most, rows = rule.alerts
            text = f"alerts are {rows * value:,.6g} of {rows:,} rows, required {rule.sign} {most:,}"
        if estimate.values is not None and rule.is_difference:
            first, second = (value_text(each, share=share) for each in estimate.values)
            text += f" ({first}, {rule.other} {second})"
        return Judgement(
            passed,
            PASS if passed else FAIL,
            rule.text,
            self.part.group,
            text,
            value,
            self.limit,
            estimate.low,
            estimate.high,
            estimate.level,
            estimate.p_value,
            self._power(estimate, margin),
        )

    def _power(self, estimate: Estimate, margin: float) -> float | None:
        """How often a drop by the margin is caught, or an equal model passes; of a difference alone."""
        if not self.rule.is_difference or self.rule.end == "value":
            return None
        if self.rule.fails_if_shown:
            return estimate.chance_beyond(margin, drop=margin)
        return estimate.chance_beyond(max(-(estimate.spec.sign or 1) * self.limit, 0.0))


def baseline_of(rule: Requirement, baseline: Baseline | None) -> Baseline:
    """The baseline that a rule speaks of, which must hold its metric."""
    if baseline is None:
        raise InputError(f"The rule {rule.text!r} speaks of a baseline; name it with baseline=OLD.JSON.")
    if baseline.metrics.get(rule.metric) is None:
        raise InputError(f"The baseline has no value of {rule.metric}; make it again with this metric.")
    return baseline


def read_rules(texts: Iterable[str | Sequence[str]], baseline: Baseline | None) -> list[Requirement]:
    """The rules of their texts, each by itself or in a list; what they say of a baseline must be there."""
    rules = [rule for text in texts for rule in read_requirements(text, RULE_OF_A_GATE)]
    for rule in rules:
        if rule.other == BASELINE:
            baseline_of(rule, baseline)  # refused unless it holds the metric
    return rules


def judge_rules(
    rules: Sequence[Requirement], parts: Sequence[GatePart], baseline: Baseline | None, margin: float
) -> tuple[list[Judgement], list[str]]:
    """Every rule in every part, and which errors the gate holds, in sentences.

    All rules must be kept. A model that breaks one whose near end is read (low >=, high <=) passes it in half of
    1 - level of runs, and so the gate in no more, however many there are. Of those whose far end is read (high >=,
    low <=) each may fail by chance: they share the same error by Bonferroni, over metrics and groups.
    """
    part_rules = [PartRule.of(rule, part, baseline) for part in parts for rule in rules]
    level = parts[0].level if parts else 0.95
    near = [each.rule.text for each in part_rules if each.why is None and each.rule.passes_if_shown]
    far = [each.rule.text for each in part_rules if each.why is None and each.rule.fails_if_shown]
    shared = 1 - (1 - level) / max(len(far), 1)
    judged = [each.judged(shared if each.rule.fails_if_shown else level, margin) for each in part_rules]
    error, sentences = f"{50 * (1 - level):.3g} %", []
    if near:
        which = f"`{near[0]}`" if len(near) == 1 else f"any of the {len(near)} rules that pass only where it is shown"
        sentences.append(f"If a model truly violates {which}, this gate lets it through in at most {error} of runs.")
    if far:
        which = f"`{far[0]}`" if len(far) == 1 else f"all {len(far)} rules that fail only where it is shown"
        by = "" if len(far) == 1 else f"; they share it by intervals of {100 * shared:.6g} %"
        sentences.append(f"A model that keeps {which} fails this gate in at most {error} of runs{by}.")
    return judged, sentences


def _limit_beside(rule: Requirement, estimate: Estimate, other: float) -> float:
    """The limit that the value of another model gives; one beyond the metric's range is refused."""
    limit, (low, high) = rule.number + other, estimate.spec.metric.of_many_columns.range
    if limit < low or limit > high:
        which = "every" if (limit < low) == (rule.sign[0] == ">") else "no"
        raise InputError(
            f"The rule {rule.text!r} asks for {rule.metric} {rule.sign} {limit:.3g}, as {rule.other} has "
            f"{other:.3g}; it lies {range_words((low, high))}, so that {which} model keeps it. Give a smaller number."
        )
    return limit


def _reason(rule: Requirement, estimate: Estimate) -> str | None:
    """Why a rule cannot be judged."""
    return (estimate.why or "not defined here") if math.isnan(getattr(estimate, rule.end)) else None


# ---------------------------------------------------------------- in words


@dataclass(frozen=True)
class Unit:
    """How numbers are shown: shares of rows in percent, their differences in points."""

    factor: int
    text: str

    @classmethod
    def of(cls, rule: Requirement, *, is_share: bool) -> Unit:
        """That of the numbers of a rule."""
        if not is_share:
            return cls(1, "")
        return cls(100, " points" if rule.is_difference else " %")


def _distinct_texts(value: float, limit: float, unit: Unit) -> tuple[str, str]:
    """Both numbers with as many digits as distinguish them."""
    for digits in range(3, 18):
        pair = f"{unit.factor * value:.{digits}g}{unit.text}", f"{unit.factor * limit:.{digits}g}{unit.text}"
        if pair[0] != pair[1] or value == limit:
            return pair
    return repr(value), repr(limit)


def power_text(power: float, about: str = "") -> str:
    """How often something is caught, in whole percent, with a word before the number."""
    return "more than 99 %" if power > 0.99 else "less than 1 %" if power < 0.01 else f"{about}{100 * power:.0f} %"
