"""Which metric should a model be chosen by? A hundred sets, twelve models, every metric as selector and as goal.

The study is our own. Its plan was written down before it was run; what the plan calls confirmatory is tried on families
of sets that nobody had looked at.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from steelyard.studies.declared_study import DeclaredStudy, RunPlan
from steelyard.studies.selection_runs import (
    GOALS,
    METRICS,
    PLAIN_ARM,
    REGIMES,
    WEIGHTED,
    SelectionPlan,
    check_resampling,
    model_makers,
    oriented,
    run_sets,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array
    from steelyard.studies.selection_runs import SetRun


# ---------------------------------------------------------------- what a choice is worth
# The rank, on the held-out rows, of the model that a selector chooses, and its regret.


_DIGITS = 12  # values that differ by rounding alone are tied


def chances(selection: Array) -> Array:
    """How likely each model is chosen, one row for each metric: the best one, or all tied for it alike.

    >>> chances(np.array([[0.5, 0.7, 0.7, np.nan]] + [[np.nan] * 4] * 24))[:2].tolist()
    [[0.0, 0.5, 0.5, 0.0], [0.25, 0.25, 0.25, 0.25]]
    """
    values = np.round(oriented(selection), _DIGITS)
    best = values == values.max(-1, keepdims=True)
    return np.asarray(best / best.sum(-1, keepdims=True))


def ranks(held_out: Array) -> Array:
    """The rank of each model by each metric, 1 the best; tied ones share their mean rank, undefined ones the last."""
    values = np.round(oriented(held_out), _DIGITS)
    return np.asarray(rankdata(-values, axis=-1))


def chosen_ranks(selection: Array, held_out: Array) -> Array:
    """The rank of the chosen model: selector, goal; the mean over the splits, which come first."""
    return np.asarray(np.einsum("...sm,...gm->...sg", chances(selection), ranks(held_out)).mean(0))


def scaled_regrets(selection: Array, held_out: Array) -> Array:
    """What is lost to the best model over what the median model loses, both summed over the splits: selector, goal.

    NaN where the median model is as good as the best.
    """
    values = np.round(oriented(held_out), _DIGITS)
    lowest = np.where(np.isfinite(values), values, np.inf).min(-1, keepdims=True)
    values = np.where(np.isfinite(values), values, np.where(np.isfinite(lowest), lowest, 0.0))
    lost = values.max(-1, keepdims=True) - values
    of_choice = np.einsum("...sm,...gm->...sg", chances(selection), lost).sum(0)
    of_median = np.median(lost, axis=-1).sum(0)
    return np.asarray(np.divide(of_choice, of_median, out=np.full_like(of_choice, np.nan), where=of_median > 0))


# ---------------------------------------------------------------- the results of the selection study
# Ranks and regrets by set, and their means over families.


DEFAULT_AT, TUNED_AT, PROMISED_AT = REGIMES
TEN = "plain, without class weights"
FEWEST_PROMISED = 44  # positives of a set, of which 11 are in its selection part


@dataclass(frozen=True, eq=False)
class SelectionResults:
    """Every set that was run, and the plan."""

    runs: list[SetRun]
    plan: SelectionPlan

    @cached_property
    def families(self) -> list[str]:
        """The family of each set."""
        return [run.family for run in self.runs]

    @cached_property
    def explored(self) -> Array:
        """Of each set whether the pilot had looked at its family."""
        return np.array([run.explored for run in self.runs])

    @cached_property
    def prevalences(self) -> Array:
        """The share of positives of each set."""
        return np.array([run.positives / run.rows for run in self.runs])

    @cached_property
    def _kept(self) -> dict[tuple[str, str, str], Array]:
        return {}

    def matrix(self, regime: str = DEFAULT_AT, arm: str = PLAIN_ARM, *, regret: bool = False) -> Array:
        """The rank of the chosen model, or its scaled regret: set, selector, goal; NaN where a promise is void."""
        key = regime, arm, "regret" if regret else "rank"
        if key not in self._kept:
            worth = scaled_regrets if regret else chosen_ranks
            values = np.array([worth(*self._sides(run, regime, arm)) for run in self.runs])
            if regime == PROMISED_AT:
                values[[run.positives < FEWEST_PROMISED for run in self.runs]] = np.nan
            self._kept[key] = values
        return self._kept[key]

    def rank(
        self,
        selector: str,
        goals: Iterable[str] = GOALS,
        regime: str = DEFAULT_AT,
        arm: str = PLAIN_ARM,
        *,
        regret: bool = False,
    ) -> Array:
        """The mean over goals for one selector, one value for each set."""
        places = [METRICS.index(goal) for goal in goals]
        values = self.matrix(regime, arm, regret=regret)[:, METRICS.index(selector)][:, places]
        return mean_of(values, axis=1)

    def mean_rank(self, selectors: Iterable[str], goals: Iterable[str] = GOALS, regime: str = DEFAULT_AT) -> Array:
        """The mean over several selectors, one value for each set."""
        goals = tuple(goals)
        return np.asarray(np.mean([self.rank(selector, goals, regime) for selector in selectors], axis=0))

    def by_family(self, values: Array, *, among: Array | None = None) -> Array:
        """The mean of each family over those of its sets that have a value and are `among` the named ones.

        >>> SelectionResults([], None).by_family(np.zeros(0)).tolist()
        []
        """
        chosen = np.isfinite(values) & (np.ones(len(values), dtype=bool) if among is None else among)
        names = np.array(self.families, dtype=object)
        return np.array([values[chosen & (names == name)].mean() for name in sorted(set(names[chosen]))])

    def confirmed(self, values: Array, among: Array | bool = True) -> Array:
        """The means of the families that were not looked at before."""
        return self.by_family(values, among=~self.explored & among)

    def family_number(self, among: Array | None = None) -> int:
        """How many families there are, of the sets that are `among` the named ones."""
        return len(self.by_family(self.prevalences, among=among))

    def weighted_share(self, selector: str) -> float:
        """How often a selector chooses a model with class weights, at 0.5 on the confirmatory families."""
        place, n = METRICS.index(selector), len(WEIGHTED)
        shares = [chances(run.selection[PLAIN_ARM][:, 0])[:, place, -n:].sum(-1).mean() for run in self.runs]
        return float(self.confirmed(np.array(shares)).mean())

    def _sides(self, run: SetRun, regime: str, arm: str) -> tuple[Array, Array]:
        side = PLAIN_ARM if arm == TEN else arm
        models = slice(None, len(model_makers()) - len(WEIGHTED) if arm == TEN else None)
        regimes = REGIMES.index(regime)
        return run.selection[side][:, regimes, :, models], run.held_out[side][:, regimes, :, models]


def mean_of(values: Array, axis: int) -> Array:
    """The mean of what is defined; NaN where nothing is."""
    defined = np.isfinite(values)
    count = defined.sum(axis)
    total = np.where(defined, values, 0).sum(axis)
    return np.asarray(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))


# ---------------------------------------------------------------- selection


SELECTION_STUDY = DeclaredStudy[SelectionResults](
    "selection",
    "Which metric picks the model that turns out best on new data?",
    cite="A study of our own, on data of KEEL (Alcalá-Fdez and others 2011) and UCI (Kelly and others)",
)
_SPLITS, _QUICK_SPLITS, _COVERED_SPLITS = 6, 2, 2


@SELECTION_STUDY.experiment
def _experiment(plan: RunPlan, *, jobs: int = 0) -> SelectionResults:
    """All sets, by as many processes as `jobs` says, or as there are cores."""
    check_resampling()
    n = _QUICK_SPLITS if plan.quick else _SPLITS
    sized = SelectionPlan(tuple(plan.seeds(n)), 1 if plan.quick else _COVERED_SPLITS, quick=plan.quick)
    return SelectionResults(run_sets(sized, jobs or os.cpu_count() or 1, plan.progress), sized)


@SELECTION_STUDY.choices
def _choices(results: SelectionResults) -> dict[str, Any]:
    explored = results.explored
    return {
        "sets": len(results.runs),
        "exploratory sets": int(explored.sum()),
        "exploratory families": len({f for f, e in zip(results.families, explored, strict=True) if e}),
        "confirmatory sets": int((~explored).sum()),
        "confirmatory families": len({f for f, e in zip(results.families, explored, strict=True) if not e}),
        "models": len(model_makers()),
        "metrics": len(METRICS),
        "splits": len(results.plan.seeds),
        "CPU seconds of all sets": round(sum(run.cpu for run in results.runs)),
    }
