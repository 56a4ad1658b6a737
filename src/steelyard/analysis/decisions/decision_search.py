"""Decision search: the best rule of rows of probabilities, and what it is worth on new rows and beside argmax."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.analysis.decisions.best_decision_result import BestDecision, ClassDecision
from steelyard.analysis.decisions.class_costs import least_cost
from steelyard.analysis.decisions.cross_fit import CrossFit, cross_fitted, dealt_folds
from steelyard.analysis.decisions.decision_rule import DecisionRule, limit_of_share
from steelyard.analysis.decisions.paired_gain import choice_variance, jackknife_variance, paired_gain_ends
from steelyard.analysis.decisions.risk_coverage import RiskCoverage
from steelyard.analysis.decisions.threshold_ascent import best_class_thresholds
from steelyard.analysis.distributions import normal_reach
from steelyard.exceptions import UndefinedError

if TYPE_CHECKING:
    from steelyard._types import Array
    from steelyard.analysis.decisions.decided_rows import DecidedRows
    from steelyard.analysis.decisions.decision_value import DecisionJudge


@dataclass(frozen=True, eq=False)
class DecisionSearch:
    """How the decision is to be made: by costs or by thresholds that are sought, and which rows a person decides."""

    rows: DecidedRows
    judge: DecisionJudge
    costs: Array | None
    reject: float | None
    reject_cost: float | None

    def rule(self, rows: DecidedRows, among: Array | None = None) -> DecisionRule | None:
        """The best rule on some of the rows; None where the metric is undefined there."""
        places = slice(None) if among is None else among
        probabilities, weights = rows.table.probabilities[places], rows.weights[places]
        if self.costs is None:
            thresholds = best_class_thresholds(self.judge.aim, rows.table.codes[places], probabilities, weights)
        else:
            thresholds = self._moved
        if thresholds is None:
            return None
        rule = DecisionRule(thresholds, self.costs)
        if self.reject_cost is not None:
            return replace(rule, limit=self.reject_cost)
        return rule if not self.reject else replace(rule, limit=self._limit(rule, probabilities, weights))

    def _limit(self, rule: DecisionRule, probabilities: Array, weights: Array) -> float:
        return limit_of_share(rule.risks(probabilities), weights, self.reject or 0.0)

    @property
    def _moved(self) -> Array:
        """The thresholds that move the probabilities to the shares of the classes where decisions are made."""
        if self.rows.factors is None:
            return DecisionRule.of_argmax(self.rows.k).thresholds
        return np.asarray(1 / self.rows.factors / (1 / self.rows.factors).sum())

    @property
    def _probabilities(self) -> Array:
        return self.rows.table.probabilities

    @property
    def _is_fitted(self) -> bool:
        """Whether the rows choose anything of the rule."""
        return self.costs is None or bool(self.reject)

    @cached_property
    def _chosen(self) -> DecisionRule:
        rule = self.rule(self.rows)
        if rule is None:
            raise UndefinedError(f"{self.judge.aim.name} is undefined at every decision: {self.judge.reason()}.")
        return rule

    def best(self, clusters: Array | None, folds: int, rng: np.random.Generator) -> BestDecision:
        """The rule with all that is known of it."""
        rows, rule = self.rows, self._chosen
        here = CrossFit.of_rule(rule, self._probabilities)
        argmax = CrossFit.of_rule(DecisionRule.of_argmax(rows.k), self._probabilities)
        unseen = self._unseen(here, clusters, folds, rng)
        value, of_argmax, kept = self.judge.interval(here), self.judge.interval(argmax), unseen or here
        best = BestDecision(
            classes=self._classes(rule, kept, argmax),
            metric=self.judge.aim.name,
            value=float(value.value),
            argmax_value=float(of_argmax.value),
            argmax_interval=_ends(of_argmax),
            costs=self.costs,
            reject=self.reject,
            reject_cost=self.reject_cost,
            limit=rule.limit,
            coverage=1 - rows.share_of(here.sent),
            prevalence=None if rows.factors is None else tuple(rows.shares.tolist()),
            folds=folds if self._is_fitted else 0,
            level=self.judge.level,
            is_share=self.judge.aim.spec.is_share,
            curve=RiskCoverage.of(rows, kept, self.costs, self.judge.level, intervals=clusters is None),
            assumed=self._assumed(unseen, folds),
            **self._of_costs(here),
        )
        return best if unseen is None else self._with_unseen(best, unseen, argmax, clusters, rng)

    def _unseen(self, here: CrossFit, clusters: Array | None, folds: int, rng: np.random.Generator) -> CrossFit | None:
        """Every row decided without it; all as they are where no row chooses the rule."""
        if not self._is_fitted:
            return here
        if not folds:
            return None
        return cross_fitted(self.rows, self.rule, dealt_folds(self.rows.table.codes, clusters, folds, rng))

    def _with_unseen(
        self, best: BestDecision, unseen: CrossFit, argmax: CrossFit, clusters: Array | None, rng: np.random.Generator
    ) -> BestDecision:
        """The same with the value on rows that did not choose the rule, and what it gains on argmax there."""
        interval, sign = self.judge.interval(unseen), self.judge.aim.sign
        expected = float(interval.value)
        optimism = sign * (best.value - expected) if self._is_fitted else 0.0
        chosen = choice_variance(optimism, self.rows.k) if self.costs is None else 0.0
        found = replace(
            best,
            out_of_sample=expected,
            out_of_sample_interval=_wider(_ends(interval), expected, chosen, self.judge),
            optimism=optimism,
            out_of_sample_coverage=1 - self.rows.share_of(unseen.sent),
        )
        gain = sign * (expected - best.argmax_value)
        if self.reject:  # other rows are judged
            return found
        if clusters is not None or np.isnan(gain):
            return replace(found, gain=gain)
        both = (self.judge.columns(unseen), self.judge.columns(argmax))
        of_rules = np.array([self.judge.value(CrossFit.of_rule(rule, self._probabilities)) for rule in unseen.rules])
        by_choice = chosen + jackknife_variance(of_rules)
        ends = paired_gain_ends(self.judge.aim, self.rows, both, self.judge.k, self.judge.level, rng, by_choice)
        return replace(found, gain=gain, gain_interval=ends and (min(ends[0], gain), max(ends[1], gain)))

    def _of_costs(self, here: CrossFit) -> dict[str, Any]:
        """What decisions by cost have beside their value: the best possible, and what the probabilities expect."""
        if self.costs is None:
            return {}
        weights, kept = self.rows.weights, ~here.sent
        risks = here.risks
        if self.reject_cost is not None:
            risks, kept = np.where(here.sent, self.reject_cost, risks), np.ones(len(weights), dtype=bool)
        expected = float(np.average(risks[kept], weights=weights[kept])) if weights[kept].any() else np.nan
        totals = np.bincount(self.rows.table.codes[kept], weights[kept], minlength=self.rows.k)
        shares = totals / max(totals.sum(), 1e-300)
        ratios = None if self.rows.factors is None else tuple(self.rows.factors.tolist())
        return {"best_possible": least_cost(self.costs, shares), "expected": expected, "prior_ratios": ratios}

    def _classes(self, rule: DecisionRule, decided: CrossFit, argmax: CrossFit) -> tuple[ClassDecision, ...]:
        table, k = self.rows.table, self.rows.k

        def recalls(each: CrossFit, among: Array) -> Array:
            codes, weights = table.codes[among], table.weights[among]
            totals = np.bincount(codes, weights, minlength=k)
            right = np.bincount(codes, weights * (each.decisions[among] == codes), minlength=k)
            return np.where(totals > 0, right / np.where(totals > 0, totals, 1), np.nan)

        every = np.arange(len(table.codes))
        counted = np.bincount(table.codes, table.frequency, minlength=k).astype(np.int64)
        weight = np.bincount(table.codes, table.weights, minlength=k)
        sent = np.bincount(table.codes, table.weights * decided.sent, minlength=k) / np.where(weight > 0, weight, 1)
        thresholds = rule.thresholds if rule.is_of_thresholds else np.full(k, None)
        columns = (thresholds, recalls(decided, np.flatnonzero(~decided.sent)), recalls(argmax, every), sent)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        rows = zip(table.labels, counted.tolist(), numbers, strict=True)
        return tuple(ClassDecision(label, n, *rest) for label, n, rest in rows)

    def _assumed(self, unseen: CrossFit | None, folds: int) -> tuple[str, ...]:
        if unseen is not None or not folds:
            return ()
        return (
            f"What the rule is worth on new rows is not known: without some of the rows {self.judge.aim.name} is "
            "undefined, as a class has too few.",
        )


def _ends(interval: Any) -> tuple[float, float] | None:
    low, high = float(interval.low), float(interval.high)
    return None if np.isnan(low) or np.isnan(high) else (low, high)


def _wider(
    ends: tuple[float, float] | None, value: float, variance: float, judge: DecisionJudge
) -> tuple[float, float] | None:
    """The ends of a value that varies by so much more, inside the metric's range."""
    if ends is None:
        return None
    more, (least, most) = variance * normal_reach(judge.level) ** 2, judge.aim.spec.metric.range
    low, high = (sign * float(np.hypot(end - value, np.sqrt(more))) for sign, end in zip((-1, 1), ends, strict=True))
    return max(value + low, least), min(value + high, most)
