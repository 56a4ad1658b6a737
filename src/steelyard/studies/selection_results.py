"""The results of the selection study: ranks and regrets by set, and their means over families."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steelyard.studies.selection_metrics import GOALS, METRICS, REGIMES
from steelyard.studies.selection_models import PLAIN_ARM, WEIGHTED, model_makers
from steelyard.studies.selection_ranks import chances, chosen_ranks, scaled_regrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard._types import Array
    from steelyard.studies.selection_runs import SelectionPlan, SetRun

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
