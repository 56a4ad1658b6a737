"""Trials: an estimator fitted with some parameters and judged on its validation part. Used by select_tree."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import InputTypeError
from steelyard.protocol import run_values
from steelyard.protocol.predictions import Data, answer_of
from steelyard.protocol.resample import Training, resampled
from steelyard.protocol.runs import Run, fitted, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steelyard.metrics.spec import MetricSpec
    from steelyard.protocol.candidates import Candidate
    from steelyard.protocol.splits import Part


@dataclass(frozen=True, eq=False)
class Trial:
    """One fitted estimator: the run it comes from, how it was pruned, how complex it is, what it is worth there."""

    run: Run
    params: Mapping[str, Any]
    complexity: float
    value: float
    estimator: Any = field(repr=False)

    def row(self) -> dict[str, Any]:
        """The trial as a row of a table."""
        where = {"repeat": self.run.part.repeat, "fold": self.run.part.fold}
        return {**where, **self.params, "complexity": self.complexity, "value": self.value}


@dataclass(frozen=True, eq=False)
class Work:
    """What is fitted and on what it is judged."""

    candidate: Candidate
    data: Data
    spec: MetricSpec
    complexity: Callable[[Any], float]

    def tried(self, part: Part, seed: int, params: Mapping[str, Any]) -> Trial:
        """An estimator with these parameters, fitted on one part and judged on the other."""
        model = fitted(self._with(params), self._training(part, seed), seed)
        run = self.asked(model, part)
        value = float(run_values.values(self.spec, [run], run_values.stacked([run]))[0])
        return Trial(run, dict(params), self._complexity(model), value, model)

    def asked(self, model: Any, part: Part) -> Run:
        """What a fitted estimator says about the second part."""
        return Run(self.candidate.name, part, self.data, answer_of(model, self.data, part.test))

    def variants(self, part: Part, seed: int, given: Any, most: int) -> list[Mapping[str, Any]]:
        """The parameters to try: those given, or the steps of the cost-complexity path."""
        if given is not None:
            return _listed(given)
        training = self._training(part, seed)
        model = fitted(self.candidate, training, seed)
        name, tree, X = _tree(model, training.X)
        weights = {} if training.weight is None else {"sample_weight": training.weight}
        alphas = np.unique(np.maximum(tree.cost_complexity_pruning_path(X, training.y, **weights).ccp_alphas, 0))[1:]
        picked = np.unique(np.linspace(0, len(alphas) - 1, min(most, len(alphas))).round().astype(int))
        return [{name: float(alphas[i])} for i in picked]

    def _training(self, part: Part, seed: int) -> Training:
        return resampled(self.candidate.resampler, self.data.training(part.train), seed)

    def _with(self, params: Mapping[str, Any]) -> Candidate:
        from sklearn.base import clone

        try:
            return replace(self.candidate, estimator=clone(self.candidate.estimator).set_params(**params))
        except ValueError as error:
            raise InputTypeError(f"variants= names what {self.candidate.name} lacks: {sentence(error)}") from None

    def _complexity(self, model: Any) -> float:
        told = self.complexity(model)
        if not isinstance(told, (int, float, np.number)):
            raise InputTypeError(f"complexity= gives a number for a fitted estimator, not {told!r}.")
        found = float(told)
        if math.isnan(found):
            raise InputTypeError(
                f"{self.candidate.name} is no tree; give complexity=, a function of the fitted estimator."
            )
        return found


def _tree(model: Any, X: Any) -> tuple[str, Any, Any]:
    """The parameter that prunes, the tree that has it, and what that tree sees of X: the last step of a pipeline."""
    steps = getattr(model, "steps", None)
    name, tree = (f"{steps[-1][0]}__ccp_alpha", steps[-1][1]) if steps else ("ccp_alpha", model)
    if not hasattr(tree, "cost_complexity_pruning_path"):
        raise InputTypeError(
            f"{type(tree).__name__} has no cost-complexity path to be pruned along; list what to try in variants=."
        )
    return name, tree, model[:-1].transform(X) if steps and len(steps) > 1 else X


def _listed(given: Any) -> list[Mapping[str, Any]]:
    from sklearn.model_selection import ParameterGrid

    try:
        return list(ParameterGrid(given))
    except (TypeError, ValueError) as error:
        raise InputTypeError(f"variants= lists parameters to try, as {{name: [values]}}: {error}.") from None
